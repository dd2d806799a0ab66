// The whole page for the current state.

import { Card } from "./card.js";
import { Conversation } from "./conversation.js";
import { go, useToken } from "./controller.js";
import { Dialogs } from "./dialogs.js";
import { html, useEffect, useState } from "./html.js";
import { Lines } from "./lines.js";
import { titled } from "./notify.js";
import { MediaPage } from "./images.js";
import { OutputPage } from "./output.js";
import { stopped, valueOf } from "./panels.js";
import { folderName } from "./paths.js";
import { prose } from "./prose.js";
import { OpenMenu } from "./session_menu.js";
import { Mark, Side } from "./side.js";
import { Start } from "./start.js";
import { pinCard } from "./status.js";
import { isOperator, notice, show, state } from "./store.js";
import { TodoProgress } from "./todos.js";
import { visible } from "./visible.js";

export function App() {
  const { stage, route, talk, waiting } = state;
  titled(route.name === "inbox" ? "Inbox" : route.name === "new" ? "New session" : (talk?.title ?? ""), waiting);
  if (stage === "starting") return html`<main class="empty" aria-busy="true"><${Mark} /><p role="status">Connecting …</p></main>`;
  if (stage === "login") return html`<${Login} />`;
  return html`<div class="frame" data-pane=${route.name === "home" ? "side" : "main"}>
    <${Side} current=${route.id} />
    <main class="main">${route.name === "inbox" ? html`<${Inbox} />` : route.name === "session" ? html`<${SessionPage} />` : html`${route.name === "new" && html`<header class="top only-narrow"><${Back} to="#/" /><h2 class="grow title">New session</h2></header>`}<${Lines} /><${Start} />`}</main>
    <${Dialogs} />
    <div class="unseen" role="status" aria-live="assertive">${state.said}</div>
  </div>`;
}

function Login() {
  const [text, setText] = useState("");
  return html`<main class="empty">
    <${Mark} />
    <h1>Not logged in</h1>
    ${state.loginProblem && html`<p class="problem" role="alert">${prose(state.loginProblem)}</p>`}
    <p>Open the link that <code>assent serve</code> printed. It works once, within a minute. For a new one, press Enter in its terminal, or run <code>assent serve login</code> on that machine.</p>
    <form class="form" onSubmit=${stopped(() => void useToken(text))}>
      <label>Or paste a token that someone gave you
        <input type="password" autocomplete="off" value=${text} onInput=${(/** @type {Event} */ event) => setText(valueOf(event))} />
      </label>
      <button type="submit" disabled=${!text.trim()}>Log in</button>
    </form>
  </main>`;
}

/** @param {{ to: string }} props */
const Back = ({ to }) => html`<a class="back item" href=${to} aria-label="All sessions">‹</a>`;

function SessionPage() {
  const { talk, problem, loading, route } = state;
  useLinked();
  if (!talk) {
    return html`<div class="top"><${Back} to="#/" /></div><${Lines} />
      <div class="empty"><h2>This session cannot be shown</h2><p role="alert">${visible(problem)}</p><button onClick=${() => go("#/")}>All sessions</button></div>`;
  }
  return html`<${Top} talk=${talk} />
    ${talk.mode === "yolo" && html`<div class="line yolo" role="status">In this session, everything runs without asking.</div>`}
    <${Lines} />
    <${Body} ...${{ talk, loading, route }} />`;
}

/** @param {{ talk: import("./fold.js").Talk, loading: boolean, route: import("./store.js").Route }} props */
function Body({ talk, loading, route: { part, item } }) {
  if (part === "output") return html`<${OutputPage} key=${item} talk=${talk} call=${item} />`;
  if (part === "media" && !loading) return html`<${MediaPage} key=${item} talk=${talk} item=${item} />`;
  return html`<${Conversation} talk=${talk} loading=${loading} />`;
}

/** A link to a question leads to its card, once. If the question has been answered, the page says so. */
function useLinked() {
  const { talk, loading, route } = state;
  const wanted = route.part === "q" && talk && !loading ? route.item : "";
  useEffect(() => {
    if (!wanted || !talk) return;
    history.replaceState(null, "", `#/s/${encodeURIComponent(talk.session)}`);
    Object.assign(state.route, { part: "", item: "" });
    const card = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-approval]"))].find((one) => one.dataset.approval === wanted);
    if (card) pinCard(card);
    else notice("This question has already been answered.");
  }, [wanted]);
}

/** @param {{ talk: import("./fold.js").Talk }} props */
function Top({ talk }) {
  const may = state.me?.role === "operator";
  return html`<header class="top">
    <${Back} to="#/" />
    <div class="grow title">
      <${Title} talk=${talk} may=${may} />
      <span class="small soft cut" title=${visible(talk.folder)}>${visible(folderName(talk.folder))}</span>
    </div>
    <${TodoProgress} talk=${talk} />
    <button class="quiet allowed" aria-haspopup="dialog" onClick=${() => show("grants")}>Allowed${talk.grants.size > 0 && html` <span class="badge">${talk.grants.size}</span>`}</button>
    <${OpenMenu} session=${{ id: talk.session, title: talk.title }} />
  </header>`;
}

/** @param {{ talk: import("./fold.js").Talk, may: boolean }} props */
function Title({ talk, may }) {
  const shown = visible(talk.title) || "New session";
  if (!may) return html`<h2 class="cut">${shown}</h2>`;
  return html`<h2><button class="quiet cut" title="Rename" onClick=${() => show("rename", { id: talk.session, title: talk.title })}>${shown}</button></h2>`;
}

function Inbox() {
  const { approvals, inputs } = state;
  return html`<header class="top"><${Back} to="#/" /><h2 class="grow title">Inbox <span class="soft small">everything waiting for a person, oldest first</span></h2></header><${Lines} />
    <div class="scroll-area">
      ${approvals.length + inputs.length === 0
        ? html`<div class="empty"><${Mark} /><h2>Nothing is waiting</h2><p>The questions of all sessions appear here.</p></div>`
        : html`<div class="column inbox">${inputs.map((one) => html`<section key=${`${one.session.id}/${one.call_id}`} aria-label=${`From ${visible(one.session.title)}`}>
            <${From} session=${one.session} />
            <p class="waiting-input">${isOperator() ? html`A command is waiting for your input. <a href=${`#/s/${one.session.id}`}>Type it in the session</a>` : "A command is waiting for the input of an operator."}</p>
          </section>`)}
          ${approvals.map((one) => html`<section key=${one.approval.id} aria-label=${`From ${visible(one.session.title)}`}>
            <${From} session=${one.session} />
            <${Card} key=${one.approval.id} session=${one.session.id} folder=${one.session.folder} call=${one.call_id} approval=${one.approval} />
          </section>`)}</div>`}
    </div>`;
}

/** @param {{ session: import("./types.d.ts").Session }} props */
const From = ({ session }) => html`<div class="from small soft"><a href=${`#/s/${session.id}`}>${visible(session.title) || "New session"}</a><span>${visible(folderName(session.folder))}</span></div>`;
