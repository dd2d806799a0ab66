// Yes to all that was shown: the open questions that could each be answered with a plain yes now.

import { changed } from "./store.js";

/** @type {Map<string, { session: string, yes: () => void }>} */
const offers = new Map();

/** @param {string} session @param {string} approval @param {(() => void) | null} yes null: it cannot be answered with yes now */
export function offerForAll(session, approval, yes) {
  const before = offers.has(approval);
  if (yes) offers.set(approval, { session, yes });
  else offers.delete(approval);
  if (before !== offers.has(approval)) changed();
}

/** @param {string} session */
const of = (session) => [...offers.values()].filter((offer) => offer.session === session);

/** @param {string} session */
export const readyForAll = (session) => of(session).length;

/** @param {string} session */
export const yesToAll = (session) => of(session).forEach((offer) => offer.yes());
