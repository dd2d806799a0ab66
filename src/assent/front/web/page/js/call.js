// A tool call in any state: a question while it is waiting, live output while it is running, one line when it is done.

import { stopCall, typeIn } from "./acts.js";
import { Card } from "./card.js";
import { viewOf } from "./controller.js";
import { Diff } from "./diff.js";
import { html, steady, useState } from "./html.js";
import { isImage, MediaList } from "./images.js";
import { Markdown } from "./markdown.js";
import { prose } from "./prose.js";
import { toggled } from "./review.js";
import { isOperator } from "./store.js";
import { Terminal } from "./terminal.js";
import { Trying } from "./trial.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Call} Call */

/** @type {Record<string, { icon: string, word: string }>} */
const STATES = {
  validating: { icon: "·", word: "checking" },
  awaiting_approval: { icon: "?", word: "answered" },
  scheduled: { icon: "…", word: "waiting for its turn" },
  executing: { icon: "▸", word: "running" },
  success: { icon: "✓", word: "done" },
  error: { icon: "✕", word: "failed" },
  cancelled: { icon: "–", word: "not done" },
  stopped: { icon: "–", word: "stopped" },
};

/** Redrawn when the call changes, or at every `tick` while it shows something that comes from the server. */
export const CallBlock = steady(
  /** @param {{ session: string, folder: string, call: Call, answered: string, tick: number }} props */
  ({ session, folder, call, answered }) => {
    if (call.type === "awaiting_approval" && call.approval && !call.answered_by) {
      if (call.tried_by !== undefined && call.tried_by !== null) return html`<${Trying} ...${{ session, call }} />`;
      const { approval, modifying_by } = call;
      return html`<${Card} key=${approval.id} ...${{ session, folder, call: call.request.call_id, approval, modifyingBy: modifying_by }} />`;
    }
    return html`<${Folded} ...${{ session, call, answered }} />`;
  },
);

/** @param {Call} call */
export const asksServer = (call) => call.type === "awaiting_approval" || call.display?.type === "diff";

/** @param {{ session: string, call: Call, answered: string }} props */
function Folded({ session, call, answered }) {
  const [wish, setWish] = useState(/** @type {boolean | null} */ (null));
  const open = wish ?? opensItself(call);
  const { icon, word } = stateOf(call, answered);
  const toggle = (/** @type {Event} */ event) => {
    event.preventDefault();
    setWish(!open);
  };
  return html`<details class="call ${call.type} ${endedBadly(call) ? "badly" : ""}" open=${open}>
    <summary onClick=${toggle}>
      <span class="icon ${call.type === "executing" ? "pulse" : ""}" aria-hidden="true">${icon}</span>
      <span class="tool">${visible(call.request.tool)}</span>
      <span class="aim cut">${aim(call)}</span>
      <span class="state cut">${word}${duration(call)}</span>
    </summary>
    ${open && html`<${Inside} ...${{ session, call, answered }} />`}
  </details>`;
}

/** How its command failed, even though the call succeeded. @param {Call} call */
const endedBadly = ({ display }) => (display?.type === "terminal" && visible(display.ended ?? "")) || "";

/** A person's refusal is shown with its reason, for others and for later. @param {Call} call @param {string} answered */
function stateOf(call, answered) {
  if (call.type === "cancelled" && answered.startsWith("refused")) return { icon: "–", word: visible(answered.replace(/\s+/g, " ")) };
  if (call.type === "executing" && call.wanted) return { icon: "?", word: isOperator() ? "waiting for your input" : "waiting for input" };
  if (call.type === "success" && endedBadly(call)) return { icon: "!", word: endedBadly(call) };
  return STATES[call.type === "cancelled" && call.decision ? "stopped" : call.type];
}

/** What is expanded by default. @param {Call} call */
function opensItself({ type, approval, display, failure, media }) {
  if (media?.some(({ mime }) => isImage(mime))) return true;
  if (type === "executing" || (type === "success" && approval?.details?.type === "ask")) return true;
  return type === "error" ? failure !== undefined : display?.type === "diff" || display?.type === "terminal";
}

/** @param {{ session: string, call: Call, answered: string }} props */
function Inside({ session, call, answered }) {
  const stop = () => void stopCall(session, call.request.call_id);
  const why = decided(call, answered);
  return html`<div class="inside">
    ${call.failure && html`<p class="text">${visible(call.failure.message)}</p>`}
    ${call.type === "executing" ? html`<${Terminal} text=${live(call)} label="Live output" />` : html`<${Shown} ...${{ session, call }} />`}
    ${call.media && html`<${MediaList} session=${session} source=${call.request.call_id} media=${call.media} />`}
    ${call.type === "executing" && call.wanted && (isOperator() ? html`<${Typing} key=${call.wanted.number} ...${{ session, call, wanted: call.wanted }} />` : html`<p class="text soft">Only an operator can type what the command is waiting for.</p>`)}
    <div class="facts">
      ${why && html`<span>${why}</span>`}
      ${call.pid && call.type === "executing" && html`<span>process ${call.pid}</span>`}
      ${call.type === "executing" && isOperator() && html`<button class="danger" onClick=${stop}>Stop this call</button>`}
    </div>
  </div>`;
}

