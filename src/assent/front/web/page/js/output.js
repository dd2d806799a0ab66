// The whole output of a call, read in pieces however long it is; to read here or to save.

import { get } from "./api.js";
import { pathOf, words } from "./controller.js";
import { Copy } from "./copy.js";
import { html, useEffect, useState } from "./html.js";
import { visible } from "./visible.js";

/** @typedef {{ text: string, offset: number, next: number, total: number, done: boolean }} Piece */

const PIECE_BYTES = 500_000;

/** @param {{ talk: import("./fold.js").Talk, call: string }} props */
export function OutputPage({ talk, call }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState({ next: 0, total: 1 });
  const [problem, setProblem] = useState("");
  const more = async () => {
    try {
      /** @type {Piece} */
      const piece = await get(`${pathOf(talk.session)}/calls/${encodeURIComponent(call)}/output?offset=${at.next}&limit=${PIECE_BYTES}`);
      setText((before) => before + piece.text);
      setAt({ next: piece.next, total: piece.total });
    } catch (error) {
      setProblem(words(error));
    }
  };
  useEffect(() => void more(), [call]);
  const about = talk.calls.get(call)?.request;
  const left = at.total - at.next;
  return html`<div class="scroll-area" tabindex="0"><div class="column whole-output">
    <p class="row"><a href=${`#/s/${encodeURIComponent(talk.session)}`}>‹ Back to the conversation</a><span class="grow"></span>
      <${Copy} what="the output" text=${() => visible(text)} /><button type="button" onClick=${() => save(text, call)}>Save as a file</button></p>
    <h2>${visible(about?.tool ?? "Output")} <code class="soft">${visible((about?.about ?? "").slice(0, 200))}</code></h2>
    ${problem && html`<p class="problem" role="alert">${visible(problem)}</p>`}
    <pre class="terminal" role="region" aria-label="Whole output">${visible(text)}</pre>
    ${left > 0 && at.next > 0 && html`<button type="button" onClick=${() => void more()}>Load more <span class="soft small">${left.toLocaleString()} bytes left</span></button>`}
  </div></div>`;
}

/** @param {string} text @param {string} name */
function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = `${name.replace(/[^\w.-]/g, "_")}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
