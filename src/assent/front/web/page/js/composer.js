// The message box, and below it the mode, the model and the session's status.

import { stopTurn, submit } from "./acts.js";
import { AttachButton, AttachmentList, useAttachments } from "./attachments.js";
import { pathOf } from "./controller.js";
import { draftOf, keepDraft, onPut, takeFirst } from "./drafts.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { MODES, setMode } from "./modes.js";
import { stopped, valueOf } from "./panels.js";
import { folderName } from "./paths.js";
import { promptArguments, promptNames } from "./prompts.js";
import { Recall } from "./recall.js";
import { argumentsOf, commandNames, runSlash, takesArgument } from "./slash.js";
import { changed, show, state } from "./store.js";
import { ForAll, Status } from "./status.js";
import { controls, filesOf, Suggestions, useSuggestions } from "./suggestions.js";
import { touch } from "./touch.js";
import { visible } from "./visible.js";
import { useWriting } from "./writing.js";

/** @typedef {import("./fold.js").Talk} Talk */

/** @param {{ talk: Talk, atEnd: boolean, toEnd: () => void }} props */
export function Composer({ talk, atEnd, toEnd }) {
  const tools = html`<${Status} talk=${talk} />
    <span class="grow"></span>
    ${!atEnd && html`<button type="button" class="to-end" aria-label="Newest" onClick=${toEnd}>↓ <span class="long">Newest</span></button>`}`;
  return html`<div class="column">
    <${ForAll} talk=${talk} />
    ${state.me?.role === "operator" ? html`<${Box} talk=${talk} said=${toEnd} tools=${tools} />` : html`<div class="tools">${tools}</div>`}
  </div>`;
}

/** @param {{ talk: Talk, said: () => void, tools: unknown }} props */
function Box({ talk, said, tools }) {
  const { box, text, write } = useText(talk.session);
  const attached = useAttachments(talk.session);
  const { problem, sending, send, forgive } = useSending(talk, box, write, said, attached);
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
    void send(text, event.ctrlKey || event.metaKey);
  };
  const empty = !text.trim() && attached.files.length === 0;
  return html`<form class="composer" onSubmit=${stopped(() => void send(text))} ...${attached.handlers}>
      ${shown && html`<${Suggestions} shown=${shown} take=${take} />`}
      <label class="unseen" for="composer">Message</label>
      <textarea id="composer" rows="1" ref=${box} value=${text} placeholder=${talk.busy ? "What comes next?" : "What should be done?"}
        aria-autocomplete="list" aria-describedby=${problem ? "composer-problem" : undefined} ...${controls(shown)}
        onInput=${onInput} onKeyDown=${onKeyDown} onBlur=${suggestions.close}></textarea>
      <${AttachmentList} ...${attached} />
      <div class="tools">
        <${AttachButton} add=${attached.add} />
        <${ModeChoice} talk=${talk} />
        <${ModelChoice} talk=${talk} />
        ${tools}
        ${(talk.busy || talk.compressing) && html`<button type="button" class="danger" onClick=${() => void stopTurn(talk.session)}>Stop</button>`}
        ${talk.busy && !empty && html`<button type="button" class="steer" title="The model reads it at its next step (Ctrl+Enter)" disabled=${sending} onClick=${() => void send(text, true)}>Steer</button>`}
        <button class="primary" type="submit" disabled=${empty || sending}>${sending ? "Sending …" : talk.busy ? "Queue" : "Send"}</button>
      </div>
    </form>
    ${problem && html`<p class="problem small" id="composer-problem" role="alert">${visible(problem)}</p>`}`;
}

/** @param {{ talk: Talk }} props */
function ModeChoice({ talk }) {
  const choose = (/** @type {Event} */ event) => {
    setMode(talk, valueOf(event));
    changed(); // keeps showing the current mode until the session confirms
  };
  return html`<select class="mode" aria-label="Mode" value=${talk.mode} onChange=${choose}>
    ${MODES.map(({ name, label }) => html`<option value=${name}>${label}</option>`)}
  </select>`;
}

/** @param {{ talk: Talk }} props */
const ModelChoice = ({ talk }) =>
  html`<button type="button" class="model" aria-label=${`Model: ${visible(talk.model)}`} aria-haspopup="dialog" title=${visible(talk.model)}
    onClick=${() => show("model", { id: talk.session, title: talk.title })}><span class="cut">${visible(folderName(talk.model))}</span></button>`;

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
    onPut((more) => {
      write(box.current?.value.trim() ? `${box.current.value.trimEnd()}\n\n${more}` : more);
      box.current?.focus();
    });
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

/** @param {Talk} talk @param {{ current: HTMLTextAreaElement | null }} box @param {(text: string) => void} write @param {() => void} said
 * @param {{ files: File[], clear: () => void }} attached */
function useSending(talk, box, write, said, attached) {
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const send = async (/** @type {string} */ text, steer = false) => {
    const { files } = attached;
    if ((!text.trim() && files.length === 0) || sending) return;
    setSending(true);
    const wrong = await runSlash(talk, text);
    const done = wrong === null ? (await submit(talk.session, text, { files, steer: steer && talk.busy })) !== null : wrong === "";
    if (done && wrong === null) (attached.clear(), said());
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

