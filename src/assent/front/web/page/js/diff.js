// A change as the server split it: hunks of numbered lines, each in pieces with a colour class. One column or side by side.

import { html, steady, useMemo } from "./html.js";
import { visible } from "./visible.js";
import { changedWords, cut, runs } from "./word_diff.js";

/** @typedef {import("./types.d.ts").Hunk} Hunk */
/** @typedef {import("./types.d.ts").Line} Line */
/** @typedef {import("./word_diff.js").Span} Span */
/** @typedef {(number: number, on: boolean) => void} Switch */

const LINE_CLASS = { "+": "added", "-": "removed", " ": "same" };
const WORD = { "+": "added: ", "-": "removed: ", " ": "" };

/**
 * With `choose`, every hunk has a checkbox to exclude it; with `fold`, a button to fold it; with `more`, one for more lines
 * around it. `around` are those lines.
 */
export const Diff = steady(
  /**
   * @param {{ hunks: Hunk[], left?: Set<number>, choose?: Switch, folded?: Set<number>, fold?: Switch, split?: boolean,
   *   around?: Map<number, { before: Line[], after: Line[] }>, more?: (number: number) => void }} props
   */
  ({ hunks, left, choose, folded, fold, split = false, around, more }) =>
    html`<div class="diff ${split ? "split" : ""}" role="group" aria-label="Change">
      ${hunks.map((hunk) => {
        const own = { out: left?.has(hunk.number) ?? false, shut: folded?.has(hunk.number) ?? false, around: around?.get(hunk.number) };
        return html`<${OneHunk} key=${hunk.number} ...${{ hunk, split, choose, fold, more, of: hunks.length, ...own }} />`;
      })}
    </div>`,
);

/** @param {Hunk[]} hunks */
export function counted(hunks) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return { added: lines.filter((line) => line.kind === "+").length, removed: lines.filter((line) => line.kind === "-").length };
}

const OneHunk = steady(
  /**
   * @param {{ hunk: Hunk, of: number, out: boolean, shut: boolean, split: boolean, choose?: Switch, fold?: Switch,
   *   around?: { before: Line[], after: Line[] }, more?: (number: number) => void }} props
   */
  ({ hunk, of, out, shut, split, choose, fold, around, more }) => {
    const take = (/** @type {Event} */ event) => choose?.(hunk.number, /** @type {HTMLInputElement} */ (event.target).checked);
    const { added, removed } = counted([hunk]);
    const part = `part ${hunk.number + 1}`;
    return html`<section class="hunk ${out ? "left-out" : ""}">
      <div class="hunk-head">
        ${fold && html`<button type="button" class="quiet fold" aria-expanded=${!shut} aria-label=${`Show ${part}`} onClick=${() => fold(hunk.number, !shut)}>${shut ? "▸" : "▾"}</button>`}
        ${choose && html`<label><input type="checkbox" checked=${!out} onChange=${take} /> Include part ${hunk.number + 1} of ${of}</label>`}
        <span class="soft grow cut hunk-place">${visible(hunk.header)}</span>
        ${more && !shut && html`<button type="button" class="link" aria-label=${`More lines around ${part}`} onClick=${() => more(hunk.number)}>more context</button>`}
        <span class="counts"><span class="plus">+${added}</span> <span class="minus">−${removed}</span></span>
      </div>
      ${!shut && html`${around && html`<${Rows} lines=${around.before} split=${split} />`}
        <div class="lines" data-block=${hunk.number}><${Rows} lines=${hunk.lines} split=${split} /></div>
        ${around && html`<${Rows} lines=${around.after} split=${split} />`}`}
    </section>`;
  },
);

const Rows = steady(
  /** @param {{ lines: Line[], split: boolean }} props */
  ({ lines, split }) => {
    const marks = useMemo(() => changedWords(lines), [lines]);
    return split ? sideBySide(lines).map(([one, other]) => html`<div class="pair">${half(one, marks, "old")}${half(other, marks, "new")}</div>`) : lines.map((line) => oneLine(line, marks));
  },
);

/** @param {Line[]} lines @returns {[Line | undefined, Line | undefined][]} */
function sideBySide(lines) {
  return runs(lines).flatMap(({ same, removed, added }) => [
    ...same.map((line) => /** @type {[Line, Line]} */ ([line, line])),
    ...Array.from({ length: Math.max(removed.length, added.length) }, (_, n) => /** @type {[Line | undefined, Line | undefined]} */ ([removed[n], added[n]])),
  ]);
}

/** @param {Line | undefined} line @param {Map<Line, Span[]>} marks @param {"old" | "new"} side */
function half(line, marks, side) {
  if (!line) return html`<div class="half none"></div>`;
  return html`<div class="half ${LINE_CLASS[line.kind]}"><span class="no" aria-hidden="true">${line[side]}</span>
    <span class="src"><span class="unseen">${WORD[line.kind]}</span>${content(line, marks)}</span></div>`;
}

/** @param {Line} line @param {Map<Line, Span[]>} marks */
function oneLine(line, marks) {
  return html`<div class="line-of ${LINE_CLASS[line.kind]}">
    <span class="no old" aria-hidden="true">${line.old}</span><span class="no" aria-hidden="true">${line.new}</span>
    <span class="sign" aria-hidden="true">${line.kind}</span>
    <span class="src"><span class="unseen">${WORD[line.kind]}</span>${content(line, marks)}</span>
  </div>`;
}

/** @param {Line} line @param {Map<Line, Span[]>} marks */
function content(line, marks) {
  const pieces = line.pieces ?? [["", visible(line.text)]];
  const exact = pieces.map(([, text]) => text).join("") === line.text; // otherwise the places of the marks do not fit
  const shown = cut(pieces, (exact && marks.get(line)) || []).map(([look, text, changed]) => {
    const inner = look ? html`<span class=${look}>${text}</span>` : text;
    return changed ? html`<mark class="word">${inner}</mark>` : inner;
  });
  return html`${shown}${line.ends === false && html`<span class="no-end"> ⏎ no newline at end of file</span>`}`;
}
