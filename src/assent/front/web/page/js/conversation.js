// The conversation: prompts, replies as they arrive, thoughts, calls, and the message box.

import { keepBackground, releaseQueue, stopBackground, withdraw } from "./acts.js";
import { asksServer, CallBlock } from "./call.js";
import { Composer } from "./composer.js";
import { putIntoPrompt } from "./drafts.js";
import { html, steady, useLayoutEffect, useRef, useState } from "./html.js";
import { MediaList } from "./images.js";
import { Markdown } from "./markdown.js";
import { who } from "./names.js";
import { withoutUploadFolder } from "./paths.js";
import { isOperator, state } from "./store.js";
import { clock, exactly } from "./times.js";
import { Todos } from "./todos.js";
import { visible } from "./visible.js";

/** @typedef {import("./fold.js").Talk} Talk */
/** @typedef {import("./types.d.ts").Entry} Entry */

const CLOSE_TO_END = 60;
let tick = 0;

/** @param {{ talk: Talk, loading: boolean }} props */
export function Conversation({ talk, loading }) {
  const { box, atEnd, onScroll, toEnd } = useFollow(talk.session);
  tick += 1;
  return html`<div class="scroll-area" ref=${box} onScroll=${onScroll} tabindex="-1">
      <div class="column talk" role="log" aria-label="Conversation" aria-live="off" aria-busy=${talk.busy}>
        ${talk.entries.map((entry) => html`<${Shown} key=${entry.id} ...${{ talk, entry }} />`)}
        <${Partial} partial=${talk.partial} busy=${talk.busy && talk.waiting.length === 0 && !running(talk)} />
        ${talk.queued.map((queued) => html`<${Waiting} key=${queued.key} session=${talk.session} queued=${queued} first=${queued === talk.queued.find(({ held }) => held)} />`)}
        ${!loading && talk.entries.length === 0 && talk.queued.length === 0 && html`<p class="note">No messages yet. Write below what should be done.</p>`}
        ${loading && talk.entries.length === 0 && html`<p class="note" role="status">Loading the session …</p>`}
      </div>
    </div>
    <div class="foot">
      ${talk.background.size > 0 && html`<${Behind} ...${{ session: talk.session, commands: [...talk.background.values()] }} />`}
      <${Composer} key=${talk.session} ...${{ talk, tick, atEnd, toEnd }} />
    </div>`;
}

/** Follows the end while the person reads there; otherwise stays where it is. @param {string} session */
function useFollow(session) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const follows = useRef(true);
  const begun = useRef(/** @type {HTMLElement | null} */ (null));
  const pinned = useRef(false);
  const shownAt = useRef(0);
  const [atEnd, setAtEnd] = useState(true);
  const toEnd = () => {
    follows.current = true;
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  const keepUp = () => {
    const answering = box.current?.querySelector(".card:focus-within");
    const answered = begun.current && !begun.current.isConnected; // then the next question is shown, wherever the view is
    if ((follows.current || pinned.current || answered) && !answering && !showFromTop() && follows.current && !isReading(cards())) toEnd();
  };
  const cards = () => [.../** @type {NodeListOf<HTMLElement>} */ (box.current?.querySelectorAll(".card") ?? [])];
  /** If the questions do not fit into the view, the first one is shown from its start, and stays there while the others still
   * load, until someone does something. After scrolling to the end, the view follows again. */
  const showFromTop = () => {
    const [first, ...others] = cards();
    if (!first) begun.current = null;
    if (!first || (first === begun.current && !pinned.current) || fitTogether([first, ...others])) return false;
    begun.current = first;
    follows.current = false;
    first.scrollIntoView({ block: "start" });
    pinned.current = true;
    shownAt.current = first.getBoundingClientRect().top;
    return true;
  };
  useLayoutEffect(() => {
    follows.current = true;
    pinned.current = false;
    setAtEnd(true);
    const content = box.current?.firstElementChild;
    const watcher = new ResizeObserver(keepUp);
    if (content) watcher.observe(content);
    return () => watcher.disconnect();
  }, [session]);
  useLayoutEffect(keepUp);
  useLayoutEffect(() => {
    const off = new AbortController();
    const unpin = () => void (pinned.current = false);
    for (const act of ["wheel", "touchmove", "pointerdown", "keydown", "click"]) addEventListener(act, unpin, { capture: true, passive: true, signal: off.signal });
    return () => off.abort();
  }, []);
  const onScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = /** @type {HTMLElement} */ (box.current);
    const nearEnd = scrollHeight - scrollTop - clientHeight < CLOSE_TO_END;
    if (begun.current && Math.abs(begun.current.getBoundingClientRect().top - shownAt.current) > 2) pinned.current = false; // by a scroll bar, a find, a screen reader
    follows.current = nearEnd && !pinned.current;
    setAtEnd(nearEnd);
  };
  return { box, atEnd, onScroll, toEnd };
}

