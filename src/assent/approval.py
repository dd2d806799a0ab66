"""An approval is a record: exactly what would happen, its digest, the possible answers, and until when it is valid.

Plain frozen data. The scheduler makes these records, the log keeps them, every client shows them.
"""

from typing import Literal, get_args

from msgspec import Struct

from assent.parts import JsonObject
from assent.plan import ExecutedFile, SandboxName
from assent.trial import Trial

Mode = Literal["default", "auto_edit", "auto_try", "contained", "yolo", "plan"]

Outcome = Literal[
    "proceed_once",
    "proceed_always",
    "proceed_always_server",
    "proceed_always_tool",
    "modify_with_editor",
    "try_first",
    "run_directly",
    "cancel",
]
"""`try_first` runs a command in a copy of the workspace, and asks again with what it did. Then `proceed_once` applies
that, and `run_directly` runs the command as if it had not been tried.
"""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

Risk = Literal["low", "medium", "high"]


class EditDetails(Struct, frozen=True, gc=False, tag="edit", omit_defaults=True, kw_only=True):
    """A file would change. `old` is None when the file does not exist yet."""

    path: str
    diff: str
    old: str | None
    new: str
    protected: str = ""
    """Why this file needs approval even where edits run by themselves, e.g. because it configures Assent."""
    runs: str = ""
    """Why edits of this file do not run by themselves: other tools run it or obey it."""
    secret: str = ""
    """Why reading the current content needs approval: an edit reveals it by its diff, its report or its error."""


class ExecDetails(Struct, frozen=True, gc=False, tag="exec", omit_defaults=True, kw_only=True):
    """A command would run, exactly as written, in `directory`."""

    command: str
    roots: tuple[str, ...]
    """The programs it names, as the shell gate sees them."""
    directory: str
    risk: Risk
    risk_reason: str
    sandbox: SandboxName = "off"
    """What it runs in."""
    no_sandbox: tuple[SandboxName, ...] = ()
    """The profiles that do not work on this machine."""
    wider: bool = False
    """The model asks for this sandbox, because the command did not work in a tighter one."""
    background: bool = False
    """It runs on after the call, until it is stopped or the session ends."""
    domains: tuple[str, ...] = ()
    """The hosts that it may connect to without asking, in the sandbox `network`."""
    writable: tuple[str, ...] = ()
    """What it may write to in its sandbox, besides the workspace: real paths."""
    executes: tuple[ExecutedFile, ...] = ()
    """The files that it will execute or obey, as far as its words tell, as they are now."""
    trial: Trial | None = None
    """What it did when it was tried; a yes then applies that, and the command does not run again."""


class InfoDetails(Struct, frozen=True, gc=False, tag="info", omit_defaults=True):
    """Something would be read or requested: a secret file, a web page, a web search."""

    prompt: str
    urls: tuple[str, ...] = ()
    """In their canonical spelling, exactly as they are requested."""
    warnings: tuple[str, ...] = ()
    """What a person should look at, even where a rule or a grant covers the host."""


class McpDetails(Struct, frozen=True, gc=False, tag="mcp", omit_defaults=True, kw_only=True):
    """A tool of an MCP server, or of the project, would be called with these arguments."""

    server: str
    tool: str
    args: JsonObject
    description: str = ""
    """What the server says the tool does, made safe to show."""
    definition: str = ""
    """Digest of the tool's definition: if it changes, this is another action."""
    unseen: str = ""
    """Why no standing permission covers it, e.g. because the tool's definition has changed since."""
    read_only: bool = False
    """The server says that the tool only reads, and the person trusts the server."""
    command: str = ""
    """What runs and where, for a tool of the project's own command; `server` is then only a name."""


QuestionType = Literal["choice", "text", "yesno"]


class Choice(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    label: str
    description: str = ""


class Question(
    Struct,
    frozen=True,
    gc=False,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"multi_select": "multiSelect"},
    kw_only=True,
):
    """What the model asks the person. Whatever the type, they may answer in their own words."""

    question: str
    type: QuestionType = "choice"
    header: str = ""
    """The subject, in a word or two."""
    options: tuple[Choice, ...] = ()
    multi_select: bool = False
    placeholder: str = ""


class AskDetails(Struct, frozen=True, gc=False, tag="ask"):
    """Questions for the person; the answer must contain one text for each."""

    questions: tuple[Question, ...]


Details = EditDetails | ExecDetails | InfoDetails | McpDetails | AskDetails


GrantKind = Literal["exact", "subcommand", "program", "file", "folder", "tool", "server", "domain"]


Lasts = Literal["session", "folder", "everywhere"]


class Grant(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A standing permission: what it covers, until when, who gave it, and from which call."""

    id: str
    kind: GrantKind
    tool: str
    reach: str
    """What it covers, in words, exactly as shown before it was given."""
    value: str = ""
    """The file, folder, server or domain; for commands, the folder in which they run."""
    exact: tuple[tuple[str, ...], ...] = ()
    """Commands that are allowed word for word, with no other word."""
    prefixes: tuple[tuple[str, ...], ...] = ()
    """First words of commands that are allowed if the shell gate finds them harmless."""
    sandbox: SandboxName | None = None
    """For commands that need more than the usual sandbox: the profile they run in; chosen by what they do, if None."""
    domains: tuple[str, ...] = ()
    """Where these commands may connect to without asking."""
    writable: tuple[str, ...] = ()
    """Where these commands may write, besides the workspace."""
    lasts: Lasts = "session"
    """Whether it also holds for later sessions, in this folder or in every folder."""
    by: str = ""
    from_call: str = ""
    expires_at: float | None = None
    max_uses: int | None = None


class UnapprovedFile(Struct, frozen=True, gc=False, omit_defaults=True):
    """A file that would be executed, and that nobody has approved with this content."""

    path: str
    """As a person names it: relative to the workspace, if it is inside."""
    changed: bool = False
    """It was approved with another content; otherwise it is new."""


class Approval(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A question waiting for a person. The answer must name the digest of what was shown."""

    id: str
    digest: str
    details: Details
    options: tuple[Outcome, ...]
    why: str
    """Why approval is needed, in one sentence."""
    scopes: tuple[Grant, ...] = ()
    """What `proceed_always` may grant, the narrowest first; the answer chooses by id."""
    unapproved: tuple[UnapprovedFile, ...] = ()
    """Which of the files that a command executes are new or have changed since a person last approved them."""
    expires_at: float | None = None
    tool: str = ""
    no_always: str = ""
    """Why `proceed_always` is not offered; empty if it is, or if nobody would expect it."""
    untried: str = ""
    """Why a command cannot be tried first; empty if it can, or if there is nothing to try."""


class Decision(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """Why a call may run: what decided, in words, and the digest it is bound to."""

    source: Literal["tool", "mode", "rule", "grant", "person"]
    reason: str
    by: str = ""
    outcome: Outcome | None = None
    edited: bool = False
    """The person changed the arguments; the model is told."""
    digest: str = ""
    rule: str = ""
    """The rule that decided and where it is written, or the id of the grant."""
    sandbox: SandboxName | None = None
    """What a command runs in that a rule, a grant or a mode allowed."""
