"""The seven states of a tool call, each its own immutable type, and the one table of legal transitions.

    validating ──► awaiting_approval ──► scheduled ──► executing ──► success
        │  └───────────────────────────────►│ │            │ └─────► error
        └──► error, cancelled ◄─────────────┴─┴────────────┴───────► cancelled

A call moves only by an event: `advance(call, event)` returns the next state or raises. A scheduled call goes back to
awaiting_approval if what was approved is no longer what would happen, and is scheduled again if something else allows
it now. Terminal states never change.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assent.approval import Approval, Decision
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    ApprovalRequested,
    CallFinished,
    CallInput,
    CallOutput,
    CallProcess,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    ConnectionEnded,
    ConnectionRequested,
    Event,
    TrialStarted,
)
from assent.parts import Display, Failure, InputWanted, Result

LIVE_OUTPUT_LIMIT = 64_000
"""Characters of live output kept in an executing call: the newest ones."""


class Validating(Struct, frozen=True, gc=False, tag="validating"):
    request: CallRequest
    started_at: float


class AwaitingApproval(Struct, frozen=True, gc=False, tag="awaiting_approval", kw_only=True):
    request: CallRequest
    started_at: float
    approval: Approval
    answered_by: str = ""
    """Set between the answer and the state that follows from it."""
    modifying_by: str = ""
    """Who has the proposal open in an editor."""
    edited: bool = False
    """A person has changed the arguments; the model is told when it runs."""
    tried_by: str | None = None
    """Who has it tried right now; empty if the mode decided it, None if nobody."""
    output: str = ""
    """What it printed so far, while it is tried."""
    refusal: str = ""
    """The reason a person gave with their no."""


class Scheduled(Struct, frozen=True, gc=False, tag="scheduled"):
    request: CallRequest
    started_at: float
    decision: Decision
    approval: Approval | None = None


class Executing(Struct, frozen=True, gc=False, tag="executing", kw_only=True):
    request: CallRequest
    started_at: float
    decision: Decision
    approval: Approval | None = None
    pid: int | None = None
    output: str = ""
    received: int = 0
    """Bytes of binary output so far."""
    wanted: InputWanted | None = None
    """What it waits for a person to type."""


class Success(Struct, frozen=True, gc=False, tag="success", kw_only=True):
    request: CallRequest
    started_at: float
    decision: Decision
    result: Result
    display: Display | None
    duration_ms: int
    approval: Approval | None = None
    ran_ms: int | None = None


class Failed(Struct, frozen=True, gc=False, tag="error", kw_only=True):
    request: CallRequest
    started_at: float
    result: Result
    failure: Failure
    duration_ms: int
    decision: Decision | None = None
    display: Display | None = None
    approval: Approval | None = None
    ran_ms: int | None = None


class Cancelled(Struct, frozen=True, gc=False, tag="cancelled", kw_only=True):
    """Keeps what there was: the proposed change in `approval`, partial output in `display`."""

    request: CallRequest
    started_at: float
    result: Result
    duration_ms: int
    decision: Decision | None = None
    display: Display | None = None
    approval: Approval | None = None
    ran_ms: int | None = None
    refusal: str = ""
    """Why a person refused it: an answer to the model, which goes on. Empty if they gave no reason."""


Pending = Validating | AwaitingApproval | Scheduled | Executing
Terminal = Success | Failed | Cancelled
ToolCall = Pending | Terminal

TRANSITIONS: dict[type[ToolCall], tuple[type[ToolCall], ...]] = {
    Validating: (AwaitingApproval, Scheduled, Failed, Cancelled),
    AwaitingApproval: (AwaitingApproval, Scheduled, Failed, Cancelled),
    Scheduled: (AwaitingApproval, Scheduled, Executing, Failed, Cancelled),
    Executing: (Executing, Success, Failed, Cancelled),
    Success: (),
    Failed: (),
    Cancelled: (),
}


class IllegalTransition(Exception):
    """The table does not allow this transition."""


def status(call: ToolCall) -> str:
    """The state's name, e.g. `awaiting_approval`."""
    config: Any = type(call).__struct_config__
    return config.tag


def begin(event: CallRequested, ts: float) -> Validating:
    return Validating(event.request, ts)


