// The person's actions: each sends a command to the server and reports what went wrong.

import { command, get, newKey, Problem } from "./api.js";
import { encoded } from "./attachments.js";
import { ends, go, listArchive, pathOf, words } from "./controller.js";
import { keepDraft, leaveFirst } from "./drafts.js";
import { changed, closeDialog, notice, state } from "./store.js";
import { mention } from "./suggest.js";

/** Sends a command and reports what went wrong. @template T @param {Promise<T>} sent @returns {Promise<T | null>} */
async function attempt(sent) {
  try {
    return await sent;
  } catch (error) {
    notice(words(error), "bad");
    return null;
  }
}

/** For dialogs, which show what went wrong themselves: they close on success. @param {Promise<unknown>} sent */
async function problemOf(sent) {
  try {
    await sent;
  } catch (error) {
    return words(error);
  }
  closeDialog();
  return "";
}

/** @param {string} session @param {string} call */
const callPath = (session, call) => `${pathOf(session)}/calls/${encodeURIComponent(call)}`;

// --- prompts ---

/** `steer`: during a turn, the model reads it at its next step. @typedef {{ files?: File[], steer?: boolean }} Along */
/** @param {string} session @param {string} text @param {Along} [along] */
export const submit = (session, text, along = {}) => attempt(say(session, text, along));

/** @param {string} session @param {string} text @param {Along} along */
async function say(session, text, { files = [], steer = false }) {
  /** @type {string[]} */
  const mentions = [];
  for (const file of files) mentions.push(mention((await command(`${pathOf(session)}/uploads`, { name: file.name, data: await encoded(file) })).path));
  const words = text.trim() || mentions.length === 0 ? text : `See the attached ${mentions.length === 1 ? "file" : "files"}.`; // it may name the session
  return command(`${pathOf(session)}/messages`, { text: [words, ...(mentions.length > 0 ? [mentions.join(" ")] : [])].join("\n\n"), steer });
}

/** What was held in the queue is sent. @param {string} session */
export const releaseQueue = (session) => attempt(command(`${pathOf(session)}/commands`, { type: "release_queue" }));
/** Has the server fill in and send a prompt that it knows by name. What it runs may need approval: then the request is repeated with
 * the same key to keep waiting. @param {string} session @param {string} name @param {string} argument @returns {Promise<string>} the problem */
export async function usePrompt(session, name, argument) {
  const key = newKey();
  try {
    for (let going = true; going; ) {
      /** @type {{ state: "sent" | "going" }} */
      const using = await command(`${pathOf(session)}/prompts`, { name, argument }, "POST", key);
      going = using.state === "going";
    }
    return "";
  } catch (error) {
    return words(error);
  }
}
/** @param {string} session @param {string} key */
export const withdraw = (session, key) => attempt(command(`${pathOf(session)}/queue/${encodeURIComponent(key)}`, undefined, "DELETE"));
/** What is in the queue stays there: stopping must not start the next thing. @param {string} session */
export const stopTurn = (session) => attempt(command(`${pathOf(session)}/cancel`, { hold: true }));
/** @param {string} session @param {string} call */
export const stopCall = (session, call) => attempt(command(`${callPath(session, call)}/cancel`, {}));
/** Types a line for a prompt of a running command; null is the end of its input. @param {string} session @param {string} call
 * @param {number} number @param {string | null} text */
export const typeIn = (session, call, number, text) => attempt(command(`${callPath(session, call)}/input`, { number, text }));
/** @param {string} session @param {string} call */
export const stopBackground = (session, call) => attempt(command(`${pathOf(session)}/background/${encodeURIComponent(call)}/stop`, {}));
/** It goes on when the session ends. @param {string} session @param {string} call */
export const keepBackground = (session, call) => attempt(command(`${pathOf(session)}/background/${encodeURIComponent(call)}/keep`, {}));
/** @param {string} session @param {string} grant */
export const revoke = (session, grant) => attempt(command(`${pathOf(session)}/grants/${encodeURIComponent(grant)}`, undefined, "DELETE"));

// --- the session itself ---

/** If the line is a command, it is carried out in the new session. With files, the prompt is sent after them.
 * @param {Record<string, string>} wish @param {string} line @param {File[]} files @returns {Promise<string>} the problem */
