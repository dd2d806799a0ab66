// Web push, where the browser and the server offer it: questions reach this browser even if the page is closed.

import { get, request } from "./api.js";

let subscribed = false;

/** Whether the push service tells this browser, so that the page need not. */
export const isPushed = () => subscribed;

/** Subscribes this browser, if notifications are allowed; again at each start, because subscriptions can expire. */
export async function subscribe() {
  if (!("PushManager" in globalThis) || Notification.permission !== "granted") return;
  if (!(await navigator.serviceWorker.getRegistration())) return; // without https there is none
  const { pushManager } = await navigator.serviceWorker.ready;
  try {
    const { key } = await get("/push");
    if (!key) return;
    const { endpoint, keys } = (await made(pushManager, key)).toJSON();
    await request("POST", "/push", { endpoint, p256dh: keys?.p256dh, auth: keys?.auth });
    subscribed = true;
  } catch {
    subscribed = false; // the page itself still notifies while it is open
  }
}

/** @param {PushManager} manager @param {string} key */
async function made(manager, key) {
  const wish = { userVisibleOnly: true, applicationServerKey: key };
  try {
    return await manager.subscribe(wish);
  } catch (error) {
    const old = await manager.getSubscription();
    if (!old) throw error;
    await old.unsubscribe(); // it belongs to another key: the server was set up anew
    return manager.subscribe(wish);
  }
}

/** After logging out, nothing may arrive here. */
export async function unsubscribe() {
  subscribed = false;
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}
