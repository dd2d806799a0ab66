// Tells people that a question is waiting or a turn is over: in the title, on the desktop, and to screen readers.

import { folderName } from "./paths.js";
import { isPushed, subscribe } from "./push.js";
import { changed, state } from "./store.js";
import { visible } from "./visible.js";
import { showThroughWorker } from "./worker_setup.js";

/** @type {Set<string> | null} */
let known = null;

/** Something that waits for a person, without the model's words. @typedef {{ id: string, headline: string, body: string, hash: string }} News */

/** @param {import("./types.d.ts").Waiting[]} approvals @param {import("./types.d.ts").WaitingInput[]} inputs */
export function announce(approvals, inputs) {
  const news = [...approvals.map(question), ...inputs.map(input)];
  const fresh = news.filter(({ id }) => known !== null && !known.has(id));
  known = new Set(news.map(({ id }) => id));
  if (fresh.length === 0) return;
  state.said = `${fresh.length === 1 ? "A question is waiting" : `${fresh.length} questions are waiting`}: ${fresh[0].headline}`;
  if (document.hidden && allowed() && !isPushed()) fresh.forEach(({ id, body, hash }) => notify("Assent asks", body, id, hash));
}

/** @param {import("./types.d.ts").Waiting} waiting @returns {News} */
function question({ approval, session }) {
  const what = { edit: "change a file", exec: "run a command", info: "access data", mcp: "use a server's tool", ask: "ask you something" };
  const headline = `${what[approval.details.type]} in ${folderName(session.folder)}`;
  return { id: approval.id, headline, body: `May it ${headline}?`, hash: `#/s/${session.id}/q/${approval.id}` };
}

/** @param {import("./types.d.ts").WaitingInput} waiting @returns {News} */
function input({ call_id, session }) {
  const headline = `a command in ${folderName(session.folder)} is waiting for input`;
  return { id: `${session.id}/${call_id}`, headline, body: headline.replace("a", "A"), hash: `#/s/${session.id}` };
}

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

/** A turn ended while nobody was looking: the title says so until someone does. @param {import("./fold.js").Talk} talk @param {string} status */
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
