// What a question shows: exactly what would happen, what to look at closely, and why it needs approval. The order and the
// wording are ours; what a model or a tool wrote is in boxes that say so.

import { counted, Diff } from "./diff.js";
import { html } from "./html.js";
import { shortPath } from "./paths.js";
import { prose } from "./prose.js";
import { Tried, trialOf, trialTitle } from "./trial.js";
import { marked, visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Approval} Approval */
/** @typedef {import("./types.d.ts").CallView} CallView */

/** @param {import("./types.d.ts").Details} details @param {string} [folder] the folder of the session */
export function title(details, folder) {
  switch (details.type) {
    case "edit":
      return `${details.old === null || details.old === undefined ? "Create" : "Change"} ${visible(shortPath(details.path, folder))}`;
    case "exec":
      return details.trial ? trialTitle(details.trial) : "Run a command";
    case "info":
      if (details.urls?.some((url) => url.startsWith("tcp://"))) return "Connect to a host";
      return details.urls?.length ? "Fetch from the web" : "Access data";
    case "mcp":
      if (details.command) return `Use ${visible(details.tool)}, a tool of this project`;
      return `Use ${visible(details.tool)} of the server ${visible(details.server)}`;
    case "ask":
      return "The model asks you";
  }
}

/** @param {{ notes: string[], details: import("./types.d.ts").Details }} props */
export function Alarms({ notes, details }) {
  const kept = details.type === "edit" ? details.protected || details.runs : details.type === "mcp" ? details.unseen : "";
  if (!notes.length && !kept) return null;
  return html`<div class="alarm" role="note">
    ${kept && html`<p>${details.type === "edit" && details.protected ? "Protected: " : ""}${prose(kept)}</p>`}
    ${notes.length > 0 && html`<p>Look closely:</p><ul>${notes.map((note) => html`<li>${visible(note)}</li>`)}</ul>`}
  </div>`;
}

/**
 * @param {{ reading: ReturnType<typeof import("./seen.js").useSeen>, review: ReturnType<typeof import("./review.js").useReview>,
 *   approval: Approval, view: CallView, left: Set<number>, choose?: (number: number, take: boolean) => void }} props
 */
export function Exact({ reading: { box }, review, approval, view, left, choose }) {
  const several = view.hunks.length > 1;
  if (approval.details.type === "edit" && view.hunks.length) {
    const { folded, fold, wide, around, more } = review;
    return html`<div class="exact diff-box" ref=${box} role="region" aria-label="The change">
      <${Tools} ...${{ hunks: view.hunks, review }} />
      <${Diff} ...${{ hunks: view.hunks, left, folded, fold: several ? fold : undefined, split: wide, around, more, choose: several ? choose : undefined }} />
    </div>`;
  }
  const trial = trialOf(approval.details);
  if (trial) {
    return html`<div class="exact diff-box" ref=${box} role="region" aria-label="What the command did"><div data-block="text">
      <pre class="tried-command"><span class="prompt-sign" aria-hidden="true">$ </span>${view.shown?.text ?? visible(exactText(approval.details))}</pre>
      <${Tried} ...${{ trial, parts: view.parts ?? [], left, choose }} />
    </div></div>`;
  }
  const label = approval.details.type === "exec" ? "The exact command" : "Exactly what would happen";
  const text = view.shown?.text ?? visible(exactText(approval.details));
  return html`<pre class="exact" ref=${box} role="region" aria-label=${label}><span data-block="text">${
    approval.details.type === "exec" && html`<span class="prompt-sign" aria-hidden="true">$ </span>`
  }${marked(text).map((piece) => (piece.hidden ? html`<mark class="hidden-char">${piece.text}</mark>` : piece.text))}</span></pre>`;
}

/** The blocks of a question that must be seen. @param {CallView | null} view @param {Set<number>} left parts that are left out, and need not be seen */
export function blocksOf(view, left) {
  if (!view) return [];
  if (view.hunks.length) return view.hunks.filter(({ number }) => !left.has(number)).map(({ number, lines }) => ({ id: String(number), lines: lines.length }));
  const did = (view.parts ?? []).flatMap((part) => part.hunks).reduce((sum, { lines }) => sum + lines.length, 0);
  return [{ id: "text", lines: did + (view.shown?.text ?? "").split("\n").length }];
}

