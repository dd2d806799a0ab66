// Slash commands: those of the terminal that make sense in the page, under the same names.

import { archive, compress, fork, stopTurn, update, updateInWindow, usePrompt } from "./acts.js";
import { go } from "./controller.js";
import { EFFORTS, learnModels, MODES, modelNames, setMode } from "./modes.js";
import { promptsOf } from "./prompts.js";
import { show, state } from "./store.js";

/** @typedef {import("./fold.js").Talk} Talk */
/** @typedef {import("./suggest.js").Candidate} Candidate */
/**
 * `run` returns what is wrong with the argument; `offers` returns its possible values.
 * @typedef {{ help: string, run: (talk: Talk, argument: string) => string | void | Promise<string>, takes?: boolean, offers?: (talk: Talk) => Candidate[] }} Slash
 */

/** @type {Record<string, Slash>} */
const COMMANDS = {
  mode: {
    help: "choose what runs without asking",
    takes: true,
    offers: () => MODES.map(({ name, label }) => ({ name, help: label })),
    run: (talk, name) => {
      if (!MODES.some((mode) => mode.name === name)) return `The modes are: ${MODES.map((mode) => mode.name).join(", ")}.`;
      setMode(talk, name);
    },
  },
  model: {
    help: "choose the model",
    takes: true,
    offers: (talk) => {
      void learnModels();
      return modelNames(talk).map((name) => ({ name, help: name === talk.model ? "in use" : "" }));
    },
    run: (talk, name) => (name ? updateInWindow(talk.session, { model: name }) : show("model", about(talk))),
  },
  effort: {
    help: "choose how much the model thinks",
    takes: true,
    offers: () => EFFORTS.map((name) => ({ name, help: "" })),
    run: (talk, effort) => (EFFORTS.includes(effort) ? updateInWindow(talk.session, { effort }) : `The efforts are: ${EFFORTS.join(", ")}.`),
  },
  rename: {
    help: "rename this session",
    takes: true,
    run: (talk, title) => (title ? void update(talk.session, { title }) : show("rename", about(talk))),
  },
  undo: { help: "undo a call's file change", run: (talk) => show("undo", about(talk)) },
  compress: { help: "replace the older conversation with a summary", run: (talk) => void compress(talk.session) },
  fork: { help: "continue in a copy of this session", run: (talk) => void fork(talk.session, talk.title) },
  archive: { help: "archive this session: hide it from the list", run: (talk) => void archive(about(talk), true) },
  delete: { help: "delete this session", run: (talk) => show("delete", about(talk)) },
  stop: { help: "stop the turn", run: (talk) => (talk.busy ? void stopTurn(talk.session) : "Nothing is running.") },
  policy: { help: "show what is always allowed in this session", run: () => show("grants") },
  approvals: { help: "show everything that is waiting for an answer", run: () => go("#/inbox") },
  new: { help: "start a new session", run: () => go("#/new") },
  help: { help: "show the keys and commands", run: () => show("keys") },
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

/** Null if it is not one of ours. @param {string} name @param {Talk} talk */
export const argumentsOf = (name, talk) => (find(name) ? (find(name)?.offers?.(talk) ?? []) : null);

/** Whether an argument may follow. For a prompt of the server, assumed unless its whole name was typed. @param {string} name @param {string} typed */
export const takesArgument = (name, typed) => {
  const command = find(name);
  return command ? (command.takes ?? false) : typed !== name;
};

const LINE = /^\/(\?|\w[\w.:-]*)?(?:\s+(.*))?$/s;

/** Whether it is a command, not text for the model (`//…`, `/usr/bin …`). @param {string} line */
export const isCommand = (line) => LINE.test(line.trim());

/** What went wrong, if it is a command; null if it is text for the model. @param {Talk} talk @param {string} line @returns {Promise<string | null>} */
export async function runSlash(talk, line) {
  const [whole, name = "", argument = ""] = LINE.exec(line.trim()) ?? [];
  if (whole === undefined || state.me?.role !== "operator") return null;
  const command = find(name);
  return command ? (await command.run(talk, argument.trim())) || "" : prompted(talk, name, argument.trim());
}

/** One of the server's prompts. A name with a colon may belong to an MCP server that is not ready yet. @param {Talk} talk @param {string} name @param {string} argument */
async function prompted(talk, name, argument) {
  const { prompts, problems = [] } = await promptsOf(talk.session);
  const broken = problems.filter((problem) => problem.includes(`/${name.replaceAll(":", "/")}.toml:`));
  if (prompts.some((prompt) => prompt.name === name) || (name.includes(":") && !broken.length)) return usePrompt(talk.session, name, argument);
  const unknown = `There is no command /${name} in the browser. /help lists them; to send this to the model, start with //.`;
  return [unknown, ...broken, ...problems.filter((problem) => !FILE_PROBLEM.test(problem))].join("\n");
}

/** The other problems concern a whole folder, and so every name. */
const FILE_PROBLEM = /\.toml:\d+: /;
