// A button that copies what is shown, exactly as shown: hidden characters made visible, without colours.

import { html, useEffect, useState } from "./html.js";

/** @param {{ what: string, text: () => string }} props */
export function Copy({ what, text }) {
  const [done, setDone] = useState("");
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(""), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => setDone((await copied(text())) ? "Copied" : "Not possible here");
  return html`<button type="button" class="copy" aria-label=${done ? undefined : `Copy ${what}`} onClick=${copy}>${done || "Copy"}</button>`;
}

/** @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text); // without https, a page has no clipboard API
  }
}

/** @param {string} text */
function copiedBySelection(text) {
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "unseen";
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  before?.focus();
  return done;
}