export function begin({ prompt = "", ...wish }, line = "", files = []) {
  const open = async (/** @type {{ id: string }} */ { id }) => {
    leaveFirst(id, line);
    if (state.showArchive) listArchive(false); // it is not in the archive
    go(`#/s/${id}`);
    if (files.length > 0 && !(await submit(id, prompt, { files }))) keepDraft(id, prompt);
  };
  if (prompt && files.length === 0) wish.prompt = prompt;
  return problemOf(command("/sessions", wish).then(open));
}

/** @typedef {{ title?: string, mode?: string, model?: string, effort?: string, archived?: boolean }} Wish */
/** @param {string} session @param {Wish} wish @returns {Promise<import("./types.d.ts").Taken>} */
const change = (session, wish) => command(pathOf(session), wish, "PATCH");
/** @param {string} session @param {Wish} wish */
export const update = (session, wish) => attempt(change(session, wish));
/** @param {string} session @param {Wish} wish @returns {Promise<string>} the problem */
export const updateInWindow = (session, wish) => problemOf(change(session, wish));

/** Takes it out of the list, or puts it back. @param {{ id: string, title: string }} session @param {boolean} archived */
export async function archive({ id, title }, archived) {
  if (!(await update(id, { archived }))) return;
  if (archived && state.route.id === id) go("#/");
  notice(archived ? `Archived: ${title || "New session"}. It is at the end of the list, under “Archived”.` : `${title || "New session"} is in the list again.`, "", "");
}

/** Opens an independent copy. @param {string} session @param {string} title */
export async function fork(session, title) {
  /** @type {import("./types.d.ts").Session | null} */
  const copy = await attempt(command(`${pathOf(session)}/fork`, {}));
  if (!copy) return;
  if (title) await update(copy.id, { title: `${title.slice(0, 100)} (copy)` });
  go(`#/s/${copy.id}`);
  notice("This is a copy. The original session is unchanged.", "", copy.id);
}

/** @param {string} session @returns {Promise<string>} why it was not deleted */
export async function remove(session) {
  const problem = await problemOf(command(pathOf(session), undefined, "DELETE").catch(goneIsFine));
  if (problem) return problem;
  keepDraft(session, "");
  if (state.route.id === session) go("#/");
  return "";
}

/** It may have been our own first attempt, whose response got lost. @param {unknown} error */
function goneIsFine(error) {
  if (!(error instanceof Problem && error.status === 404)) throw error;
}

/** @param {string} session */
export async function compress(session) {
  const talk = state.talk;
  const after = talk?.busy;
  const working = (/** @type {boolean} */ on) => {
    if (talk) talk.compressing = on && !after;
    changed();
  };
  working(true);
  try {
    /** @type {import("./types.d.ts").Taken} */
    const taken = await command(`${pathOf(session)}/compress`, {});
    if (taken.state === "recorded") return compressLater(taken.key, after ?? false, working);
  } catch (error) {
    if (!(error instanceof Problem && error.type === "refused")) notice(words(error), "bad"); // a refusal is shown in the conversation
  }
  working(false);
}

/** The outcome is reported when it is known, wherever the person is then. @param {string} key @param {boolean} after @param {(on: boolean) => void} working */
function compressLater(key, after, working) {
  notice(after ? "The history will be compressed when this turn is over." : "Compressing the history takes a while; you will be told when it is done.");
  ends.set(key, (problem) => {
    ends.delete(key);
    working(false);
    if (problem) notice(`The history was not compressed: ${problem}`, "bad");
    else notice("The history has been compressed.");
  });
}

// --- undo ---

/** @param {string} session @returns {Promise<import("./types.d.ts").Change[]>} the changes that can be undone, newest first */
export async function changesOf(session) {
  return (await get(`${pathOf(session)}/changes`)).changes;
}

/** Undoes what a call wrote; the outcome is reported when it is known. @param {string} session @param {import("./types.d.ts").Change} change @param {string} name */
export function undo(session, change, name) {
  const begun = command(`${callPath(session, change.call_id)}/undo`, {});
  return problemOf(begun.then(({ call_id }) => tellUndone(session, call_id, name)));
}

/** @param {string} session @param {string} call @param {string} name */
function tellUndone(session, call, name) {
  const tell = () => {
    const done = state.talk?.session === session ? state.talk.calls.get(call) : undefined;
    if (!done || !["success", "error", "cancelled"].includes(done.type)) return;
    ends.delete(call);
    if (done.type === "success") notice(`Undone: ${name}`);
    else notice(`Not undone: ${done.failure?.message ?? "it was cancelled"}`, "bad");
  };
  ends.set(call, tell);
  if (state.talk?.busy) notice(`${name} will be restored when this turn is over.`);
  tell(); // it may already be over
}
