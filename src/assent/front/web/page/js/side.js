// The sessions, the inbox, and the few settings of the page.

import { logOut } from "./desk.js";
import { html, useState } from "./html.js";
import { askToNotify, folderName, possible } from "./notify.js";
import { changed, state } from "./store.js";
import { nextTheme, theme } from "./theme.js";
import { visible } from "./visible.js";

/** @param {{ current: string }} props */
export function Side({ current }) {
  const { route, waiting, me } = state;
  return html`<aside class="side" aria-label="Sessions">
    <div class="brand"><${Mark} /><h1>Assent</h1></div>
    <div class="side-links">
      <a class="item" href="#/inbox" aria-current=${route.name === "inbox" ? "page" : undefined}>
        <span class="grow">Inbox</span>${waiting > 0 ? html`<span class="badge" aria-label=${`${waiting} waiting`}>${waiting}</span>` : html`<span class="soft small">nothing waits</span>`}
      </a>
      ${me?.role === "operator" && html`<button onClick=${() => ((state.dialog = "new"), changed())}>New session</button>`}
    </div>
    <nav aria-label="Sessions">
      <h2>Sessions</h2>
      <ul>${state.sessions.map((session) => html`<li key=${session.id}><${Item} session=${session} here=${session.id === current} /></li>`)}</ul>
      ${state.sessions.length === 0 && html`<p class="soft small item">None yet.</p>`}
      ${state.total > state.sessions.length && html`<p class="soft small item">and ${state.total - state.sessions.length} older ones</p>`}
    </nav>
    <${Foot} />
  </aside>`;
}

const STATUS = { running: "running", waiting: "waits for you", idle: "idle", elsewhere: "open in another program" };

/** @param {{ session: import("./types.d.ts").Session, here: boolean }} props */
function Item({ session, here }) {
  return html`<a class="item" href=${`#/s/${session.id}`} aria-current=${here ? "page" : undefined}>
    <span class="dot ${session.waiting ? "waiting" : session.status}" role="img" aria-label=${STATUS[session.status]}></span>
    <span class="grow">
      <span class="name cut">${visible(session.title) || "New session"}</span>
      <span class="where cut">${visible(folderName(session.folder))} · ${when(session.updated_at)}</span>
    </span>
    ${session.waiting > 0 && html`<span class="badge" aria-label=${`${session.waiting} waiting`}>${session.waiting}</span>`}
  </a>`;
}

/** @param {number} seconds */
function when(seconds) {
  const then = new Date(seconds * 1000);
  const today = then.toDateString() === new Date().toDateString();
  return today ? then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : then.toLocaleDateString([], { day: "numeric", month: "short" });
}

function Foot() {
  const [look, setLook] = useState(theme());
  const [ask, setAsk] = useState(possible());
  return html`<footer>
    <span class="grow cut small soft" title=${state.me?.role}>${visible(state.me?.name ?? "")}</span>
    ${ask && html`<button class="quiet" title="Notify me on the desktop when a question waits" aria-label="Turn on desktop notifications" onClick=${() => void askToNotify().then(() => setAsk(possible()))}>🔔</button>`}
    <button class="quiet" aria-label=${`Colours: ${look}`} title=${`Colours: ${look}`} onClick=${() => setLook(nextTheme())}>${{ auto: "◐", light: "☀", dark: "☾" }[look]}</button>
    <button class="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" onClick=${() => ((state.dialog = "keys"), changed())}>?</button>
    <button class="quiet small" onClick=${() => void logOut()}>Log out</button>
  </footer>`;
}

/** A tick in a frame: what Assent is about. */
export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect x="2" y="2" width="28" height="28" rx="8" fill="var(--accent)" />
    <path d="M9 16.5l5 5 9-11" fill="none" stroke="var(--accent-ink)" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round" />
  </svg>`;
}
