// Dialogs about one session: rename, delete, undo, model.

import { changesOf, remove, undo, updateInWindow } from "./acts.js";
import { Written } from "./call.js";
import { viewOf, words } from "./controller.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { learnModels, modelNames } from "./modes.js";
import { stopped, valueOf } from "./panels.js";
import { shortPath } from "./paths.js";
import { closeDialog, state } from "./store.js";
import { ago } from "./times.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Change} Change */

/** A dialog that does one thing: it shows what goes wrong, and closes when it is done. @param {() => Promise<string>} act */
function useDoing(act) {
  const [doing, setDoing] = useState(false);
  const [problem, setProblem] = useState("");
  const run = async () => {
    setDoing(true);
    setProblem(await act());
    setDoing(false);
  };
  return { doing, problem, run: stopped(() => void run()) };
}

/** @param {{ text: string }} props */
const Wrong = ({ text }) => (text ? html`<p class="problem" role="alert">${visible(text)}</p>` : null);

/** @param {{ back?: string }} props */
const Back = ({ back = "Back" }) => html`<button type="button" onClick=${closeDialog}>${back}</button>`;

export function Rename() {
  const { id, title } = state.about;
  const [text, setText] = useState(title);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.select(), []);
  const { doing, problem, run } = useDoing(() => updateInWindow(id, { title: text.trim() }));
  return html`<form class="form" onSubmit=${run}>
    <label>Name of the session
      <input type="text" ref=${field} autofocus maxlength="120" value=${text} onInput=${(/** @type {Event} */ event) => setText(valueOf(event))} />
    </label>
    <${Wrong} text=${problem} />
    <div class="row"><button class="primary" type="submit" disabled=${doing || !text.trim()}>Rename</button><${Back} /></div>
  </form>`;
}

export function Delete() {
  const { id, title } = state.about;
  const { doing, problem, run } = useDoing(() => remove(id));
  const running = state.sessions.some((session) => session.id === id && session.status === "running");
  return html`<form class="form" onSubmit=${run}>
    <p><strong class="any">${visible(title) || "New session"}</strong> and its whole history will be deleted permanently.${running && " It is running now and will be stopped."}</p>
    <p class="soft">The files it changed stay as they are.</p>
    <${Wrong} text=${problem} />
    <div class="row"><button class="danger primary" type="submit" disabled=${doing}>${doing ? "Deleting …" : "Delete"}</button>
      <button type="button" autofocus onClick=${closeDialog}>Keep it</button></div>
  </form>`;
}

export function Yolo() {
  const { id } = state.about;
  const { doing, problem, run } = useDoing(() => updateInWindow(id, { mode: "yolo" }));
  return html`<form class="form" onSubmit=${run}>
    <p>Every command and every change of this session runs at once, whatever it is. Only deny and ask rules still apply.</p>
    <${Wrong} text=${problem} />
    <div class="row"><button class="danger primary" type="submit" disabled=${doing}>Run everything in this session</button>
      <button type="button" autofocus onClick=${closeDialog}>Keep asking</button></div>
  </form>`;
}

// --- undo ---

export function Undo() {
  const { id } = state.about;
  const [changes, setChanges] = useState(/** @type {Change[] | null} */ (null));
  const [trouble, setTrouble] = useState("");
  const [chosen, choose] = useState("");
  useEffect(() => {
    changesOf(id).then(setChanges, (error) => setTrouble(words(error)));
  }, []);
  const change = changes?.find((one) => one.call_id === chosen) ?? changes?.[0];
  const { doing, problem, run } = useDoing(async () => (change ? undo(id, change, shortPath(change.path, state.talk?.folder)) : ""));
  if (trouble) return html`<${Wrong} text=${trouble} />`;
  if (!changes) return html`<p class="soft" role="status">Loading the changes …</p>`;
  if (!change) return html`<p class="soft">No call of this session has changed a file, or all changes have been undone.</p>`;
  return html`<form class="form" onSubmit=${run}>
    <fieldset class="choices"><legend>Which change? The file is restored, unless it has changed since.</legend>
      ${changes.map((one) => html`<${Choice} key=${one.call_id} ...${{ one, checked: one === change, choose }} />`)}
    </fieldset>
    <${Wrote} session=${id} call=${change.call_id} />
    <${Wrong} text=${problem} />
    <div class="row"><button class="primary" type="submit" disabled=${doing}>Undo</button><${Back} /></div>
  </form>`;
}

/** @param {{ one: Change, checked: boolean, choose: (call: string) => void }} props */
function Choice({ one, checked, choose }) {
  return html`<label class="choice"><input type="radio" name="change" checked=${checked} onChange=${() => choose(one.call_id)} />
    <span class="grow"><span class="any">${visible(shortPath(one.path, state.talk?.folder))}</span> <span class="soft small">${visible(one.tool)} · ${ago(one.at)}</span></span></label>`;
}

/** What it wrote, which would be undone. @param {{ session: string, call: string }} props */
function Wrote({ session, call }) {
  const view = viewOf(session, call, "done");
  return view?.hunks.length ? html`<div class="wrote"><p class="soft small">This was written:</p><${Written} hunks=${view.hunks} /></div>` : null;
}

// --- the model ---

const MAX_MODELS = 60;

/** Those that contain what is typed, or all; a router has hundreds. @param {string[]} names @param {string} typed */
function fitting(names, typed) {
  const found = names.filter((name) => name.includes(typed));
  return (found.length ? found : names).slice(0, MAX_MODELS);
}

export function Model() {
  const { id } = state.about;
  const talk = state.talk;
  const [chosen, choose] = useState(talk?.model ?? "");
  const [typed, setTyped] = useState("");
  useEffect(() => void learnModels(), []);
  const wish = typed.trim() || chosen;
  const { doing, problem, run } = useDoing(() => updateInWindow(id, { model: wish }));
  return html`<form class="form" onSubmit=${run}>
    <fieldset class="choices"><legend>Which model answers from the next request on?</legend>
      ${fitting(modelNames(talk), typed.trim()).map(
        (name) => html`<label class="choice" key=${name}><input type="radio" name="model" checked=${!typed.trim() && name === chosen} onChange=${() => (choose(name), setTyped(""))} />
          <span class="grow any">${visible(name)}${name === talk?.model && html` <span class="soft small">in use</span>`}</span></label>`,
      )}
    </fieldset>
    <label>Or another one, by name
      <input type="text" spellcheck=${false} autocapitalize="off" autocomplete="off" maxlength="200" value=${typed} placeholder="e.g. gemini-2.5-pro"
        onInput=${(/** @type {Event} */ event) => setTyped(valueOf(event))} />
    </label>
    <${Wrong} text=${problem} />
    <div class="row"><button class="primary" type="submit" disabled=${doing || !wish || wish === talk?.model}>Use it</button><${Back} /></div>
  </form>`;
}
