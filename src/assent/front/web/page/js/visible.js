// Makes everything visible: characters that are invisible, reverse text or look like a space without being one appear as
// `<U+202E>`. The same characters and the same exceptions as in the server's assent.screen; a test compares the two.

const LOW =
  "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f" + // controls
  "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069" + // direction
  "\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u2800\\u3000" + // blanks
  "\\u180b-\\u180d\\u180f\\ufe00-\\ufe0f" + // selectors
  "\\ue000-\\uf8ff\\ud800-\\udfff\\ufdd0-\\ufdef\\ufffe\\uffff" + // private, broken
  "\\xad\\u034f\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200d" +
  "\\u2060-\\u2065\\u206a-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb";
const HIGH =
  "\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}\\u{110bd}\\u{110cd}\\u{13430}-\\u{13455}\\u{16fe4}\\u{1bca0}-\\u{1bca3}" +
  "\\u{1d159}\\u{1d173}-\\u{1d17a}" +
  Array.from({ length: 14 }, (_, n) => `\\u{${(n + 1).toString(16)}fffe}\\u{${(n + 1).toString(16)}ffff}`).join("");

const EMOJI =
  "\\xa9\\xae\\u203c\\u2049\\u2122\\u2139\\u2194-\\u21aa\\u231a-\\u23ff\\u24c2\\u25aa-\\u25fe\\u2600-\\u27bf\\u2934\\u2935" +
  "\\u2b05-\\u2b55\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}";
const JOINING = "\\u0620-\\u06ff\\u0750-\\u077f\\u08a0-\\u08c9\\u0900-\\u0dff";
const WIDE = "\\u3001-\\u9fff\\uac00-\\ud7af\\uff01-\\uff9f";
const ORDINARY = [
  `(?<=[${EMOJI}])[\\ufe0e\\ufe0f]|(?<=[0-9#*])\\ufe0f(?=\\u20e3)`,
  `(?:(?<=[${EMOJI}])|(?<=[${EMOJI}]\\ufe0f))\\u200d(?=[${EMOJI}])`,
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`,
  "\\r(?=\\n)|[\\xa0\\u202f](?=[!?;:»%€])|(?<=«)[\\xa0\\u202f]|(?<=[0-9])[\\xa0\\u202f](?=[0-9])",
  `\\u3000(?=[${WIDE}])|(?<=[${WIDE}])\\u3000`,
].join("|");

const FIND = new RegExp(`(?<ordinary>${ORDINARY})|[${LOW}${HIGH}]`, "gu");
const MARK = /(<U\+[0-9A-F]{4,6}>|\\x[0-9a-f]{2})/;

/** @param {string} text */
export function visible(text) {
  return text.replace(FIND, (char, ...rest) => (rest.at(-1).ordinary === undefined ? mark(char) : char));
}

/** Text in pieces, so that the marks can be highlighted. @param {string} text */
export function marked(text) {
  return text.split(MARK).map((piece, place) => ({ text: piece, hidden: place % 2 === 1 }));
}

/** @param {string} char */
function mark(char) {
  const code = /** @type {number} */ (char.codePointAt(0));
  if (code < 0x20 && char !== "\r") return `\\x${code.toString(16).padStart(2, "0")}`;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
