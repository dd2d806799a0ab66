// Preact with htm: templates in plain JavaScript, no build. Every piece of text becomes a text node, never markup.

import { Component, h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { render };
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => import("../vendor/preact.js").VNode} */
export const html = htm.bind(h);

/**
 * A view that is redrawn only when one of its properties changes.
 * @template {object} P
 * @param {(props: P) => unknown} view
 */
export function steady(view) {
  return class extends Component {
    /** @param {Record<string, unknown>} next */
    shouldComponentUpdate(next) {
      const now = /** @type {Record<string, unknown>} */ (this.props);
      const names = new Set([...Object.keys(now), ...Object.keys(next)]);
      return [...names].some((name) => now[name] !== next[name]);
    }
    render() {
      return h(view, this.props);
    }
  };
}
