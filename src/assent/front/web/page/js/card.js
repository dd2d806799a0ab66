// The question: exactly what would happen, why it needs approval, and all possible answers. The frame, the order and the
// wording are ours; what a model or a tool wrote is in boxes that say so.

import { AskForm } from "./ask.js";
import { answer, keyOf, viewOf } from "./controller.js";
import { Diff } from "./diff.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { who } from "./names.js";
import { AlwaysPanel, EditPanel, RefusePanel } from "./panels.js";
import { useQuiet } from "./quiet.js";
import { useSeen } from "./seen.js";
import { state } from "./store.js";
import { choosable, Tried, trialOf, trialTitle } from "./trial.js";
import { marked, visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Approval} Approval */
/** @typedef {import("./types.d.ts").CallView} CallView */
/** @typedef {import("./types.d.ts").Outcome} Outcome */
/** @typedef {"" | "always" | "edit" | "refuse"} Panel */

/** Another approval is another question: use its id as the key. @param {{ session: string, call: string, approval: Approval, modifyingBy?: string }} props */
export function Card({ session, call, approval, modifyingBy = "" }) {
  const read = viewOf(session, call, approval.id);
  const view = read?.call.approval?.digest === approval.digest ? read : null;
  const answers = useAnswers(session, call, approval, view);
  const risk = approval.details.type === "exec" ? approval.details.risk : "";
  const card = useReturn(call);
  const titleId = `title-${session}-${approval.id}`; // in the inbox, calls of two sessions may have the same id
  return html`<article class="card ${risk}" tabindex="0" ref=${card} data-question=${call} aria-labelledby=${titleId} onKeyDown=${answers.onKeyDown}>
    <header>
      <span class="ask-mark" aria-hidden="true">●</span>
      <h3 id=${titleId}><span class="unseen">Assent asks: </span>${title(approval.details)}</h3>
      ${risk && html`<span class="risk ${risk}">${risk} risk</span>`}
    </header>
    ${view
      ? html`<${Question} ...${{ approval, view, answers, modifyingBy }} />`
      : html`<div class="body"><p class="soft">Loading the question …</p></div>`}
  </article>`;
}

/** After editing a proposal, the focus moves to the new question. */
let editedCall = "";

/** @param {string} call */
function useReturn(call) {
  const card = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (editedCall === call) card.current?.focus();
    editedCall = "";
  }, []);
  return card;
}

/** @typedef {ReturnType<typeof useAnswers>} Answering */

/** Everything a person can do with a question. @param {string} session @param {string} call @param {Approval} approval @param {CallView | null} view */
function useAnswers(session, call, approval, view) {
  const [panel, setPanel] = useState(/** @type {Panel} */ (""));
  const [left, setLeft] = useState(/** @type {Set<number>} */ (new Set()));
  const [problem, setProblem] = useState("");
  const quiet = useQuiet(view ? approval.digest : "");
  const reading = useSeen(view ? approval.digest : "");
  const may = rights(approval, view !== null && reading.seen, left.size, numbers(view).length);
  const sending = state.sending.has(keyOf(session, call, approval.id));
  const asksAgain = approval.options.includes("modify_with_editor");

  /** @param {Omit<import("./types.d.ts").Answer, "digest">} what */
  const send = async (what) => {
    editedCall = what.outcome === "modify_with_editor" ? call : "";
    setProblem(await answer(session, call, approval, what));
  };
  const act = {
    yes: () => void send(left.size ? { outcome: "proceed_once", hunks: taken(view, left) } : { outcome: "proceed_once" }),
    always: () => setPanel("always"),
    edit() {
      if (asksAgain) void send({ outcome: "modify_with_editor" }); // tells others that somebody is editing it
      setPanel("edit");
    },
    refuse: () => setPanel("refuse"),
    try: () => void send({ outcome: "try_first" }),
    direct: () => void send({ outcome: "run_directly" }),
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const wish = isCommand(event) ? KEYS[event.key] : undefined;
    if (!wish || panel || sending || !may[wish] || !quiet.key(event)) return;
    event.preventDefault();
    act[wish]();
  };
  const click = (/** @type {keyof typeof act} */ wish) => () => quiet.click() && act[wish]();
  const choose = (/** @type {number} */ number, /** @type {boolean} */ take) => setLeft(toggled(left, number, !take));
  return { panel, left, problem, reading, may, sending, send, onKeyDown, click, choose, close: () => setPanel("") };
}

