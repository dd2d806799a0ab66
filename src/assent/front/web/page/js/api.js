// Talks to the server: the token, one request, and commands that take effect exactly once however often they are sent.

const TOKEN = "assent.token";
/** Below the page itself, wherever a proxy puts it. */
export const BASE = new URL("api/v1", new URL(".", location.href)).pathname;
const RETRY_FOR_MS = 120_000;

/** The server refused, with a reason: https://www.rfc-editor.org/rfc/rfc9457 */
export class Problem extends Error {
  /** @param {number} status @param {{ type?: string, detail?: string, title?: string, by?: string }} body */
  constructor(status, body) {
    super(body.detail || body.title || `the server responded with status ${status}`);
    this.status = status;
    this.type = (body.type ?? "").replace("urn:assent:", "");
    this.by = body.by ?? "";
  }
}

/** The server cannot be reached. */
export class Unreachable extends Error {}

/** Kept in this browser until it expires, is revoked or someone logs out. */
export const token = {
  get: () => localStorage.getItem(TOKEN) ?? "",
  /** @param {string} value */
  set: (value) => localStorage.setItem(TOKEN, value),
  clear: () => localStorage.removeItem(TOKEN),
  /** Another tab has logged in or out. @param {() => void} then */
  onChange: (then) => addEventListener("storage", ({ key }) => (key === TOKEN || key === null) && then()),
};

/** @returns {Record<string, string>} */
export const authorization = () => (token.get() ? { Authorization: `Bearer ${token.get()}` } : {});

/**
 * One request. Throws Problem or Unreachable.
 * @template T
 * @param {string} method @param {string} path @param {unknown} [body] @param {string} [key] @param {boolean} [keepalive]
 * @returns {Promise<T>}
 */
export async function request(method, path, body, key, keepalive = false) {
  const headers = authorization();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const sent = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: /** @type {const} */ ("no-store"), keepalive };
  const response = await fetch(BASE + path, sent).catch(() => {
    throw new Unreachable("the server cannot be reached");
  });
  if (response.ok) return response.status === 204 ? /** @type {T} */ (undefined) : await whole(response);
  throw new Problem(response.status, await response.json().catch(() => ({})));
}

/** @param {Response} response */
function whole(response) {
  return response.json().catch(() => {
    throw new Unreachable("the response was interrupted");
  });
}

/** @template T @param {string} path @returns {Promise<T>} */
export const get = (path) => request("GET", path);

/**
 * A command: sent again with the same key while the server is unreachable, so that it takes effect once.
 * @template T
 * @param {string} path @param {unknown} body @param {string} [method] @param {string} [key]
 * @returns {Promise<T>}
 */
export async function command(path, body, method = "POST", key = newKey()) {
  const until = Date.now() + RETRY_FOR_MS;
  for (let pause = 250; ; pause = Math.min(pause * 2, 2000)) {
    try {
      return await request(method, path, body, key);
    } catch (error) {
      if (!mayPass(error) || Date.now() + pause > until) throw error;
    }
    await new Promise((wake) => setTimeout(wake, pause));
  }
}

/** A command of a page that is being left: the browser sends it if it is not too long, and nobody waits for the outcome.
 * @param {string} path @param {unknown} body */
export const lastWord = (path, body) => void request("POST", path, body, newKey(), true).catch(() => undefined);

/** @param {unknown} error */
const mayPass = (error) => error instanceof Unreachable || (error instanceof Problem && [429, 502, 503].includes(error.status));

/** crypto.randomUUID exists only in a secure context (https or this machine). */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
