// Markdown as elements. marked parses it into tokens, which become a closed set of elements with text in them. There is
// no HTML string anywhere: markup and images stay text, and so do links with other schemes.

import { marked } from "../vendor/marked.js";
import { coloured } from "./code_colours.js";
import { Copy } from "./copy.js";
import { html, steady } from "./html.js";

/** @typedef {import("../vendor/marked.js").Token} Token */

const SCHEMES = ["http:", "https:", "mailto:"];
const ENTITIES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " }));

export const Markdown = steady(
  /** @param {{ text: string }} props */
  ({ text }) => html`<div class="markdown">${blocks(marked.lexer(text, { gfm: true, breaks: true }))}</div>`,
);

/** @param {Token[] | undefined} tokens @returns {unknown[]} */
function blocks(tokens) {
  return (tokens ?? []).map(block);
}

/** @param {Token} token */
function block(token) {
  switch (token.type) {
    case "heading":
      return html`<p class="heading h${token.depth}" role="heading" aria-level=${(token.depth ?? 1) + 2}>
        ${spans(token.tokens)}
      </p>`;
    case "paragraph":
      return html`<p>${spans(token.tokens)}</p>`;
    case "text":
      return token.tokens ? spans(token.tokens) : plain(token.text);
    case "code":
      return html`<${Code} text=${token.text} language=${token.lang ?? ""} />`;
    case "blockquote":
      return html`<blockquote>${blocks(token.tokens)}</blockquote>`;
    case "list":
      return list(token);
    case "table":
      return table(token);
    case "hr":
      return html`<hr />`;
    case "space":
    case "def":
      return null;
    default:
      return html`<p>${token.raw}</p>`;
  }
}

/** @param {{ text: string, language: string }} props */
function Code({ text, language }) {
  const shown = coloured(text, language).map(([look, piece]) => (look ? html`<span class=${look}>${piece}</span>` : piece));
  return html`<div class="copyable"><pre class="code" tabindex="0"><code>${shown}</code></pre><${Copy} what="this code" text=${() => text} /></div>`;
}

/** @param {Token} token */
function list(token) {
  const items = (token.items ?? []).map(
    (item) => html`<li class=${item.task ? "task" : ""}>
      ${item.task && html`<span aria-label=${item.checked ? "done" : "open"}>${item.checked ? "☑ " : "☐ "}</span>`}
      ${blocks(item.tokens?.filter((part) => part.type !== "checkbox"))}
    </li>`,
  );
  return token.ordered ? html`<ol start=${token.start || 1}>${items}</ol>` : html`<ul>${items}</ul>`;
}

/** @param {Token} token */
function table(token) {
  const cell = (/** @type {string} */ tag) => (/** @type {Token} */ part, /** @type {number} */ column) =>
    html`<${tag} class=${token.align?.[column] ?? ""}>${spans(part.tokens)}<//>`;
  return html`<div class="scroll" tabindex="0"><table>
    <thead><tr>${token.header?.map(cell("th"))}</tr></thead>
    <tbody>${token.rows?.map((row) => html`<tr>${row.map(cell("td"))}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {Token[] | undefined} tokens @returns {unknown[]} */
function spans(tokens) {
  return (tokens ?? []).map(span);
}

/** @param {Token} token */
function span(token) {
  switch (token.type) {
    case "text":
    case "escape":
      return token.tokens ? spans(token.tokens) : plain(token.text);
    case "strong":
      return html`<strong>${spans(token.tokens)}</strong>`;
    case "em":
      return html`<em>${spans(token.tokens)}</em>`;
    case "del":
      return html`<del>${spans(token.tokens)}</del>`;
    case "codespan":
      return html`<code>${token.text}</code>`;
    case "br":
      return html`<br />`;
    case "link":
      return link(token);
    default:
      return token.raw; // including images and HTML: shown as written
  }
}

/** The URL is shown if the text could hide it. @param {Token} token */
function link(token) {
  const address = target(token.href ?? "");
  if (address === null) return token.raw;
  const hidden = token.text !== token.href && token.text !== address;
  return html`<a href=${address} target="_blank" rel="noopener noreferrer">${spans(token.tokens)}</a>${
    hidden && html` <span class="address">(${address})</span>`
  }`;
}

/** @param {string} href */
function target(href) {
  try {
    const url = new URL(href);
    return SCHEMES.includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Only entities that people use in prose; a numeric one could hide again what was made visible. @param {string} text */
function plain(text) {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name) => ENTITIES.get(name) ?? whole);
}
