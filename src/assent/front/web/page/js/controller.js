// The controller: brings events into the store, and answers to the server. It draws nothing.

import { command, get, lastWord, Problem, request, token, Unreachable } from "./api.js";
import { forgetDrafts } from "./drafts.js";
import { Talk } from "./fold.js";
import { loginCode } from "./login.js";
import { who } from "./names.js";
import { announce, announceEnd } from "./notify.js";
import { subscribe, unsubscribe } from "./push.js";
import { changed, closeDialog, notice, state } from "./store.js";
import { Stream } from "./stream.js";

/** @typedef {import("./types.d.ts").CallView} CallView */
/** @typedef {import("./types.d.ts").Answer} Answer */
/** @typedef {{ revision: number, total: number, sessions: import("./types.d.ts").Session[], archived: number }} SessionList */
/** @typedef {{ revision: number, total: number, approvals: import("./types.d.ts").Waiting[], inputs: import("./types.d.ts").WaitingInput[] }} ApprovalList */

const NOT_VALID = "This login or token is not valid, or has ended.";
const USED_UP = "This link no longer works: it has already been used, or it is older than a minute.";
const EVENTS_PER_PAGE = 1000;
export const SESSIONS_PER_PAGE = 100;
export const MAX_SESSIONS = 500;

// --- login and logout ---

export async function start() {
  addEventListener("hashchange", () => (closeDialog(), void follow()));
  addEventListener("online", () => stream.now());
  token.onChange(() => (token.get() ? state.stage === "login" && void enter() : state.stage === "ready" && leave()));
  let me = null;
  try {
    me = await logIn();
  } catch (error) {
    state.loginProblem = error instanceof Problem ? (error.status === 401 ? USED_UP : words(error)) : "";
  }
  if (token.get()) await enter(me);
  else leave(state.loginProblem);
}

/** With the code from the address, if there is one. @returns {Promise<import("./types.d.ts").Me | null>} */
async function logIn() {
  const code = loginCode();
  if (!code) return null;
  const login = await request("POST", "/login", { code });
  token.set(login.token);
  return login.me;
}

/** @param {import("./types.d.ts").Me | null} [me] what the login has told already */
async function enter(me = null) {
  try {
    state.me = me ?? (await get("/me"));
  } catch (error) {
    if (error instanceof Unreachable) return void setTimeout(enter, 1000);
    return leave(error instanceof Problem && error.status === 401 ? NOT_VALID : words(error));
  }
  state.stage = "ready";
  void readFirst();
  await follow();
}

/** @param {string} text */
export async function useToken(text) {
  token.set(text.trim());
  await enter();
  if (state.stage === "ready") void subscribe();
}

/** The page is hidden: close the connection. */
export const rest = () => stream.stop();

/** The page is visible again: catch up first. */
export const wake = () => void follow();

/** @param {string} [why] */
export function leave(why = "") {
  stream.stop();
  token.clear();
  Object.assign(have, { sessions: -2, approvals: -2 }); // after the next login, they are read again
  Object.assign(state, { stage: "login", loginProblem: why, me: null, talk: null, sessions: [], approvals: [], inputs: [], waiting: 0, wanted: "", showArchive: false });
  state.views.clear();
  changed();
}

export async function logOut() {
  await request("POST", "/logout", {}).catch(() => {});
  void unsubscribe();
  forgetDrafts(); // only here: after an expired login, people want to keep their drafts
  leave();
}

// --- routing ---

/** @param {string} hash */
export function go(hash) {
  if (location.hash === hash) void follow();
  else location.hash = hash;
}

async function follow() {
  if (state.stage !== "ready") return;
  state.route = routeOf(location.hash);
  state.problem = "";
  if (state.route.name === "session") await open(state.route.id);
  else {
    state.talk = null;
    stream.watch(() => []);
  }
  changed();
}

/** `#/inbox`, `#/new`, `#/s/ID`, and in a session a question, an output or a file: `#/s/ID/q/APPROVAL`, `#/s/ID/output/CALL`, `#/s/ID/media/CALL.0`.
 * @param {string} hash @returns {import("./store.js").Route} */
