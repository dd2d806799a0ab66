"""The API's request and response types. The session's own types (events, approvals, calls) are used as they are."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from assent.app.audit_access import AuditEntry
from assent.app.call_states import ToolCall
from assent.app.mcp_types import Argument
from assent.app.model_catalog import ModelView
from assent.approval import Approval, Grant, Mode, Outcome
from assent.events import GateKind
from assent.front.web.access_tokens import Role, TokenKind
from assent.front.web.highlight import ShownHunk
from assent.front.web.live_replies import SoFar
from assent.parts import Effort, JsonObject, Usage
from assent.screen import SafeText
from assent.transient_events import Queued

Status = Literal["running", "waiting", "idle", "elsewhere"]
ShortText = Annotated[str, Meta(max_length=4_000)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """A mistyped field name is an error, not silently ignored."""


# --- requests ---


class Login(Body, frozen=True):
    code: Annotated[str, Meta(max_length=200)]


class NewSession(Body, frozen=True, kw_only=True):
    folder: ShortText | None = None
    model: Name | None = None
    mode: Mode | None = None
    effort: Effort | None = None
    gate: GateKind | None = None
    prompt: str | None = None
    title: Annotated[str, Meta(max_length=200)] | None = None


class Change(Body, frozen=True):
    title: Annotated[str, Meta(max_length=200)] | None = None
    mode: Mode | None = None
    model: Name | None = None
    effort: Effort | Literal["default"] | None = None
    """`default` leaves it to the provider."""
    archived: bool | None = None


class Said(Body, frozen=True):
    text: Annotated[str, Meta(min_length=1)]
    steer: bool = False
    """During a turn, the model reads it at its next step, and not only when the turn is over."""


class Upload(Body, frozen=True):
    name: Annotated[str, Meta(min_length=1, max_length=500)]
    data: bytes
    """In base64."""


class Uploaded(Struct, frozen=True):
    path: str
    """For a prompt: `@` and this path includes the file."""


class PushSubscription(Body, frozen=True):
    """As the browser's `PushSubscription` has it."""

    endpoint: Annotated[str, Meta(min_length=1, max_length=2000)]
    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class PushState(Struct, frozen=True):
    key: str
    subscribed: bool


class PromptChoice(Body, frozen=True):
    name: Name
    argument: str = ""


class Reason(Body, frozen=True):
    reason: ShortText = ""


class Stop(Body, frozen=True):
    reason: ShortText = ""
    hold: bool = False
    """What is in the queue stays there until someone releases it."""


class Typed(Body, frozen=True):
    number: Annotated[int, Meta(ge=0)]
    """Which prompt it answers, as in `call.input`."""
    text: Annotated[str, Meta(max_length=4000)] | None
    """One line; null is the end of the input."""


class ToolRun(Body, frozen=True):
    tool: Name
    args: JsonObject


class Decided(Body, frozen=True, kw_only=True):
    outcome: Outcome
    digest: Annotated[str, Meta(max_length=200)] = ""
    reason: ShortText = ""
    content: str | None = None
    args: JsonObject | None = None
    hunks: tuple[Annotated[int, Meta(ge=0, le=1_000_000)], ...] | None = None
    answers: tuple[ShortText, ...] | None = None
    """For the model's questions: one text for each, in order."""
    scope: Annotated[str, Meta(max_length=200)] = ""
    grant_seconds: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    grant_uses: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None


# --- responses ---


class LoginCode(Struct, frozen=True):
    """It works once."""

    code: str
    seconds: float


class Me(Struct, frozen=True, kw_only=True):
    name: str
    role: Role
    version: str
    roots: tuple[str, ...]
    folder: str
    model: str
    mode: Mode
    by: str
    """How others see you."""
    may_log_in: bool = False
    """Whether `POST /login-codes` gives you a code for another browser."""
    models: tuple[str, ...] = ()
    """Models to choose from; any other name may be given as well."""
    problem: str = ""
    """What keeps `model` from being used, or why there is none."""


class LoggedIn(Struct, frozen=True):
    token: str
    name: str
    role: Role
    expires_at: float
    me: Me
    """As `GET /me` says it, which a page then need not ask for."""


class TokenView(Struct, frozen=True, kw_only=True):
    """A token or login; never the token itself."""

    id: str
    name: str
    role: Role
    owner: str
    kind: TokenKind
    created_at: float | None
    """Not known of tokens from older versions."""
    expires_at: float | None
    used_at: float | None
    """When it was last used, if it ever was."""
    used_from: str
    current: bool
    """It is the token of this request."""


class TokenList(Struct, frozen=True):
    tokens: tuple[TokenView, ...]


class AuditView(Struct, frozen=True):
    id: int
    hash: str
    entry: AuditEntry


class AuditList(Struct, frozen=True):
    records: tuple[AuditView, ...]
    more: bool
    """There are older ones: repeat the request with `before` = the last id."""


