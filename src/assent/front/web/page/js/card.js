// The card of a question: its frame, which is ours alone, and all possible answers.

import { AskForm } from "./ask.js";
import { offerForAll } from "./batch.js";
import { answer, keyOf, leaveEditor, viewOf } from "./controller.js";
import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { who } from "./names.js";
import { AlwaysPanel, EditPanel, RefusePanel } from "./panels.js";
import { Alarms, blocksOf, Exact, Reasons, title } from "./question.js";
import { useQuiet } from "./quiet.js";
import { toggled, useNextUnseen, useReview } from "./review.js";
import { useSeen } from "./seen.js";
import { state } from "./store.js";
import { choosable, trialOf } from "./trial.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Approval} Approval */
/** @typedef {import("./types.d.ts").CallView} CallView */
/** @typedef {import("./types.d.ts").Outcome} Outcome */
/** @typedef {"" | "always" | "edit" | "refuse"} Panel */

/** Another approval is another question: use its id as the key. @param {{ session: string, folder: string, call: string, approval: Approval, modifyingBy?: string }} props */
export function Card({ session, folder, call, approval, modifyingBy = "" }) {
  const read = viewOf(session, call, approval.id);
  const view = read?.call.approval?.digest === approval.digest ? read : null;
  const answers = useAnswers(session, call, approval, view);
  const risk = approval.details.type === "exec" ? approval.details.risk : "";
  const card = useReturn(call);
  const titleId = `title-${session}-${approval.id}`; // in the inbox, calls of two sessions may have the same id
  return html`<article class="card ${risk} ${answers.review.wide && view?.hunks.length ? "wide" : ""}" tabindex="0" ref=${card} data-question=${call} data-approval=${approval.id} aria-labelledby=${titleId} onKeyDown=${answers.onKeyDown}>
    <header>
      <span class="ask-mark" aria-hidden="true">●</span>
      <h3 id=${titleId}><span class="unseen">Assent asks: </span>${title(approval.details, folder)}</h3>
      ${risk && html`<span class="risk ${risk}">${risk} risk</span>`}
    </header>
    ${view
      ? html`<${Question} ...${{ approval, view, answers, modifyingBy, folder }} />`
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

/** Whether others were told that we edit the proposal. They are told the end of it too when the page is closed or shows something
 * else. @param {string} session @param {string} call @param {Approval} approval */
function useEditing(session, call, approval) {
  const editing = useRef(false);
  useEffect(() => {
    const leave = () => {
      if (editing.current) leaveEditor(session, call, approval);
      editing.current = false;
    };
    addEventListener("pagehide", leave);
    return () => (removeEventListener("pagehide", leave), leave());
  }, []);
  return editing;
}

/** @typedef {ReturnType<typeof useAnswers>} Answering */

/** Everything a person can do with a question. @param {string} session @param {string} call @param {Approval} approval @param {CallView | null} view */
function useAnswers(session, call, approval, view) {
  const [panel, setPanel] = useState(/** @type {Panel} */ (""));
  const [left, setLeft] = useState(/** @type {Set<number>} */ (new Set()));
  const [problem, setProblem] = useState("");
  const quiet = useQuiet(view ? approval.digest : "");
  const reading = useSeen(view ? approval.digest : "", blocksOf(view, left));
  const review = useReview(view?.hunks ?? [], approval.details.type === "edit" ? approval.details.new : undefined);
  const next = useNextUnseen(reading, review);
  const may = rights(approval, view !== null && reading.seen, left.size, numbers(view).length);
  const sending = state.sending.has(keyOf(session, call, approval.id));
  const asksAgain = approval.options.includes("modify_with_editor");
  const editing = useEditing(session, call, approval);

  /** @param {Omit<import("./types.d.ts").Answer, "digest">} what */
  const send = async (what) => {
    editedCall = what.outcome === "modify_with_editor" ? call : "";
    editing.current = what.outcome === "modify_with_editor" && what.content === undefined && what.args === undefined;
    setProblem(await answer(session, call, approval, what));
  };
  const yes = () => void send(left.size ? { outcome: "proceed_once", hunks: taken(view, left) } : { outcome: "proceed_once" });
  useEffect(() => offerForAll(session, approval.id, may.yes && !panel && !sending ? yes : null));
  useEffect(() => () => offerForAll(session, approval.id, null), []);
  const act = {
    yes,
    always: () => setPanel("always"),
    edit() {
      if (asksAgain) void send({ outcome: "modify_with_editor" }); // tells others that someone is editing it
      setPanel("edit");
    },
    refuse: () => setPanel("refuse"),
    try: () => void send({ outcome: "try_first" }),
    direct: () => void send({ outcome: "run_directly" }),
  };
  const close = () => {
    const { details } = approval;
    if (panel === "edit" && asksAgain && details.type === "edit") void send({ outcome: "modify_with_editor", content: details.new }); // nobody is editing it any more
    editedCall = "";
    setPanel("");
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (isCommand(event) && event.key === "j" && !reading.seen) return void (event.preventDefault(), next());
    const wish = isCommand(event) ? KEYS[event.key] : undefined;
    if (!wish || panel || sending || !may[wish] || !quiet.key(event)) return;
    event.preventDefault();
    act[wish]();
  };
  const click = (/** @type {keyof typeof act} */ wish) => () => quiet.click() && act[wish]();
  const choose = useMemo(() => (/** @type {number} */ number, /** @type {boolean} */ take) => setLeft((now) => toggled(now, number, !take)), []);
  return { panel, left, problem, reading, review, next, may, sending, send, onKeyDown, click, choose, close };
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

/** @param {{ approval: Approval, view: CallView, answers: Answering, modifyingBy: string, folder: string }} props */
function Question({ approval, view, answers, modifyingBy, folder }) {
  const { panel, left, problem, reading, review, may, send, close } = answers;
  const args = view.call.request.args;
  if (approval.details.type === "ask") return html`<${Asked} ...${{ approval, questions: approval.details.questions, view, answers }} />`;
  return html`<div class="body">
    <${Alarms} notes=${view.shown?.suspicious ?? []} details=${approval.details} />
    <div class="flush"><${Exact} ...${{ reading, review, approval, view, left, choose: may.choose ? answers.choose : undefined }} /></div>
    <${Reasons} ...${{ approval, args, folder }} />
    ${modifyingBy && panel !== "edit" && html`<p class="read-on" role="status">Being edited by ${visible(who(modifyingBy, state.me?.by))}.</p>`}
    ${problem && html`<p class="alarm" role="alert">${visible(problem)}</p>`}
    ${panel === "always" && html`<${AlwaysPanel} ...${{ approval, folder, send, close, allowed: may.always }} />`}
    ${panel === "edit" && html`<${EditPanel} ...${{ approval, args, folder, send, close }} />`}
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
    edit: details.type !== "ask" && !connects(details) && role === "operator" && offers("proceed_once") && !trialOf(details),
    try: role !== "viewer" && seen && offers("try_first"),
    direct: role !== "viewer" && seen && left === 0 && offers("run_directly"),
    refuse: role !== "viewer" && offers("cancel"),
    choose: role !== "viewer" && (details.type === "edit" || trialOf(details) !== null),
  };
}