/** @param {{ hunks: import("./types.d.ts").Hunk[], review: ReturnType<typeof import("./review.js").useReview> }} props */
function Tools({ hunks, review: { folded, foldAll, wide, twoSides, split } }) {
  const { added, removed } = counted(hunks);
  const shut = folded.size === hunks.length;
  return html`<div class="diff-tools small">
    <span class="counts"><span class="plus">+${added}</span> <span class="minus">−${removed}</span></span>
    <span class="grow">${hunks.length > 1 && `${hunks.length} parts`}</span>
    ${hunks.length > 1 && html`<button type="button" class="link" onClick=${() => foldAll(!shut)}>${shut ? "Unfold all" : "Fold all"}</button>`}
    ${twoSides && html`<button type="button" class="link split-choice" aria-pressed=${wide} onClick=${() => split(!wide)}>${wide ? "One column" : "Side by side"}</button>`}
  </div>`;
}

/** @param {import("./types.d.ts").Details} details */
function exactText(details) {
  switch (details.type) {
    case "edit":
      return details.diff || details.new;
    case "exec":
      return details.command;
    case "info":
      return [details.prompt, ...(details.urls ?? [])].join("\n");
    case "mcp":
      return [...(details.command ? [details.command] : []), JSON.stringify(details.args, null, 2)].join("\n");
    case "ask":
      return "";
  }
}

/** @param {{ path: string, changed?: boolean }} file @param {string} folder */
const fileState = (file, folder) => `${visible(shortPath(file.path, folder))} (${file.changed ? "changed" : "new"})`;

/** @param {string} directory @param {string} folder */
const place = (directory, folder) => (directory === folder ? "the folder of this session" : html`<code>${visible(shortPath(directory, folder))}</code>`);

const MAX_REASON_LENGTH = 300;

/** @type {Record<string, string>} */
const SANDBOXES = {
  "read-only": ", in a sandbox: it can write nothing and has no network",
  workspace: ", in a sandbox: it can write to the workspace and has no network",
  network: ", in a sandbox: it can write to the workspace and connect to hosts that you allow",
};

/** @param {{ sandbox?: string, wider?: boolean, background?: boolean, domains?: string[], writable?: string[] }} details */
function sandboxInWords({ sandbox, wider, background, domains = [], writable = [] }) {
  const behind = background ? ", in the background" : "";
  const words = SANDBOXES[sandbox || "off"];
  if (!words) return behind + (wider ? ", outside the sandbox" : "");
  const paths = writable.map((path) => `; also writes to ${visible(path)}`).join("");
  return behind + words + paths + (domains.length ? `; without asking, it may connect to ${domains.map(visible).join(", ")}` : "");
}

/** @param {{ approval: Approval, args: Record<string, unknown>, folder: string }} props */
export function Reasons({ approval, args, folder }) {
  const { details, why, expires_at, unapproved = [] } = approval;
  const said = [args.description, args.instruction].find((words) => typeof words === "string" && words);
  return html`<div class="why">
    ${details.type === "exec" && html`<p>In ${place(details.directory, folder)}${sandboxInWords(details)}</p>`}
    ${details.type === "exec" && html`<p><strong>Risk ${details.risk}:</strong> ${prose(details.risk_reason)}</p>`}
    ${unapproved.length > 0 && html`<p class="unapproved"><strong>Runs files that you have not approved:</strong> ${unapproved.map((file) => fileState(file, folder)).join(", ")}</p>`}
    ${approval.untried && html`<p>It cannot be tried first: ${visible(approval.untried)}</p>`}
    ${approval.no_always && html`<p>No “always” here: ${prose(approval.no_always)}</p>`}
    <p><strong>Asked because:</strong> ${prose(why)}</p>
    ${expires_at && html`<p>Expires at ${new Date(expires_at * 1000).toLocaleTimeString()}</p>`}
    ${details.type === "mcp" && details.description && html`<p class="said">The ${details.command ? "project" : "server"} says: <q>${visible(details.description.slice(0, MAX_REASON_LENGTH))}</q></p>`}
    ${said && html`<p class="said">The model says: <q>${visible(String(said).slice(0, MAX_REASON_LENGTH))}</q></p>`}
  </div>`;
}