/** What a running command asks for. The field is emptied when it is sent: what was typed is kept nowhere.
 * @param {{ session: string, call: Call, wanted: import("./types.d.ts").InputWanted }} props */
function Typing({ session, call, wanted }) {
  const send = (/** @type {string | null} */ text) => void typeIn(session, call.request.call_id, wanted.number, text);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (/** @type {HTMLFormElement} */ (event.currentTarget).elements.namedItem("line"));
    send(field.value);
    field.value = "";
  };
  return html`<form class="typing" data-question=${call.request.call_id} onSubmit=${submit} autocomplete="off">
    <label>
      <span>The command is waiting for your input: <b>${visible(wanted.prompt)}</b></span>
      <input name="line" type=${wanted.secret ? "password" : "text"} maxlength="4000" autocomplete=${wanted.secret ? "one-time-code" : "off"} spellcheck=${false} />
    </label>
    <div class="facts">
      <button type="submit">Send</button>
      <button type="button" onClick=${() => send(null)}>End of input</button>
      <span>What you type is neither recorded nor shown to the model.</span>
    </div>
  </form>`;
}

/** @param {Call} call */
const live = ({ output = "", received = 0 }) => (received ? `[binary output: ${received.toLocaleString()} bytes received]` : output);

/** @param {{ session: string, call: Call }} props */
function Shown({ session, call }) {
  const { display, request } = call;
  switch (display?.type) {
    case "terminal":
      return display.text.trim() ? html`<${Terminal} text=${display.text} whole=${wholeOutput(session, request.call_id)} />` : html`<p class="text soft">No output.</p>`;
    case "markdown":
      return html`<${Markdown} text=${visible(display.text)} />`;
    case "diff":
      return html`<${Change} ...${{ session, call: request.call_id, text: display.diff }} />`;
    case "text":
      return html`<p class="text">${visible(display.text)}</p>`;
    case "todos":
      return html`<p class="text">${visible(display.todos.map((todo) => `${todo.status}: ${todo.description}`).join("\n"))}</p>`;
    default:
      return html`<pre class="terminal" tabindex="0">${visible(JSON.stringify(request.args, null, 2))}</pre>`;
  }
}

/** @param {string} session @param {string} call */
export const wholeOutput = (session, call) => `#/s/${encodeURIComponent(session)}/output/${encodeURIComponent(call)}`;

/** @param {{ session: string, call: string, text: string }} props */
function Change({ session, call, text }) {
  const view = viewOf(session, call, "done");
  return view?.hunks.length ? html`<${Written} hunks=${view.hunks} />` : html`<pre class="terminal">${visible(text)}</pre>`;
}

const MAX_OPEN_LINES = 40;

/** A change that was made. If it is long, its parts are folded. @param {{ hunks: import("./types.d.ts").Hunk[] }} props */
export function Written({ hunks }) {
  const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const [folded, setFolded] = useState(() => new Set(lines > MAX_OPEN_LINES ? hunks.map((hunk) => hunk.number) : []));
  return html`<${Diff} hunks=${hunks} folded=${folded} fold=${(/** @type {number} */ number, /** @type {boolean} */ on) => setFolded(toggled(folded, number, on))} />`;
}

/** Why it ran or did not run. @param {Call} call @param {string} answered */
function decided({ decision }, answered) {
  if (answered) return prose(answered[0].toUpperCase() + answered.slice(1));
  return decision ? prose(`Allowed: ${decision.reason}`) : null;
}

/** What the call is about, in one line: its tool's summary; until that is known, its first text argument. @param {Call} call */
function aim({ request }) {
  const first = Object.values(request.args).find((value) => typeof value === "string" && value);
  const text = request.about || (typeof first === "string" ? first : JSON.stringify(request.args));
  return visible(text.replace(/\s+/g, " ").slice(0, 200));
}

/** How long it ran, without the time it waited for a person. @param {Call} call */
function duration({ duration_ms = 0, ran_ms, type }) {
  const took = ran_ms ?? (type === "cancelled" ? 0 : duration_ms);
  if (!["success", "error", "cancelled"].includes(type) || took < 1) return "";
  return took < 1000 ? ` · ${took} ms` : ` · ${(took / 1000).toFixed(1)} s`;
}
