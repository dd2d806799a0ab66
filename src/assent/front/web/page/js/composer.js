// The message box, waiting questions, and the session's status.

import { stopTurn, submit } from "./acts.js";
import { pathOf } from "./controller.js";
import { draftOf, keepDraft, takeFirst } from "./drafts.js";
import { percent } from "./fold.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { stopped } from "./panels.js";
import { promptArguments, promptNames } from "./prompts.js";
import { Recall } from "./recall.js";
import { fits } from "./seen.js";
import { argumentsOf, commandNames, runSlash, takesArgument } from "./slash.js";
import { state } from "./store.js";
import { controls, filesOf, Suggestions, useSuggestions } from "./suggestions.js";
import { visible } from "./visible.js";
import { useWriting } from "./writing.js";

/** @typedef {import("./fold.js").Talk} Talk */

/** @param {{ talk: Talk, atEnd: boolean, toEnd: () => void }} props */
export function Composer({ talk, atEnd, toEnd }) {
  return html`<div class="column">
    ${!atEnd && html`<button type="button" class="to-end" onClick=${toEnd}>↓ Newest</button>`}
    ${talk.waiting.length > 0 && html`<${WaitingBar} talk=${talk} />`}
    ${state.me?.role === "operator" && html`<${Box} talk=${talk} said=${toEnd} />`}
    <${StatusLine} talk=${talk} />
  </div>`;
}

/** Puts text into the message box, to be edited. @type {(text: string) => void} */
export let putIntoPrompt = () => {};

/** @param {{ talk: Talk, said: () => void }} props */
function Box({ talk, said }) {
  const { box, text, write } = useText(talk.session);
  const { problem, sending, send, forgive } = useSending(talk, box, write, said);
  useFirst(talk.session, write, send);
  const suggestions = useSuggestions(box, write, (word) => offers(talk, word));
  const { shown } = suggestions;
  const take = (/** @type {string} */ name, go = true) => {
    const now = suggestions.take(name);
    if (go && now && complete(now.word, name)) void send(now.text);
  };
  const walk = useRecall(talk);

  const onInput = () => {
    const { value, selectionStart } = /** @type {HTMLTextAreaElement} */ (box.current);
    write(value);
    forgive();
    void suggestions.look(value, selectionStart);
  };
  const recall = (/** @type {KeyboardEvent} */ event) => {
    const found = walk(event, text, /** @type {HTMLTextAreaElement} */ (box.current));
    if (found !== null) write(found, found.length);
    return found !== null;
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (suggestions.onKey(event, take) || recall(event)) return event.preventDefault();
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    if (event.key !== "Enter" || event.shiftKey || touch()) return;
    event.preventDefault();
    void send(text);
  };
  return html`<form class="composer" onSubmit=${stopped(() => void send(text))}>
      ${shown && html`<${Suggestions} shown=${shown} take=${take} />`}
      <label class="unseen" for="composer">Message</label>
      <textarea id="composer" rows="1" ref=${box} value=${text} placeholder=${talk.busy ? "What comes next?" : "What should be done?"}
        aria-autocomplete="list" aria-describedby=${problem ? "composer-problem" : undefined} ...${controls(shown)}
        onInput=${onInput} onKeyDown=${onKeyDown} onBlur=${suggestions.close}></textarea>
      ${(talk.busy || talk.compressing) && html`<button type="button" class="danger" onClick=${() => void stopTurn(talk.session)}>Stop</button>`}
      <button class="primary" type="submit" disabled=${!text.trim() || sending}>${sending ? "Sending …" : talk.busy ? "Queue" : "Send"}</button>
    </form>
    ${problem && html`<p class="problem small" id="composer-problem" role="alert">${visible(problem)}</p>`}`;
}

/** The suggestions; those from the server come after those that we know. @param {Talk} talk @param {import("./suggest.js").Word} word */
function offers(talk, { kind, typed, command }) {
  switch (kind) {
    case "command":
      return [commandNames(), promptNames(talk.session)];
    case "argument":
      return [argumentsOf(command, talk) ?? promptArguments(talk.session, command, typed)];
    case "file":
      return [filesOf(`${pathOf(talk.session)}/files?`, typed)];
  }
}

