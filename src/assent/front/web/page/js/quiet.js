// Typing ahead answers nothing: a question accepts an answer only after it has been shown, without any keys, for a moment.

import { useRef } from "./html.js";

export const QUIET_MS = 400;

let newest = -QUIET_MS;
let before = -QUIET_MS;

addEventListener(
  "keydown",
  (event) => {
    before = newest;
    newest = event.timeStamp; // when it was pressed, however late a busy page handles it
  },
  { capture: true },
);

/** @param {string} key what is shown; another one starts over */
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
