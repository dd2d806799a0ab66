// The start: one prompt. Where it runs, how and with which model stand below it, and are chosen only by those who want to.

import { begin } from "./acts.js";
import { AttachButton, AttachmentList, useAttachments } from "./attachments.js";
import { FolderPicker } from "./folders.js";
import { html, useEffect, useState } from "./html.js";
import { modelNames, MODES } from "./modes.js";
import { stopped, valueOf } from "./panels.js";
import { folderName } from "./paths.js";
import { prose } from "./prose.js";
import { isCommand } from "./slash.js";
import { state } from "./store.js";
import { controls, filesOf, Suggestions, useSuggestions } from "./suggestions.js";
import { touch } from "./touch.js";
import { visible } from "./visible.js";
import { useWriting } from "./writing.js";

/** @typedef {"" | "folder" | "model"} Open */

export function Start() {
  const { me, waiting } = state;
  return html`<div class="scroll-area start"><div class="start-column">
    <h2>${me?.role === "operator" ? "What should be done?" : "Choose a session"}</h2>
    ${me?.problem && html`<p class="problem lines" role="status">${prose(me.problem)}</p>`}
    ${me?.role === "operator" ? html`<${Prompt} />` : html`<p class="soft">With your role, you can ${me?.role === "viewer" ? "watch" : "watch and answer questions"}.</p>`}
    <p class="soft small">Before it does anything that matters, it asks you${waiting ? html`. <a href="#/inbox">${waiting === 1 ? "1 question is" : `${waiting} questions are`} waiting</a>.` : "."}</p>
  </div></div>`;
}

/** @param {{ folder: string, model: string, mode: string }} where @param {string} prompt @param {{ files: File[], clear: () => void }} attached */
function useStarting(where, prompt, attached) {
  const [problem, setProblem] = useState("");
  const [sending, setSending] = useState(false);
  const send = async () => {
    if (sending) return;
    setSending(true);
    const line = isCommand(prompt) ? prompt.trim() : "";
    const wish = { ...where, prompt: line ? "" : prompt.trim() };
    const wrong = await begin(Object.fromEntries(Object.entries(wish).filter(([, value]) => value)), line, attached.files);
    if (!wrong) attached.clear();
    setProblem(wrong);
    setSending(false);
  };
  return { problem, sending, send };
}

function Prompt() {
  const { me } = state;
  const { box, text, write } = useWriting(() => "");
  const [where, setWhere] = useState({ folder: me?.folder ?? "", model: me?.model ?? "", mode: /** @type {string} */ (me?.mode ?? "default") });
  const [open, setOpen] = useState(/** @type {Open} */ (""));
  const attached = useAttachments("");
  const { problem, sending, send } = useStarting(where, text, attached);
  const set = (/** @type {Partial<typeof where>} */ some) => setWhere({ ...where, ...some });
  const { shown, look, close, take, onKey } = useSuggestions(box, write, ({ kind, typed }) => (kind === "file" ? [filesOf(`/files?${inFolder(where.folder)}`, typed)] : []));
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (onKey(event)) return event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey || touch()) return;
    event.preventDefault();
    if (text.trim() || attached.files.length > 0) void send();
  };
  const onInput = () => {
    const { value, selectionStart } = /** @type {HTMLTextAreaElement} */ (box.current);
    write(value);
    void look(value, selectionStart);
  };
  useEffect(() => void (touch() || box.current?.focus()), []);
  return html`<form class="composer" aria-label="New session" onSubmit=${stopped(() => void send())} ...${attached.handlers}>
      ${shown && html`<${Suggestions} shown=${shown} take=${take} />`}
      <label class="unseen" for="start">What should be done?</label>
      <textarea id="start" rows="3" ref=${box} value=${text} placeholder="Describe it. @ mentions a file, / starts a command." aria-autocomplete="list" ...${controls(shown)}
        onInput=${onInput} onKeyDown=${onKeyDown} onBlur=${close}></textarea>
      <${AttachmentList} ...${attached} />
      <${Choices} ...${{ where, set, open, setOpen, add: attached.add }} />
      <button class="primary" type="submit" disabled=${sending}>${sending ? "Starting …" : "Start"}</button>
      ${open === "folder" && html`<${FolderPicker} folder=${where.folder} choose=${(/** @type {string} */ folder) => set({ folder })} />`}
      ${open === "model" && html`<${ModelField} model=${where.model} choose=${(/** @type {string} */ model) => set({ model })} />`}
    </form>
    ${problem && html`<p class="problem" role="alert">${prose(news(problem, me?.problem))}</p>`}`;
}

/** The page may show it already: then nothing else would move the focus from the link that leads here. */
export const focusStart = () => void setTimeout(() => touch() || document.getElementById("start")?.focus());

/** What is not already said above. @param {string} problem @param {string | undefined} known */
const news = (problem, known) => (known && problem.startsWith(known) ? problem.slice(known.length).trim() || "There is no model to use yet; see above." : problem);

/**
 * @param {{ where: { folder: string, model: string, mode: string }, set: (some: object) => void, open: Open, setOpen: (open: Open) => void, add: (files: File[]) => void }} props
 */
function Choices({ where, set, open, setOpen, add }) {
  const chip = (/** @type {"folder" | "model"} */ name, /** @type {string} */ label, /** @type {string} */ text) => html`<button type="button" class="chip"
    aria-expanded=${open === name} aria-label=${`${label}: ${visible(where[name])}`} title=${visible(where[name])} onClick=${() => setOpen(open === name ? "" : name)}>
    <span class="cut">${visible(text)}</span></button>`;
  return html`<div class="tools">
    <${AttachButton} add=${add} />
    ${chip("folder", "Choose the folder", folderName(where.folder) || "folder")}
    ${chip("model", "Choose the model", folderName(where.model) || "model")}
    <select class="mode" aria-label="Mode" value=${where.mode} onChange=${(/** @type {Event} */ event) => set({ mode: valueOf(event) })}>
      ${MODES.map(({ name, label }) => html`<option value=${name}>${label}</option>`)}
    </select>
  </div>`;
}

/** @param {{ model: string, choose: (model: string) => void }} props */
function ModelField({ model, choose }) {
  return html`<div class="choosing"><label>Model
    <input type="text" name="model" list="models" value=${model} spellcheck=${false} autocapitalize="off" onInput=${(/** @type {Event} */ event) => choose(valueOf(event))} />
    <datalist id="models">${modelNames(null).map((name) => html`<option value=${name}></option>`)}</datalist>
  </label></div>`;
}

/** The query for the folder whose files to complete; the server's default if it is empty. @param {string} folder */
const inFolder = (folder) => (folder.trim() ? `folder=${encodeURIComponent(folder.trim())}&` : "");
