// Prompts that the server knows by name: custom commands from files, and those of MCP servers.

import { get } from "./api.js";
import { pathOf } from "./controller.js";

/** @typedef {import("./types.d.ts").PromptList} PromptList */
/** @typedef {import("./suggest.js").Candidate} Candidate */

const FRESH_MS = 3000;
let kept = { session: "", at: 0, list: /** @type {Promise<PromptList>} */ (Promise.resolve({ prompts: [] })) };

/** Read again when it is out of date: files change, and servers come and go. @param {string} session @returns {Promise<PromptList>} */
export function promptsOf(session) {
  if (kept.session !== session || Date.now() - kept.at > FRESH_MS) {
    const list = get(`${pathOf(session)}/prompts`).catch(() => ({ prompts: [] }));
    kept = { session, at: Date.now(), list: /** @type {Promise<PromptList>} */ (list) };
  }
  return kept.list;
}

/** @param {string} session @returns {Promise<Candidate[]>} */
export async function promptNames(session) {
  return (await promptsOf(session)).prompts.map(({ name, help, usage }) => ({ name, help: [help, usage].filter(Boolean).join("  ") }));
}

/** The arguments that have not been given yet, each as the whole text to type. @param {string} session @param {string} name @param {string} typed @returns {Promise<Candidate[]>} */
export async function promptArguments(session, name, typed) {
  const prompt = (await promptsOf(session)).prompts.find((one) => one.name === name);
  const before = typed.slice(0, typed.lastIndexOf(" ") + 1);
  const open = (prompt?.arguments ?? []).filter((argument) => !before.includes(`${argument.name}=`));
  return open.map(({ name, needed, description }) => ({ name: `${before}${name}=`, help: [needed && "required", description].filter(Boolean).join(", ") }));
}
