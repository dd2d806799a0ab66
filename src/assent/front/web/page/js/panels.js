// Answers that need more input: always (which scope?), edit (to what?), no (why?).

import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { shortPath } from "./paths.js";
import { prose } from "./prose.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Approval} Approval */
/** @typedef {import("./types.d.ts").Grant} Grant */
/** @typedef {(what: Omit<import("./types.d.ts").Answer, "digest">) => Promise<void>} Send */

/** @typedef {{ outcome: import("./types.d.ts").Outcome, scope?: string, grant_seconds?: number, grant_uses?: number }} Given */
/** @typedef {{ label: string, answer: Given }} Term */
/** @typedef {{ label: string, answer: Given, lasting: Term[] }} Choice */
/** @type {{ label: string, limits: { grant_seconds?: number, grant_uses?: number } }[]} */
const LIMITS = [
  { label: "for the rest of this session", limits: {} },
  { label: "for 10 minutes", limits: { grant_seconds: 600 } },
  { label: "for an hour", limits: { grant_seconds: 3600 } },
  { label: "for the next 5 calls", limits: { grant_uses: 5 } },
];
const LASTING = { folder: "in this folder, from now on", everywhere: "in every folder, from now on" };

/** @param {{ approval: Approval, folder: string, send: Send, close: () => void, allowed: boolean }} props */
export function AlwaysPanel({ approval, folder, send, close, allowed }) {
  const choices = scopesOf(approval);
  const [chosen, choose] = useState(0);
  const [term, setTerm] = useState(0);
  const first = useFocus();
  const terms = termsOf(choices[chosen]);
  const now = term < terms.length ? term : 0; // not every choice can last beyond the session
  const give = () => void send(terms[now].answer);
  return html`<form class="panel" onSubmit=${stopped(give)} onKeyDown=${escape(close)}>
    <fieldset>
      <legend><strong>Always allow</strong></legend>
      ${choices.map(
        (choice, place) => html`<label class="choice">
          <input type="radio" name=${`scope-${approval.id}`} ref=${place === 0 ? first : undefined} checked=${place === chosen} onChange=${() => choose(place)} />
          <span>${prose(plainReach(choice.label, folder))}</span>
        </label>`,
      )}
    </fieldset>
    <label class="field">For how long
      <select value=${now} onChange=${(/** @type {Event} */ event) => setTerm(Number(valueOf(event)))}>
        ${terms.map(({ label }, place) => html`<option value=${place}>${label}</option>`)}
      </select>
    </label>
    <div class="row">
      <button class="primary" type="submit" disabled=${!allowed}>Allow always</button>
      <button type="button" onClick=${close}>Back</button>
    </div>
  </form>`;
}

/** How far it reaches, without what is clear here: the folder of the session, and the session itself, whose duration is
 * chosen below. @param {string} reach @param {string} folder */
export const plainReach = (reach, folder) => reach.replaceAll(` ${folder}/`, " ").replace(`, in ${folder}`, "").replace(/, for this session\.?$/, "");

/** For how long something can be allowed. @param {Choice} choice @returns {Term[]} */
const termsOf = ({ answer, lasting }) => [...LIMITS.map(({ label, limits }) => ({ label, answer: { ...answer, ...limits } })), ...lasting];

/** What can be allowed, the narrowest first; how long it lasts is a choice of its own. @param {Approval} approval @returns {Choice[]} */
function scopesOf({ options, scopes = [], details }) {
  const server = details.type !== "mcp" ? "this server" : details.command ? "this project" : details.server;
  const offered = options.includes("proceed_always") ? scopes : [];
  return [
    ...offered.filter(({ lasts }) => !lasts).map((scope) => ({ label: scope.reach, answer: granting(scope), lasting: lastingOf(scope, offered) })),
    ...(options.includes("proceed_always_tool") ? [{ label: "every call of this tool", answer: { outcome: /** @type {const} */ ("proceed_always_tool") }, lasting: [] }] : []),
    ...(options.includes("proceed_always_server") ? [{ label: `every tool of ${server}`, answer: { outcome: /** @type {const} */ ("proceed_always_server") }, lasting: [] }] : []),
  ];
}

/** @param {Grant} scope @returns {Given} */
const granting = ({ id }) => ({ outcome: "proceed_always", scope: id });

/** The same permission for later sessions. @param {Grant} scope @param {Grant[]} offered @returns {Term[]} */
const lastingOf = (scope, offered) =>
  offered.flatMap((one) => (one.lasts && covers(one) === covers(scope) ? [{ label: LASTING[one.lasts], answer: granting(one) }] : []));

/** What it is about. A command's folder is left out: a permission for every folder has none. @param {Grant} scope */
const covers = ({ kind, tool, value = "", exact, prefixes, domains, writable }) =>
  JSON.stringify([kind, tool, exact || prefixes ? "" : value, exact, prefixes, domains, writable]);

