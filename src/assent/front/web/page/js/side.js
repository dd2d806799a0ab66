// The sessions, the inbox, and the page's few settings.

import { ContentSearch } from "./content_search.js";
import { find, listArchive, logOut, MAX_SESSIONS, SESSIONS_PER_PAGE } from "./controller.js";
import { html, useState } from "./html.js";
import { Lines } from "./lines.js";
import { Menu } from "./menu.js";
import { askToNotify, possible } from "./notify.js";
import { valueOf } from "./panels.js";
import { folderName } from "./paths.js";
import { ListedMenu } from "./session_menu.js";
import { focusStart } from "./start.js";
import { show, state } from "./store.js";
import { nextTheme, theme } from "./theme.js";
import { ago, exactly } from "./times.js";
import { visible } from "./visible.js";

/** @param {{ current: string }} props */
export function Side({ current }) {
  const { route, waiting, me } = state;
  return html`<aside class="side" aria-label="Sessions">
    <div class="brand"><${Mark} /><h1>Assent</h1></div>
    <${Lines} beside=${true} />
    <div class="side-links">
      <a class="item" href="#/inbox" aria-current=${route.name === "inbox" ? "page" : undefined}>
        <span class="grow">Inbox</span>${waiting > 0 ? html`<span class="badge" aria-label=${`${waiting} waiting`}>${waiting}</span>` : html`<span class="soft small">empty</span>`}
      </a>
      ${me?.role === "operator" && html`<a class="item new" href="#/new" onClick=${focusStart} aria-current=${route.name === "new" ? "page" : undefined}>New session</a>`}
    </div>
    <nav aria-label="Sessions">
      <h2>${state.showArchive && !state.wanted ? "Archived sessions" : "Sessions"}</h2>
      ${(state.all > MAX_WITHOUT_SEARCH || state.wanted) && html`<${Find} />`}
      ${grouped(state.sessions).map(([folder, sessions], _, all) => html`<section key=${folder} aria-label=${visible(folder)}>
        ${all.length > 1 && html`<h3 class="cut" title=${visible(folder)}>${visible(folderName(folder))}</h3>`}
        <ul>${sessions.map((session) => html`<li key=${session.id} class="listed"><${Item} session=${session} here=${session.id === current} /><${ListedMenu} session=${session} /></li>`)}</ul>
      </section>`)}
      ${state.sessions.length === 0 && html`<p class="soft small item">${state.wanted ? "No matches." : "None yet."}</p>`}
      <${Older} />
      <${ArchiveLink} />
      ${state.wanted && html`<${ContentSearch} wanted=${state.wanted} />`}
    </nav>
    <${Foot} />
  </aside>`;
}

/** By folder, the folder with the newest session first. @param {import("./types.d.ts").Session[]} sessions */
function grouped(sessions) {
  /** @type {Map<string, import("./types.d.ts").Session[]>} */
  const groups = new Map();
  for (const session of sessions) groups.set(session.folder, [...(groups.get(session.folder) ?? []), session]);
  return [...groups];
}

/** With fewer sessions, no search is needed. */
const MAX_WITHOUT_SEARCH = 7;

const STATUS = { running: "running", waiting: "waiting for you", idle: "idle", elsewhere: "open in another program" };

/** @param {{ session: import("./types.d.ts").Session, here: boolean }} props */
function Item({ session, here }) {
  const waiting = session.waiting + state.inputs.filter((one) => one.session.id === session.id).length;
  const status = waiting ? "waiting" : session.status;
  return html`<a class="item" href=${`#/s/${session.id}`} aria-current=${here ? "page" : undefined}>
    <span class="dot ${status}" role="img" aria-label=${STATUS[status]}></span>
    <span class="grow">
      <span class="name cut">${visible(session.title) || "New session"}</span>
      ${session.archived && state.wanted && html`<span class="soft small">archived</span>`}
    </span>
    ${waiting > 0 && html`<span class="badge" aria-label=${`${waiting} waiting`}>${waiting}</span>`}
    <time class="when" title=${exactly(session.updated_at)}>${ago(session.updated_at)}</time>
  </a>`;
}

function Find() {
  const onInput = (/** @type {Event} */ event) => find(valueOf(event));
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && (find(""), /** @type {HTMLElement} */ (event.target).blur());
  return html`<div class="find" role="search"><label class="unseen" for="find">Find a session</label>
    <input id="find" type="search" value=${state.wanted} placeholder=${`Find among ${state.all} …`} maxlength="200" autocomplete="off" spellcheck=${false}
      onInput=${onInput} onKeyDown=${onKeyDown} /></div>`;
}

function Older() {
  const more = state.total - state.sessions.length;
  if (more <= 0) return null;
  if (state.most >= MAX_SESSIONS) return html`<p class="soft small item">and ${more} older ones: find them by a word in their name</p>`;
  const add = () => find(state.wanted, Math.min(MAX_SESSIONS, state.most + SESSIONS_PER_PAGE));
  return html`<button class="quiet item" onClick=${add}>Show older <span class="soft small">${more} more</span></button>`;
}

function ArchiveLink() {
  if (state.wanted || (state.archived === 0 && !state.showArchive)) return null;
  return html`<button class="quiet item soft small" onClick=${() => listArchive(!state.showArchive)}>${state.showArchive ? "‹ Back to the sessions" : `Archived (${state.archived})`}</button>`;
}

const PHONE = { label: "Open on a phone", act: () => show("phone") };
const SERVER_MENU = [
  { label: "Who has access", act: () => show("access") },
  { label: "Who decided what", act: () => show("audit") },
];

function Foot() {
  const [look, setLook] = useState(theme());
  const [ask, setAsk] = useState(possible());
  return html`<footer>
    <span class="grow cut small soft" title=${state.me?.role}>${visible(state.me?.name ?? "")}</span>
    ${ask && html`<button class="quiet" title="Notify me on the desktop when a question is waiting" aria-label="Turn on desktop notifications" onClick=${() => void askToNotify().then(() => setAsk(possible()))}><${Icon} name="bell" /></button>`}
    <button class="quiet" aria-label=${`Colours: ${look}`} title=${`Colours: ${look}`} onClick=${() => setLook(nextTheme())}><${Icon} name=${look} /></button>
    <button class="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" onClick=${() => show("keys")}>?</button>
    ${state.me?.role === "operator" && html`<${Menu} label="Server" items=${state.me.may_log_in ? [PHONE, ...SERVER_MENU] : SERVER_MENU} />`}
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

/** The logo: a tick in a frame. */
export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect x="2" y="2" width="28" height="28" rx="8" fill="var(--accent)" />
    <path d="M9 16.5l5 5 9-11" fill="none" stroke="var(--accent-ink)" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round" />
  </svg>`;
}
