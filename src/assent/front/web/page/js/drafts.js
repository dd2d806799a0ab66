// What was written and not sent yet, kept for each session of this tab, also over a reload.

const PREFIX = "assent.draft.";

/** @param {string} session */
export const draftOf = (session) => sessionStorage.getItem(PREFIX + session) ?? "";

/** @param {string} session @param {string} text */
export function keepDraft(session, text) {
  try {
    if (text) sessionStorage.setItem(PREFIX + session, text);
    else sessionStorage.removeItem(PREFIX + session);
  } catch {
    // the browser's store is full: the text stays in its box
  }
}

export function forgetDrafts() {
  const mine = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  mine.forEach((key) => sessionStorage.removeItem(key));
}
