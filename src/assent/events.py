"""What happened in a session: one closed union, the same on disk, on the wire, on screen and in the audit.

Durable events are the session: gap-free sequence numbers, committed before anyone is told of them; all state is a
fold of them.
Transient events (deltas, live output; see `transient_events.py`) are only for current watchers; they have no number
and may be missed.
On the wire an event is one flat JSON object: the envelope's fields, then the event's own.
"""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from assent.approval import Approval, Decision, Grant, Mode, Outcome
from assent.background_events import BackgroundEnded, BackgroundKept, BackgroundStarted
from assent.event_base import EventBase
from assent.parts import (
    Display,
    Effort,
    Failure,
    FinishReason,
    JsonObject,
    Media,
    ModelPart,
    Result,
    Text,
    Usage,
)
from assent.transient_events import (
    ApprovalModifying,
    CallInput,
    CallOutput,
    CallProcess,
    CallsQueued,
    ModelFallback,
    ModelRetry,
    PromptsQueued,
    TextDelta,
    ThoughtDelta,
)

VERSION = 1
"""Raised when an event changes its meaning; readers refuse anything newer than they know."""

Initiator = Literal["model", "person", "command", "call"]
"""`command`: a person chose it, but its words come from a file; it is judged like a call of the model. `call`: a call
that is running needs it, and it ends with that call at the latest."""
CallStatus = Literal["success", "error", "cancelled"]
TurnStatus = Literal["completed", "cancelled", "failed", "max_turns", "loop_detected", "incomplete", "limit_reached"]
GateKind = Literal["batch", "eager"]


# --- durable ---


class SessionCreated(EventBase, frozen=True, tag="session.created", kw_only=True):
    """Always the first event."""

    folder: str
    model: str
    mode: Mode
    version: str
    gate: GateKind = "batch"
    forked_from: str | None = None
    owner: str = ""
    """Whose session it is, on a server with several users; empty for the user's own."""
    effort: Effort | None = None
    by: str = ""


class SessionOpened(EventBase, frozen=True, tag="session.opened"):
    """A process took over the session; `fence` invalidates every earlier writer."""

    fence: int
    client: str


class ContextSource(Struct, frozen=True, gc=False, omit_defaults=True):
    """A context file: its size, its digest, and why it was not loaded, if it was not."""

    path: str
    size: int
    digest: str
    problem: str = ""


class ContextLoaded(EventBase, frozen=True, tag="context.loaded"):
    """The notes sent to the model with every request from now on."""

    sources: tuple[ContextSource, ...]


class Attached(Struct, frozen=True, gc=False, omit_defaults=True):
    """Something a prompt mentions with `@`: its content at that time, or why it is not included."""

    name: str
    about: str = ""
    """How large it is, e.g. `120 lines`."""
    parts: tuple[Text | Media, ...] = ()
    problem: str = ""


class PromptSubmitted(EventBase, frozen=True, tag="prompt.submitted"):
    """With the id of the open prompt, it does not begin a turn: the model reads it in the middle of one."""

    prompt_id: str
    text: str
    by: str
    key: str = ""
    """The idempotency key of the command, so that a repeated command is not a second prompt."""
    attached: tuple[Attached, ...] = ()


class ModelReplied(EventBase, frozen=True, tag="model.message", kw_only=True):
    """A complete reply. Its deltas came before as transient events; this is what counts."""

    prompt_id: str
    model: str
    parts: tuple[ModelPart, ...]
    finish: FinishReason
    usage: Usage = Usage()
    said: str = ""
    """The provider's own word for why it stopped, unless it simply finished."""
    cost: float | None = None
    """Dollars, by the prices at that time; None if the model's price was unknown."""
    window: int = 0
    """The context window of the model, in tokens; 0 if unknown. Likewise in other events."""


