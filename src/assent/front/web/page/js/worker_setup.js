// Registers the service worker, and shows notifications through it where the page itself may not.

const FILE = "worker.js";

/** The only URL that this page ever runs as a script, besides its own modules. */
/** @typedef {{ createPolicy: (name: string, rules: { createScriptURL: () => string }) => { createScriptURL: (text: string) => unknown } }} Types */
const urls = /** @type {{ trustedTypes?: Types }} */ (globalThis).trustedTypes?.createPolicy("assent-worker", { createScriptURL: () => FILE });

export async function startWorker() {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => typeof data?.hash === "string" && (location.hash = data.hash));
  await navigator.serviceWorker.register(/** @type {string} */ (/** @type {unknown} */ (urls?.createScriptURL("") ?? FILE))).catch(() => {}); // without https there is none
}

/** Whether it could be shown. @param {string} title @param {NotificationOptions} what */
export async function showThroughWorker(title, what) {
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.showNotification(title, what);
}
