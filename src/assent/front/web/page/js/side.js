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
    ${ask && html`<button class="quiet" title="Notify me on the desktop when a question waits" aria-label="Turn on desktop notifications" onClick=${() => void askToNotify().then(() => setAsk(possible()))}><${Icon} name="bell" /></button>`}
    <button class="quiet" aria-label=${`Colours: ${look}`} title=${`Colours: ${look}`} onClick=${() => setLook(nextTheme())}><${Icon} name=${look} /></button>
    <button class="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" onClick=${() => ((state.dialog = "keys"), changed())}>?</button>
    <button class="quiet small" onClick=${() => void logOut()}>Log out</button>
  </footer>`;
}

const SHAPES = {
  bell: "M10 2.5a5 5 0 0 0-5 5c0 4-1.5 5-1.5 6.5h13c0-1.5-1.5-2.5-1.5-6.5a5 5 0 0 0-5-5zM8 16.5a2 2 0 0 0 4 0",
  auto: "M10 3a7 7 0 1 0 0 14a7 7 0 1 0 0-14zM10 3v14M13 4v12M16 7v6",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6l1.4 1.4M16 4l-1.4 1.4M5.4 14.6L4 16",
  dark: "M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z",
};

/** @param {{ name: keyof typeof SHAPES }} props */
function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d=${SHAPES[name]} fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" /></svg>`;
}

/** A tick in a frame: what Assent is about. */
export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect x="2" y="2" width="28" height="28" rx="8" fill="var(--accent)" />
    <path d="M9 16.5l5 5 9-11" fill="none" stroke="var(--accent-ink)" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round" />
  </svg>`;
}
