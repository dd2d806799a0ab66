// Windows over the page: a new session, the keys, the standing permissions.

import { begin, revoke } from "./desk.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { SHORTCUTS } from "./keys.js";
import { stopped, valueOf } from "./panels.js";
import { changed, state } from "./store.js";
import { visible } from "./visible.js";

export function Dialogs() {
  switch (state.dialog) {
    case "new":
      return html`<${Window} title="New session"><${NewSession} /><//>`;
    case "keys":
      return html`<${Window} title="Keyboard shortcuts"><${Keys} /><//>`;
    case "grants":
      return html`<${Window} title="Always allowed in this session"><${Grants} /><//>`;
    default:
      return null;
  }
}

export function closeDialog() {
  state.dialog = "";
  changed();
}

/** @param {{ title: string, children: unknown }} props */
function Window({ title, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return html`<dialog ref=${dialog} aria-label=${title} onClose=${closeDialog}>
    <div class="row"><h2 class="grow">${title}</h2><button class="quiet" aria-label="Close" onClick=${closeDialog}>✕</button></div>
    ${children}
  </dialog>`;
}

export const MODES = /** @type {const} */ ([
  ["default", "Ask"],
  ["auto_edit", "Edits run"],
  ["plan", "Read only"],
  ["yolo", "All runs (yolo)"],
]);

/** @param {{ compact?: boolean }} props */
export function NewSession({ compact = false }) {
  const { me } = state;
  const [prompt, setPrompt] = useState("");
  const [folder, setFolder] = useState(me?.folder ?? "");
  const [model, setModel] = useState(me?.model ?? "");
  const [mode, setMode] = useState(/** @type {string} */ (me?.mode ?? "default"));
  const [problem, setProblem] = useState("");
  const [sending, setSending] = useState(false);
  const send = async () => {
    setSending(true);
    const wish = { folder, model, mode, prompt: prompt.trim() };
    setProblem(await begin(Object.fromEntries(Object.entries(wish).filter(([, value]) => value))));
    setSending(false);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void send();
  return html`<form class="form" onSubmit=${stopped(() => void send())} onKeyDown=${onKeyDown}>
    <label>What should be done?
      <textarea name="prompt" rows=${compact ? 3 : 4} value=${prompt} autofocus=${!compact} onInput=${(/** @type {Event} */ event) => setPrompt(valueOf(event))}></textarea>
    </label>
    <label>Folder
      <input type="text" name="folder" value=${folder} spellcheck=${false} onInput=${(/** @type {Event} */ event) => setFolder(valueOf(event))} />
    </label>
    <div class="form-row"><label>Model
      <input type="text" name="model" value=${model} spellcheck=${false} onInput=${(/** @type {Event} */ event) => setModel(valueOf(event))} />
    </label>
    <label>Mode
      <select name="mode" value=${mode} onChange=${(/** @type {Event} */ event) => setMode(valueOf(event))}>
        ${MODES.map(([value, label]) => html`<option value=${value}>${label}</option>`)}
      </select>
    </label></div>
    ${problem && html`<p class="problem" role="alert">${visible(problem)}</p>`}
    <button class="primary" type="submit" disabled=${sending}>${sending ? "Starting …" : "Start"}</button>
  </form>`;
}

function Keys() {
  return html`<dl class="keys">${SHORTCUTS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>`;
}

function Grants() {
  const { talk } = state;
  if (!talk?.grants.size) return html`<p class="soft">Nothing: every question is asked anew.</p>`;
  return html`<ul class="form">${[...talk.grants.values()].map(
    (grant) => html`<li class="row" key=${grant.id}>
      <span class="grow">${visible(grant.reach)}<br /><span class="soft small">${grant.by && `given by ${visible(grant.by)}`}${until(grant)}</span></span>
      <button class="danger" onClick=${() => void revoke(talk.session, grant.id)}>Take back</button>
    </li>`,
  )}</ul>`;
}

/** @param {import("./types.d.ts").Grant} grant */
function until(grant) {
  if (grant.expires_at) return `, until ${new Date(grant.expires_at * 1000).toLocaleTimeString()}`;
  return grant.max_uses ? `, for ${grant.max_uses} calls` : "";
}
