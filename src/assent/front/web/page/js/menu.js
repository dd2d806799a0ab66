// A button with a menu: https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/

import { html, useId, useLayoutEffect, useRef, useState } from "./html.js";

/** @typedef {{ label: string, act: () => void, danger?: boolean }} Item */

const GAP_PX = 4;
const MARGIN_PX = 8;

/** @param {{ label: string, items: Item[], mark?: string }} props `mark`: a name by which shortcuts find the button */
export function Menu({ label, items, mark }) {
  const [open, setOpen] = useState(false);
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId();
  const close = (back = true) => {
    setOpen(false);
    if (back) button.current?.focus();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    setOpen(true);
  };
  return html`<button type="button" class="quiet menu-button" ref=${button} data-menu=${mark} aria-label=${label} title=${label} aria-haspopup="menu"
      aria-expanded=${open} aria-controls=${open ? id : undefined} onClick=${() => setOpen(!open)} onKeyDown=${onKeyDown}>⋯</button>
    ${open && html`<${List} ...${{ id, label, items, button, close }} />`}`;
}

/** @param {{ id: string, label: string, items: Item[], button: { current: HTMLElement | null }, close: (back?: boolean) => void }} props */
function List({ id, label, items, button, close }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const menu = /** @type {HTMLElement} */ (list.current);
    if (menu.matches(":popover-open")) return; // the browser closes it when the surrounding list is reordered
    menu.showPopover();
    place(menu, /** @type {HTMLElement} */ (button.current));
    entries(menu)[0]?.focus();
  });
  useLeaving(list, button, close);
  const choose = (/** @type {Item} */ item) => () => {
    close();
    item.act();
  };
  return html`<div class="menu" id=${id} role="menu" aria-label=${label} popover="manual" ref=${list} onKeyDown=${keys(close)}>
    ${items.map((item) => html`<button type="button" role="menuitem" tabindex="-1" class=${item.danger ? "danger" : ""} onClick=${choose(item)}>${item.label}</button>`)}
  </div>`;
}

/** Closes on a click elsewhere, when the button scrolls away, or when the phone is turned. @param {{ current: HTMLElement | null }} list @param {{ current: HTMLElement | null }} button @param {(back?: boolean) => void} close */
function useLeaving(list, button, close) {
  // Not useEffect, which runs some time after the menu is visible: what happens in between would not close it.
  useLayoutEffect(() => {
    const off = new AbortController();
    const inside = (/** @type {Event} */ event) => [list, button].some(({ current }) => current?.contains(/** @type {Node} */ (event.target)));
    const around = (/** @type {Event} */ event) => /** @type {Node} */ (event.target).contains(button.current);
    const options = { capture: true, signal: off.signal };
    addEventListener("pointerdown", (event) => inside(event) || close(false), options);
    addEventListener("scroll", (event) => around(event) && close(false), options);
    addEventListener("resize", () => close(false), options);
    return () => off.abort();
  }, []);
}

/** @param {HTMLElement} menu @returns {HTMLElement[]} */
const entries = (menu) => [.../** @type {NodeListOf<HTMLElement>} */ (menu.querySelectorAll("[role=menuitem]"))];

/** @param {(back?: boolean) => void} close */
const keys = (close) => (/** @type {KeyboardEvent} */ event) => {
  event.stopPropagation(); // letters are not shortcuts here
  const all = entries(/** @type {HTMLElement} */ (event.currentTarget));
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  /** @type {Record<string, number>} */
  const ways = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  if (Object.hasOwn(ways, event.key)) {
    event.preventDefault();
    all.at(ways[event.key] % all.length)?.focus();
  } else if (event.key === "Escape" || event.key === "Tab") {
    if (event.key === "Escape") event.preventDefault();
    close();
  }
};

/** Below the button and inside the window; above it if there is no room. @param {HTMLElement} menu @param {HTMLElement} button */
function place(menu, button) {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + GAP_PX;
  const top = below + height + MARGIN_PX > innerHeight ? Math.max(MARGIN_PX, at.top - GAP_PX - height) : below;
  const left = Math.min(Math.max(MARGIN_PX, at.right - width), innerWidth - width - MARGIN_PX);
  Object.assign(menu.style, { top: `${top}px`, left: `${left}px` });
}