/** Keys work while the card or one of its buttons has the focus, never in a field. @param {KeyboardEvent} event */
function isCommand(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  return !event.ctrlKey && !event.metaKey && !event.altKey && !target.matches("input, textarea, select");
}

/** @param {CallView | null} view @param {Set<number>} left */
const taken = (view, left) => numbers(view).filter((number) => !left.has(number));

/** The parts that can be chosen. @param {CallView | null} view */
const numbers = (view) => (view?.parts?.length ? choosable(view.parts) : view?.hunks ?? []).map((part) => part.number);

/** @param {Set<number>} set @param {number} number @param {boolean} inside */
function toggled(set, number, inside) {
  const next = new Set(set);
  if (inside) next.add(number);
  else next.delete(number);
  return next;
}

/** @param {{ approval: Approval, view: CallView, answers: Answering, modifyingBy: string }} props */
function Question({ approval, view, answers, modifyingBy }) {
  const { panel, left, problem, reading, may, send, close } = answers;
  const args = view.call.request.args;
  if (approval.details.type === "ask") return html`<${Asked} ...${{ approval, questions: approval.details.questions, view, answers }} />`;
  return html`<div class="body">
    <${Alarms} notes=${view.shown?.suspicious ?? []} details=${approval.details} />
    <div class="flush"><${Exact} ...${{ reading, approval, view, left, choose: may.choose ? answers.choose : undefined }} /></div>
    <${Reasons} approval=${approval} args=${args} />
    ${modifyingBy && html`<p class="read-on" role="status">Being edited by ${visible(who(modifyingBy, state.me?.by))}.</p>`}
    ${!reading.seen && reading.share > 0 && html`<p class="read-on unread" role="status">Scroll to the end before you approve: ${Math.floor(reading.share * 100)}% seen.</p>`}
    ${problem && html`<p class="alarm" role="alert">${visible(problem)}</p>`}
    ${panel === "always" && html`<${AlwaysPanel} ...${{ approval, send, close, allowed: may.always }} />`}
    ${panel === "edit" && html`<${EditPanel} ...${{ approval, args, send, close }} />`}
    ${panel === "refuse" && html`<${RefusePanel} ...${{ send, close }} />`}
    ${!panel && html`<${Buttons} ...${{ approval, answers, of: numbers(view).length }} />`}
  </div>`;
}

/** @param {{ approval: Approval, questions: import("./types.d.ts").Question[], view: CallView, answers: Answering }} props */
function Asked({ approval, questions, view, answers }) {
  const { panel, problem, may, send, sending, close, click } = answers;
  const give = (/** @type {string[]} */ texts) => void send({ outcome: "proceed_once", answers: texts });
  return html`<div class="body">
    <${Alarms} notes=${view.shown?.suspicious ?? []} details=${approval.details} />
    ${problem && html`<p class="alarm" role="alert">${visible(problem)}</p>`}
    ${panel === "refuse"
      ? html`<${RefusePanel} ...${{ send, close }} />`
      : html`<${AskForm} ...${{ id: approval.id, questions, sending, may: may.reply, give, refuse: click("refuse") }} />`}
  </div>`;
}

/** @type {Record<string, "yes" | "always" | "edit" | "refuse" | "try" | "direct">} */
const KEYS = { y: "yes", a: "always", e: "edit", n: "refuse", t: "try", d: "direct" };

