// The whole page for the current state.

import { Card } from "./card.js";
import { Conversation } from "./conversation.js";
import { go, useToken } from "./controller.js";
import { Dialogs, NewSession } from "./dialogs.js";
import { html, useState } from "./html.js";
import { Lines } from "./lines.js";
import { MODES, setMode } from "./modes.js";
import { folderName, titled } from "./notify.js";
import { stopped, valueOf } from "./panels.js";
import { OpenMenu } from "./session_menu.js";
import { Mark, Side } from "./side.js";
import { changed, show, state } from "./store.js";
import { visible } from "./visible.js";

export function App() {
  const { stage, route, talk, waiting } = state;
  titled(route.name === "inbox" ? "Inbox" : (talk?.title ?? ""), waiting);
  if (stage === "starting") return html`<main class="empty" aria-busy="true"><${Mark} /><p role="status">Connecting …</p></main>`;
  if (stage === "login") return html`<${Login} />`;
  return html`<div class="frame" data-pane=${route.name === "home" ? "side" : "main"}>
    <${Side} current=${route.id} />
    <main class="main">${route.name === "inbox" ? html`<${Inbox} />` : route.name === "session" ? html`<${SessionPage} />` : html`<${Home} />`}</main>
    <${Dialogs} />
    <div class="unseen" role="status" aria-live="assertive">${state.said}</div>
  </div>`;
}

function Login() {
  const [text, setText] = useState("");
  return html`<main class="empty">
    <${Mark} />
    <h2>Not logged in</h2>
    ${state.loginProblem && html`<p class="problem" role="alert">${visible(state.loginProblem)}</p>`}
    <p>Open the link that <code>assent serve</code> printed in its terminal. It works once, within a minute; press Enter there for a new one.</p>
    <form class="form" onSubmit=${stopped(() => void useToken(text))}>
      <label>Or paste a token that somebody gave you
        <input type="password" autocomplete="off" value=${text} onInput=${(/** @type {Event} */ event) => setText(valueOf(event))} />
      </label>
      <button type="submit" disabled=${!text.trim()}>Log in</button>
    </form>
  </main>`;
}

function Home() {
  return html`<${Lines} /><div class="empty">
    <${Mark} />
    <h2>${state.sessions.length ? "Choose a session, or start a new one" : "Welcome"}</h2>
    <p>Before an agent does anything that matters, it asks you. The questions of all sessions are in the <a href="#/inbox">inbox</a>.</p>
    ${state.me?.problem && html`<p class="problem lines" role="status">${visible(state.me.problem)}</p>`}
    ${state.me?.role === "operator" && html`<${NewSession} compact=${true} />`}
  </div>`;
}

/** @param {{ to: string }} props */
const Back = ({ to }) => html`<a class="back item" href=${to} aria-label="All sessions">‹</a>`;

function SessionPage() {
  const { talk, problem, loading } = state;
  if (!talk) {
    return html`<div class="top"><${Back} to="#/" /></div><${Lines} />
      <div class="empty"><h2>This session cannot be shown</h2><p role="alert">${visible(problem)}</p><button onClick=${() => go("#/")}>All sessions</button></div>`;
  }
  return html`<${Top} talk=${talk} />
    ${talk.mode === "yolo" && html`<div class="line yolo" role="status">In this session, everything runs without asking.</div>`}
    <${Lines} />
    <${Conversation} talk=${talk} loading=${loading} />`;
}

/** @param {{ talk: import("./fold.js").Talk }} props */
function Top({ talk }) {
  const may = state.me?.role === "operator";
  const about = { id: talk.session, title: talk.title };
  const choose = (/** @type {Event} */ event) => {
    setMode(talk, valueOf(event));
    changed(); // keeps showing the current mode until the session confirms
  };
  return html`<header class="top">
    <${Back} to="#/" />
    <div class="grow title">
      <${Title} talk=${talk} may=${may} />
      <div class="small soft cut" title=${visible(talk.folder)}>${visible(folderName(talk.folder))}</div>
    </div>
    <div class="row tools">
      <label><span class="unseen">Mode</span>
        <select aria-label="Mode" value=${talk.mode} disabled=${!may} onChange=${choose}>
          ${MODES.map(({ name, label }) => html`<option value=${name}>${label}</option>`)}
        </select>
      </label>
      <button class="model" aria-label=${`Model: ${visible(talk.model)}`} aria-haspopup="dialog" title=${visible(talk.model)} disabled=${!may}
        onClick=${() => show("model", about)}><span class="cut">${visible(folderName(talk.model))}</span></button>
      <button class="quiet" aria-haspopup="dialog" onClick=${() => show("grants")}>Allowed${talk.grants.size > 0 && html` <span class="badge">${talk.grants.size}</span>`}</button>
    </div>
    <${OpenMenu} session=${about} />
  </header>`;
}

/** @param {{ talk: import("./fold.js").Talk, may: boolean }} props */
function Title({ talk, may }) {
  const shown = visible(talk.title) || "New session";
  if (!may) return html`<h2 class="cut">${shown}</h2>`;
  return html`<h2><button class="quiet cut" title="Rename" onClick=${() => show("rename", { id: talk.session, title: talk.title })}>${shown}</button></h2>`;
}

function Inbox() {
  const { approvals } = state;
  return html`<header class="top"><${Back} to="#/" /><h2 class="grow title">Inbox <span class="soft small">everything waiting for a person, oldest first</span></h2></header><${Lines} />
    <div class="scroll-area">
      ${approvals.length === 0
        ? html`<div class="empty"><${Mark} /><h2>Nothing is waiting</h2><p>The questions of all sessions appear here.</p></div>`
        : html`<div class="column inbox">${approvals.map((one) => html`<section key=${one.approval.id} aria-label=${`From ${visible(one.session.title)}`}>
            <div class="from small soft"><a href=${`#/s/${one.session.id}`}>${visible(one.session.title) || "New session"}</a><span>${visible(folderName(one.session.folder))}</span></div>
            <${Card} key=${one.approval.id} session=${one.session.id} call=${one.call_id} approval=${one.approval} />
          </section>`)}</div>`}
    </div>`;
}
