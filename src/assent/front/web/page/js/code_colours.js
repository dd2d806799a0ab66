// Colours for code in replies: comments, strings, numbers and the words that most languages share. Approximate on purpose:
// it colours text, and never changes it.

/** @typedef {[look: string, text: string]} Piece */

const WORDS = new Set(
  ("abstract and as async await begin bool break case catch class const continue def default del delete do double echo elif else end enum " +
    "esac except export extends false fi final finally float fn for foreach from func function global goto if impl implements import in instanceof " +
    "int interface is lambda let loop match mod module mut namespace new nil none null not of or package pass private protected pub public raise " +
    "readonly return select self static string struct super switch then this throw trait true try type typeof undefined union unless unsafe until " +
    "use using val var void when where while with yield None True False SELECT FROM WHERE INSERT UPDATE DELETE CREATE TABLE JOIN INTO VALUES SET").split(" "),
);
const PLAIN = new Set(["text", "txt", "plain", "console", "output", "diff", "log", "markdown", "md"]);
const HASH = /^(py|python|sh|bash|zsh|shell|ruby|rb|yaml|yml|toml|make|makefile|dockerfile|perl|r|elixir|nix|ini|conf)$/;
const DASHES = /^(sql|lua|haskell|hs|ada)$/;
const MAX_LENGTH = 50_000;

/** @param {string} language */
function grammar(language) {
  const comment = HASH.test(language) ? "#[^\\n]*" : DASHES.test(language) ? "--[^\\n]*" : "\\/\\/[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)";
  const string = `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])*'?|\`(?:\\\\.|[^\`\\\\])*\`?`;
  return new RegExp(`(?<tc>${comment})|(?<ts>${string})|(?<tm>\\b\\d[\\w.]*)|(?<word>[A-Za-z_$][\\w$]*)(?<call>(?=\\())?`, "gu");
}

/** @param {string} text @param {string} language as named after the fence @returns {Piece[]} */
export function coloured(text, language) {
  const name = language.trim().split(/\s/)[0].toLowerCase();
  if (!name || PLAIN.has(name) || text.length > MAX_LENGTH) return [["", text]];
  /** @type {Piece[]} */
  const found = [];
  let at = 0;
  for (const match of text.matchAll(grammar(name))) {
    const look = lookOf(match.groups ?? {});
    if (!look) continue;
    if (match.index > at) found.push(["", text.slice(at, match.index)]);
    found.push([look, match[0]]);
    at = match.index + match[0].length;
  }
  return [...found, ["", text.slice(at)]];
}

/** @param {Record<string, string | undefined>} groups */
function lookOf({ tc, ts, tm, word, call }) {
  if (tc !== undefined) return "tc";
  if (ts !== undefined) return "ts";
  if (tm !== undefined) return "tm";
  return WORDS.has(word ?? "") ? "tk" : call !== undefined ? "tf" : "";
}
