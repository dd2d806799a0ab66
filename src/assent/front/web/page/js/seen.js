// Which parts of a question have been on screen, and where the first unseen one is. A part is a block of lines; what was
// seen of it is kept as shares of its height, so that it stays right when the window changes.

import { useLayoutEffect, useRef, useState } from "./html.js";
import { added, firstGap, total } from "./ranges.js";

/** @typedef {import("./ranges.js").Range} Range */
/** @typedef {{ id: string, lines: number }} Block */

const SLACK_PX = 4;
/** Milliseconds: what is on screen for less, e.g. while someone scrolls fast, does not count as seen. */
const DWELL_MS = 150;

/** @param {Element} element */
const areaOf = (element) => element.closest(".scroll-area");

/** Whether a whole question fits into the view. @param {HTMLElement | null} card */
export const fits = (card) => !card || card.offsetHeight <= (areaOf(card)?.clientHeight ?? 0);

/** What of the scroll area is free: the head and the answers of a card stay in view, over its content. @param {HTMLElement} box */
function viewOf(box) {
  const area = areaOf(box)?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  const card = box.closest(".card");
  const head = card?.querySelector(":scope > header")?.getBoundingClientRect().bottom ?? area.top;
  const foot = card?.querySelector(".answers")?.getBoundingClientRect().top ?? area.bottom;
  return { top: Math.max(area.top, head), bottom: Math.min(area.bottom, foot) };
}

/** The visible share of every block that is in view. @param {HTMLElement} box @returns {Map<string, Range>} */
function onScreen(box) {
  const view = viewOf(box);
  /** @type {Map<string, Range>} */
  const found = new Map();
  for (const block of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("[data-block]"))) {
    const { top, height } = block.getBoundingClientRect();
    const from = Math.max(0, view.top - SLACK_PX - top);
    const to = Math.min(height, view.bottom + SLACK_PX - top);
    if (height > 0 && from < to) found.set(block.dataset.block ?? "", [from / height, to / height]);
  }
  return found;
}

/** @param {Range | undefined} one @param {Range | undefined} other @returns {Range | null} */
function both(one, other) {
  if (!one || !other) return null;
  const from = Math.max(one[0], other[0]);
  const to = Math.min(one[1], other[1]);
  return from < to ? [from, to] : null;
}

/** `key` identifies the content; a new one starts over. `blocks` are those that must be seen. @param {string} key @param {Block[]} blocks */
export function useSeen(key, blocks) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const seen = useRef({ key, ranges: /** @type {Map<string, Range[]>} */ (new Map()) });
  const [, redraw] = useState(0);
  if (seen.current.key !== key) seen.current = { key, ranges: new Map() };
  useLayoutEffect(() => watch(box.current, (id, range) => note(seen.current.ranges, id, range), () => redraw((n) => n + 1)), [key]);
  const gaps = blocks.map(({ id, lines }) => ({ id, from: firstGap(seen.current.ranges.get(id) ?? []), lines: unseenLines(seen.current.ranges.get(id) ?? [], lines) }));
  const open = key ? gaps.filter(({ lines }) => lines > 0) : gaps;
  return { box, seen: key !== "" && open.length === 0, left: open.reduce((sum, { lines }) => sum + lines, 0), first: open[0] ?? null };
}

/** @param {Map<string, Range[]>} ranges @param {string} id @param {Range} range */
function note(ranges, id, range) {
  ranges.set(id, added(ranges.get(id) ?? [], range));
}

/** @param {Range[]} ranges @param {number} lines */
const unseenLines = (ranges, lines) => (total(ranges) > 0.9999 ? 0 : Math.max(1, Math.round((1 - total(ranges)) * lines)));

/** Looks again and again while something moves. @param {HTMLElement | null} box @param {(id: string, range: Range) => void} found @param {() => void} then */
function watch(box, found, then) {
  const area = box && areaOf(box);
  if (!box || !area) return;
  let timer = 0;
  const look = () => {
    if (timer) return;
    const before = onScreen(box);
    timer = window.setTimeout(() => {
      timer = 0;
      if (!box.isConnected) return;
      const now = onScreen(box);
      for (const [id, range] of now) {
        const stayed = both(before.get(id), range);
        if (stayed) found(id, stayed);
      }
      then();
      if (moved(before, now)) look();
    }, DWELL_MS);
  };
  const watcher = new ResizeObserver(look);
  [box, area].forEach((one) => watcher.observe(one));
  area.addEventListener("scroll", look, { passive: true });
  look();
  return () => {
    clearTimeout(timer);
    watcher.disconnect();
    area.removeEventListener("scroll", look);
  };
}

/** @param {Map<string, Range>} before @param {Map<string, Range>} now */
const moved = (before, now) => before.size !== now.size || [...now].some(([id, [from, to]]) => before.get(id)?.[0] !== from || before.get(id)?.[1] !== to);

/** Brings the first unseen line to the top of the view. @param {HTMLElement} box @param {{ id: string, from: number }} gap */
export function scrollToGap(box, gap) {
  const area = areaOf(box);
  const block = box.querySelector(`[data-block="${CSS.escape(gap.id)}"]`);
  if (!area || !block) return;
  const head = box.closest(".card")?.querySelector(":scope > header");
  const covered = head && getComputedStyle(head).position === "sticky" ? head.clientHeight : 0;
  const { top, height } = block.getBoundingClientRect();
  area.scrollTop += top + gap.from * height - area.getBoundingClientRect().top - covered - SLACK_PX;
}
