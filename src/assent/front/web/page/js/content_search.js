// Search in what was said: below the sessions whose names match, after a pause in typing.

import { get } from "./api.js";
import { html, useEffect, useState } from "./html.js";
import { ago, exactly } from "./times.js";
import { visible } from "./visible.js";

/** @typedef {{ session: string, title: string, folder: string, at: number, where: "prompt" | "reply", text: string }} Found */
/** @typedef {{ found: Found[], complete: boolean }} Result */

const PAUSE_MS = 350;
const MIN_LENGTH = 3;

/** @param {{ wanted: string }} props */
export function ContentSearch({ wanted }) {
  const result = useResult(wanted.trim());
  if (!result) return null;
  return html`<section aria-label="In conversations">
    <h3>In conversations</h3>
    <ul>${result.found.map((one) => html`<li key=${one.session}><a class="item found" href=${`#/s/${one.session}`}>
      <span class="row"><span class="name cut grow">${visible(one.title) || "New session"}</span><time class="when" title=${exactly(one.at)}>${ago(one.at)}</time></span>
      <span class="small soft any">${one.where === "prompt" ? "You: " : ""}${visible(one.text)}</span>
    </a></li>`)}</ul>
    ${result.found.length === 0 && html`<p class="soft small item" role="status">No conversation contains this.</p>`}
    ${!result.complete && html`<p class="soft small item">There may be more: add a word.</p>`}
  </section>`;
}

/** @param {string} wanted */
function useResult(wanted) {
  const [result, setResult] = useState(/** @type {Result | null} */ (null));
  useEffect(() => {
    setResult(null);
    if (wanted.length < MIN_LENGTH) return;
    let current = true;
    const ask = () => get(`/search?query=${encodeURIComponent(wanted)}`).then((found) => current && setResult(/** @type {Result} */ (found)), () => {});
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  return result;
}
