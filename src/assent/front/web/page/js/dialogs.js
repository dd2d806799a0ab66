// The dialogs: which one is open, a new session, the keys, the grants.

import { Access, Audit } from "./access.js";
import { begin, revoke } from "./acts.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { SHORTCUTS } from "./keys.js";
import { modelNames, MODES } from "./modes.js";
import { who } from "./names.js";
import { stopped, valueOf } from "./panels.js";
import { Delete, Model, Rename, Undo, Yolo } from "./session_dialogs.js";
import { isCommand } from "./slash.js";
import { closeDialog, state } from "./store.js";
import { controls, filesOf, Suggestions, useSuggestions } from "./suggestions.js";
import { visible } from "./visible.js";
import { useWriting } from "./writing.js";

/** @type {Record<Exclude<import("./store.js").Dialog, "">, [string, (props: {}) => unknown]>} */
const WINDOWS = {
  new: ["New session", NewSession],
  keys: ["Keyboard shortcuts", Keys],
  grants: ["Always allowed in this session", Grants],
  rename: ["Rename the session", Rename],
  delete: ["Delete this session?", Delete],
  undo: ["Undo a change", Undo],
  model: ["Choose the model", Model],
  yolo: ["Run everything without asking?", Yolo],
  access: ["Who has access", Access],
  audit: ["Who decided what", Audit],
};

export function Dialogs() {
  if (!state.dialog) return null;
  const [title, Inside] = WINDOWS[state.dialog];
  return html`<${Window} key=${state.dialog} name=${state.dialog} title=${title}><${Inside} /><//>`;
}

/** @param {{ name: string, title: string, children: unknown }} props */
function Window({ name, title, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return html`<dialog ref=${dialog} aria-label=${title} onClose=${() => state.dialog === name && closeDialog()}>
    <div class="row"><h2 class="grow">${title}</h2><button class="quiet" aria-label="Close" onClick=${closeDialog}>✕</button></div>
    ${children}
  </dialog>`;
}

/** @param {{ compact?: boolean }} props */
export function NewSession({ compact = false }) {
  const { me } = state;
  const models = compact ? "models-at-home" : "models"; // both forms may exist at once
  const { box, text: prompt, write } = useWriting(() => "");
  const [folder, setFolder] = useState(me?.folder ?? "");
  const [model, setModel] = useState(me?.model ?? "");
  const [mode, setMode] = useState(/** @type {string} */ (me?.mode ?? "default"));
  const [problem, setProblem] = useState("");
  const [sending, setSending] = useState(false);
  const send = async () => {
    setSending(true);
    const line = isCommand(prompt) ? prompt.trim() : "";
    const wish = { folder, model, mode, prompt: line ? "" : prompt.trim() };
    setProblem(await begin(Object.fromEntries(Object.entries(wish).filter(([, value]) => value)), line));
    setSending(false);
  };
  const { shown, look, close, take, onKey } = useSuggestions(box, write, ({ kind, typed }) => (kind === "file" ? [filesOf(`/files?${inFolder(folder)}`, typed)] : []));
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (event.target === box.current && onKey(event)) return event.preventDefault();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
  };
  const onInput = () => {
    const { value, selectionStart } = /** @type {HTMLTextAreaElement} */ (box.current);
    write(value);
    void look(value, selectionStart);
  };
  return html`<form class="form" onSubmit=${stopped(() => void send())} onKeyDown=${onKeyDown}>
    <div class="completed"><label>What should be done?
      <textarea name="prompt" rows=${compact ? 3 : 4} ref=${box} value=${prompt} autofocus=${!compact} aria-autocomplete="list" ...${controls(shown)}
        onInput=${onInput} onBlur=${close}></textarea></label>
      ${shown && html`<${Suggestions} shown=${shown} take=${take} />`}
    </div>
    <label>Folder
      <input type="text" name="folder" value=${folder} spellcheck=${false} onInput=${(/** @type {Event} */ event) => setFolder(valueOf(event))} />
    </label>
    <div class="form-row"><label>Model
      <input type="text" name="model" list=${models} value=${model} spellcheck=${false} onInput=${(/** @type {Event} */ event) => setModel(valueOf(event))} />
      <datalist id=${models}>${modelNames(null).map((name) => html`<option value=${name}></option>`)}</datalist>
    </label>
    <label>Mode
      <select name="mode" value=${mode} onChange=${(/** @type {Event} */ event) => setMode(valueOf(event))}>
        ${MODES.map(({ name, label }) => html`<option value=${name}>${label}</option>`)}
      </select>
    </label></div>
    ${problem && html`<p class="problem" role="alert">${visible(problem)}</p>`}
    <button class="primary" type="submit" disabled=${sending}>${sending ? "Starting …" : "Start"}</button>
  </form>`;
}

/** The query for the folder whose files to complete; the server's default if it is empty. @param {string} folder */
const inFolder = (folder) => (folder.trim() ? `folder=${encodeURIComponent(folder.trim())}&` : "");

function Keys() {
  return html`<dl class="keys">${SHORTCUTS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>`;
}

function Grants() {
  const { talk } = state;
  if (!talk?.grants.size) return html`<p class="soft">Nothing is always allowed in this session.</p>`;
  return html`<ul class="form">${[...talk.grants.values()].map(
    (grant) => html`<li class="row" key=${grant.id}>
      <span class="grow">${visible(grant.reach)}<br /><span class="soft small">${grant.by && `given by ${visible(who(grant.by, talk.me))}`}${until(grant)}</span></span>
      <button class="danger" onClick=${() => void revoke(talk.session, grant.id)}>Revoke</button>
    </li>`,
  )}</ul>`;
}

/** @param {import("./types.d.ts").Grant} grant */
function until(grant) {
  if (grant.expires_at) return `, until ${new Date(grant.expires_at * 1000).toLocaleTimeString()}`;
  return grant.max_uses ? `, for ${grant.max_uses} calls` : "";
}
