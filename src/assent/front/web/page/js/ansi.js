// Terminal colours as spans with classes. The server has already removed every other escape sequence or made it visible;
// whatever is not a colour here stays visible as text.

const SGR = /\x1b\[([0-9;]*)m/g;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const CUBE = [0, 95, 135, 175, 215, 255];

/** @typedef {{ classes: Set<string>, fg: string, bg: string }} Pen */
/** @typedef {{ text: string, class: string, color: string, background: string }} Piece */

/** @returns {Pen} */
const fresh = () => ({ classes: new Set(), fg: "", bg: "" });

/** The text in pieces of one style each. @param {string} text @returns {Piece[]} */
export function pieces(text) {
  /** @type {Piece[]} */
  const found = [];
  let pen = fresh();
  let at = 0;
  for (const match of text.matchAll(SGR)) {
    push(found, text.slice(at, match.index), pen);
    pen = apply(pen, match[1].split(";").map(Number));
    at = match.index + match[0].length;
  }
  push(found, text.slice(at), pen);
  return found;
}

/** @param {Piece[]} found @param {string} text @param {Pen} pen */
function push(found, text, pen) {
  if (text) found.push({ text, class: [...pen.classes].join(" "), color: pen.fg, background: pen.bg });
}

/** @param {Pen} pen @param {number[]} codes @returns {Pen} */
function apply(pen, codes) {
  let next = { classes: new Set(pen.classes), fg: pen.fg, bg: pen.bg };
  while (codes.length) {
    const code = /** @type {number} */ (codes.shift());
    if (code === 0) next = fresh();
    else if (code === 38 || code === 48) paint(next, code === 38 ? "fg" : "bg", mixed(codes));
    else style(next, code);
  }
  return next;
}

const STYLES = new Map([[1, "bold"], [2, "faint"], [3, "italic"], [4, "underline"], [7, "reverse"], [9, "struck"]]);
const ENDS = new Map([[22, ["bold", "faint"]], [23, ["italic"]], [24, ["underline"]], [27, ["reverse"]], [29, ["struck"]]]);

/** @param {Pen} pen @param {number} code */
function style(pen, code) {
  const on = STYLES.get(code);
  if (on) pen.classes.add(on);
  for (const off of ENDS.get(code) ?? []) pen.classes.delete(off);
  if (code >= 30 && code <= 37) paint(pen, "fg", NAMES[code - 30]);
  if (code >= 90 && code <= 97) paint(pen, "fg", `bright-${NAMES[code - 90]}`);
  if (code >= 40 && code <= 47) paint(pen, "bg", NAMES[code - 40]);
  if (code >= 100 && code <= 107) paint(pen, "bg", `bright-${NAMES[code - 100]}`);
  if (code === 39 || code === 49) paint(pen, code === 39 ? "fg" : "bg", "");
}

/** Named colours become classes, so that light and dark themes choose their own; RGB colours are used as they are.
 * @param {Pen} pen @param {"fg" | "bg"} where @param {string} colour */
function paint(pen, where, colour) {
  for (const name of pen.classes) if (name.startsWith(`${where}-`)) pen.classes.delete(name);
  pen[where] = colour.startsWith("rgb") ? colour : "";
  if (colour && !pen[where]) pen.classes.add(`${where}-${colour}`);
}

/** The colour after 38 or 48: `5;index` or `2;r;g;b`. @param {number[]} codes */
function mixed(codes) {
  const kind = codes.shift();
  if (kind === 2) return `rgb(${codes.splice(0, 3).map(byte).join(" ")})`;
  return kind === 5 ? indexed(byte(codes.shift() ?? 0)) : "";
}

/** @param {number} index */
function indexed(index) {
  if (index < 8) return NAMES[index];
  if (index < 16) return `bright-${NAMES[index - 8]}`;
  if (index >= 232) return `rgb(${Array(3).fill(8 + (index - 232) * 10).join(" ")})`;
  const cell = index - 16;
  return `rgb(${[Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map((step) => CUBE[step]).join(" ")})`;
}

/** @param {number} value */
const byte = (value) => Math.max(0, Math.min(255, value || 0));
