// Dialogs about the server: who has access, and who decided what.

import { get, request } from "./api.js";
import { leave, words } from "./controller.js";
import { html, useEffect, useState } from "./html.js";
import { stopped, valueOf } from "./panels.js";
import { ago, exactly } from "./times.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Token} Token */
/** @typedef {import("./types.d.ts").AuditView} AuditView */

const KINDS = { named: "token", browser: "login in a browser", local: "this server's own" };

/** @param {{ text: string }} props */
const Wrong = ({ text }) => (text ? html`<p class="problem" role="alert">${visible(text)}</p>` : null);

/** @param {{ at: number | null, none: string }} props */
const When = ({ at, none }) => (at === null ? none : html`<time title=${exactly(at)}>${ago(at)}</time>`);

export function Access() {
  const [tokens, setTokens] = useState(/** @type {Token[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const read = () => get("/tokens").then((found) => setTokens(found.tokens), (error) => setProblem(words(error)));
  useEffect(() => void read(), []);
  const revoke = async (/** @type {Token} */ token) => {
    try {
      await request("DELETE", `/tokens/${token.id}`);
    } catch (error) {
      return setProblem(words(error));
    }
    if (token.current) leave("You ended your own login.");
    else await read();
  };
  if (!tokens) return problem ? html`<${Wrong} text=${problem} />` : html`<p class="soft" role="status">Loading …</p>`;
  return html`<div class="form"><${Wrong} text=${problem} />
    <ul class="form listing">${tokens.map((token) => html`<${Holder} key=${token.id} token=${token} revoke=${() => void revoke(token)} />`)}</ul>
    <p class="soft small">Create tokens for others with <code>assent serve token add NAME --role approver</code>.</p></div>`;
}

/** @param {{ token: Token, revoke: () => void }} props */
function Holder({ token, revoke }) {
  const name = visible(token.name);
  return html`<li class="row">
    <span class="grow"><strong class="any">${name}</strong> ${token.role}${token.owner && ` for ${visible(token.owner)}`}${token.current && " (you, here)"}<br />
      <span class="soft small">${KINDS[token.kind]} <code>${token.id}</code> · created <${When} at=${token.created_at} none="at an unknown time" />${" · "}last used <${When} at=${token.used_at} none="never" />${token.used_from && ` from ${visible(token.used_from)}`}${" · "}${token.expires_at === null ? (token.kind === "local" ? "ends with the server" : "does not expire") : html`expires ${exactly(token.expires_at)}`}</span></span>
    ${token.kind !== "local" && html`<button class="danger" aria-label=${`Revoke the ${KINDS[token.kind]} of ${name}, ${token.id}`} onClick=${revoke}>Revoke</button>`}
  </li>`;
}

// --- the audit ---

const AUDIT_PER_PAGE = 50;
/** What a record says, as a sentence without its subject. @type {Record<string, (one: AuditView["entry"]) => string>} */
const SENTENCES = {
  "session.created": (one) => `created a session in ${one.about}`,
  "session.deleted": (one) => `deleted the session ${one.about || one.session}`,
  "approval.answered": (one) => `${one.outcome === "cancel" ? "refused" : `approved (${(one.outcome ?? "").replaceAll("_", " ")})`} ${one.tool ?? ""}: ${one.about ?? ""}`,
  "call.allowed": (one) => `allowed by ${one.outcome}: ${one.tool ?? ""} ${one.about ?? ""}`,
  "grant.added": (one) => `always allowed ${one.about}`,
  "grant.revoked": () => "revoked a standing permission",
  "mode.changed": (one) => `changed the mode to ${one.outcome}`,
  "login.succeeded": () => "logged in",
  "login.failed": () => "a login failed",
  logout: () => "logged out",
  "token.created": (one) => `created a ${one.about}`,
  "token.revoked": (one) => `revoked a ${one.about}`,
  "server.started": (one) => `started the server at ${one.about}`,
  "server.stopped": () => "stopped the server",
  "settings.reloaded": () => "reloaded the settings",
  "audit.pruned": (one) => `pruned ${one.about}`,
};

export function Audit() {
  const [records, setRecords] = useState(/** @type {AuditView[] | null} */ (null));
  const [more, setMore] = useState(false);
  const [by, setBy] = useState("");
  const [kind, setKind] = useState("");
  const [problem, setProblem] = useState("");
  const read = async (/** @type {AuditView[]} */ before) => {
    const last = before.at(-1);
    const query = new URLSearchParams({ limit: `${AUDIT_PER_PAGE}`, by: by.trim(), kind, ...(last && { before: `${last.id}` }) });
    try {
      const found = await get(`/audit?${query}`);
      setRecords([...before, ...found.records]);
      setMore(found.more);
      setProblem("");
    } catch (error) {
      setProblem(words(error));
    }
  };
  useEffect(() => void read([]), [kind]);
  return html`<div class="form"><form class="form-row" onSubmit=${stopped(() => void read([]))}>
      <label>Who <input type="search" value=${by} maxlength="200" placeholder="ann" onInput=${(/** @type {Event} */ event) => setBy(valueOf(event))} /></label>
      <label>What <select value=${kind} onChange=${(/** @type {Event} */ event) => setKind(valueOf(event))}>
        <option value="">everything</option>
        ${["approval", "call", "grant", "mode", "session", "login", "token", "server"].map((name) => html`<option value=${name}>${name}</option>`)}
      </select></label>
    </form>
    <${Wrong} text=${problem} />
    ${records === null ? html`<p class="soft" role="status">Loading …</p>` : html`<${Records} records=${records} />`}
    ${more && html`<button class="quiet" onClick=${() => void read(records ?? [])}>Show older</button>`}
    <${Check} /></div>`;
}

/** @param {{ records: AuditView[] }} props */
function Records({ records }) {
  if (!records.length) return html`<p class="soft">No records.</p>`;
  return html`<ol class="form listing" tabindex="0" aria-label="Records, newest first">${records.map(
    ({ id, entry }) => html`<li key=${id} value=${id}>
      <strong class="any">${visible(entry.by ?? "")}</strong> <span class="any">${visible((SENTENCES[entry.kind] ?? (() => entry.kind))(entry))}</span><br />
      <span class="soft small">#${id} · ${exactly(entry.ts)}${entry.session && ` · ${entry.session}`}${entry.digest && html` · <span title=${entry.digest}>digest ${entry.digest.slice(0, 12)}…</span>`}</span>
    </li>`,
  )}</ol>`;
}

function Check() {
  const [said, setSaid] = useState("");
  const check = async () => {
    setSaid("Checking …");
    try {
      const { records, head, problems } = await get("/audit/check");
      setSaid(problems.length ? `NOT intact: ${problems.join("; ")}` : `${records} records, intact. Head: ${head}`);
    } catch (error) {
      setSaid(words(error));
    }
  };
  return html`<div class="row"><button type="button" onClick=${() => void check()}>Check the record</button><span class="grow any small" role="status">${visible(said)}</span></div>`;
}