/** Whether all questions fit into the view. @param {HTMLElement[]} cards */
function fitTogether(cards) {
  const [first, last] = [cards[0], cards[cards.length - 1]];
  return last.offsetTop + last.offsetHeight - first.offsetTop <= (first.closest(".scroll-area")?.clientHeight ?? 0);
}

/** Whether lines must still be read that following the end could move out of the view. @param {HTMLElement[]} cards */
const isReading = (cards) => cards.some((card) => card.querySelector(".next-unseen")) && !fitTogether(cards);

/** The commands that run in the background. @param {{ session: string, commands: import("./types.d.ts").Background[] }} props */
function Behind({ session, commands }) {
  return html`<ul class="column behind" aria-label="Background commands">
    ${commands.map(
      ({ call_id, command, pid, kept }) => html`<li key=${call_id}>
        <span class="cut">In the background: <code>${visible(command)}</code> <span class="soft">process ${pid}${kept ? ", kept" : ""}</span></span>
        ${isOperator() && !kept && html`<button title="It goes on when the session ends" onClick=${() => void keepBackground(session, call_id)}>Keep</button>`}
        ${isOperator() && html`<button onClick=${() => void stopBackground(session, call_id)}>Stop</button>`}
      </li>`,
    )}
  </ul>`;
}

/** @param {Talk} talk */
const running = (talk) => [...talk.calls.values()].some((call) => call.type === "executing");

/** @param {{ talk: Talk, entry: Entry }} props */
function Shown({ talk, entry }) {
  if (entry.kind !== "call") return html`<${Words} session=${talk.session} entry=${entry} />`;
  const call = talk.calls.get(entry.id);
  if (!call) return null;
  if (call === talk.todoCall && call.display?.type === "todos") return html`<${Todos} todos=${call.display.todos} />`;
  const answered = talk.answers.get(entry.id) ?? "";
  return html`<${CallBlock} ...${{ session: talk.session, folder: talk.folder, call, answered, tick: asksServer(call) ? tick : 0 }} />`;
}

const Words = steady(
  /** @param {{ session: string, entry: Exclude<Entry, { kind: "call" }> }} props */
  ({ session, entry }) => {
    switch (entry.kind) {
      case "prompt":
        return html`<section class="prompt" aria-label="Prompt">
          <span class="who">${entry.by && html`<span title=${visible(entry.by)}>${visible(who(entry.by, state.me?.by))}</span> · `}<time title=${exactly(entry.at)}>${clock(entry.at)}</time></span>${visible(withoutUploadFolder(entry.text, session))}
          ${entry.media.length > 0 && html`<${MediaList} session=${session} source=${entry.id} media=${entry.media} />`}
        </section>`;
      case "thought":
        return html`<${Thought} text=${entry.text} />`;
      case "text":
        return html`<${Markdown} text=${visible(entry.text)} />`;
      case "note":
        return html`<p class="note ${entry.tone}">${visible(entry.text)}</p>`;
    }
  },
);

/** @param {{ text: string, open?: boolean }} props */
function Thought({ text, open = false }) {
  const subject = /\*\*(.+?)\*\*/s.exec(text)?.[1] ?? "Thought";
  return html`<details class="thought" open=${open}>
    <summary>${visible(subject)}</summary>
    <${Markdown} text=${visible(text.replace(/\*\*(.+?)\*\*/s, "").trim())} />
  </details>`;
}

/** @param {{ partial: Talk["partial"], busy: boolean }} props */
function Partial({ partial, busy }) {
  const silent = !partial.text && partial.thoughts.length === 0;
  return html`${partial.thoughts.map((text, place) => html`<${Thought} key=${place} text=${text} />`)}
    ${partial.text && html`<${Markdown} text=${visible(partial.text)} />`}
    ${busy && silent && html`<p class="note" role="status"><span class="pulse" aria-hidden="true">●</span> ${partial.note ? visible(partial.note) : "Thinking …"}</p>`}`;
}

/** @param {import("./types.d.ts").Queued} queued */
const waitsFor = ({ held, steer }) => (held ? "Held: the turn was stopped" : steer ? "Read at the next step" : "Waiting for its turn");

/** @param {{ session: string, queued: import("./types.d.ts").Queued, first: boolean }} props `first`: of those that are held, which are sent together */
function Waiting({ session, queued, first }) {
  const { key, text, tool, by, held } = queued;
  const edit = async () => (await withdraw(session, key)) && putIntoPrompt(text);
  return html`<section class="prompt queued ${held ? "held" : ""}" aria-label="Waiting prompt">
    <span class="who">${waitsFor(queued)}${by && ` · ${visible(who(by, state.me?.by))}`}</span>${tool ? `${visible(tool)} ` : ""}${visible(withoutUploadFolder(text, session))}
    ${state.me?.role === "operator" && html`<span class="row">
      ${held && first && html`<button class="link" onClick=${() => void releaseQueue(session)}>Send what is held</button>`}
      ${!tool && html`<button class="link" onClick=${() => void edit()}>Edit</button>`}
      <button class="link" onClick=${() => void withdraw(session, key)}>Withdraw</button>
    </span>`}
  </section>`;
}