class AuditCheck(Struct, frozen=True):
    records: int
    head: str
    """The newest record: `ID:HASH`."""
    problems: tuple[str, ...]
    """Empty if the record is intact."""


class ModelList(Struct, frozen=True):
    models: tuple[ModelView, ...]


class SessionView(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    folder: str
    model: str
    mode: Mode
    owner: str
    status: Status
    waiting: int
    seq: int
    created_at: float
    updated_at: float
    problem: str = ""
    """Why it could not be opened here, if it could not."""
    archived: bool = False
    """It is listed only if archived sessions are asked for."""


class SessionList(Struct, frozen=True):
    revision: int
    total: int
    sessions: tuple[SessionView, ...]
    archived: int = 0
    """How many archived sessions there are, listed or not."""


class Found(Struct, frozen=True, kw_only=True):
    """Where the words of a search were said, for the last time in this session."""

    session: str
    title: str
    folder: str
    at: float
    where: Literal["prompt", "reply"]
    text: str
    """The words with some of what is around them."""


class SearchResult(Struct, frozen=True):
    found: tuple[Found, ...]
    complete: bool
    """False if there was too much to read, or there are more."""


class TrialPart(Struct, frozen=True):
    """One part of what a tried command did, made safe to show; an answer names the numbers of the accepted ones."""

    number: int
    """-1 if it is never applied."""
    title: str
    notes: tuple[str, ...]
    hunks: tuple[ShownHunk, ...]


class CallView(Struct, frozen=True):
    call: ToolCall
    hunks: tuple[ShownHunk, ...] = ()
    """The proposed or completed change."""
    shown: SafeText | None = None
    """For a question: exactly what would happen, made safe to show, with warnings."""
    parts: tuple[TrialPart, ...] = ()
    """For a command that was tried: what it did, part by part."""


class Snapshot(Struct, frozen=True, kw_only=True):
    session: SessionView
    gate: GateKind
    prompts: int
    open_prompt: str | None
    usage: Usage
    queued: tuple[Queued, ...]
    calls: tuple[CallView, ...]
    reply: SoFar
    """The part of the current reply that has arrived so far."""


class CallList(Struct, frozen=True):
    calls: tuple[CallView, ...]
    seq: int


class WaitingView(Struct, frozen=True):
    session: SessionView
    call_id: str
    asked_at: float
    approval: Approval
    hunks: tuple[ShownHunk, ...] = ()


class InputView(Struct, frozen=True):
    """A command that waits for someone to type something, such as a password."""

    session: SessionView
    call_id: str
    since: float


class WaitingList(Struct, frozen=True):
    revision: int
    total: int
    """How many approvals there are, listed or not."""
    approvals: tuple[WaitingView, ...]
    inputs: tuple[InputView, ...] = ()
    """All of them, on every page of the list."""


class EventList(Struct, frozen=True):
    """`events` are flat JSON objects: the envelope's fields, then the event's own."""

    events: tuple[JsonObject, ...]
    seq: int
    more: bool


class Output(Struct, frozen=True, kw_only=True):
    text: str
    offset: int
    """Where it starts, in bytes: not always at the requested offset."""
    next: int
    total: int
    done: bool
    saved: bool = False
    """True if it comes from the file with the full output, in plain text; otherwise from what the session keeps."""


class FileList(Struct, frozen=True):
    files: tuple[str, ...]


class FolderList(Struct, frozen=True):
    path: str
    parent: str | None
    """The folder above, if sessions may work there."""
    folders: tuple[str, ...]
    """The names of the folders inside."""


class PromptView(Struct, frozen=True):
    """A prompt chosen by name: a custom command, or one that an MCP server offers."""

    name: str
    help: str
    usage: str = ""
    arguments: tuple[Argument, ...] = ()


class PromptList(Struct, frozen=True):
    prompts: tuple[PromptView, ...]
    problems: tuple[str, ...] = ()
    """Which files could not be used, and why."""


class Using(Struct, frozen=True):
    """`going`: a part of it is still waiting, perhaps for a person; repeat the request to keep waiting."""

    state: Literal["sent", "going"]
    key: str


class ChangeView(Struct, frozen=True):
    """A file that a call wrote."""

    call_id: str
    path: str
    tool: str
    at: float


class ChangeList(Struct, frozen=True):
    changes: tuple[ChangeView, ...]


class GrantView(Struct, frozen=True):
    grant: Grant
    uses: int


class GrantList(Struct, frozen=True):
    grants: tuple[GrantView, ...]


class Key(Struct, frozen=True):
    key: str


class Undoing(Struct, frozen=True):
    key: str
    call_id: str
    """The call that undoes it; its `call.finished` tells the outcome."""


class Taken(Struct, frozen=True):
    state: Literal["taken", "recorded"]
    key: str


class Health(Struct, frozen=True):
    status: Literal["ok"]