class CallRequest(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """Who wants which tool to do what."""

    call_id: str
    tool: str
    args: JsonObject
    prompt_id: str
    initiator: Initiator = "model"
    problem: str = ""
    """Set when the request itself is refused, e.g. because its call id was used before."""
    about: str = ""
    """The tool's own one-line summary of the call; the events after the request carry it."""
    parent: str = ""
    """The running call that needs it, if the initiator is one."""


class CallRequested(EventBase, frozen=True, tag="call.requested"):
    """→ validating"""

    request: CallRequest


class ApprovalRequested(EventBase, frozen=True, tag="approval.requested"):
    """→ awaiting_approval. A second one for the same call replaces the first."""

    call_id: str
    approval: Approval
    args: JsonObject | None = None
    """Set when a person changed the arguments and is asked again."""
    about: str = ""
    """The tool's summary of the call; empty if an earlier event carried it."""


class ApprovalAnswered(EventBase, frozen=True, tag="approval.answered", kw_only=True):
    call_id: str
    approval_id: str
    outcome: Outcome
    by: str
    reason: str = ""
    args: JsonObject | None = None
    """Set when the answer changed the arguments: these are what runs."""
    key: str = ""
    """The idempotency key of the command, so that a crash does not make one answer count for two questions."""
    answers: tuple[str, ...] | None = None
    """What the person answered to the model's questions."""


class TrialStarted(EventBase, frozen=True, tag="trial.started"):
    """The call stays awaiting_approval; the next `approval.requested` shows what the command did."""

    call_id: str
    approval_id: str
    by: str
    """Empty if the mode decided it."""
    key: str = ""
    """As in `approval.answered`."""


class CallScheduled(EventBase, frozen=True, tag="call.scheduled"):
    """→ scheduled"""

    call_id: str
    decision: Decision
    about: str = ""
    """As in `approval.requested`."""


class FileChange(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """What a call does to a file, so that it can be undone."""

    path: str
    after: str
    """The digest (SHA-256) of the content it leaves; empty if it deletes the file."""
    before: bytes | None = None
    """The previous content; None if there was no file, or if it is kept elsewhere."""
    kept: str = ""
    """The name under which content too large for the log is kept."""
    takes_back: str = ""
    """The call whose change it undoes."""
    effects: str = ""
    """For the effects of a trial: the name under which they are kept. Then `path` is the workspace, and `after` the
    digest of them all.
    """


class CallStarted(EventBase, frozen=True, tag="call.started"):
    """→ executing. Durable before the side effect; started without finished after a crash is *unknown*."""

    call_id: str
    digest: str
    change: FileChange | None = None
    """For a call that writes a file: the previous content, durable before it is gone."""


class CallFinished(EventBase, frozen=True, tag="call.finished", kw_only=True):
    """→ success, error or cancelled"""

    call_id: str
    status: CallStatus
    result: Result
    display: Display | None = None
    failure: Failure | None = None
    duration_ms: int = 0
    """Since it was requested, including the time it waited for a person."""
    ran_ms: int | None = None
    """Since it started; None for a call that never did."""
    about: str = ""
    """As in `approval.requested`, for a call that ends before it is decided."""


class ConnectionRequested(EventBase, frozen=True, tag="connection.requested", kw_only=True):
    """A running command wants to connect. Durable, with the verdict, before a name is resolved or a host is dialled."""

    call_id: str
    connection: int
    """Counted from 1 within the call."""
    host: str
    port: int
    allowed: bool
    reason: str


class ConnectionEnded(EventBase, frozen=True, tag="connection.ended", kw_only=True):
    """A connection that was allowed is over. After a crash, this event may be missing."""

    call_id: str
    connection: int
    sent: int
    """Bytes from the command, and below to it."""
    received: int
    address: str = ""
    """Where it led; empty if it was never established."""
    problem: str = ""


class GrantAdded(EventBase, frozen=True, tag="grant.added"):
    grant: Grant


class GrantRevoked(EventBase, frozen=True, tag="grant.revoked"):
    grant_id: str
    by: str


class ModeChanged(EventBase, frozen=True, tag="mode.changed"):
    mode: Mode
    by: str


class ModelChanged(EventBase, frozen=True, tag="model.changed"):
    model: str
    by: str
    window: int = 0


class EffortChanged(EventBase, frozen=True, tag="effort.changed"):
    effort: Effort | None
    """None leaves it to the provider."""
    by: str


class ModelWarning(EventBase, frozen=True, tag="model.warning"):
    """Something to know about the model in use; for example, that it cannot call tools."""

    model: str
    text: str


class SessionArchived(EventBase, frozen=True, tag="session.archived"):
    """It left the list of sessions, or returned to it. A new prompt also brings it back."""

    archived: bool
    by: str


class SessionRenamed(EventBase, frozen=True, tag="session.renamed"):
    title: str
    by: str
    model: str = ""
    """The model that chose the title; empty if a person did."""
    usage: Usage = Usage()
    """Of the request for the title."""
    cost: float | None = None


class ChatCompressed(EventBase, frozen=True, tag="chat.compressed", kw_only=True):
    """The oldest messages of the conversation are replaced with a summary; with a `problem`, nothing is."""

    prompt_id: str
    """Empty when a person asked for it between two prompts."""
    replaced: int
    """How many messages the summary replaces."""
    summary: str
    """What the model is told instead."""
    tokens_before: int
    tokens_after: int
    """Both estimated."""
    usage: Usage = Usage()
    """Of the request for the summary."""
    cost: float | None = None
    """Of the same request, in dollars; None if the model's price was unknown."""
    by: str = ""
    key: str = ""
    problem: str = ""
    model: str = ""
    """Which model wrote it; empty for the session's own."""
    window: int = 0
    """Of the session's own model."""


class ConversationRewound(EventBase, frozen=True, tag="chat.rewound"):
    """The conversation is again what it was before this prompt. The log keeps what came after. This does not change
    files: undoing their changes takes calls of its own.
    """

    prompt_id: str
    by: str


class OutputPruned(EventBase, frozen=True, tag="chat.pruned", kw_only=True):
    """The output of old calls is removed from the conversation. The calls stay, and the log keeps their output."""

    prompt_id: str
    call_ids: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    """Both estimated."""
    window: int = 0


class TurnFinished(EventBase, frozen=True, tag="turn.finished"):
    """Always the last event of a prompt."""

    prompt_id: str
    status: TurnStatus
    failure: Failure | None = None
    usage: Usage = Usage()


class QueueHeld(EventBase, frozen=True, tag="queue.held"):
    """These items of the queue wait until someone releases them; without keys, nothing is held any more."""

    keys: tuple[str, ...]
    by: str


class CommandTaken(EventBase, frozen=True, tag="command.taken"):
    """A client's command was carried out, or refused: then `problem` says why."""

    key: str
    by: str
    problem: str = ""


DurableEvent = (
    SessionCreated
    | SessionOpened
    | ContextLoaded
    | PromptSubmitted
    | ModelReplied
    | CallRequested
    | ApprovalRequested
    | ApprovalAnswered
    | TrialStarted
    | CallScheduled
    | CallStarted
    | CallFinished
    | BackgroundStarted
    | BackgroundKept
    | BackgroundEnded
    | ConnectionRequested
    | ConnectionEnded
    | GrantAdded
    | GrantRevoked
    | ModeChanged
    | ModelChanged
    | ModelWarning
    | EffortChanged
    | SessionArchived
    | SessionRenamed
    | ChatCompressed
    | OutputPruned
    | ConversationRewound
    | TurnFinished
    | QueueHeld
    | CommandTaken
)
TransientEvent = (
    TextDelta
    | ThoughtDelta
    | ModelRetry
    | ModelFallback
    | PromptsQueued
    | CallsQueued
    | ApprovalModifying
    | CallOutput
    | CallProcess
    | CallInput
)
Event = DurableEvent | TransientEvent


# --- the envelope ---


class Envelope(Struct, frozen=True, gc=False):
    """An event with its place: session, time, and for durable ones the sequence number (0 when transient)."""

    seq: int
    ts: float
    session: str
    event: Event


class _Head(Struct, gc=False):
    seq: int
    ts: float
    session: str
    v: int


_encode = msgspec.json.Encoder().encode
_event_decoder: "msgspec.json.Decoder[Event]" = msgspec.json.Decoder(Event)
_head_decoder = msgspec.json.Decoder(_Head)


class NewerFormat(ValueError):
    """The event was written by a newer Assent."""


def encode_event(event: Event) -> bytes:
    return _encode(event)


def decode_event(data: bytes | str, v: int = VERSION) -> Event:
    if v > VERSION:
        raise NewerFormat(
            f"this session was written by a newer Assent (format {v}, this one reads {VERSION}); upgrade Assent"
        )
    return _event_decoder.decode(data)


def to_wire(envelope: Envelope) -> bytes:
    """One flat JSON object: `{"seq":…,"ts":…,"session":…,"v":…,"type":…, …}`."""
    head = _encode(_Head(envelope.seq, envelope.ts, envelope.session, VERSION))
    return head[:-1] + b"," + _encode(envelope.event)[1:]


def from_wire(data: bytes | str) -> Envelope:
    head = _head_decoder.decode(data)
    return Envelope(head.seq, head.ts, head.session, decode_event(data, head.v))


def type_of(event: Event) -> str:
    """The event's name on the wire, e.g. `call.started`."""
    config: Any = type(event).__struct_config__
    return config.tag
