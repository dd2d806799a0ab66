// Below the header of every page: a message if the server is unreachable, and short notices.

import { html } from "./html.js";
import { changed, dismiss, state } from "./store.js";
import { visible } from "./visible.js";

const narrow = matchMedia("(max-width: 760px)"); // as in layout.css, where only one of the two is shown
narrow.addEventListener("change", changed);

/** @param {{ beside?: boolean }} props `beside`: in the list of sessions */
export function Lines({ beside = false }) {
  const listAlone = narrow.matches && state.route.name === "home";
  return beside === listAlone ? html`<${Link} /><${Notices} />` : null;
}

function Link() {
  if (state.link !== "lost") return null;
  return html`<div class="line off" role="alert"><span class="pulse" aria-hidden="true">●</span> The connection is lost. What you see may be out of date; reconnecting …</div>`;
}

function Notices() {
  return html`<div class="notices"><div role="status">${state.notices.filter((one) => !one.session || one.session === state.route.id).map(
    (one) => html`<div class="notice ${one.tone}" key=${one.id}><span class="grow">${visible(one.text)}</span>
      <button class="quiet" aria-label="Close" onClick=${() => dismiss(one.id)}>✕</button></div>`,
  )}</div></div>`;
}
