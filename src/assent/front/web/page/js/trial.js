// A command that is being tried, or was: what it printed, and every part of what it did, each of which can be left out.

import { answer } from "./controller.js";
import { Diff } from "./diff.js";
import { html } from "./html.js";
import { state } from "./store.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Trial} Trial */
/** @typedef {import("./types.d.ts").TrialPart} TrialPart */

/** @param {import("./types.d.ts").Details} details */
export const trialOf = (details) => (details.type === "exec" ? details.trial ?? null : null);

/** How many parts can be chosen. @param {TrialPart[]} parts */
export const choosable = (parts) => parts.filter((part) => part.number >= 0);

/** @param {Trial} trial */
export function trialTitle(trial) {
  if (trial.stale?.length) return "Outdated: files have changed since it was tried";
  return trial.effects.some((effect) => effect.parts !== 0) ? "Apply what it did" : "Use its output: nothing would change";
}

const OUTPUT_LINES = 30;

/** @param {{ trial: Trial, parts: TrialPart[], left: Set<number>, choose?: (number: number, take: boolean) => void }} props */
export function Tried({ trial, parts, left, choose }) {
  const several = choosable(parts).length > 1;
  return html`<div class="trial">
    <p class="soft">Tried in a copy of the workspace, without network: ${visible(trial.ended)}</p>
    ${(trial.notes ?? []).map((note) => html`<p class="soft">${visible(note)}</p>`)}
    ${Boolean(trial.stale?.length) && html`<p class="alarm">Someone else has changed this since: ${visible((trial.stale ?? []).join(", "))}. Try it again.</p>`}
    <${Printed} text=${trial.output} />
    ${parts.map((part, place) => html`<${OnePart} key=${place} ...${{ part, out: left.has(part.number), choose: several ? choose : undefined }} />`)}
    ${stillInGit(parts, left) && html`<p class="note" role="status">.git is applied as a whole: what you left out may still be staged or committed in it.</p>`}
    ${parts.length === 0 && html`<p>It changed nothing.</p>`}
  </div>`;
}

/** Whether a repository is applied while another part is left out. @param {TrialPart[]} parts @param {Set<number>} left */
const stillInGit = (parts, left) => left.size > 0 && choosable(parts).some(({ number, title }) => !left.has(number) && REPOSITORY.test(title));
const REPOSITORY = /(^|\/)\.git (added|changed|deleted)/;

/** @param {{ text: string }} props */
function Printed({ text }) {
  const lines = text.trim() ? text.replace(/\n$/, "").split("\n") : [];
  if (!lines.length) return null;
  const more = lines.length - OUTPUT_LINES;
  return html`<pre class="printed" aria-label="What it printed">${more > 0 && `… ${more} earlier lines\n`}${visible(lines.slice(-OUTPUT_LINES).join("\n"))}</pre>`;
}

/** @param {{ part: TrialPart, out: boolean, choose?: (number: number, take: boolean) => void }} props */
function OnePart({ part, out, choose }) {
  const never = part.number < 0;
  const take = (/** @type {Event} */ event) => choose?.(part.number, /** @type {HTMLInputElement} */ (event.target).checked);
  return html`<section class="trial-part ${out ? "left-out" : ""} ${never ? "never" : ""}">
    <div class="part-head">
      ${choose && !never ? html`<label><input type="checkbox" checked=${!out} onChange=${take} /> ${visible(part.title)}</label>` : visible(part.title)}
    </div>
    ${part.notes.map((note) => html`<p class="note">${visible(note)}</p>`)}
    ${part.hunks.length > 0 && html`<${Diff} hunks=${part.hunks} />`}
  </section>`;
}

/** While it runs; a no ends it. @param {{ session: string, call: import("./types.d.ts").Call }} props */
export function Trying({ session, call }) {
  const approval = /** @type {import("./types.d.ts").Approval} */ (call.approval);
  const command = approval.details.type === "exec" ? approval.details.command : "";
  const stop = () => void answer(session, call.request.call_id, approval, { outcome: "cancel" });
  return html`<article class="card trying" data-question=${call.request.call_id}>
    <header><span class="ask-mark pulse" aria-hidden="true">●</span><h3>Being tried in a copy of the workspace</h3></header>
    <div class="body">
      <pre class="exact"><span class="prompt-sign" aria-hidden="true">$ </span>${visible(command)}</pre>
      <${Printed} text=${call.output ?? ""} />
      ${state.me?.role !== "viewer" && html`<div class="answers"><button class="danger" onClick=${stop}>Stop and refuse</button></div>`}
    </div>
  </article>`;
}
