// Tells people that a question waits: in the title, on the desktop, and to screen readers.

import { state } from "./store.js";

/** @type {Set<string> | null} */
let known = null;

/** @param {import("./types.d.ts").Waiting[]} approvals */
export function announce(approvals) {
  const fresh = approvals.filter((one) => known !== null && !known.has(one.approval.id));
  known = new Set(approvals.map((one) => one.approval.id));
  if (fresh.length === 0) return;
  state.said = `${fresh.length === 1 ? "A question waits" : `${fresh.length} questions wait`}: ${headline(fresh[0])}`;
  if (document.hidden && allowed()) fresh.forEach(show);
}

/** What it is about, without the words of the model. @param {import("./types.d.ts").Waiting} one */
export function headline({ approval, session }) {
  const what = { edit: "change a file", exec: "run a command", info: "ask the outside world", mcp: "use a server's tool", ask: "ask you something" };
  return `${what[approval.details.type]} in ${folderName(session.folder)}`;
}

/** @param {string} folder */
export const folderName = (folder) => folder.split("/").filter(Boolean).at(-1) ?? folder;

/** @param {import("./types.d.ts").Waiting} one */
function show(one) {
  const shown = new Notification("Assent asks", { body: `May it ${headline(one)}?`, tag: one.approval.id });
  shown.onclick = () => {
    focus();
    location.hash = `#/s/${one.session.id}`;
    shown.close();
  };
}

export const possible = () => "Notification" in globalThis && Notification.permission === "default";
const allowed = () => "Notification" in globalThis && Notification.permission === "granted";
export const askToNotify = () => Notification.requestPermission();

/** @param {string} title @param {number} waiting */
export function titled(title, waiting) {
  document.title = `${waiting ? `(${waiting}) ` : ""}${title ? `${title} · ` : ""}Assent`;
}
