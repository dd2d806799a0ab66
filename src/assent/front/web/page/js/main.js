// Starts the page: theme, keys, tabs, first render, login.

import { token } from "./api.js";
import { App } from "./app.js";
import { rest, start, wake } from "./controller.js";
import { html, render } from "./html.js";
import { listenToKeys } from "./keys.js";
import { subscribe } from "./push.js";
import { changed, drawWith } from "./store.js";
import { shareConnections } from "./tabs.js";
import { applyTheme } from "./theme.js";
import { startWorker } from "./worker_setup.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
applyTheme();
listenToKeys();
shareConnections(rest, wake);
drawWith(() => render(html`<${App} />`, root));
changed();
setInterval(changed, 60_000); // relative times go out of date
void start().then(startWorker).then(() => (token.get() ? subscribe() : undefined)); // the page first
