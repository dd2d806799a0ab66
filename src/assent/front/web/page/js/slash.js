// Commands that are typed instead of said: those of the terminal that make sense in the page, under the same names.

import { compress, fork, stopTurn, update, updateInWindow, usePrompt } from "./acts.js";
import { go } from "./controller.js";
import { MODES, modelNames, setMode } from "./modes.js";
import { promptsOf } from "./prompts.js";
import { show, state } from "./store.js";

/** @typedef {import("./fold.js").Talk} Talk */
/** @typedef {import("./suggest.js").Candidate} Candidate */
/**
 * `run` gives what is wrong with the argument; `offers`: what the argument may be.
 * @typedef {{ help: string, run: (talk: Talk, argument: string) => string | void | Promise<string>, takes?: boolean, offers?: (talk: Talk) => Candidate[] }} Slash
 */

/** @type {Record<string, Slash>} */
const COMMANDS = {
  mode: {
    help: "chooses what runs without asking",
    takes: true,
    offers: () => MODES.map(({ name, label }) => ({ name, help: label })),
    run: (talk, name) => {
      if (!MODES.some((mode) => mode.name === name)) return `The modes are: ${MODES.map((mode) => mode.name).join(", ")}.`;
      setMode(talk, name);
    },
  },
  model: {
    help: "chooses the model",
    takes: true,
    offers: (talk) => modelNames(talk).map((name) => ({ name, help: name === talk.model ? "in use" : "" })),
    run: (talk, name) => (name ? updateInWindow(talk.session, { model: name }) : show("model", about(talk))),
  },
  rename: {
    help: "gives this session a name",
    takes: true,
    run: (talk, title) => (title ? void update(talk.session, { title }) : show("rename", about(talk))),
  },
  undo: { help: "takes back what a call wrote", run: (talk) => show("undo", about(talk)) },
  compress: { help: "replaces the older conversation by a summary", run: (talk) => void compress(talk.session) },
  fork: { help: "goes on in a copy of this session", run: (talk) => void fork(talk.session, talk.title) },
  delete: { help: "deletes this session", run: (talk) => show("delete", about(talk)) },
  stop: { help: "stops the turn", run: (talk) => (talk.busy ? void stopTurn(talk.session) : "Nothing is running.") },
  policy: { help: "shows what is always allowed in this session", run: () => show("grants") },
  approvals: { help: "shows everything that waits for an answer", run: () => go("#/inbox") },
  new: { help: "begins a new session", run: () => show("new") },
  help: { help: "shows the keys and commands", run: () => show("keys") },
};
/** @type {Record<string, string>} */
const OTHER_NAMES = { compact: "compress", summarize: "compress", clear: "new", "?": "help", "": "help" };

/** @param {Talk} talk */
const about = (talk) => ({ id: talk.session, title: talk.title });

/** @param {string} name @returns {Slash | undefined} */
function find(name) {
  const known = OTHER_NAMES[name.toLowerCase()] ?? name.toLowerCase();
  return Object.hasOwn(COMMANDS, known) ? COMMANDS[known] : undefined;
}

/** @returns {Candidate[]} */
export const commandNames = () => Object.entries(COMMANDS).map(([name, { help }]) => ({ name, help }));

/** Null when it is none of ours. @param {string} name @param {Talk} talk */
export const argumentsOf = (name, talk) => (find(name) ? (find(name)?.offers?.(talk) ?? []) : null);

/** Does something follow the name? To a prompt of the server it may: whoever typed its whole name wants nothing more. @param {string} name @param {string} typed */
export const takesArgument = (name, typed) => {
  const command = find(name);
  return command ? (command.takes ?? false) : typed !== name;
};

const LINE = /^\/(\?|\w[\w.:-]*)?(?:\s+(.*))?$/s;

/** Or is it text for the model (`//…`, `/usr/bin …`)? @param {string} line */
export const isCommand = (line) => LINE.test(line.trim());

/** What is wrong, if it is a command; null when it is text for the model. @param {Talk} talk @param {string} line @returns {Promise<string | null>} */
export async function runSlash(talk, line) {
  const [whole, name = "", argument = ""] = LINE.exec(line.trim()) ?? [];
  if (whole === undefined || state.me?.role !== "operator") return null;
  const command = find(name);
  return command ? (await command.run(talk, argument.trim())) || "" : prompted(talk, name, argument.trim());
}

/** One of the server's prompts. A name with a colon may be of an MCP server that is not there yet. @param {Talk} talk @param {string} name @param {string} argument */
async function prompted(talk, name, argument) {
  const { prompts, problems = [] } = await promptsOf(talk.session);
  const broken = problems.filter((problem) => problem.includes(`/${name.replaceAll(":", "/")}.toml:`));
  if (prompts.some((prompt) => prompt.name === name) || (name.includes(":") && !broken.length)) return usePrompt(talk.session, name, argument);
  const unknown = `There is no command /${name} in the browser. /help lists them; to say it to the model, begin with //.`;
  return [unknown, ...broken, ...problems.filter((problem) => !OF_A_FILE.test(problem))].join("\n");
}

/** The others are about a whole folder, and so about every name. */
const OF_A_FILE = /\.toml:\d+: /;
