// A text box whose text can be changed without losing the caret.

import { useLayoutEffect, useRef, useState } from "./html.js";

/** @param {() => string} first @param {(text: string) => void} [keep] is called with every new text */
export function useWriting(first, keep = () => {}) {
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [text, setText] = useState(first);
  const caret = useRef(/** @type {number | null} */ (null));
  useLayoutEffect(() => {
    if (caret.current !== null) box.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const write = (/** @type {string} */ next, /** @type {number | null} */ at = null) => {
    caret.current = at;
    keep(next);
    setText(next);
  };
  return { box, text, write };
}
