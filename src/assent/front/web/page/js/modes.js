// The modes and models to choose from.

import { update } from "./acts.js";
import { get } from "./api.js";
import { changed, show, state } from "./store.js";

/** @typedef {import("./fold.js").Talk} Talk */

export const MODES = /** @type {const} */ ([
  { name: "default", label: "Ask" },
  { name: "auto_edit", label: "Run edits" },
  { name: "auto_try", label: "Try commands first" },
  { name: "contained", label: "Run commands in the sandbox" },
  { name: "plan", label: "Read only" },
  { name: "yolo", label: "Run all (yolo)" },
]);

/** yolo takes more than one click. @param {Talk} talk @param {string} mode */
export function setMode(talk, mode) {
  if (mode === talk.mode) return;
  if (mode === "yolo") show("yolo", { id: talk.session, title: talk.title });
  else void update(talk.session, { mode });
}

export const EFFORTS = ["default", "none", "minimal", "low", "medium", "high", "xhigh", "max"];

const FRESH_MS = 60_000;
let learnedAt = 0;

/** Asks the server which models its providers have; until it answers, the known ones are offered. */
export async function learnModels() {
  if (!state.me || Date.now() - learnedAt < FRESH_MS) return;
  learnedAt = Date.now();
  /** @type {{ models: { name: string }[] }} */
  const { models } = await get("/models").catch(() => ({ models: [] }));
  if (!models.length) return;
  state.me.models = models.map(({ name }) => name);
  changed();
}

/** Those in use anywhere, and those the server offers. @param {Talk | null} talk */
export function modelNames(talk) {
  const used = state.sessions.map((session) => session.model);
  return [...new Set([talk?.model ?? "", state.me?.model ?? "", ...(state.me?.models ?? []), ...used])].filter(Boolean);
}
