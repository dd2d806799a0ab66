// Relative and absolute times.

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** How long ago, in a word or two; a date if it is long ago. @param {number} seconds @param {number} [now] */
export function ago(seconds, now = Date.now() / 1000) {
  const age = now - seconds;
  if (age < MINUTE) return "now";
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (day(seconds) === day(now)) return `${Math.floor(age / HOUR)} h ago`;
  if (day(seconds) === day(now - 24 * HOUR)) return "yesterday";
  const then = new Date(seconds * 1000);
  const year = then.getFullYear() === new Date(now * 1000).getFullYear() ? undefined : /** @type {const} */ ("numeric");
  return then.toLocaleDateString([], { day: "numeric", month: "short", year });
}

/** @param {number} seconds */
const day = (seconds) => new Date(seconds * 1000).toDateString();

/** @param {number} seconds */
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

/** @param {number} seconds */
export const exactly = (seconds) => new Date(seconds * 1000).toLocaleString();
