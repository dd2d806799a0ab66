// The model's list of steps: in the conversation, and how far it is in the header.

import { html } from "./html.js";
import { visible } from "./visible.js";

/** @typedef {{ description: string, status: string }} Todo */

/** @type {Record<string, string>} */
const TODO_SIGNS = { pending: "○", in_progress: "◐", completed: "●", cancelled: "–", blocked: "⊘" };

/** @param {{ todos: Todo[] }} props */
export function Todos({ todos }) {
  const done = todos.filter((todo) => todo.status === "completed").length;
  return html`<section class="todos" id="todos" tabindex="-1" aria-label="To do">
    <h3>To do <span class="soft small">${done} of ${todos.length} done</span></h3>
    <ul>${todos.map((todo) => {
      const sign = TODO_SIGNS[todo.status] ?? "○";
      return html`<li class=${todo.status}><span role="img" aria-label=${todo.status.replace("_", " ")}>${sign}</span><span>${visible(todo.description)}</span></li>`;
    })}</ul>
  </section>`;
}

/** @param {{ talk: import("./fold.js").Talk }} props */
export function TodoProgress({ talk }) {
  const display = talk.todoCall?.display;
  if (display?.type !== "todos" || display.todos.length === 0) return null;
  const done = display.todos.filter((todo) => todo.status === "completed").length;
  const now = display.todos.find((todo) => todo.status === "in_progress")?.description ?? "";
  const label = `To do: ${done} of ${display.todos.length} done`;
  return html`<button type="button" class="quiet progress" title=${visible(now)} aria-label=${label} onClick=${showTodos}>
    <progress max=${display.todos.length} value=${done} aria-hidden="true"></progress><span>${done}/${display.todos.length}</span><span class="now cut soft">${visible(now)}</span>
  </button>`;
}

function showTodos() {
  const list = document.getElementById("todos");
  list?.scrollIntoView({ block: "center" });
  list?.focus({ preventScroll: true });
}
