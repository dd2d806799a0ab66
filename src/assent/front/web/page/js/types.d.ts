// The wire types, as described by the API. Only for the type checker.

export type Mode = "default" | "auto_edit" | "auto_try" | "contained" | "yolo" | "plan";
export type Outcome =
  | "proceed_once"
  | "proceed_always"
  | "proceed_always_server"
  | "proceed_always_tool"
  | "modify_with_editor"
  | "try_first"
  | "run_directly"
  | "cancel";
export type CallState =
  | "validating"
  | "awaiting_approval"
  | "scheduled"
  | "executing"
  | "success"
  | "error"
  | "cancelled";

export interface Me {
  name: string;
  role: "viewer" | "approver" | "operator";
  version: string;
  roots: string[];
  folder: string;
  model: string;
  mode: Mode;
  /** Our own name in the log. */
  by: string;
  /** Whether we may log in another browser, such as the one on a phone. */
  may_log_in?: boolean;
  models?: string[];
  /** What keeps the model of new sessions from being used, or why there is none. */
  problem?: string;
}
/** A token or login. */
export interface Token {
  id: string;
  name: string;
  role: Me["role"];
  owner: string;
  kind: "named" | "browser" | "local";
  created_at: number | null;
  expires_at: number | null;
  used_at: number | null;
  used_from: string;
  current: boolean;
}
export interface AuditView {
  id: number;
  hash: string;
  entry: { kind: string; ts: number; by?: string; session?: string; owner?: string; call_id?: string; tool?: string; outcome?: string; digest?: string; about?: string; reason?: string; reference?: string };
}
export interface Taken {
  state: "taken" | "recorded";
  key: string;
}
/** A prompt chosen by name. */
export interface PromptView {
  name: string;
  help: string;
  usage?: string;
  arguments?: { name: string; needed?: boolean; description?: string }[];
}
export interface PromptList {
  prompts: PromptView[];
  problems?: string[];
}
/** A file that a call wrote. */
export interface Change {
  call_id: string;
  path: string;
  tool: string;
  at: number;
}
export interface Session {
  id: string;
  title: string;
  folder: string;
  model: string;
  mode: Mode;
  owner: string;
  status: "running" | "waiting" | "idle" | "elsewhere";
  waiting: number;
  seq: number;
  created_at: number;
  updated_at: number;
  archived?: boolean;
}
export interface Queued {
  key: string;
  text: string;
  by: string;
  tool?: string;
  /** The model reads it at its next step. */
  steer?: boolean;
  /** It waits until someone releases the queue. */
  held?: boolean;
}
/** Something that is not text; `data` is base64. */
export interface Media {
  type?: "media";
  mime: string;
  data: string;
}
export interface Usage {
  input?: number;
  output?: number;
  thoughts?: number;
}
export interface Shortened {
  tokens_before: number;
  tokens_after: number;
  window?: number;
}
export interface Snapshot {
  session: Session;
  gate: string;
  usage: Usage;
  open_prompt?: string | null;
  queued: Queued[];
  calls: CallView[];
  reply?: { text: string; thoughts: { subject: string; description: string; continues?: boolean }[] };
}
export interface Request {
  call_id: string;
  tool: string;
  args: Record<string, unknown>;
  prompt_id: string;
  initiator?: "model" | "person";
  about?: string;
}
export interface Decision {
  source: "tool" | "mode" | "rule" | "grant" | "person";
  reason: string;
  by?: string;
  outcome?: Outcome;
  edited?: boolean;
  rule?: string;
}
export interface Failure {
  type: string;
  message: string;
}
export type Display =
  | { type: "text" | "markdown"; text: string }
  | { type: "terminal"; text: string; ended?: string }
  | { type: "diff"; path: string; diff: string; added: number; removed: number }
  | { type: "todos"; todos: { description: string; status: string }[] };

export interface Background {
  call_id: string;
  command: string;
  pid: number;
  kept?: boolean;
}

export interface InputWanted {
  prompt: string;
  number: number;
  secret?: boolean;
}

