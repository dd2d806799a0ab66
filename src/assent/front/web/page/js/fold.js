// The fold: everything the page knows about a session, computed from its events and nothing else, by the same rules as on
// the server. Calls and entries are replaced, never mutated, so that views see immediately what is new.

import { who } from "./names.js";
import { withoutUploadFolder } from "./paths.js";

/** @typedef {import("./types.d.ts").Call} Call */
/** @typedef {import("./types.d.ts").Entry} Entry */
/** @typedef {import("./types.d.ts").WireEvent} WireEvent */
/** @typedef {import("./types.d.ts").Snapshot} Snapshot */

const LIVE_OUTPUT_LIMIT = 64_000;
const FINISHED_STATES = ["success", "error", "cancelled"];

export class Talk {
  /** @param {string} session @param {string} me our own name in the log */
  constructor(session, me = "") {
    this.session = session;
    this.me = me;
    this.seq = 0;
    this.title = "";
    this.folder = "";
    this.model = "";
    this.mode = /** @type {import("./types.d.ts").Mode} */ ("default");
    /** @type {Entry[]} */
    this.entries = [];
    /** @type {Map<string, Call>} */
    this.calls = new Map();
    /** @type {import("./types.d.ts").Queued[]} */
    this.queued = [];
    /** @type {Map<string, import("./types.d.ts").Grant>} */
    this.grants = new Map();
    /** The commands that run in the background, by call. @type {Map<string, import("./types.d.ts").Background>} */
    this.background = new Map();
    this.archived = false;
    this.openPrompt = "";
    /** A person requested a compression and is waiting for it; known only here. */
    this.compressing = false;
    this.tokens = 0;
    /** Dollars; null if the price of one request is unknown. @type {number | null} */
    this.cost = 0;
    /** The approximate size of the next request, and the context window of the model (0: unknown), in tokens. */
    this.context = { tokens: 0, window: 0 };
    /** The reply that is arriving; replaced by the complete one. */
    this.partial = { text: "", thoughts: /** @type {string[]} */ ([]), note: "" };
    /** @type {Map<string, string>} How each question was answered: shown with the call. */
    this.answers = new Map();
  }

  /** @param {WireEvent} event */
  apply(event) {
    if (event.seq !== 0 && event.seq <= this.seq) return;
    if (event.seq !== 0) this.seq = event.seq;
    if (event.type.startsWith("call.") || event.type.startsWith("approval.") || event.type === "trial.started") this.#call(event);
    else if (event.type.startsWith("model.") && event.type !== "model.changed" && event.type !== "model.warning") this.#reply(event);
    else this.#settle(event);
  }

  /** Adds transient state that we missed: the queue, live output, the reply so far. The queue is ignored if a newer one has
   * arrived since the request: `before` is the one we had then. @param {Snapshot} snapshot @param {Talk["queued"]} before */
  overlay(snapshot, before) {
    if (this.queued === before) this.queued = snapshot.queued;
    for (const { call } of snapshot.calls) {
      const mine = this.calls.get(call.request.call_id);
      if (mine?.type !== call.type) continue;
      const output = joined(call.output ?? "", mine.output ?? "");
      this.calls.set(call.request.call_id, { ...mine, pid: call.pid, modifying_by: call.modifying_by, tried_by: call.tried_by, wanted: call.wanted, output });
    }
    if (snapshot.reply && this.openPrompt && snapshot.session.seq === this.seq) {
      const known = snapshot.reply.thoughts.reduce(addThought, /** @type {string[]} */ ([]));
      this.partial = { ...this.partial, text: joined(snapshot.reply.text, this.partial.text), thoughts: mergeThoughts(known, this.partial.thoughts) };
    }
  }

  get busy() {
    return this.openPrompt !== "";
  }

  /** The commands that are waiting for someone to type something. */
  get inputs() {
    return [...this.calls.values()].filter((call) => call.type === "executing" && call.wanted);
  }

  get waiting() {
    return [...this.calls.values()].filter((call) => call.type === "awaiting_approval" && !call.answered_by);
  }

  /** The images and files of a call's result or of a prompt, by its id. @param {string} source @returns {import("./types.d.ts").Media[]} */
  mediaOf(source) {
    const prompt = this.entries.find((entry) => entry.id === source && entry.kind === "prompt");
    return (prompt?.kind === "prompt" ? prompt.media : this.calls.get(source)?.media) ?? [];
  }

  /** The call that wrote the newest to-do list. */
  get todoCall() {
    return [...this.calls.values()].filter((call) => call.display?.type === "todos").at(-1);
  }

