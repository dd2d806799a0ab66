// Unsent text, kept for each session of this tab and across reloads; and the first line of a new session.

const PREFIX = "assent.draft.";

/** @param {string} session */
export const draftOf = (session) => sessionStorage.getItem(PREFIX + session) ?? "";

/** @param {string} session @param {string} text */
export function keepDraft(session, text) {
  try {
    if (text) sessionStorage.setItem(PREFIX + session, text);
    else sessionStorage.removeItem(PREFIX + session);
  } catch {
    // the browser's storage is full: the text stays in its box
  }
}

const NONE = { session: "", line: "" };
let first = NONE;

/** The message box of that session carries it out as soon as it appears. @param {string} session @param {string} line */
export function leaveFirst(session, line) {
  first = { session, line };
}

/** Returns it once. @param {string} session */
export function takeFirst(session) {
  const line = first.session === session ? first.line : "";
  if (line) first = NONE;
  return line;
}

export function forgetDrafts() {
  const mine = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  mine.forEach((key) => sessionStorage.removeItem(key));
  first = NONE;
}

/** @type {(text: string) => void} */
let put = () => {};

/** Puts text into the message box, to be edited. @param {string} text */
export const putIntoPrompt = (text) => put(text);

/** @param {(text: string) => void} how */
export function onPut(how) {
  put = how;
}
