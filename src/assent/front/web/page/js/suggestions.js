// The list of what could be meant while somebody types: a listbox that the text box controls,
// https://www.w3.org/WAI/ARIA/apg/patterns/combobox/

import { get } from "./api.js";
import { pathOf } from "./desk.js";
import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { argumentsOf, commandNames } from "./slash.js";
import { fitting, wordAt } from "./suggest.js";
import { visible } from "./visible.js";

/** @typedef {import("./suggest.js").Word} Word */
/** @typedef {import("./suggest.js").Candidate} Candidate */
/** @typedef {{ word: Word, items: Candidate[], at: number }} Shown */

const MOST_FILES = 8;
const PAUSE_MS = 60;
const LIST = "suggestions";

/** @param {import("./fold.js").Talk} talk */
export function useSuggestions(talk) {
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const newest = useRef(0);
  const close = () => {
    newest.current += 1;
    setShown(null);
  };
  const look = async (/** @type {string} */ text, /** @type {number} */ caret) => {
    const word = wordAt(text, caret);
    const mine = ++newest.current;
    const isNewest = () => newest.current === mine;
    setShown((before) => still(before, word));
    const items = word ? await offers(talk, word, isNewest) : [];
    if (isNewest()) setShown(word && items.length ? { word, items, at: 0 } : null);
  };
  const move = (/** @type {number} */ by) => setShown((now) => now && { ...now, at: (now.at + by + now.items.length) % now.items.length });
  /** Is this key for the list? `take` gets what was chosen, and whether to carry it out at once. */
  const onKey = (/** @type {KeyboardEvent} */ event, /** @type {(name: string, go: boolean) => void} */ take) => {
    if (!shown || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter" || event.key === "Tab") take(shown.items[shown.at].name, event.key === "Enter");
    else if (event.key === "Escape") close();
    else return false;
    return true;
  };
  return { shown, look, close, onKey };
}

/** What the text box says of itself while it controls the list. @param {Shown | null} shown */
export const controls = (shown) =>
  shown ? { role: "combobox", "aria-expanded": true, "aria-controls": LIST, "aria-activedescendant": optionId(shown.at) } : {};

/** Until the new offers are there: those of the old that still fit. @param {Shown | null} shown @param {Word | null} word @returns {Shown | null} */
function still(shown, word) {
  if (!shown || shown.word.kind !== word?.kind || shown.word.command !== word.command) return null;
  const items = shown.items.filter(({ name }) => hasLetters(name.toLowerCase(), word.typed.toLowerCase()));
  return items.length ? { word, items, at: 0 } : null;
}

/** All these letters, in this order. @param {string} name @param {string} letters */
function hasLetters(name, letters) {
  let at = -1;
  return [...letters].every((letter) => (at = name.indexOf(letter, at + 1)) >= 0);
}

/** @param {import("./fold.js").Talk} talk @param {Word} word @param {() => boolean} isNewest @returns {Promise<Candidate[]>} */
async function offers(talk, word, isNewest) {
  switch (word.kind) {
    case "command":
      return fitting(word.typed, commandNames());
    case "argument":
      return fitting(word.typed, argumentsOf(word.command, talk));
    case "file":
      await new Promise((wake) => setTimeout(wake, PAUSE_MS));
      return isNewest() ? await files(talk.session, word.typed) : [];
  }
}

/** @param {string} session @param {string} typed @returns {Promise<Candidate[]>} */
async function files(session, typed) {
  /** @type {{ files: string[] }} */
  const found = await get(`${pathOf(session)}/files?limit=${MOST_FILES}&query=${encodeURIComponent(typed)}`).catch(() => ({ files: [] }));
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