/** What this person may answer now. @param {Approval} approval @param {boolean} seen @param {number} left @param {number} of */
function rights({ options, details }, seen, left, of) {
  const role = state.me?.role ?? "viewer";
  const offers = (/** @type {Outcome} */ outcome) => options.includes(outcome);
  return {
    reply: role !== "viewer" && details.type === "ask",
    yes: details.type !== "ask" && role !== "viewer" && seen && offers("proceed_once") && (left === 0 || left < of),
    always: role === "operator" && seen && left === 0 && options.some((one) => one.startsWith("proceed_always")),
    edit: details.type !== "ask" && role === "operator" && offers("proceed_once") && !trialOf(details),
    try: role !== "viewer" && seen && offers("try_first"),
    direct: role !== "viewer" && seen && left === 0 && offers("run_directly"),
    refuse: role !== "viewer" && offers("cancel"),
    choose: role !== "viewer" && (details.type === "edit" || trialOf(details) !== null),
  };
}

/** @param {{ approval: Approval, answers: Answering, of: number }} props */
function Buttons({ approval, answers, of }) {
  const { may, click, sending, left } = answers;
  if (state.me?.role === "viewer") return html`<p class="soft">You can view this, but not answer.</p>`;
  if (sending) return html`<div class="answers"><p role="status" class="soft"><span class="pulse">●</span> Sending your answer …</p></div>`;
  const always = state.me?.role === "operator" && approval.options.some((one) => one.startsWith("proceed_always"));
  const trial = trialOf(approval.details);
  const whole = trial ? (of ? "Apply this" : "Use the output") : "Yes, once";
  const yes = left.size ? `${trial ? "Apply" : "Yes,"} ${of - left.size} of ${of} parts` : whole;
  return html`<div class="answers" role="group" aria-label="Your answer">
    ${approval.options.includes("proceed_once") && html`<button class="primary" disabled=${!may.yes} onClick=${click("yes")}>${yes} <kbd>y</kbd></button>`}
    ${approval.options.includes("try_first") && html`<button disabled=${!may.try} onClick=${click("try")}>${trial ? "Try again" : "Try first"} <kbd>t</kbd></button>`}
    ${approval.options.includes("run_directly") && html`<button disabled=${!may.direct} onClick=${click("direct")}>Run directly <kbd>d</kbd></button>`}
    ${always && html`<button disabled=${!may.always} onClick=${click("always")}>Always … <kbd>a</kbd></button>`}
    ${may.edit && html`<button onClick=${click("edit")}>Edit … <kbd>e</kbd></button>`}
    ${may.refuse && html`<button class="danger" onClick=${click("refuse")}>${trial ? "Discard" : "No"} … <kbd>n</kbd></button>`}
  </div>`;
}

/** @param {import("./types.d.ts").Details} details */
export function title(details) {
  switch (details.type) {
    case "edit":
      return `${details.old === null || details.old === undefined ? "Create" : "Change"} ${visible(details.path)}`;
    case "exec":
      return details.trial ? trialTitle(details.trial) : "Run a command";
    case "info":
      if (details.urls?.some((url) => url.startsWith("tcp://"))) return "Connect to a host";
      return details.urls?.length ? "Fetch from the web" : "Access data";
    case "mcp":
      if (details.command) return `Use ${visible(details.tool)}, a tool of this project`;
      return `Use ${visible(details.tool)} of the server ${visible(details.server)}`;
    case "ask":
      return "The model asks you";
  }
}

/** @param {{ notes: string[], details: import("./types.d.ts").Details }} props */
function Alarms({ notes, details }) {
  const kept = details.type === "edit" ? details.protected || details.runs : details.type === "mcp" ? details.unseen : "";
  if (!notes.length && !kept) return null;
  return html`<div class="alarm" role="note">
    ${kept && html`<p>${details.type === "edit" && details.protected ? "Protected: " : ""}${visible(kept)}</p>`}
    ${notes.length > 0 && html`<p>Look closely:</p><ul>${notes.map((note) => html`<li>${visible(note)}</li>`)}</ul>`}
  </div>`;
}

/**
 * @param {{ reading: ReturnType<typeof useSeen>, approval: Approval, view: CallView, left: Set<number>,
 *   choose?: (number: number, take: boolean) => void }} props
 */
