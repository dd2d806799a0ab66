// Whether a person has had all of a box on screen: from its beginning, without a jump, to its end.

import { useLayoutEffect, useRef, useState } from "./html.js";

const SLACK = 4;

/** A box that is too small by a few lines gets room for them, if its card is then still in view as a whole: what is shown without
 * scrolling counts as seen. @param {HTMLElement} element */
function giveRoom(element) {
  const { scrollTop } = element;
  element.toggleAttribute("data-roomy", true);
  element.toggleAttribute("data-roomy", element.scrollHeight <= element.clientHeight && inView(element));
  element.scrollTop = scrollTop; // while it was larger, the end may have come down
}

/** @param {HTMLElement} element */
function inView(element) {
  const card = /** @type {HTMLElement | null} */ (element.closest(".card"));
  return (card?.offsetHeight ?? 0) <= (areaOf(element)?.clientHeight ?? 0);
}

/** @param {HTMLElement} element */
const areaOf = (element) => element.closest(".scroll-area");

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
    const fit = () => {
      if (box.current) giveRoom(box.current);
      look();
    };
    fit();
    const watcher = new ResizeObserver(fit);
    for (const one of box.current ? [box.current, areaOf(box.current)] : []) if (one) watcher.observe(one);
    return () => watcher.disconnect();
  }, [key]);
  return { box, look, seen: share >= 1, share };
}
