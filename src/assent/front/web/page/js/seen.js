// Whether a person has had all of a box on screen: from its beginning, without a jump, to its end.

import { useLayoutEffect, useRef, useState } from "./html.js";

const SLACK = 4;

/** Give it a key for what is in the box; a new one begins anew. @param {string} key */
export function useSeen(key) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const until = useRef({ key: "", pixels: 0 });
  const [share, setShare] = useState(0);
  const look = () => {
    const element = box.current;
    if (!element || element.clientHeight === 0) return;
    if (until.current.key !== key) until.current = { key, pixels: 0 };
    const { scrollTop, clientHeight, scrollHeight } = element;
    if (scrollTop <= until.current.pixels + SLACK) until.current.pixels = Math.max(until.current.pixels, scrollTop + clientHeight);
    setShare(Math.min(1, (until.current.pixels + SLACK) / scrollHeight));
  };
  useLayoutEffect(() => {
    look();
    const watcher = new ResizeObserver(look);
    if (box.current) watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [key]);
  return { box, look, seen: share >= 1, share };
}
