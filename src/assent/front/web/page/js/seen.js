// Whether all of a box has been on screen: from its start to its end, without a jump.

import { useLayoutEffect, useRef, useState } from "./html.js";

const SLACK_PX = 4;
/** Milliseconds: what is on screen for less, during layout and before any scrolling, does not count as seen. */
const SETTLE_MS = 250;

/** A box that is a few lines too small is enlarged if its whole card stays in view: what is shown without scrolling counts
 * as seen. @param {HTMLElement} element */
function giveRoom(element) {
  const { scrollTop } = element;
  element.toggleAttribute("data-roomy", true);
  element.toggleAttribute("data-roomy", element.scrollHeight <= element.clientHeight && fits(element.closest(".card")));
  element.scrollTop = scrollTop; // while it was larger, the position may have changed
}

/** Whether a whole question fits into the view, without the hint to scroll, which is hidden then. @param {HTMLElement | null} card */
export function fits(card) {
  const hint = /** @type {HTMLElement | null | undefined} */ (card?.querySelector(".unread"));
  return !card || card.offsetHeight - (hint?.offsetHeight ?? 0) <= (areaOf(card)?.clientHeight ?? 0);
}

/** @param {HTMLElement} element */
const areaOf = (element) => element.closest(".scroll-area");

/** Which part of the box's content is visible now: the box itself may be partly out of view. @param {HTMLElement} element */
function onScreen(element) {
  const begin = element.getBoundingClientRect().top + element.clientTop;
  const area = areaOf(element)?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  const hidden = Math.max(0, area.top - begin);
  const shown = Math.min(element.clientHeight, area.bottom - begin);
  return { from: element.scrollTop + hidden, to: element.scrollTop + shown };
}

/** `key` identifies the content of the box; a new one starts over. @param {string} key */
export function useSeen(key) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const until = useRef({ key: "", pixels: 0 });
  const [share, setShare] = useState(0);
  const look = (later = 0) => {
    const element = box.current;
    if (!element || element.clientHeight === 0) return;
    if (until.current.key !== key) until.current = { key, pixels: 0 };
    const before = onScreen(element);
    const count = () => {
      if (box.current !== element || until.current.key !== key) return;
      const now = later ? onScreen(element) : before;
      const from = Math.max(before.from, now.from);
      const to = Math.min(before.to, now.to);
      if (from < to && from <= until.current.pixels + SLACK_PX) until.current.pixels = Math.max(until.current.pixels, to);
      setShare(Math.min(1, (until.current.pixels + SLACK_PX) / element.scrollHeight));
    };
    if (later) setTimeout(count, later);
    else count();
  };
  useLayoutEffect(() => {
    const fit = () => {
      if (box.current) giveRoom(box.current);
      look(SETTLE_MS);
    };
    const scrolled = () => look();
    fit();
    const watcher = new ResizeObserver(fit);
    const area = box.current && areaOf(box.current);
    for (const one of [box.current, area]) if (one) watcher.observe(one);
    area?.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      watcher.disconnect();
      area?.removeEventListener("scroll", scrolled);
    };
  }, [key]);
  return { box, look: () => look(), seen: share >= 1, share };
}
