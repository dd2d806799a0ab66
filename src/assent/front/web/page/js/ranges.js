// Parts of a whole as ordered ranges between 0 and 1 that do not touch.

/** @typedef {[from: number, to: number]} Range */

const CLOSE = 1e-4;

/** @param {Range[]} ranges @param {Range} more @returns {Range[]} */
export function added(ranges, [from, to]) {
  const apart = ranges.filter((range) => range[1] < from - CLOSE || range[0] > to + CLOSE);
  const touching = ranges.filter((range) => !apart.includes(range));
  const whole = /** @type {Range} */ ([Math.min(from, ...touching.map((range) => range[0])), Math.max(to, ...touching.map((range) => range[1]))]);
  return [...apart, whole].sort((one, other) => one[0] - other[0]);
}

/** @param {Range[]} ranges */
export const total = (ranges) => ranges.reduce((sum, [from, to]) => sum + to - from, 0);

/** Where the first gap begins. @param {Range[]} ranges */
export const firstGap = (ranges) => (ranges.length && ranges[0][0] <= CLOSE ? ranges[0][1] : 0);