  /** @param {WireEvent} event */
  #call(event) {
    if (event.type === "call.requested") return this.#begin(event);
    const call = "call_id" in event ? this.calls.get(event.call_id) : undefined;
    if (!call || FINISHED_STATES.includes(call.type)) return;
    const next = following(call, event);
    if (next) this.calls.set(call.request.call_id, next);
    if (event.type === "approval.answered") this.answers.set(event.call_id, answerText(event, this.me));
  }

  /** @param {Extract<WireEvent, { type: "call.requested" }>} event */
  #begin({ request, ts }) {
    this.calls.set(request.call_id, { type: "validating", request, started_at: ts });
    this.#add({ kind: "call", id: request.call_id });
  }

  /** @param {WireEvent} event */
  #reply(event) {
    switch (event.type) {
      case "model.text":
        this.partial = { ...this.partial, text: this.partial.text + event.text, note: "" };
        break;
      case "model.thought":
        this.partial = { ...this.partial, thoughts: addThought(this.partial.thoughts, event), note: "" };
        break;
      case "model.retry":
        this.#clear(`${clause(event.reason)}; trying again in ${Math.round(event.delay)} s`);
        break;
      case "model.fallback":
        this.#clear();
        this.#note(`${clause(event.reason)}: continuing with ${event.fallback} instead of ${event.model}`, "", event);
        break;
      case "model.message":
        this.#whole(event);
        break;
    }
  }

  #clear(note = "") {
    this.partial = { text: "", thoughts: [], note };
  }

  /** @param {Extract<WireEvent, { type: "model.message" }>} event */
  #whole(event) {
    this.#clear();
    this.model ||= event.model; // a session may begin before there is a model
    const { input = 0, output = 0, thoughts = 0 } = event.usage ?? {};
    this.tokens += input + output + thoughts;
    this.#pay(event);
    this.context = { tokens: input ? input + output : this.context.tokens, window: event.window || this.context.window };
    event.parts.forEach((part, place) => {
      const text = part.type === "thought" ? thoughtText({ subject: part.subject ?? "", description: part.text ?? "" }) : part.text;
      if (part.type !== "call" && text) this.#add({ kind: part.type, id: `${event.seq}.${place}`, text });
    });
    // Without calls, the turn ends here, and its end says what happened.
    const goesOn = event.parts.some((part) => part.type === "call");
    if (goesOn && ENDINGS[event.finish]) this.#note(ENDINGS[event.finish], "bad", event);
  }

  /** @param {WireEvent} event */
  #settle(event) {
    switch (event.type) {
      case "session.created":
        Object.assign(this, { folder: event.folder, model: event.model, mode: event.mode });
        break;
      case "session.archived":
        this.archived = event.archived;
        break;
      case "session.renamed":
        this.title = event.title;
        this.#pay(event);
        break;
      case "mode.changed":
        this.mode = event.mode;
        this.#note(`Mode ${event.mode}, set by ${who(event.by, this.me)}.`, "", event);
        break;
      case "model.changed":
        this.model = event.model;
        this.context = { ...this.context, window: event.window ?? 0 };
        this.#note(`Model ${event.model}, set by ${who(event.by, this.me)}.`, "", event);
        break;
      case "model.warning":
        this.#note(event.text, "bad", event);
        break;
      case "effort.changed":
        this.#note(`Effort ${event.effort ?? "up to the provider"}, set by ${who(event.by, this.me)}.`, "", event);
        break;
      case "prompt.submitted":
        this.#prompt(event);
        break;
      case "turn.finished":
        this.#finish(event);
        break;
      case "prompts.queued":
        this.queued = event.waiting;
        break;
      case "background.started":
        this.background.set(event.call_id, { call_id: event.call_id, command: event.command, pid: event.pid });
        break;
      case "background.kept":
        this.#keep(event);
        break;
      case "background.ended":
        this.#note(`A background command ended (${event.outcome}): ${this.background.get(event.call_id)?.command ?? ""}`, "", event);
        this.background.delete(event.call_id);
        break;
      case "grant.added":
        this.grants.set(event.grant.id, event.grant);
        break;
      case "grant.revoked":
        this.grants.delete(event.grant_id);
        break;
      case "chat.compressed":
        this.#pay(event);
        if (!event.problem) this.#shorten(event);
        this.#note(compressedText(event), event.problem ? "bad" : "", event);
        break;
      case "chat.pruned":
        this.#shorten(event);
        this.#note(`Old output was removed: ${becameText(event)}.`, "", event);
        break;
      case "chat.rewound":
        this.#rewind(event);
        break;
      case "command.taken":
        this.queued = this.queued.filter((queued) => queued.key !== event.key);
        break;
    }
  }

  /** A reply without usage costs nothing that anyone could count.
   * @param {{ usage?: import("./types.d.ts").Usage, cost?: number | null }} event */
  #pay({ usage, cost }) {
    if (usage) this.cost = this.cost === null || cost == null ? null : this.cost + cost;
  }

  /** @param {import("./types.d.ts").Shortened} event */
  #shorten({ tokens_before, tokens_after, window }) {
    const tokens = Math.max(tokens_after, this.context.tokens - tokens_before + tokens_after);
    this.context = { tokens, window: window || this.context.window };
  }

  /** @param {Extract<WireEvent, { type: "prompt.submitted" }>} event */
  #prompt(event) {
    this.title = this.title || event.text.trim().split(/\n\s*\n/)[0].split(/\s+/).join(" ");
    this.openPrompt = event.prompt_id;
    this.archived = false;
    this.#clear();
    this.queued = this.queued.filter((queued) => queued.key !== event.key);
    const id = this.entries.some((entry) => entry.id === event.prompt_id) ? `${event.prompt_id}.${event.seq}` : event.prompt_id; // one that steers has the id of its turn
    const media = (event.attached ?? []).flatMap((each) => each.parts ?? []).filter((part) => part.type === "media");
    this.#add({ kind: "prompt", id, text: event.text, by: event.by, at: event.ts, media });
    if (event.attached) this.#note(withoutUploadFolder(attachedText(event.attached), this.session), "", event);
  }

  /** What is no longer part of the conversation is no longer shown as if it were. @param {Extract<WireEvent, { type: "chat.rewound" }>} event */
  #rewind(event) {
    const place = this.entries.findIndex(({ kind, id }) => kind === "prompt" && id === event.prompt_id);
    if (place >= 0) this.entries = this.entries.slice(0, place);
    const name = who(event.by, this.me);
    this.#note(`${name[0].toUpperCase()}${name.slice(1)} went back to here; the log keeps what came after.`, "", event);
  }

  /** @param {Extract<WireEvent, { type: "turn.finished" }>} event */
  #finish(event) {
    this.openPrompt = "";
    this.#clear();
    if (event.status !== "completed") {
      const words = TURN_ENDS[event.status] ?? event.status;
      const why = event.failure?.message ?? "";
      this.#note(event.status === "failed" && why ? `${words} ${why}` : why || words, event.status === "cancelled" ? "" : "bad", event);
    }
  }

  /** @param {Extract<WireEvent, { type: "background.kept" }>} event */
  #keep(event) {
    const command = this.background.get(event.call_id);
    if (command) this.background.set(event.call_id, { ...command, kept: true });
    this.#note(`A background command goes on after the session (kept by ${who(event.by, this.me)}). Its output: ${event.path}`, "", event);
  }

  /** @param {string} text @param {"" | "bad"} tone @param {WireEvent} event */
  #note(text, tone, event) {
    this.#add({ kind: "note", id: `${event.seq}.${this.entries.length}`, tone, text });
  }

  /** @param {Entry} entry */
  #add(entry) {
    this.entries = [...this.entries, entry];
  }
}

