// Opens this page on a phone: a QR code with a login code that works once, for a minute.

import { command } from "./api.js";
import { words } from "./controller.js";
import { html, useEffect, useState } from "./html.js";
import { qrCode } from "./qr.js";
import { visible } from "./visible.js";

/** @typedef {{ code: string, seconds: number }} LoginCode */

const LOCAL = /^(localhost|127\.|\[::1\])/;

export function Phone() {
  const [link, setLink] = useState("");
  const [problem, setProblem] = useState("");
  const [left, setLeft] = useState(0);
  const ask = () => command("/login-codes", {}).then(show, (error) => setProblem(words(error)));
  const show = (/** @type {unknown} */ found) => {
    const { code, seconds } = /** @type {LoginCode} */ (found);
    setLink(`${new URL(".", location.href).href}#code=${code}`);
    setLeft(Math.floor(seconds));
  };
  useEffect(() => void ask(), []);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  if (problem) return html`<p class="problem" role="alert">${visible(problem)}</p>`;
  if (!link) return html`<p class="soft" role="status">One moment …</p>`;
  return html`<div class="form phone">
    ${LOCAL.test(location.host) && html`<p class="problem">This address, ${location.host}, is this computer itself: a phone cannot reach it. Start the server with <code>--host</code> and TLS, or behind a proxy.</p>`}
    ${left > 0
      ? html`<${Code} text=${link} /><p>Point the camera of the phone at it. It logs in one browser, and works for <span role="timer">${left}</span> more seconds.</p>`
      : html`<p>The code has expired.</p><button type="button" class="primary" onClick=${() => void ask()}>Make a new one</button>`}
  </div>`;
}

/** @param {{ text: string }} props */
function Code({ text }) {
  const rows = qrCode(text);
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : []))).join("");
  const size = rows.length + 8;
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label="QR code of the login link" shape-rendering="crispEdges"><path class="light" d=${`M0 0h${size}v${size}h-${size}z`} /><path class="dark" d=${path} /></svg>`;
}