function routeOf(hash) {
  const [, name = "", id = "", part = "", item = ""] = hash.replace(/^#/, "").split("/").map(decoded);
  if (name === "s" && id) return { name: "session", id, part, item };
  return { name: name === "inbox" || name === "new" ? name : "home", id: "", part: "", item: "" };
}

/** A link may be cut off in the middle of a character. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} id */
async function open(id) {
  if (state.talk?.session !== id) {
    state.talk = new Talk(id, state.me?.by);
    state.views.clear();
    asked.clear();
  }
  const talk = state.talk;
  stream.stop();
  state.loading = true;
  changed();
  try {
    await catchUp(talk);
  } catch (error) {
    if (state.talk === talk) lost(error, talk);
    return;
  }
  if (state.talk !== talk) return; // the person has moved on meanwhile
  state.loading = false;
  stream.watch(() => [[talk.session, talk.seq]]);
  changed();
}

/** @param {Talk} talk */
async function catchUp(talk) {
  for (let more = true; more; ) {
    /** @type {{ events: import("./types.d.ts").WireEvent[], more: boolean }} */
    const page = await get(`${pathOf(talk.session)}/events?after=${talk.seq}&limit=${EVENTS_PER_PAGE}`);
    page.events.forEach((event) => take(talk, event));
    more = page.more;
  }
}

/** @param {unknown} error @param {Talk} talk */
function lost(error, talk) {
  if (error instanceof Unreachable) {
    state.link = "lost";
    setTimeout(() => state.talk === talk && void open(talk.session), 1000);
  } else {
    state.loading = false;
    state.talk = null;
    state.problem = words(error);
    stream.watch(() => []);
  }
  changed();
}

// --- events ---

const stream = new Stream({
  open() {
    state.link = "live";
    void overlay();
    changed();
  },
  frame(frame) {
    if (frame.event === "events") frame.data.forEach((data) => happened(JSON.parse(data)));
    else if (frame.event === "overview") overview(JSON.parse(frame.data[0]));
    else if (frame.event === "resync" && state.talk) void open(state.talk.session);
    changed();
  },
  lost() {
    state.link = "lost";
    changed();
  },
  refused(problem) {
    if (problem.status === 401) return leave(NOT_VALID);
    state.link = "lost";
    notice(words(problem), "bad");
  },
});

/** Callbacks for the end of a call, by its id, or for the outcome of a command, by its key. @type {Map<string, (problem: string) => void>} */
export const ends = new Map();

/** @param {Talk} talk @param {import("./types.d.ts").WireEvent} event */
function take(talk, event) {
  talk.apply(event);
  if (event.type === "call.finished") ends.get(event.call_id)?.("");
  if (event.type === "command.taken") ends.get(event.key)?.(event.problem ?? "");
}

/** @param {import("./types.d.ts").WireEvent} event */
function happened(event) {
  if (event.session !== state.talk?.session) return;
  take(state.talk, event);
  if (event.type === "turn.finished") announceEnd(state.talk, event.status);
}

async function overlay() {
  const talk = state.talk;
  if (!talk) return;
  const before = talk.queued;
  const snapshot = await get(pathOf(talk.session)).catch(() => null);
  if (snapshot && state.talk === talk) talk.overlay(snapshot, before);
  changed();
}

const UNKNOWN = -1;
const wanted = { sessions: UNKNOWN, approvals: UNKNOWN };
const have = { sessions: -2, approvals: -2 };
let reading = false;
const REFRESH_DELAY_MS = 250;
/** @type {() => void} */
let hurry = () => {};

/** The lists are read again when they have changed, one read at a time. @param {{ approvals: number, waiting: number, sessions: number }} news */
function overview(news) {
  state.waiting = news.waiting;
  Object.assign(wanted, { sessions: news.sessions, approvals: news.approvals });
  void readLists();
}

/** After a login, the lists are read while the stream is still being opened, which then says whether they are current. */
async function readFirst() {
  if (reading) return;
  reading = true;
  await Promise.all([readApprovals(), readSessions()]).catch(() => {}); // the stream asks for them again
  reading = false;
  if (wanted.sessions !== UNKNOWN) void readLists();
  if (isFirstVisit()) location.replace("#/new");
}

/** On a phone, which shows one thing at a time: an empty list is no welcome. */
const isFirstVisit = () => matchMedia("(max-width: 760px)").matches && state.route.name === "home" && state.me?.role === "operator" && have.sessions !== -2 && state.sessions.length + state.archived === 0;

async function readLists() {
  if (reading) return;
  reading = true;
  try {
    while (wanted.sessions !== have.sessions || wanted.approvals !== have.approvals) {
      if (wanted.approvals !== have.approvals) await readApprovals();
      if (wanted.sessions !== have.sessions) await readSessions();
      await pause();
    }
  } catch (error) {
    if (!(error instanceof Unreachable)) notice(words(error), "bad");
  } finally {
    reading = false;
  }
}

/** Lists that change constantly are read a few times a second; `hurry` ends the pause. */
const pause = () => new Promise((resolve) => setTimeout((hurry = () => resolve(undefined)), REFRESH_DELAY_MS));

async function readApprovals() {
  const target = wanted.approvals;
  /** @type {ApprovalList} */
  const list = await get("/approvals?limit=200");
  have.approvals = target === UNKNOWN ? list.revision : target;
  announce(list.approvals, list.inputs);
  Object.assign(state, { approvals: list.approvals, inputs: list.inputs, waiting: list.total + list.inputs.length });
  changed();
}

async function readSessions() {
  const target = wanted.sessions;
  const { wanted: asked, most, showArchive } = state;
  const which = asked ? "all" : showArchive ? "only" : "no"; // a search finds what was archived, too
  /** @type {SessionList} */
  const list = await get(`/sessions?limit=${most}&archived=${which}&query=${encodeURIComponent(asked)}`);
  if (asked !== state.wanted || most !== state.most || showArchive !== state.showArchive) return; // something else is wanted meanwhile
  have.sessions = target === UNKNOWN ? list.revision : target;
  Object.assign(state, { sessions: list.sessions, total: list.total, archived: list.archived });
  if (!asked && !showArchive) state.all = list.total;
  if (state.talk && !state.loading && !list.sessions.some((session) => session.id === state.talk?.session)) void stillThere(state.talk);
  changed();
}

/** The session that is shown is not in the list: it may be old, filtered out, or deleted. @param {Talk} talk */
async function stillThere(talk) {
  try {
    await get(`${pathOf(talk.session)}/events?after=${talk.seq}&limit=1`);
  } catch (error) {
    if (state.talk === talk && error instanceof Problem && error.status === 404) lost(new Error("It was deleted."), talk);
  }
}

/** Lists the archived sessions, or the others. @param {boolean} showArchive */
export function listArchive(showArchive) {
  state.showArchive = showArchive;
  find("");
}

/** Shows the sessions that match these words, at most `most`. @param {string} wanted @param {number} [most] */
export function find(wanted, most = SESSIONS_PER_PAGE) {
  Object.assign(state, { wanted, most });
  have.sessions = -2;
  hurry();
  void readLists();
  changed();
}

// --- questions ---

/** @param {string} session @param {string} call @param {string} approval */
export const keyOf = (session, call, approval) => `${session}/${call}/${approval}`;

/** @type {Set<string>} */
const asked = new Set();

/**
 * A call as the server shows it, read once for each approval; null until it has arrived.
 * @param {string} session @param {string} call @param {string} approval its id, or anything for a call that is over
 * @returns {CallView | null}
 */
export function viewOf(session, call, approval) {
  const key = keyOf(session, call, approval);
  const view = state.views.get(key);
  if (!view && !asked.has(key)) void readView(session, call, key);
  return view ?? null;
}

/** @param {string} session @param {string} call @param {string} key */
async function readView(session, call, key) {
  asked.add(key);
  try {
    /** @type {CallView} */
    const view = await get(`${pathOf(session)}/calls/${encodeURIComponent(call)}`);
    state.views.set(key, view);
  } catch (error) {
    if (error instanceof Unreachable) setTimeout(() => (asked.delete(key), changed()), 1000);
  }
  changed();
}

/** @param {string} session @param {string} call @param {import("./types.d.ts").Approval} approval @param {Omit<Answer, "digest">} what */
export async function answer(session, call, approval, what) {
  const key = keyOf(session, call, approval.id);
  const { details } = approval;
  const edited = what.args !== undefined || (what.content !== undefined && (details.type !== "edit" || what.content !== details.new));
  const deciding = what.outcome !== "modify_with_editor" || edited; // otherwise the question stays as it is
  if (deciding) state.sending.add(key);
  changed();
  try {
    await command(`${pathOf(session)}/calls/${encodeURIComponent(call)}/decision`, { ...what, digest: approval.digest });
    return "";
  } catch (error) {
    state.sending.delete(key);
    return refused(error, key);
  } finally {
    changed();
  }
}

/** Nobody is editing the proposal any more. @param {string} session @param {string} call @param {import("./types.d.ts").Approval} approval */
export function leaveEditor(session, call, { details, digest }) {
  if (details.type !== "edit") return;
  lastWord(`${pathOf(session)}/calls/${encodeURIComponent(call)}/decision`, { outcome: "modify_with_editor", content: details.new, digest });
}

/** Why an answer was not accepted. What the person can still fix is returned to the card. @param {unknown} error @param {string} key */
function refused(error, key) {
  if (!(error instanceof Problem)) return words(error);
  switch (error.type) {
    case "already-decided":
      notice(`Already answered by ${who(error.by, state.me?.by)}.`);
      return "";
    case "gone":
      notice(`Too late: ${error.message}`);
      return "";
    case "digest-differs":
      asked.delete(key);
      state.views.delete(key);
      have.approvals = -2;
      hurry();
      void readLists();
      notice("The question has changed since you saw it. Please review it again.", "bad");
      return "";
    default:
      return words(error);
  }
}

/** @param {string} session */
export const pathOf = (session) => `/sessions/${encodeURIComponent(session)}`;

/** @param {unknown} error */
export function words(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