/** @type {Record<string, string>} */
const ENDINGS = {
  max_tokens: "The reply was cut off: it reached the model's output limit.",
  safety: "The model's provider stopped this reply because of its safety rules.",
  too_long: "The reply did not end, so Assent stopped it.",
  other: "The model stopped this reply without saying that it was complete.",
};

/** @type {Record<string, string>} */
const TURN_ENDS = {
  cancelled: "Stopped.",
  failed: "The turn failed.",
  max_turns: "Stopped: the limit of model requests (max_turns) was reached.",
  loop_detected: "Stopped: the model repeated the same calls with the same results.",
  incomplete: "The reply is incomplete.",
  limit_reached: "Stopped: a limit was reached.",
};

/** @param {Call} call @param {WireEvent} event @returns {Call | null} */
function following(call, event) {
  const { started_at, approval, decision } = call;
  const request = "about" in event && event.about ? { ...call.request, about: event.about } : call.request;
  switch (event.type) {
    case "approval.requested":
      return {
        type: "awaiting_approval",
        request: event.args ? { ...request, args: event.args } : request,
        started_at,
        approval: event.approval,
      };
    case "approval.modifying":
      return { ...call, modifying_by: event.by };
    case "approval.answered":
      return { ...call, request: event.args ? { ...request, args: event.args } : request, answered_by: event.by || "someone" };
    case "trial.started":
      return { ...call, tried_by: event.by, output: "" };
    case "call.scheduled":
      return { type: "scheduled", request, started_at, approval, decision: event.decision };
    case "call.started":
      return { type: "executing", request, started_at, approval, decision, output: "" };
    case "call.process":
      return { ...call, pid: event.pid };
    case "call.input":
      return { ...call, wanted: event.wanted };
    case "call.output":
      return { ...call, received: event.received || call.received, output: ((call.output ?? "") + event.text).slice(-LIVE_OUTPUT_LIMIT) };
    case "call.finished":
      return { ...call, request, type: event.status, display: event.display, media: event.result?.media, failure: event.failure, duration_ms: event.duration_ms, ran_ms: event.ran_ms };
    default:
      return null;
  }
}

