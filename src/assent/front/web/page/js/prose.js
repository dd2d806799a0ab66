// Our own sentences, in which `names` between backticks are shown as code. What is in them may be hostile: it stays text.

import { html } from "./html.js";
import { visible } from "./visible.js";

/** @param {string} text */
export const prose = (text) =>
  visible(text)
    .split(/`([^`\n]+)`/)
    .map((piece, place) => (place % 2 ? html`<code>${piece}</code>` : piece));