def advance(call: ToolCall, event: Event) -> ToolCall:
    """The state after the event. Raises IllegalTransition; never changes `call`."""
    following = _following(call, event)
    if following is None or type(following) not in TRANSITIONS[type(call)]:
        raise IllegalTransition(
            f"call {call.request.call_id}: {type(event).__name__} is not possible in {status(call)}"
        )
    return following


def _following(call: ToolCall, event: Event) -> ToolCall | None:
    if isinstance(call, Terminal):
        return None
    if isinstance(call, AwaitingApproval) and isinstance(event, _AboutQuestion):
        return _asked(call, event)
    match call, event:
        case Executing(), CallOutput() | CallProcess() | CallInput() | ConnectionRequested() | ConnectionEnded():
            return _running(call, event)
        case _, ApprovalRequested():
            edited = event.args is not None or _was_edited(call)
            request = _with_args(_described(call.request, event.about), event.args)
            return AwaitingApproval(request=request, started_at=call.started_at, approval=event.approval, edited=edited)
        case _, CallScheduled():
            return Scheduled(_described(call.request, event.about), call.started_at, event.decision, _approval(call))
        case Scheduled(), CallStarted():
            return Executing(
                request=call.request, started_at=call.started_at, decision=call.decision, approval=call.approval
            )
        case _, CallFinished():
            return _finished(call, event)
        case _:
            return None


_AboutQuestion = ApprovalModifying | ApprovalAnswered | TrialStarted | CallOutput | CallProcess


def _asked(call: AwaitingApproval, event: _AboutQuestion) -> AwaitingApproval | None:
    """The question is still the same one."""
    match call, event:
        case AwaitingApproval(tried_by=str()), CallOutput():
            return replace(call, output=(call.output + event.text)[-LIVE_OUTPUT_LIMIT:])
        case AwaitingApproval(tried_by=str()), CallProcess():
            return call
        case AwaitingApproval(tried_by=None), TrialStarted():
            return replace(call, tried_by=event.by)
        case _, ApprovalModifying():
            return replace(call, modifying_by=event.by)
        case _, ApprovalAnswered():
            refusal = event.reason if event.outcome == "cancel" else ""
            request = _with_args(call.request, event.args)
            return replace(call, request=request, answered_by=event.by, refusal=refusal)
        case _:
            return None


def _running(
    call: Executing, event: CallOutput | CallProcess | CallInput | ConnectionRequested | ConnectionEnded
) -> Executing:
    match event:
        case CallOutput():
            output = (call.output + event.text)[-LIVE_OUTPUT_LIMIT:]
            return replace(call, output=output, received=event.received or call.received)
        case CallProcess():
            return replace(call, pid=event.pid)
        case CallInput():
            return replace(call, wanted=event.wanted)
        case ConnectionRequested() | ConnectionEnded():
            return call


def _finished(call: Pending, event: CallFinished) -> Terminal | None:
    decision = call.decision if isinstance(call, Scheduled | Executing) else None
    match event.status:
        case "success" if decision is not None:
            return Success(**_common(call, event), decision=decision)
        case "error" if event.failure is not None:
            return Failed(**_common(call, event), decision=decision, failure=event.failure)
        case "cancelled":
            refusal = call.refusal if isinstance(call, AwaitingApproval) else ""
            return Cancelled(**_common(call, event), decision=decision, refusal=refusal)
        case _:
            return None


def _common(call: Pending, event: CallFinished) -> dict[str, Any]:
    """The fields of every final state."""
    return {
        "request": _described(call.request, event.about),
        "started_at": call.started_at,
        "result": event.result,
        "display": event.display,
        "duration_ms": event.duration_ms,
        "approval": _approval(call),
        "ran_ms": event.ran_ms,
    }


def _was_edited(call: Pending) -> bool:
    match call:
        case AwaitingApproval():
            return call.edited
        case Scheduled() | Executing():
            return call.decision.edited
        case Validating():
            return False


def _approval(call: Pending) -> Approval | None:
    return None if isinstance(call, Validating) else call.approval


def _described(request: CallRequest, about: str) -> CallRequest:
    return replace(request, about=about) if about else request


def _with_args(request: CallRequest, args: dict[str, Any] | None) -> CallRequest:
    return request if args is None else replace(request, args=args)
