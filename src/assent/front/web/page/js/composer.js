// The box to write in, what waits, and how the session is doing.

import { stopTurn, submit, withdraw } from "./desk.js";
import { html, useState } from "./html.js";
import { state } from "./store.js";

/** @param {{ talk: import("./fold.js").Talk, toEnd: (() => void) | null }} props */
export function Composer({ talk, toEnd }) {
  const [text, setText] = useState("");
  const [sending, setSending] = useState(false);
  const may = state.me?.role === "operator";
  const send = async () => {
    if (!text.trim() || sending) return;
    setSending(true);
    if (await submit(talk.session, text)) setText("");
    setSending(false);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || touch()) return;
    event.preventDefault();
    void send();
  };
  return html`<div class="column">
    ${talk.waiting.length > 0 && html`<${WaitingBar} talk=${talk} />`}
    ${may && html`<form class="composer" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), void send())}>
      <label class="unseen" for="composer">Message</label>
      <textarea id="composer" rows="1" value=${text} placeholder=${talk.busy ? "What comes next?" : "What should be done?"}
        onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLTextAreaElement} */ (event.target).value)} onKeyDown=${onKeyDown}></textarea>
      ${talk.busy && html`<button type="button" class="danger" onClick=${() => void stopTurn(talk.session)}>Stop</button>`}
      <button class="primary" type="submit" disabled=${!text.trim() || sending}>${sending ? "Sending …" : talk.busy ? "Queue" : "Send"}</button>
    </form>`}
    <${StatusLine} talk=${talk} toEnd=${toEnd} />
  </div>`;
}

const touch = () => matchMedia("(pointer: coarse)").matches;

/** @param {{ talk: import("./fold.js").Talk }} props */
function WaitingBar({ talk }) {
  const count = talk.waiting.length;
  return html`<div class="waiting-bar">
    <span class="grow">${count === 1 ? "A question waits for you" : `${count} questions wait for you`}</span>
    <button onClick=${() => showQuestion()}>Show</button>
  </div>`;
}

/** Puts the next question on screen and the focus on it. */
export function showQuestion() {
  const cards = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-question]"))];
  const now = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[(now + 1) % cards.length];
  next?.scrollIntoView({ block: "center" });
  next?.focus({ preventScroll: true });
}

/** @param {{ talk: import("./fold.js").Talk, toEnd: (() => void) | null }} props */
function StatusLine({ talk, toEnd }) {
  const first = talk.queued[0];
  return html`<div class="status-line">
    <span>${talk.busy ? (talk.waiting.length ? "Waits for you" : "Working …") : "Ready"}${talk.tokens > 0 && ` · ${talk.tokens.toLocaleString()} tokens`}</span>
    ${first && html`<span>${talk.queued.length} queued · <button class="link" onClick=${() => void withdraw(talk.session, first.key)}>Take back</button></span>`}
    ${toEnd && html`<button class="link" onClick=${toEnd}>↓ Newest</button>`}
  </div>`;
}
