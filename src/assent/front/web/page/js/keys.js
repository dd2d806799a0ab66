// Keyboard shortcuts. They count when no field has the focus; those of a question are the card's own.

import { showQuestion } from "./composer.js";
import { go, stopTurn } from "./desk.js";
import { changed, state } from "./store.js";

/** @type {[string, string][]} */
export const SHORTCUTS = [
  ["q", "show the next question and put the focus on it"],
  ["y  a  e  n", "at a question: yes once, always, edit, no"],
  ["/", "write a message"],
  ["Enter", "send it (Shift+Enter: a new line)"],
  ["i", "inbox"],
  ["c", "new session"],
  ["[  ]", "previous, next session"],
  ["Ctrl+.", "stop the turn"],
  ["?", "this list"],
  ["Esc", "leave a field, close a window"],
];

/** @type {Record<string, () => void>} */
const ACTS = {
  q: () => (document.querySelector("[data-question]") ? showQuestion() : go("#/inbox")),
  "/": () => document.getElementById("composer")?.focus(),
  i: () => go("#/inbox"),
  c: () => dialog("new"),
  "?": () => dialog("keys"),
  "[": () => step(-1),
  "]": () => step(1),
};

export function listenToKeys() {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || state.stage !== "ready") return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "." && event.ctrlKey && state.talk?.busy) return void stopTurn(state.talk.session);
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select")) return;
    if (!Object.hasOwn(ACTS, event.key)) return;
    event.preventDefault();
    ACTS[event.key]();
  });
}

/** @param {"new" | "keys"} which */
function dialog(which) {
  if (which === "new" && state.me?.role !== "operator") return;
  state.dialog = which;
  changed();
}

/** @param {number} by */
function step(by) {
  const place = state.sessions.findIndex((session) => session.id === state.route.id);
  const next = state.sessions[place + by];
  if (next) go(`#/s/${next.id}`);
}
