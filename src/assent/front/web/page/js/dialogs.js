// The dialogs: which one is open, the keys, the grants.

import { Access, Audit } from "./access.js";
import { revoke } from "./acts.js";
import { get } from "./api.js";
import { pathOf } from "./controller.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { SHORTCUTS } from "./keys.js";
import { who } from "./names.js";
import { plainReach } from "./panels.js";
import { Phone } from "./phone.js";
import { prose } from "./prose.js";
import { Delete, Model, Rename, Undo, Yolo } from "./session_dialogs.js";
import { closeDialog, isOperator, state } from "./store.js";
import { visible } from "./visible.js";

/** @type {Record<Exclude<import("./store.js").Dialog, "">, [string, (props: {}) => unknown]>} */
const WINDOWS = {
  phone: ["Open on a phone", Phone],
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
    const shown = dialog.current;
    if (!shown) return;
    const closed = () => void (state.dialog === name && closeDialog());
    shown.addEventListener("close", closed);
    shown.showModal();
    const watcher = new MutationObserver((changes) => keepFocus(shown, changes));
    watcher.observe(shown, { childList: true, subtree: true });
    return () => {
      shown.removeEventListener("close", closed); // the event comes later, and would close the next dialog of this name
      watcher.disconnect();
      shown.close();
    };
  }, []);
  return html`<dialog ref=${dialog} aria-label=${title}>
    <div class="row"><h2 class="grow">${title}</h2><button class="quiet" aria-label="Close" onClick=${closeDialog}>✕</button></div>
    ${children}
  </dialog>`;
}

/** When what had the focus is gone, such as a revoked permission, its neighbour gets it.
 * @param {HTMLDialogElement} dialog @param {MutationRecord[]} changes */
function keepFocus(dialog, changes) {
  if (document.activeElement !== document.body || !changes.some(({ removedNodes }) => removedNodes.length)) return;
  const near = changes.flatMap(({ nextSibling, previousSibling, target }) => [nextSibling, previousSibling, target, dialog]);
  const buttons = near.map((node) => (node instanceof Element && dialog.contains(node) ? /** @type {HTMLElement | null} */ (node.querySelector("button")) : null));
  buttons.find((button) => button)?.focus();
}

function Keys() {
  return html`<dl class="keys">${SHORTCUTS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>`;
}

/** What is allowed in this session, and what was allowed earlier for later sessions, which its events do not say. */
function Grants() {
  const { talk } = state;
  const [standing, setStanding] = useState(/** @type {import("./types.d.ts").Grant[]} */ ([]));
  const read = () => talk && get(`${pathOf(talk.session)}/grants`).then(({ grants }) => setStanding(grants.map((/** @type {any} */ one) => one.grant)), () => {});
  useEffect(() => void read(), [talk?.grants.size]);
  if (!talk) return null;
  const given = new Map([...standing.filter(({ lasts }) => lasts).map((grant) => /** @type {const} */ ([grant.id, grant])), ...talk.grants]);
  const end = async (/** @type {string} */ id) => (await revoke(talk.session, id), await read());
  if (!given.size) return html`<p class="soft">Nothing is always allowed in this session.</p>`;
  return html`<ul class="form">${[...given.values()].map(
    (grant) => html`<li class="row" key=${grant.id}>
      <span class="grow">${prose(plainReach(grant.reach, talk.folder))}<br /><span class="soft small">${grant.by && `given by ${visible(who(grant.by, talk.me))}`}${until(grant)}</span></span>
      ${isOperator() && html`<button class="danger" onClick=${() => void end(grant.id)}>Revoke</button>`}
    </li>`,
  )}</ul>`;
}

/** @param {import("./types.d.ts").Grant} grant */
function until(grant) {
  if (grant.expires_at) return `, until ${new Date(grant.expires_at * 1000).toLocaleTimeString()}`;
  return grant.max_uses ? `, for ${grant.max_uses} calls` : "";
}
