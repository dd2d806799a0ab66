// The menus of a session: in the list for any session, in the conversation for the open one.

import { archive, compress, fork } from "./acts.js";
import { html } from "./html.js";
import { Menu } from "./menu.js";
import { show, state } from "./store.js";
import { visible } from "./visible.js";

/** @typedef {{ id: string, title: string, archived?: boolean }} Named */

/** @param {{ session: Named }} props */
export function ListedMenu({ session }) {
  if (state.me?.role !== "operator") return null;
  return html`<${Menu} label=${`Menu of ${visible(session.title) || "an unnamed session"}`} items=${[rename(session), copy(session), putAway(session), remove(session)]} />`;
}

/** @param {{ session: Named }} props */
export function OpenMenu({ session }) {
  if (state.me?.role !== "operator") return null;
  const items = [
    rename(session),
    { label: "Change the model …", act: () => show("model", session) },
    { label: "Always allowed …", act: () => show("grants") },
    { label: "Undo a change …", act: () => show("undo", session) },
    { label: "Compress the history", act: () => void compress(session.id) },
    copy(session),
    putAway({ ...session, archived: state.talk?.archived }),
    remove(session),
  ];
  return html`<${Menu} label="Menu of this session" mark="session" items=${items} />`;
}

/** @param {Named} session */
const rename = (session) => ({ label: "Rename …", act: () => show("rename", session) });
/** @param {Named} session */
const copy = (session) => ({ label: "Continue in a copy", act: () => void fork(session.id, session.title) });
/** @param {Named} session */
const putAway = (session) => ({ label: session.archived ? "Restore" : "Archive", act: () => void archive(session, !session.archived) });
/** @param {Named} session */
const remove = (session) => ({ label: "Delete …", danger: true, act: () => show("delete", session) });
