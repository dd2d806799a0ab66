// The service worker: makes the page installable, keeps its files for a start without a network, and opens the right card
// when someone taps a notification. It never sees a token, and nothing of the API is kept.

const CACHE = "assent-page";
/** Whatever query a link has, it is the same page. */
const INDEX = new URL(".", location).href;
const OWN_FILE = /\/page\/app\.[0-9a-f]+\.(js|css)$/;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  if (OWN_FILE.test(url.pathname)) event.respondWith(fromCache(event.request));
  else if (event.request.mode === "navigate" && url.pathname === new URL(INDEX).pathname) event.respondWith(fresh(event.request));
});

/** Their URL changes with their content. */
async function fromCache(request) {
  const cache = await caches.open(CACHE);
  const known = await cache.match(request);
  return known ?? kept(cache, request, await fetch(request));
}

/** The index says which files are current; the old ones are forgotten with it. */
async function fresh(request) {
  const cache = await caches.open(CACHE);
  try {
    const index = await kept(cache, INDEX, await fetch(request));
    await forgetOthers(cache, await index.clone().text());
    return index;
  } catch {
    return (await cache.match(INDEX)) ?? Response.error();
  }
}

/** @param {Cache} cache @param {string} index */
async function forgetOthers(cache, index) {
  for (const { url } of await cache.keys()) {
    const name = url.slice(url.lastIndexOf("/") + 1);
    if (OWN_FILE.test(url) && !index.includes(name)) await cache.delete(url);
  }
}

async function kept(cache, key, response) {
  if (response.ok) await cache.put(key, response.clone());
  return response;
}

self.addEventListener("push", (event) => event.waitUntil(told(event.data.json())));

/** A question waits, or no longer does. Whoever is looking at the page sees it there. */
async function told({ event, id, session, kind, text }) {
  const shown = await self.registration.getNotifications({ tag: id });
  if (event === "question.answered") return shown.forEach((one) => one.close());
  const open = await self.clients.matchAll({ type: "window" });
  if (open.some((one) => one.visibilityState === "visible")) return;
  const card = kind === "input" ? "" : `/q/${encodeURIComponent(id)}`; // input is typed into the command itself
  const hash = `#/s/${encodeURIComponent(session)}${card}`;
  await self.registration.showNotification("Assent asks", { body: text, tag: id, data: { hash } });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openCard(event.notification.data?.hash ?? "#/inbox"));
});

async function openCard(hash) {
  const [open] = await self.clients.matchAll({ type: "window" });
  if (!open) return void (await self.clients.openWindow(`./${hash}`));
  open.postMessage({ hash });
  await open.focus();
}