function Exact({ reading: { box, look }, approval, view, left, choose }) {
  const several = view.hunks.length > 1;
  const label = approval.details.type === "exec" ? "The exact command" : "Exactly what would happen";
  if (approval.details.type === "edit" && view.hunks.length) {
    return html`<div class="exact diff-box" ref=${box} onScroll=${look} tabindex="0" role="region" aria-label="The change">
      <${Diff} hunks=${view.hunks} left=${left} choose=${several ? choose : undefined} />
    </div>`;
  }
  const text = view.shown?.text ?? visible(exactText(approval.details));
  const trial = trialOf(approval.details);
  if (trial) {
    return html`<div class="exact diff-box" ref=${box} onScroll=${look} tabindex="0" role="region" aria-label="What the command did">
      <pre class="tried-command"><span class="prompt-sign" aria-hidden="true">$ </span>${text}</pre>
      <${Tried} ...${{ trial, parts: view.parts ?? [], left, choose }} />
    </div>`;
  }
  return html`<pre class="exact" ref=${box} onScroll=${look} tabindex="0" role="region" aria-label=${label}>${
    approval.details.type === "exec" && html`<span class="prompt-sign" aria-hidden="true">$ </span>`
  }${marked(text).map((piece) => (piece.hidden ? html`<mark class="hidden-char">${piece.text}</mark>` : piece.text))}</pre>`;
}

/** @param {import("./types.d.ts").Details} details */
function exactText(details) {
  switch (details.type) {
    case "edit":
      return details.diff || details.new;
    case "exec":
      return details.command;
    case "info":
      return [details.prompt, ...(details.urls ?? [])].join("\n");
    case "mcp":
      return [...(details.command ? [details.command] : []), JSON.stringify(details.args, null, 2)].join("\n");
    case "ask":
      return "";
  }
}

/** @param {{ path: string, changed?: boolean }} file */
const fileState = (file) => `${visible(file.path)} (${file.changed ? "changed" : "new"})`;

const MAX_REASON_LENGTH = 300;

/** @type {Record<string, string>} */
const SANDBOXES = {
  "read-only": ", in a sandbox: it can write nothing and has no network",
  workspace: ", in a sandbox: it can write to the workspace and has no network",
  network: ", in a sandbox: it can write to the workspace and connect to hosts that you allow",
};

/** @param {{ sandbox?: string, wider?: boolean, domains?: string[], writable?: string[] }} details */
function sandboxInWords({ sandbox, wider, domains = [], writable = [] }) {
  const words = SANDBOXES[sandbox || "off"];
  if (!words) return wider ? ", outside the sandbox" : "";
  const paths = writable.map((path) => `; also writes to ${visible(path)}`).join("");
  return words + paths + (domains.length ? `; without asking, it may connect to ${domains.map(visible).join(", ")}` : "");
}

/** @param {{ approval: Approval, args: Record<string, unknown> }} props */
function Reasons({ approval, args }) {
  const { details, why, expires_at, unapproved = [] } = approval;
  const said = [args.description, args.instruction].find((words) => typeof words === "string" && words);
  return html`<div class="why">
    ${details.type === "exec" && html`<p>In <code>${visible(details.directory)}</code>${sandboxInWords(details)}</p>`}
    ${details.type === "exec" && html`<p><strong>Risk ${details.risk}:</strong> ${visible(details.risk_reason)}</p>`}
    ${unapproved.length > 0 && html`<p class="unapproved"><strong>Runs files that you have not approved:</strong> ${unapproved.map(fileState).join(", ")}</p>`}
    ${approval.untried && html`<p>It cannot be tried first: ${visible(approval.untried)}</p>`}
    <p><strong>Asked because:</strong> ${visible(why)}</p>
    ${expires_at && html`<p>Expires at ${new Date(expires_at * 1000).toLocaleTimeString()}</p>`}
    ${details.type === "mcp" && details.description && html`<p class="said">The ${details.command ? "project" : "server"} says: <q>${visible(details.description.slice(0, MAX_REASON_LENGTH))}</q></p>`}
    ${said && html`<p class="said">The model says: <q>${visible(String(said).slice(0, MAX_REASON_LENGTH))}</q></p>`}
  </div>`;
}
