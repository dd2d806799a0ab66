// A change as the server split it: hunks of numbered lines, each in pieces with a colour class.

import { html, steady } from "./html.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Hunk} Hunk */
/** @typedef {import("./types.d.ts").Line} Line */

const LINE_CLASS = { "+": "added", "-": "removed", " ": "same" };
const WORD = { "+": "added: ", "-": "removed: ", " ": "" };

/** With `choose`, every hunk has a checkbox to exclude it. */
export const Diff = steady(
  /** @param {{ hunks: Hunk[], left?: Set<number>, choose?: (number: number, taken: boolean) => void, tall?: boolean }} props */
  ({ hunks, left, choose, tall = false }) =>
    html`<div class="diff ${tall ? "tall" : ""}" tabindex=${tall ? 0 : undefined} role="group" aria-label="Change">
      ${hunks.map((hunk) => html`<${OneHunk} key=${hunk.number} ...${{ hunk, choose, of: hunks.length, out: left?.has(hunk.number) ?? false }} />`)}
    </div>`,
);

/** @param {{ hunk: Hunk, of: number, out: boolean, choose?: (number: number, taken: boolean) => void }} props */
function OneHunk({ hunk, of, out, choose }) {
  const take = (/** @type {Event} */ event) => choose?.(hunk.number, /** @type {HTMLInputElement} */ (event.target).checked);
  return html`<section class="hunk ${out ? "left-out" : ""}">
    <div class="hunk-head">
      ${choose && html`<label><input type="checkbox" checked=${!out} onChange=${take} /> Include part ${hunk.number + 1} of ${of}</label>`}
      <span class="soft">${visible(hunk.header)}</span>
    </div>
    <div class="lines">${hunk.lines.map(oneLine)}</div>
  </section>`;
}

/** @param {Line} line */
function oneLine(line) {
  const text = line.pieces ? line.pieces.map(([look, text]) => (look ? html`<span class=${look}>${text}</span>` : text)) : visible(line.text);
  return html`<div class="line-of ${LINE_CLASS[line.kind]}">
    <span class="no old" aria-hidden="true">${line.old}</span><span class="no" aria-hidden="true">${line.new}</span>
    <span class="sign" aria-hidden="true">${line.kind}</span>
    <span class="src"><span class="unseen">${WORD[line.kind]}</span>${text}${
      line.ends === false && html`<span class="no-end"> ⏎ no newline at end of file</span>`
    }</span>
  </div>`;
}
