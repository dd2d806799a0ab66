// What changed within a line: removed and added lines that replace each other are compared word by word.

/** @typedef {import("./types.d.ts").Line} Line */
/** @typedef {[from: number, to: number]} Span */

const MAX_WORDS = 120;
/** With less in common, the line is a different one: marking most of it would say nothing. */
const MIN_COMMON = 0.35;

/** The changed parts of every line that has a counterpart. @param {Line[]} lines @returns {Map<Line, Span[]>} */
export function changedWords(lines) {
  /** @type {Map<Line, Span[]>} */
  const marks = new Map();
  for (const [before, after] of pairs(lines)) {
    const found = compared(before.text, after.text);
    if (!found) continue;
    marks.set(before, found.before);
    marks.set(after, found.after);
  }
  return marks;
}

/** A run of removed lines and the run of added lines after it, line by line. @param {Line[]} lines @returns {[Line, Line][]} */
function pairs(lines) {
  return runs(lines).flatMap(({ removed, added }) => removed.slice(0, added.length).map((line, n) => /** @type {[Line, Line]} */ ([line, added[n]])));
}

/** @param {Line[]} lines */
export function runs(lines) {
  /** @type {{ same: Line[], removed: Line[], added: Line[] }[]} */
  const found = [{ same: [], removed: [], added: [] }];
  for (const line of lines) {
    let run = found[found.length - 1];
    const over = line.kind === " " ? run.removed.length + run.added.length > 0 : line.kind === "-" && run.added.length > 0;
    if (over) found.push((run = { same: [], removed: [], added: [] }));
    (line.kind === " " ? run.same : line.kind === "-" ? run.removed : run.added).push(line);
  }
  return found;
}

/** @param {string} before @param {string} after @returns {{ before: Span[], after: Span[] } | null} */
function compared(before, after) {
  const [one, other] = [words(before), words(after)];
  if (one.length > MAX_WORDS || other.length > MAX_WORDS) return null;
  const common = longest(one, other);
  const kept = common.reduce((sum, [place]) => sum + one[place].trim().length, 0);
  const most = Math.max(before.replace(/\s/g, "").length, after.replace(/\s/g, "").length);
  if (kept < MIN_COMMON * most) return null;
  return { before: rest(one, common.map(([place]) => place)), after: rest(other, common.map(([, place]) => place)) };
}

/** @param {string} text */
const words = (text) => text.match(/\w+|\s+|[^\w\s]/gu) ?? [];

/** The longest common subsequence, as pairs of places. @param {string[]} one @param {string[]} other @returns {[number, number][]} */
function longest(one, other) {
  const width = other.length + 1;
  const best = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      best[i * width + j] = one[i] === other[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  /** @type {[number, number][]} */
  const found = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) found.push([i++, j++]);
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
    else j++;
  }
  return found;
}

/** The characters of the words that are not common; neighbours are joined. @param {string[]} all @param {number[]} common @returns {Span[]} */
function rest(all, common) {
  const kept = new Set(common);
  /** @type {Span[]} */
  const spans = [];
  let at = 0;
  all.forEach((word, place) => {
    const last = spans.at(-1);
    if (!kept.has(place) && last?.[1] === at) last[1] = at + word.length;
    else if (!kept.has(place)) spans.push([at, at + word.length]);
    at += word.length;
  });
  return spans;
}

/** Coloured pieces cut at the marks: class, text, whether it is marked. @param {[string, string][]} pieces @param {Span[]} spans @returns {[string, string, boolean][]} */
export function cut(pieces, spans) {
  /** @type {[string, string, boolean][]} */
  const found = [];
  let at = 0;
  for (const [look, text] of pieces) {
    const edges = [at, ...spans.flat().filter((edge) => edge > at && edge < at + text.length), at + text.length];
    edges.slice(1).forEach((to, n) => {
      const from = edges[n];
      found.push([look, text.slice(from - at, to - at), spans.some((span) => span[0] <= from && to <= span[1])]);
    });
    at += text.length;
  }
  return found;
}
