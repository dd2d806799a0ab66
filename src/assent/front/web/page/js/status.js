// What the session is doing, what it has cost, how full the context window is, and the way to what waits.

import { readyForAll, yesToAll } from "./batch.js";
import { percent } from "./fold.js";
import { html } from "./html.js";
import { fits } from "./seen.js";
import { isOperator, state } from "./store.js";

/** @typedef {import("./fold.js").Talk} Talk */

const mayAnswer = () => state.me?.role !== "viewer";

/** @param {{ talk: Talk }} props */
export function Status({ talk }) {
  const inputs = isOperator() ? talk.inputs.length : 0;
  const waiting = talk.waiting.length + inputs;
  const working = talk.compressing ? "Compressing the history …" : talk.busy ? "Working …" : "Ready";
  const noun = inputs ? (inputs === waiting ? "input" : "waiting") : waiting === 1 ? "question" : "questions";
  const label = waiting > 1 ? `Show the next of ${waiting} that are waiting` : inputs ? "Show the command that is waiting for your input" : "Show the question";
  return html`${waiting ? html`<button type="button" class="waits" aria-label=${label} onClick=${showQuestion}>? ${waiting}<span class="long"> ${noun}</span></button>` : null}
    <span class="doing ${waiting ? "unseen" : ""}" role="status">${waiting ? (mayAnswer() ? "Waiting for you" : "Waiting for an answer") : working}</span>
    ${talk.queued.length > 0 && html`<span class="queued-count">${talk.queued.length} ${talk.queued.every(({ held }) => held) ? "held" : "queued"}</span>`}
    ${talk.tokens > 0 && html`<span class="used" title=${used(talk)}>${usedInShort(talk)}</span>`}`;
}

/** Several questions, all that can be answered with yes. @param {{ talk: Talk }} props */
export function ForAll({ talk }) {
  const ready = readyForAll(talk.session);
  if (talk.waiting.length < 2 || ready < 2) return null;
  return html`<div class="for-all"><span class="grow long">${ready} of ${talk.waiting.length} questions were shown to their end.</span>
    <button type="button" onClick=${() => yesToAll(talk.session)}>Yes to all ${ready} that were shown</button></div>`;
}

/** Shows the next question, or the next command that is waiting for input, and moves the focus to it. */
export function showQuestion() {
  const cards = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-question]"))];
  const now = cards.findIndex((card) => card.contains(document.activeElement));
  showCard(cards[(now + 1) % cards.length]);
}

/** @param {HTMLElement | undefined} card */
export function showCard(card) {
  card?.scrollIntoView({ block: fits(card) ? "center" : "start" });
  const field = card instanceof HTMLFormElement ? card.querySelector("input") : card;
  field?.focus({ preventScroll: true });
}

/** Shows a card, and keeps it in view while others around it still load, until the person does something. @param {HTMLElement} card */
export function pinCard(card) {
  showCard(card);
  const watcher = new ResizeObserver(() => showCard(card));
  if (card.parentElement) watcher.observe(card.parentElement);
  const off = new AbortController();
  const stop = () => (watcher.disconnect(), off.abort());
  for (const act of ["wheel", "pointerdown", "keydown"]) addEventListener(act, stop, { capture: true, signal: off.signal });
}

/** @param {number | null} cost */
const dollars = (cost) => (cost ? `$${cost.toFixed(cost < 1 ? 4 : 2)}` : "");

/** What the session has used, and how full the model's context window is. @param {Talk} talk */
function used({ tokens, context, cost }) {
  const full = context.window && context.tokens ? `${context.tokens.toLocaleString()} of ${context.window.toLocaleString()} tokens of the context window are used` : "";
  return [full, `${tokens.toLocaleString()} tokens in total`, cost === null ? "the price is not known" : dollars(cost)].filter(Boolean).join("; ");
}

/** @param {Talk} talk */
function usedInShort({ tokens, context, cost }) {
  const full = context.window && context.tokens ? `context ${percent(context.tokens / context.window)}` : `${tokens.toLocaleString()} tokens`;
  return [full, dollars(cost)].filter(Boolean).join(" · ");
}