/** A call in any state; which fields it has depends on the state. */
export interface Call {
  type: CallState;
  request: Request;
  started_at: number;
  approval?: Approval;
  answered_by?: string;
  modifying_by?: string;
  /** Who has it tried right now; empty if the mode decided it. */
  tried_by?: string | null;
  decision?: Decision;
  pid?: number;
  /** What it waits for a person to type. */
  wanted?: InputWanted;
  output?: string;
  received?: number;
  display?: Display;
  media?: Media[];
  failure?: Failure;
  duration_ms?: number;
  ran_ms?: number;
}
export interface Grant {
  id: string;
  kind: string;
  tool: string;
  reach: string;
  value?: string;
  exact?: string[][];
  prefixes?: string[][];
  domains?: string[];
  writable?: string[];
  lasts?: "folder" | "everywhere";
  by?: string;
  expires_at?: number;
  max_uses?: number;
}
export interface EditDetails {
  type: "edit";
  path: string;
  diff: string;
  old: string | null;
  new: string;
  protected?: string;
  runs?: string;
}
export interface ExecDetails {
  type: "exec";
  command: string;
  roots: string[];
  directory: string;
  risk: "low" | "medium" | "high";
  risk_reason: string;
  sandbox?: "read-only" | "workspace" | "network" | "off";
  wider?: boolean;
  domains?: string[];
  writable?: string[];
  executes?: { path: string; sha256: string }[];
  trial?: Trial;
}
/** What a command did when it was tried. */
export interface Trial {
  store: string;
  effects: { path: string; what: "added" | "changed" | "deleted"; parts?: number }[];
  manifest: string;
  output: string;
  ended: string;
  notes?: string[];
  stale?: string[];
  left_out?: number[];
}
/** A part of a trial that can be chosen, made safe to show; its number is -1 if it is never applied. */
export interface TrialPart {
  number: number;
  title: string;
  notes: string[];
  hunks: Hunk[];
}
export interface InfoDetails {
  type: "info";
  prompt: string;
  urls?: string[];
}
export interface McpDetails {
  type: "mcp";
  server: string;
  tool: string;
  args: Record<string, unknown>;
  description?: string;
  unseen?: string;
  command?: string;
}
export interface Question {
  question: string;
  type?: "choice" | "text" | "yesno";
  header?: string;
  options?: { label: string; description?: string }[];
  multiSelect?: boolean;
  placeholder?: string;
}
export interface AskDetails {
  type: "ask";
  questions: Question[];
}
export type Details = EditDetails | ExecDetails | InfoDetails | McpDetails | AskDetails;
export interface Approval {
  id: string;
  digest: string;
  details: Details;
  options: Outcome[];
  why: string;
  scopes?: Grant[];
  unapproved?: { path: string; changed?: boolean }[];
  expires_at?: number;
  no_always?: string;
  untried?: string;
}
export interface Line {
  kind: " " | "+" | "-";
  text: string;
  old?: number;
  new?: number;
  ends?: boolean;
  /** Safe to show: pieces with their colour class. */
  pieces?: [string, string][];
}
export interface Hunk {
  number: number;
  header: string;
  old_from: number;
  lines: Line[];
}
/** A question or change, safe to show: hidden characters made visible, with warnings. */
export interface Shown {
  text: string;
  suspicious: string[];
}
export interface CallView {
  call: Call;
  hunks: Hunk[];
  shown?: Shown;
  parts?: TrialPart[];
}
export interface Waiting {
  session: Session;
  call_id: string;
  asked_at: number;
  approval: Approval;
  hunks: Hunk[];
  shown?: Shown;
}
/** A command that waits for someone to type something. */
export interface WaitingInput {
  session: Session;
  call_id: string;
  since: number;
}
export interface Answer {
  outcome: Outcome;
  digest: string;
  reason?: string;
  content?: string;
  args?: Record<string, unknown>;
  hunks?: number[];
  answers?: string[];
  scope?: string;
  grant_seconds?: number;
  grant_uses?: number;
}
export interface Part {
  type: "text" | "thought" | "call";
  text?: string;
  subject?: string;
  call_id?: string;
}

