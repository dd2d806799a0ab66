// Tells people that a question is waiting or a turn is over: in the title, on the desktop, and to screen readers.

import { folderName } from "./paths.js";
import { isPushed, subscribe } from "./push.js";
import { changed, state } from "./store.js";
import { visible } from "./visible.js";
import { showThroughWorker } from "./worker_setup.js";

/** @type {Set<string> | null} */
let known = null;

/** @param {import("./types.d.ts").Waiting[]} approvals */
export function announce(approvals) {
  const fresh = approvals.filter((one) => known !== null && !known.has(one.approval.id));
  known = new Set(approvals.map((one) => one.approval.id));
  if (fresh.length === 0) return;
  state.said = `${fresh.length === 1 ? "A question is waiting" : `${fresh.length} questions are waiting`}: ${headline(fresh[0])}`;
  if (document.hidden && allowed() && !isPushed()) fresh.forEach(show);
}

/** What it is about, without the model's words. @param {import("./types.d.ts").Waiting} one */
export function headline({ approval, session }) {
  const what = { edit: "change a file", exec: "run a command", info: "access data", mcp: "use a server's tool", ask: "ask you something" };
  return `${what[approval.details.type]} in ${folderName(session.folder)}`;
}

/** @param {import("./types.d.ts").Waiting} one */
const show = (one) => notify("Assent asks", `May it ${headline(one)}?`, one.approval.id, `#/s/${one.session.id}/q/${one.approval.id}`);

/** @param {string} title @param {string} body @param {string} tag @param {string} hash where a click leads */
function notify(title, body, tag, hash) {
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      focus();
      location.hash = hash;
      shown.close();
    };
  } catch {
    void showThroughWorker(title, { body, tag, data: { hash } }); // on a phone, only the worker may
  }
}

/** A turn ended while nobody was looking: the title says so until somebody does. @param {import("./fold.js").Talk} talk @param {string} status */
export function announceEnd({ session, title }, status) {
  if (!document.hidden) return;
  state.unseenEnd = true;
  if (allowed()) notify(status === "completed" ? "Done" : "Stopped", title || "New session", session, `#/s/${session}`);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden || !state.unseenEnd) return;
  state.unseenEnd = false;
  changed();
});

export const possible = () => "Notification" in globalThis && Notification.permission === "default";
const allowed = () => "Notification" in globalThis && Notification.permission === "granted";
export const askToNotify = () => Notification.requestPermission().then(subscribe);

/** @param {string} title @param {number} waiting */
export function titled(title, waiting) {
  const sign = waiting ? `(${waiting}) ` : state.unseenEnd ? "✓ " : "";
  document.title = `${sign}${title ? `${visible(title)} · ` : ""}Assent`;
}
