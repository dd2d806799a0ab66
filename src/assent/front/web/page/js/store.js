// Everything the page knows, in one place. Views read it and draw; only the controller changes it.

/** @typedef {import("./types.d.ts").CallView} CallView */
/** `part` and `item`: a question or an output of the session. @typedef {{ name: "home" | "new" | "inbox" | "session", id: string, part: string, item: string }} Route */
/** @typedef {"" | "keys" | "phone" | "grants" | "rename" | "delete" | "undo" | "model" | "yolo" | "access" | "audit"} Dialog */
/** `session`: where it belongs, "" for everywhere. @typedef {{ id: number, text: string, tone: "" | "bad", session: string }} Notice */

export const state = {
  stage: /** @type {"starting" | "login" | "ready"} */ ("starting"),
  loginProblem: "",
  me: /** @type {import("./types.d.ts").Me | null} */ (null),
  link: /** @type {"connecting" | "live" | "lost"} */ ("connecting"),
  route: /** @type {Route} */ ({ name: "home", id: "", part: "", item: "" }),
  sessions: /** @type {import("./types.d.ts").Session[]} */ ([]),
  total: 0,
  /** The search words, how many sessions are shown at most, and how many there are in total. */
  wanted: "",
  most: 100,
  all: 0,
  /** Whether the archived sessions are listed instead, and how many there are. */
  showArchive: false,
  archived: 0,
  approvals: /** @type {import("./types.d.ts").Waiting[]} */ ([]),
  inputs: /** @type {import("./types.d.ts").WaitingInput[]} */ ([]),
  /** Questions and commands that wait for input. */
  waiting: 0,
  talk: /** @type {import("./fold.js").Talk | null} */ (null),
  loading: false,
  problem: "",
  /** The server's view of a call, by `session/call/approval`. @type {Map<string, CallView>} */
  views: new Map(),
  /** Answers being sent, by `session/call/approval`. @type {Set<string>} */
  sending: new Set(),
  notices: /** @type {Notice[]} */ ([]),
  dialog: /** @type {Dialog} */ (""),
  /** The session that the dialog is about. */
  about: { id: "", title: "" },
  /** Whether a turn has ended since someone last looked. */
  unseenEnd: false,
  /** Announced by screen readers. */
  said: "",
};

/** Whether this person may do more than look and answer. */
export const isOperator = () => state.me?.role === "operator";

/** @type {() => void} */
let draw = () => {};
let due = false;

/** @param {() => void} how */
export function drawWith(how) {
  draw = how;
}

/** Draws soon; several changes at once are drawn together. A hidden tab gets no frames, but its title must be right. */
export function changed() {
  if (due) return;
  due = true;
  const run = () => {
    due = false;
    draw();
  };
  if (document.hidden) setTimeout(run, 50);
  else requestAnimationFrame(run);
}

/** @param {Dialog} dialog @param {{ id: string, title: string }} [about] */
export function show(dialog, about = { id: "", title: "" }) {
  Object.assign(state, { dialog, about });
  changed();
}

/** What it was about stays: it may be drawn once more before it goes. */
export const closeDialog = () => show("", state.about);

let count = 0;

/** It is shown where the person is now; elsewhere it would be about something else. @param {string} text @param {"" | "bad"} [tone] @param {string} [session] */
export function notice(text, tone = "", session = state.route.id) {
  const id = ++count;
  state.notices = [...state.notices.slice(-3), { id, text, tone, session }];
  if (!tone) setTimeout(() => dismiss(id), 8000);
  changed();
}

/** @param {number} id */
export function dismiss(id) {
  state.notices = state.notices.filter((one) => one.id !== id);
  changed();
}

/** @param {string} text */
export function say(text) {
  state.said = text;
  changed();
}
