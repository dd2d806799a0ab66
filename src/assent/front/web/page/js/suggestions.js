// The list of suggestions while someone types: a listbox controlled by the text box,
// https://www.w3.org/WAI/ARIA/apg/patterns/combobox/

import { get } from "./api.js";
import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { fitting, taken, wordAt } from "./suggest.js";
import { visible } from "./visible.js";

/** @typedef {import("./suggest.js").Word} Word */
/** @typedef {import("./suggest.js").Candidate} Candidate */
/** @typedef {{ word: Word, items: Candidate[], at: number }} Shown */

/** @typedef {(Candidate[] | Promise<Candidate[]>)[]} Offers */

const MAX_FILES = 8;
const PAUSE_MS = 60;
const LIST = "suggestions";

/** @param {{ current: HTMLTextAreaElement | null }} box @param {(text: string, caret: number) => void} write @param {(word: Word) => Offers} offers */
export function useSuggestions(box, write, offers) {
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const newest = useRef(0);
  const close = () => {
    newest.current += 1;
    setShown(null);
  };
  const look = async (/** @type {string} */ text, /** @type {number} */ caret) => {
    const word = wordAt(text, caret);
    const mine = ++newest.current;
    setShown((before) => still(before, word));
    if (!word) return;
    if (word.kind === "file") await new Promise((wake) => setTimeout(wake, PAUSE_MS)); // fewer requests while someone keeps typing
    if (newest.current !== mine) return;
    let items = /** @type {Candidate[]} */ ([]);
    for (const some of offers(word)) {
      items = [...items, ...(word.kind === "file" ? await some : fitting(word.typed, await some))];
      if (newest.current !== mine) return;
      if (items.length) setShown((before) => ({ word, items, at: before?.word === word ? before.at : 0 }));
    }
    if (!items.length) setShown(null);
  };
  const move = (/** @type {number} */ by) => setShown((now) => now && { ...now, at: (now.at + by + now.items.length) % now.items.length });
  /** Inserts the choice into the text. */
  const take = (/** @type {string} */ name) => {
    const { value, selectionStart } = /** @type {HTMLTextAreaElement} */ (box.current);
    const word = wordAt(value, selectionStart);
    close();
    if (!word) return null;
    const next = taken(value, word, name);
    write(next.text, next.caret);
    if (word.kind === "command") void look(next.text, next.caret);
    return { word, text: next.text };
  };
  /** Whether this key is for the list. `choose` gets the choice, and whether to carry it out at once. */
  const onKey = (/** @type {KeyboardEvent} */ event, /** @type {(name: string, go: boolean) => void} */ choose = take) => {
    if (!shown || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter" || event.key === "Tab") choose(shown.items[shown.at].name, event.key === "Enter");
    else if (event.key === "Escape") close();
    else return false;
    return true;
  };
  return { shown, look, close, take, onKey };
}

/** The attributes of the text box while it controls the list. @param {Shown | null} shown */
export const controls = (shown) =>
  shown ? { role: "combobox", "aria-expanded": true, "aria-controls": LIST, "aria-activedescendant": optionId(shown.at) } : {};

/** Until the new suggestions arrive: the old ones that still match. @param {Shown | null} shown @param {Word | null} word @returns {Shown | null} */
function still(shown, word) {
  if (!shown || shown.word.kind !== word?.kind || shown.word.command !== word.command) return null;
  const items = shown.items.filter(({ name }) => hasLetters(name.toLowerCase(), word.typed.toLowerCase()));
  return items.length ? { word, items, at: 0 } : null;
}

/** Whether the name has all these letters, in this order. @param {string} name @param {string} letters */
function hasLetters(name, letters) {
  let at = -1;
  return [...letters].every((letter) => (at = name.indexOf(letter, at + 1)) >= 0);
}

/** @param {string} path with a question mark @param {string} typed @returns {Promise<Candidate[]>} */
export async function filesOf(path, typed) {
  /** @type {{ files: string[] }} */
  const found = await get(`${path}limit=${MAX_FILES}&query=${encodeURIComponent(typed)}`).catch(() => ({ files: [] }));
  return found.files.map((path) => ({ name: path, help: "" }));
}

/** @param {number} place */
const optionId = (place) => `${LIST}-${place}`;

/** @param {{ shown: Shown, take: (name: string) => void }} props */
export function Suggestions({ shown, take }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
  const label = shown.word.kind === "file" ? "Files" : shown.word.kind === "command" ? "Commands" : `For /${shown.word.command}`;
  const sign = { file: "@", command: "/", argument: "" }[shown.word.kind];
  const hold = (/** @type {Event} */ event) => event.preventDefault(); // the focus stays in the text
  return html`<div class="suggestions" role="listbox" id=${LIST} aria-label=${label} ref=${box} onPointerDown=${hold} onMouseDown=${hold}>
      ${shown.items.map(
        (item, place) => html`<div role="option" id=${optionId(place)} key=${item.name} aria-selected=${place === shown.at} onClick=${() => take(item.name)}>
          <span class=${shown.word.kind === "file" ? "name path" : "name"}>${sign}${visible(item.name)}</span>${item.help && html`<span class="help soft small">${visible(item.help)}</span>`}
        </div>`,
      )}
    </div>
    <div class="unseen" role="status">${shown.items.length === 1 ? "1 suggestion" : `${shown.items.length} suggestions`}</div>`;
}
