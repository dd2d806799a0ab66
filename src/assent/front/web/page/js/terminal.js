// Terminal output in its final form: overwritten lines show their last content, colours stay, every other sequence is
// dropped. Line by line, as in the server's process/plain_text.

import { pieces } from "./ansi.js";
import { Copy } from "./copy.js";
import { html, steady, useState } from "./html.js";
import { visible } from "./visible.js";

/** Sequences that are neither a colour nor a movement within the line. */
const OTHER = String.raw`\x1b\[(?![0-9;]*m)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?|\x1b(?!\[)[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]`;
const DROPPED = new RegExp(String.raw`${OTHER}|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]`, "g");
const MOVES = /[\r\x08]|\x1b\[[0-2]?K|\x1b\[\d*[CDG]/;
const TOKENS = new RegExp(
  String.raw`(?<back>[\r\x08])|\x1b\[(?<erase>[0-2]?)K|\x1b\[(?<by>\d*)(?<move>[CDG])|(?<pen>\x1b\[[0-9;]*m)|${OTHER}|(?<text>[^\x00-\x08\x0b-\x1f\x7f-\x9f])|[^]`,
  "gu",
);
const MAX_COLUMN = 1000;
const COLOURS = /\x1b\[[0-9;]*m/g;

const SHOWN_LINES = 12;

export const Terminal = steady(
  /** The last lines, where the outcome is; all of them on demand. @param {{ text: string, label?: string, whole?: string }} props `whole`: a link to everything */
  ({ text, label = "Output", whole = "" }) => {
    const [all, setAll] = useState(false);
    const lines = settled(text).replace(/\n$/, "").split("\n");
    const hidden = all ? 0 : Math.max(0, lines.length - SHOWN_LINES);
    const colours = lines.slice(0, hidden).join("").match(COLOURS)?.join("") ?? ""; // those still on where the shown part begins
    const shown = pieces(colours + lines.slice(hidden).join("\n") + "\n");
    return html`<div class="copyable">
      ${(hidden > 0 || whole) && html`<div class="above small soft">
        ${hidden > 0 && html`<button type="button" class="link" onClick=${() => setAll(true)}>Show ${hidden.toLocaleString()} more ${hidden === 1 ? "line" : "lines"}</button>`}
        ${whole && hidden > 0 && html`<a href=${whole}>Whole output</a>`}
      </div>`}
      <pre class="terminal" tabindex="0" role="region" aria-label=${label}>${shown.map(look)}</pre>
      <${Copy} what=${label.toLowerCase()} text=${() => pieces(settled(text)).map((piece) => visible(piece.text)).join("")} />
    </div>`;
  },
);

/** Colours that have no name are set through the element: no inline style is written. @param {import("./ansi.js").Piece} piece */
function look(piece) {
  const text = visible(piece.text);
  if (!piece.class && !piece.color && !piece.background) return text;
  const style = { color: piece.color || undefined, backgroundColor: piece.background || undefined };
  return html`<span class=${piece.class} style=${style}>${text}</span>`;
}

/** @param {string} text */
export function settled(text) {
  return text
    .split("\n")
    .map((line) => {
      const whole = line.replace(/\r+$/, "");
      return (MOVES.test(whole) ? replay(whole) : whole).replace(DROPPED, "").replace(/\x1b(?!\[[0-9;]*m)/g, "");
    })
    .join("\n")
    .replace(/\n+$/, "\n");
}

/** One line, cell by cell; each cell carries the colour changes before it. @param {string} line */
function replay(line) {
  /** @type {string[]} */
  let row = [];
  let column = 0;
  let pen = "";
  for (const { groups = {}, 0: whole } of line.matchAll(TOKENS)) {
    if (groups.text !== undefined) {
      while (row.length < column) row.push(" ");
      row[column++] = pen ? `\x1b[0m${pen}${whole}` : `\x1b[0m${whole}`;
    } else if (groups.back !== undefined) column = whole === "\r" ? 0 : Math.max(column - 1, 0);
    else if (groups.erase !== undefined) row = erased(row, column, groups.erase);
    else if (groups.move !== undefined) column = moved(column, groups.move, Number(groups.by || 1));
    else if (groups.pen !== undefined) pen = /\[0?m/.test(whole) ? "" : pen + whole;
  }
  return row.join("") + (pen ? pen : "\x1b[0m");
}

/** Right, left, or to a column. @param {number} column @param {string} how @param {number} by */
function moved(column, how, by) {
  const to = how === "G" ? by - 1 : how === "C" ? column + by : column - by;
  return Math.max(0, Math.min(to, Math.max(column, MAX_COLUMN)));
}

/** @param {string[]} row @param {number} column @param {string} how */
function erased(row, column, how) {
  if (how === "2") return [];
  return how === "1" ? row.fill(" ", 0, Math.min(column, row.length)) : row.slice(0, column);
}