/** @type {Record<string, string>} */
const ANSWERS = {
  proceed_once: "allowed once",
  proceed_always: "always allowed",
  proceed_always_server: "always allowed for this server",
  proceed_always_tool: "always allowed for this tool",
  run_directly: "run directly",
  cancel: "refused",
};

/** @param {Extract<WireEvent, { type: "approval.answered" }>} event @param {string} me */
function answerText(event, me) {
  const changed = event.args ? " with changes" : "";
  const reason = event.reason ? `: ${event.reason}` : "";
  return `${ANSWERS[event.outcome] ?? event.outcome}${changed} by ${who(event.by, me)}${reason}`;
}

/** A sentence as it stands before the end of another one: without its full stop. @param {string} text */
const clause = (text) => text.replace(/(?<!\.)\.$/, "");

/** What is included with a prompt and what was left out. @param {import("./types.d.ts").Attached[]} attached */
function attachedText(attached) {
  const along = attached.filter((each) => each.parts).map(({ name, about }) => (about ? `${name} (${about})` : name));
  const leftOut = attached.filter((each) => each.problem).map(({ name, problem }) => `${name}: ${problem}`);
  return [along.length && `With ${along.join(", ")}.`, leftOut.length && `Left out ${leftOut.join("; ")}.`].filter(Boolean).join(" ");
}

/** @param {Extract<WireEvent, { type: "chat.compressed" }>} event */
function compressedText(event) {
  if (event.problem) return `The conversation was not compressed: ${event.problem}`;
  return `The older part of the conversation was replaced with a summary: ${becameText(event)}.`;
}

/** @param {import("./types.d.ts").Shortened} event */
function becameText({ tokens_before, tokens_after, window }) {
  const full = window ? ` (${percent(tokens_before / window)} of the context window)` : "";
  const left = window ? ` (${percent(tokens_after / window)})` : "";
  return `${tokens_before.toLocaleString()} tokens${full} became ${tokens_after.toLocaleString()}${left}`;
}

/** @param {number} part */
export const percent = (part) => (part > 0 && part < 0.01 ? "<1%" : `${Math.round(part * 100)}%`);

/** @param {{ subject: string, description: string }} thought */
const thoughtText = ({ subject, description }) => (subject ? `**${subject}**\n\n${description}` : description);

/** Thoughts come whole or in pieces. @param {string[]} thoughts @param {{ subject: string, description: string, continues?: boolean }} delta */
function addThought(thoughts, delta) {
  if (!delta.continues || thoughts.length === 0) return [...thoughts, thoughtText(delta)];
  return [...thoughts.slice(0, -1), thoughts[thoughts.length - 1] + delta.description];
}

/** The server's thoughts so far, and what we have received meanwhile, perhaps from the middle of one on.
 * @param {string[]} known @param {string[]} received */
function mergeThoughts(known, received) {
  const news = received.filter((thought) => !known.some((whole) => whole.endsWith(thought)));
  if (known.length === 0 || news.length === 0) return [...known, ...news];
  const last = known[known.length - 1];
  const whole = news[0].startsWith(last) ? news[0] : joined(last, news[0]);
  const overlaps = whole.length < last.length + news[0].length;
  return overlaps ? [...known.slice(0, -1), whole, ...news.slice(1)] : [...known, ...news];
}

/** Joins two recordings of one text: `late` starts somewhere inside `early` or at its end. @param {string} early @param {string} late */
export function joined(early, late) {
  for (let length = Math.min(early.length, late.length); length > 0; length--) {
    if (early.endsWith(late.slice(0, length))) return early + late.slice(length);
  }
  return early + late;
}