/** Whether a running command wants to connect: to another host would be another question. @param {import("./types.d.ts").Details} details */
const connects = (details) => details.type === "info" && (details.urls ?? []).some((url) => url.startsWith("tcp://"));

/** @param {{ approval: Approval, answers: Answering, of: number }} props */
function Buttons({ approval, answers, of }) {
  const { may, click, sending, left, reading, next } = answers;
  if (state.me?.role === "viewer") return html`<p class="soft">You can view this, but not answer.</p>`;
  if (sending) return html`<div class="answers"><p role="status" class="soft"><span class="pulse">●</span> Sending your answer …</p></div>`;
  const always = state.me?.role === "operator" && approval.options.some((one) => one.startsWith("proceed_always"));
  const trial = trialOf(approval.details);
  const whole = trial ? (of ? "Apply this" : "Use the output") : "Yes, once";
  const yes = left.size ? `${trial ? "Apply" : "Yes,"} ${of - left.size} of ${of} parts` : whole;
  return html`<div class="answers" role="group" aria-label="Your answer">
    ${!reading.seen && html`<${Unseen} ...${{ reading, next }} />`}
    ${approval.options.includes("proceed_once") && html`<button class="primary" disabled=${!may.yes} onClick=${click("yes")}>${yes} <kbd>y</kbd></button>`}
    ${approval.options.includes("try_first") && html`<button disabled=${!may.try} onClick=${click("try")}>${trial ? "Try again" : "Try first"} <kbd>t</kbd></button>`}
    ${approval.options.includes("run_directly") && html`<button disabled=${!may.direct} onClick=${click("direct")}>Run directly <kbd>d</kbd></button>`}
    ${always && html`<button disabled=${!may.always} onClick=${click("always")}>Always … <kbd>a</kbd></button>`}
    ${may.edit && html`<button onClick=${click("edit")}>Edit … <kbd>e</kbd></button>`}
    ${may.refuse && html`<button class="danger" onClick=${click("refuse")}>${trial ? "Discard" : "No"} … <kbd>n</kbd></button>`}
  </div>`;
}

/** Why yes is not possible yet, and the way to what is left. @param {{ reading: ReturnType<typeof useSeen>, next: () => void }} props */
function Unseen({ reading, next }) {
  const lines = `${reading.left.toLocaleString()} ${reading.left === 1 ? "line" : "lines"}`;
  return html`<button type="button" class="next-unseen" title="You can approve what you have seen" onClick=${next}>Next unseen <kbd>j</kbd> <span class="soft small" role="status">${lines} left</span></button>`;
}
