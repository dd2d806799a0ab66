// Typing ahead answers nothing: a question takes an answer only after it has stood there, and keys have rested, for a moment.

import { useRef } from "./html.js";

export const QUIET_MS = 400;

let newest = -QUIET_MS;
let before = -QUIET_MS;

addEventListener(
  "keydown",
  (event) => {
    before = newest;
    newest = event.timeStamp; // when it was pressed, however late a busy page hears of it
  },
  { capture: true },
);

/** @param {string} key what stands there; another one begins anew */
export function useQuiet(key) {
  const appeared = useRef({ key: "", at: 0 });
  if (appeared.current.key !== key) appeared.current = { key, at: performance.now() };
  const stood = () => performance.now() - appeared.current.at >= QUIET_MS;
  return {
    click: stood,
    /** @param {KeyboardEvent} event */
    key: (event) => stood() && newest - before >= QUIET_MS && event.isTrusted && !event.repeat && !event.isComposing,
  };
}