interface Envelope {
  seq: number;
  ts: number;
  session: string;
}
export type WireEvent = Envelope &
  (
    | { type: "session.created"; folder: string; model: string; mode: Mode; forked_from?: string }
    | { type: "session.opened"; client: string }
    | { type: "session.archived"; archived: boolean; by: string }
    | { type: "session.renamed"; title: string; usage?: Usage; cost?: number }
    | { type: "mode.changed"; mode: Mode; by: string }
    | { type: "model.changed"; model: string; by: string; window?: number }
    | { type: "model.warning"; model: string; text: string }
    | { type: "effort.changed"; effort: string | null; by: string }
    | { type: "prompt.submitted"; prompt_id: string; text: string; by: string; key?: string; attached?: Attached[] }
    | { type: "model.message"; prompt_id: string; model: string; parts: Part[]; finish: string; usage?: Usage; cost?: number; window?: number }
    | { type: "turn.finished"; prompt_id: string; status: string; failure?: Failure }
    | { type: "call.requested"; request: Request }
    | { type: "approval.requested"; call_id: string; approval: Approval; args?: Record<string, unknown>; about?: string }
    | { type: "approval.answered"; call_id: string; outcome: Outcome; by: string; reason?: string; args?: Record<string, unknown> }
    | { type: "approval.modifying"; call_id: string; by: string }
    | { type: "trial.started"; call_id: string; approval_id: string; by: string }
    | { type: "call.scheduled"; call_id: string; decision: Decision; about?: string }
    | { type: "call.started"; call_id: string }
    | { type: "call.process"; call_id: string; pid: number }
    | { type: "call.input"; call_id: string; wanted?: InputWanted }
    | { type: "call.output"; call_id: string; text: string; received?: number }
    | { type: "connection.requested"; call_id: string; connection: number; host: string; port: number; allowed: boolean; reason: string }
    | { type: "connection.ended"; call_id: string; connection: number; sent: number; received: number; address?: string; problem?: string }
    | ({ type: "chat.compressed"; usage?: Usage; cost?: number; problem?: string } & Shortened)
    | ({ type: "chat.pruned" } & Shortened)
    | { type: "chat.rewound"; prompt_id: string; by: string }
    | { type: "context.loaded"; sources: { path: string }[] }
    | { type: "call.finished"; call_id: string; status: "success" | "error" | "cancelled"; result?: { media?: Media[] }; display?: Display; failure?: Failure; duration_ms?: number; ran_ms?: number; about?: string }
    | { type: "background.started"; call_id: string; command: string; pid: number }
    | { type: "background.kept"; call_id: string; path: string; by: string }
    | { type: "background.ended"; call_id: string; outcome: string }
    | { type: "grant.added"; grant: Grant }
    | { type: "grant.revoked"; grant_id: string; by: string }
    | { type: "command.taken"; key: string; by: string; problem?: string }
    | { type: "model.text"; prompt_id: string; text: string }
    | { type: "model.thought"; prompt_id: string; subject: string; description: string; continues?: boolean }
    | { type: "model.retry"; prompt_id: string; attempt: number; reason: string; delay: number }
    | { type: "model.fallback"; prompt_id: string; model: string; fallback: string; reason: string }
    | { type: "prompts.queued"; waiting: Queued[] }
    | { type: "calls.queued"; call_ids: string[] }
  );

/** Something that a prompt mentions with `@`. */
export interface Attached {
  name: string;
  about?: string;
  parts?: ({ type: "text"; text: string } | (Media & { type: "media" }))[];
  problem?: string;
}

/** The entries of a conversation, in order. */
export type Entry =
  | { kind: "prompt"; id: string; text: string; by: string; at: number; media: Media[] }
  | { kind: "thought"; id: string; text: string }
  | { kind: "text"; id: string; text: string }
  | { kind: "call"; id: string }
  | { kind: "note"; id: string; tone: "" | "bad"; text: string };
