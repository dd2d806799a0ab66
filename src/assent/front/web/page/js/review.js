// How someone looks at a change: which parts are folded, one column or side by side, how much around each part.

import { useLayoutEffect, useMemo, useState } from "./html.js";
import { scrollToGap } from "./seen.js";

/** @typedef {import("./types.d.ts").Hunk} Hunk */
/** @typedef {import("./types.d.ts").Line} Line */

const KEY = "assent.split";
const MORE_LINES = 20;
const narrow = matchMedia("(max-width: 760px)"); // as in code.css, which hides the choice there

/** @param {Hunk[]} hunks @param {string | undefined} text the whole new text, if it is known */
export function useReview(hunks, text) {
  const [folded, setFolded] = useState(/** @type {Set<number>} */ (new Set()));
  const [wanted, setWide] = useState(localStorage.getItem(KEY) === "yes");
  const tight = useNarrow();
  const twoSides = useMemo(() => hasTwoSides(hunks), [hunks]);
  const [room, setRoom] = useState(/** @type {Map<number, number>} */ (new Map()));
  const change = useMemo(
    () => ({
      fold: (/** @type {number} */ number, /** @type {boolean} */ on) => setFolded((now) => toggled(now, number, on)),
      more: (/** @type {number} */ number) => setRoom((now) => new Map(now).set(number, (now.get(number) ?? 0) + MORE_LINES)),
    }),
    [],
  ); // always the same: a long change is not drawn again whenever a line was seen
  const split = (/** @type {boolean} */ on) => {
    localStorage.setItem(KEY, on ? "yes" : "no");
    setWide(on);
  };
  const around = useMemo(() => (text === undefined ? undefined : new Map([...room].map(([number, lines]) => [number, linesAround(hunks, number, text, lines)]))), [room, text, hunks]);
  const all = hunks.map((hunk) => hunk.number);
  const more = text === undefined || isWhole(hunks, text) ? undefined : change.more;
  return { folded, fold: change.fold, foldAll: (/** @type {boolean} */ on) => setFolded(new Set(on ? all : [])), wide: wanted && twoSides && !tight, twoSides, split, around, more };
}

/** Whether the window is too narrow for two columns; it may be turned or resized. */
function useNarrow() {
  const [now, setNow] = useState(narrow.matches);
  useLayoutEffect(() => {
    const look = () => setNow(narrow.matches);
    narrow.addEventListener("change", look);
    return () => narrow.removeEventListener("change", look);
  }, []);
  return now;
}

/** A new file has no old side, and an emptied one no new side. @param {Hunk[]} hunks */
const hasTwoSides = (hunks) => ["new", "old"].every((side) => hunks.some(({ lines }) => lines.some((line) => line[/** @type {"new" | "old"} */ (side)] !== undefined)));

/** Whether the change shows every line of the file already. @param {Hunk[]} hunks @param {string} text */
function isWhole(hunks, text) {
  if (hunks.length !== 1) return false;
  const { before, after } = linesAround(hunks, hunks[0].number, text, 1);
  return before.length + after.length === 0;
}

/** Leads to the first unseen line, also in a part that is folded. @param {ReturnType<typeof import("./seen.js").useSeen>} reading @param {ReturnType<typeof useReview>} review */
export function useNextUnseen({ box, first }, { folded, fold }) {
  const [wanted, setWanted] = useState(0);
  useLayoutEffect(() => {
    if (wanted && first && box.current) scrollToGap(box.current, first);
  }, [wanted]);
  return () => {
    if (first && folded.has(Number(first.id))) fold(Number(first.id), false);
    setWanted(wanted + 1); // scrolls when the part is there
  };
}

/** Unchanged lines before and after a part, up to its neighbours. @param {Hunk[]} hunks @param {number} number @param {string} text @param {number} most */
function linesAround(hunks, number, text, most) {
  const lines = text.split("\n");
  const place = hunks.findIndex((hunk) => hunk.number === number);
  const { first, last, drift } = extent(hunks[place]);
  const from = Math.max(place > 0 ? extent(hunks[place - 1]).last : 0, first - 1 - most);
  const to = Math.min(place + 1 < hunks.length ? extent(hunks[place + 1]).first - 1 : lines.length - (text.endsWith("\n") ? 1 : 0), last + most);
  const same = (/** @type {number} */ n, /** @type {number} */ shift) => /** @type {Line} */ ({ kind: " ", text: lines[n], new: n + 1, old: n + 1 - shift });
  const count = (/** @type {number} */ begin, /** @type {number} */ end) => Array.from({ length: Math.max(0, end - begin) }, (_, n) => begin + n);
  const before = extent(hunks[place]).driftBefore;
  return { before: count(from, first - 1).map((n) => same(n, before)), after: count(last, to).map((n) => same(n, drift)) };
}

/** The new line numbers of a part, and by how much its lines have moved before and after it. @param {Hunk} hunk */
function extent({ lines, old_from }) {
  const numbers = lines.flatMap((line) => (line.new === undefined ? [] : [line.new]));
  const start = lines.find((line) => line.kind === " " && line.old !== undefined && line.new !== undefined);
  const end = lines.findLast((line) => line.kind === " " && line.old !== undefined && line.new !== undefined);
  const first = numbers[0] ?? old_from;
  return { first, last: numbers.at(-1) ?? first - 1, driftBefore: moved(start), drift: moved(end) };
}

/** @param {Line | undefined} line */
const moved = (line) => (line ? (line.new ?? 0) - (line.old ?? 0) : 0);

/** @template T @param {Set<T>} set @param {T} one @param {boolean} inside */
export function toggled(set, one, inside) {
  const next = new Set(set);
  if (inside) next.add(one);
  else next.delete(one);
  return next;
}
