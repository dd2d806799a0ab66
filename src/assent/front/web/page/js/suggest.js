// The word being typed, if it can be completed, and the text after completion. By the rules of the terminal's prompt:
// a command at the very start, its argument, or a file after `@` anywhere; `@"a b.txt"` is a path with spaces.

/** @typedef {{ kind: "command" | "argument" | "file", start: number, end: number, typed: string, command: string }} Word */
/** @typedef {{ name: string, help: string }} Candidate */

const UNFINISHED_MENTION = /(?<![^\s(\[{<])@(?:"(?<quoted>(?:\\[^\n]|[^"\\\n])*\\?)|(?<bare>(?:\\[^\n]|[^\s"\\])*\\?))$/;
const PLAIN_PATH = /^[\w@%+=~/.:,#^-]*[\w@%+=~/#^-]$/;

/** @param {string} text @param {number} caret @returns {Word | null} */
export function wordAt(text, caret) {
  const before = text.slice(0, caret);
  const after = text.slice(caret);
  const file = UNFINISHED_MENTION.exec(before);
  if (file) {
    const { quoted, bare = "" } = file.groups ?? {};
    const rest = quoted === undefined ? /^[^\s"]*/ : /^[^"\n]*"?/;
    return { kind: "file", start: file.index, end: caret + ended(rest, after), typed: plain(quoted ?? bare), command: "" };
  }
  const command = /^\/([^\s/@]*)$/.exec(before);
  if (command) return { kind: "command", start: 0, end: caret + ended(/^\S*/, after), typed: command[1], command: "" };
  const argument = /^(\/([^\s/@]+)[ \t]+)([^\n]*)$/.exec(before);
  if (!argument) return null;
  return { kind: "argument", start: argument[1].length, end: caret + ended(/^[^\n]*/, after), typed: argument[3], command: argument[2] };
}

/** @param {RegExp} rest @param {string} after */
const ended = (rest, after) => (rest.exec(after)?.[0] ?? "").length;

/** @param {string} text */
const plain = (text) => text.replace(/\\(.)/g, "$1");

/** The text with the word replaced, and the new caret position. @param {string} text @param {Word} word @param {string} name */
export function taken(text, word, name) {
  const put = word.kind === "argument" ? name : word.kind === "command" ? `/${name} ` : `${mention(name)} `;
  const after = text.slice(word.end).replace(/^ /, put.endsWith(" ") ? "" : " ");
  return { text: text.slice(0, word.start) + put + after, caret: word.start + put.length };
}

/** A path as it is written in a prompt. @param {string} path */
export function mention(path) {
  return PLAIN_PATH.test(path) ? `@${path}` : `@"${path.replace(/["\\]/g, "\\$&")}"`;
}

/** Prefix matches first, then substring matches. @param {string} typed @param {Candidate[]} candidates */
export function fitting(typed, candidates) {
  const wanted = typed.trim().toLowerCase();
  const begins = candidates.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  return [...begins, ...candidates.filter((one) => !begins.includes(one) && one.name.toLowerCase().includes(wanted))];
}