/** Whether the choice completes a command, which is then carried out. @param {import("./suggest.js").Word} word @param {string} name */
const complete = ({ kind, typed }, name) => (kind === "argument" ? !name.endsWith("=") : kind === "command" && !takesArgument(name, typed));

/** The text in the box; it survives a change of session and a reload. @param {string} session */
function useText(session) {
  const { box, text, write } = useWriting(
    () => draftOf(session),
    (next) => keepDraft(session, next),
  );
  useEffect(() => {
    putIntoPrompt = (more) => {
      write(box.current?.value.trim() ? `${box.current.value.trimEnd()}\n\n${more}` : more);
      box.current?.focus();
    };
  }, []);
  return { box, text, write };
}

/** The command that the session was started with, as if typed here. @param {string} session @param {(text: string) => void} write @param {(text: string) => Promise<void>} send */
function useFirst(session, write, send) {
  useEffect(() => {
    const line = takeFirst(session);
    if (!line) return;
    write(line);
    void send(line);
  }, []);
}

/** @param {Talk} talk @param {{ current: HTMLTextAreaElement | null }} box @param {(text: string) => void} write @param {() => void} said */
function useSending(talk, box, write, said) {
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const send = async (/** @type {string} */ text) => {
    if (!text.trim() || sending) return;
    setSending(true);
    const wrong = await runSlash(talk, text);
    const done = wrong === null ? (await submit(talk.session, text)) !== null : wrong === "";
    if (done && wrong === null) said();
    setProblem(wrong ?? "");
    const now = box.current?.value ?? text;
    if (done) write(now.startsWith(text) ? now.slice(text.length) : now); // keeps what was typed meanwhile
    setSending(false);
  };
  return { sending, problem, send, forgive: () => setProblem("") };
}

/** Up at the start of the text recalls earlier prompts, down returns. @param {Talk} talk */
function useRecall(talk) {
  const recall = useRef(new Recall());
  recall.current.know(talk.entries.flatMap((entry) => (entry.kind === "prompt" ? [entry.text] : [])));
  return (/** @type {KeyboardEvent} */ event, /** @type {string} */ text, /** @type {HTMLTextAreaElement} */ box) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return null;
    const walking = recall.current.shows(text);
    if (!walking) recall.current.leave();
    const atStart = box.selectionEnd === 0;
    const untouched = walking && box.selectionStart === text.length; // not edited since it was recalled
    if (event.key === "ArrowUp" && (atStart || untouched)) return recall.current.older(text) ?? (walking ? text : null);
    return event.key === "ArrowDown" && untouched ? recall.current.newer() : null;
  };
}

const touch = () => matchMedia("(pointer: coarse)").matches;

const mayAnswer = () => state.me?.role !== "viewer";

/** @param {{ talk: Talk }} props */
function WaitingBar({ talk }) {
  const count = talk.waiting.length;
  return html`<div class="waiting-bar">
    <span class="grow">${count === 1 ? "A question is waiting" : `${count} questions are waiting`}${mayAnswer() && " for you"}</span>
    <button onClick=${() => showQuestion()}>Show</button>
  </div>`;
}

/** Shows the next question and moves the focus to it. */
export function showQuestion() {
  const cards = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-question]"))];
  const now = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[(now + 1) % cards.length];
  next?.scrollIntoView({ block: fits(next) ? "center" : "start" });
  next?.focus({ preventScroll: true });
}

/** @param {{ talk: Talk }} props */
function StatusLine({ talk }) {
  const waits = mayAnswer() ? "Waiting for you" : "Waiting for an answer";
  const doing = talk.compressing ? "Compressing the history …" : talk.waiting.length ? waits : talk.busy ? "Working …" : "Ready";
  return html`<div class="status-line">
    <span role="status">${doing}</span>
    ${talk.queued.length > 0 && html`<span>${talk.queued.length} queued</span>`}
    ${talk.tokens > 0 && html`<span>${used(talk)}</span>`}
  </div>`;
}

/** What the session has used, and how full the model's context window is. @param {Talk} talk */
function used({ tokens, context, cost }) {
  const full = context.window && context.tokens ? `context ${percent(context.tokens / context.window)}` : "";
  const dollars = cost ? `$${cost.toFixed(cost < 1 ? 4 : 2)}` : "";
  return [`${tokens.toLocaleString()} tokens`, full, dollars].filter(Boolean).join(" · ");
}
