// Questions that the model itself asks: options, yes or no, and always free text.

import { html, useState } from "./html.js";
import { stopped, valueOf } from "./panels.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Question} Question */
/** @typedef {{ chosen: string[], words: string }} Reply */

const NONE = "none of these";

/** @param {{ id: string, questions: Question[], sending: boolean, may: boolean, give: (answers: string[]) => void, refuse: () => void }} props */
export function AskForm({ id, questions, sending, may, give, refuse }) {
  const [replies, setReplies] = useState(() => questions.map(() => /** @type {Reply} */ ({ chosen: [], words: "" })));
  const answers = replies.map(({ chosen, words }) => [...chosen, words.trim()].filter(Boolean).join(", "));
  const set = (/** @type {number} */ place, /** @type {Reply} */ reply) => setReplies(replies.map((one, n) => (n === place ? reply : one)));
  return html`<form class="panel" onSubmit=${stopped(() => give(answers))}>
    ${questions.map((question, place) => html`<${One} ...${{ name: `${id}-${place}`, question, reply: replies[place], set: (/** @type {Reply} */ reply) => set(place, reply) }} />`)}
    ${may && html`<div class="answers" role="group" aria-label="Your answer">
      <button class="primary" type="submit" disabled=${sending || answers.some((answer) => !answer)}>${sending ? "Sending …" : "Answer"}</button>
      <button class="danger" type="button" disabled=${sending} onClick=${refuse}>Decline … <kbd>n</kbd></button>
    </div>`}
  </form>`;
}

/** @param {{ name: string, question: Question, reply: Reply, set: (reply: Reply) => void }} props */
function One({ name, question, reply, set }) {
  const labels = question.type === "yesno" ? [{ label: "Yes" }, { label: "No" }] : (question.options ?? []);
  const choose = (/** @type {string} */ label, /** @type {boolean} */ on) => {
    const alone = !question.multiSelect || label === NONE;
    const others = alone ? [] : reply.chosen.filter((one) => one !== label && one !== NONE);
    set({ chosen: on ? [...others, label] : others, words: alone ? "" : reply.words });
  };
  const write = (/** @type {string} */ words) =>
    set({ chosen: question.multiSelect ? reply.chosen.filter((one) => one !== NONE) : [], words });
  return html`<fieldset>
    <legend><strong>${question.header && `${visible(question.header)}: `}${visible(question.question)}</strong></legend>
    ${(question.multiSelect ? [...labels, { label: NONE }] : labels).map(
      (option) => html`<label class="choice">
        <input type=${question.multiSelect ? "checkbox" : "radio"} name=${name} checked=${reply.chosen.includes(option.label)}
          onChange=${(/** @type {Event} */ event) => choose(option.label, /** @type {HTMLInputElement} */ (event.target).checked)} />
        <span>${visible(option.label)}${"description" in option && option.description && html`<br /><span class="soft small">${visible(option.description)}</span>`}</span>
      </label>`,
    )}
    <label class="field">${!labels.length ? "Your answer" : question.multiSelect ? "Add your own words" : "Or in your own words"}
      <input type="text" value=${reply.words} placeholder=${visible(question.placeholder ?? "")} onInput=${(/** @type {Event} */ event) => write(valueOf(event))} />
    </label>
  </fieldset>`;
}
