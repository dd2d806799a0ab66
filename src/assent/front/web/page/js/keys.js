// Keyboard shortcuts. They work when no field has the focus; those of a question belong to the card.

import { stopTurn } from "./acts.js";
import { go } from "./controller.js";
import { showQuestion } from "./status.js";
import { show, state } from "./store.js";

/** @type {[string, string][]} */
export const SHORTCUTS = [
  ["q", "go to the next question"],
  ["y  a  e  n", "at a question: yes (once), always, edit, no"],
  ["t  d", "at a command: try it first; then: run it directly"],
  ["j", "go to the next unseen line of a question"],
  ["/", "write a message; commands start with /, e.g. /undo"],
  ["Enter", "send it (Shift+Enter for a new line)"],
  ["Ctrl+Enter", "during a turn: send it so that the model reads it at its next step"],
  ["@", "in a message: mention a file"],
  ["↑  ↓", "recall earlier prompts"],
  ["i", "inbox"],
  ["c", "new session"],
  ["[  ]", "previous, next session"],
  ["s", "find a session"],
  ["m", "menu of the open session"],
  ["Ctrl+.", "stop the turn"],
  ["?", "this list"],
  ["Esc", "leave a field, close a dialog"],
];

/** @type {Record<string, () => unknown>} */
const ACTS = {
  q: () => (document.querySelector("[data-question]") ? showQuestion() : go("#/inbox")),
  "/": () => document.getElementById("composer")?.focus(),
  j: () => /** @type {HTMLElement | null} */ (document.querySelector(".next-unseen"))?.click(),
  i: () => go("#/inbox"),
  c: () => state.me?.role === "operator" && go("#/new"),
  s: () => document.getElementById("find")?.focus(),
  m: () => /** @type {HTMLElement | null} */ (document.querySelector("[data-menu=session]"))?.click(),
  "?": () => show("keys"),
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

/** @param {number} by */
function step(by) {
  const place = state.sessions.findIndex((session) => session.id === state.route.id);
  const next = state.sessions[place + by];
  if (next) go(`#/s/${next.id}`);
}