/** @param {{ approval: Approval, args: Record<string, unknown>, folder: string, send: Send, close: () => void }} props */
export function EditPanel({ approval, args, folder, send, close }) {
  const { details } = approval;
  const [byArgs, setByArgs] = useState(details.type !== "edit");
  const [content, setContent] = useState(details.type === "edit" ? details.new : "");
  const [fields, setFields] = useState(() => fieldsOf(args));
  const [problem, setProblem] = useState("");
  const asksAgain = approval.options.includes("modify_with_editor");
  const ending = details.type === "edit" && details.new.includes("\r\n") ? "\r\n" : "\n";

  /** @param {"modify_with_editor" | "proceed_once"} outcome */
  const give = (outcome) => {
    const unchanged = !byArgs && details.type === "edit" && content === details.new;
    if (outcome === "modify_with_editor" && unchanged) return void close();
    try {
      void send(byArgs ? { outcome, args: argsOf(fields, args) } : { outcome, content: content.replace(/\r?\n/g, ending) });
    } catch (error) {
      setProblem(String(error instanceof Error ? error.message : error));
    }
  };
  return html`<form class="panel" onSubmit=${stopped(() => give(asksAgain ? "modify_with_editor" : "proceed_once"))} onKeyDown=${escape(close)}>
    ${byArgs
      ? html`<${Fields} fields=${fields} change=${setFields} />`
      : html`<${Content} path=${details.type === "edit" ? shortPath(details.path, folder) : ""} text=${content} change=${setContent} />`}
    ${problem && html`<p class="problem" role="alert">${visible(problem)}</p>`}
    <div class="row">
      ${asksAgain && html`<button class="primary" type="submit">Review my change</button>`}
      <button type="button" class=${asksAgain ? "" : "primary"} onClick=${() => give("proceed_once")}>Approve my change</button>
      <button type="button" onClick=${close}>Back</button>
      ${details.type === "edit" && html`<button type="button" class="quiet" onClick=${() => setByArgs(!byArgs)}>
        Edit the ${byArgs ? "file" : "arguments"} instead
      </button>`}
    </div>
  </form>`;
}

/** @param {{ path: string, text: string, change: (text: string) => void }} props */
function Content({ path, text, change }) {
  const first = useFocus();
  const hides = visible(text) !== text;
  return html`<label class="field">The complete new text of ${visible(path)}
    <textarea class="code" rows="14" spellcheck=${false} autocapitalize="off" wrap="off" ref=${first} value=${text}
      onInput=${(/** @type {Event} */ event) => change(valueOf(event))}></textarea>
    ${hides && html`<span class="problem">This text has hidden characters; the review shows them.</span>`}
  </label>`;
}

/** @typedef {{ name: string, text: string, json: boolean }} Field */

/** @param {{ fields: Field[], change: (fields: Field[]) => void }} props */
function Fields({ fields, change }) {
  const first = useFocus();
  const set = (/** @type {number} */ place, /** @type {string} */ text) => change(fields.map((field, n) => (n === place ? { ...field, text } : field)));
  return html`${fields.map(
    (field, place) => html`<label class="field">${visible(field.name)}${field.json ? " (JSON)" : ""}
      <textarea class="code short" rows=${Math.min(10, field.text.split("\n").length + 1)} spellcheck=${false} ref=${place === 0 ? first : undefined}
        value=${field.text} onInput=${(/** @type {Event} */ event) => set(place, valueOf(event))}></textarea>
    </label>`,
  )}`;
}

/** @param {Record<string, unknown>} args @returns {Field[]} */
function fieldsOf(args) {
  return Object.entries(args).map(([name, value]) =>
    typeof value === "string" ? { name, text: value, json: false } : { name, text: JSON.stringify(value, null, 2), json: true },
  );
}

/** @param {Field[]} fields @param {Record<string, unknown>} before */
function argsOf(fields, before) {
  /** @type {Record<string, unknown>} */
  const args = { ...before };
  for (const { name, text, json } of fields) args[name] = json ? parsed(name, text) : text;
  return args;
}

/** @param {string} name @param {string} text */
function parsed(name, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not valid JSON`);
  }
}

/** @param {{ send: Send, close: () => void }} props */
export function RefusePanel({ send, close }) {
  const [reason, setReason] = useState("");
  const first = useFocus();
  return html`<form class="panel" onSubmit=${stopped(() => void send({ outcome: "cancel", reason: reason.trim() }))} onKeyDown=${escape(close)}>
    <label class="field">Why not? The model sees this (optional)
      <input type="text" ref=${first} value=${reason} maxlength="2000" onInput=${(/** @type {Event} */ event) => setReason(valueOf(event))} />
    </label>
    <div class="row">
      <button class="danger primary" type="submit">Refuse</button>
      <button type="button" onClick=${close}>Back</button>
    </div>
  </form>`;
}

/** The field that gets the focus when the panel opens; a text is shown from its start. */
function useFocus() {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    element.current?.focus();
    element.current?.closest(".panel")?.scrollIntoView({ block: "nearest" }); // including its buttons
    if (!(element.current instanceof HTMLTextAreaElement)) return;
    element.current.setSelectionRange(0, 0);
    element.current.scrollTop = 0; // focusing scrolled to its end
  }, []);
  return element;
}

/** @param {Event} event */
export const valueOf = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/** @param {() => void} act */
export const stopped = (act) => (/** @type {Event} */ event) => {
  event.preventDefault();
  act();
};

/** @param {() => void} close */
const escape = (close) => (/** @type {KeyboardEvent} */ event) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  close();
};
