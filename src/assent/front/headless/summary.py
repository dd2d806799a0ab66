"""The outcome of a prompt: the reply, the counts, the status. A fold of the events, shared by all output formats."""

from typing import Literal

from msgspec import Struct, field

from assent import exit_codes
from assent.app.wording import call_about
from assent.events import (
    ApprovalAnswered,
    CallFinished,
    CallRequest,
    CallRequested,
    CallScheduled,
    ChatCompressed,
    Envelope,
    ModelReplied,
    TurnFinished,
    TurnStatus,
)
from assent.parts import Failure, Text, Usage

Status = Literal[
    "success", "refused", "error", "cancelled", "max_turns", "loop_detected", "incomplete", "limit_reached", "waiting"
]
"""`refused`: the model answered, but calls were refused because nobody could be asked."""

_STATUS: dict[TurnStatus, Status] = {
    "completed": "success",
    "cancelled": "cancelled",
    "failed": "error",
    "max_turns": "max_turns",
    "loop_detected": "loop_detected",
    "incomplete": "incomplete",
    "limit_reached": "limit_reached",
}


UNASKED = "approval_unavailable"
REFUSALS = (UNASKED, "policy_violation")


class ToolStats(Struct):
    total: int = 0
    success: int = 0
    error: int = 0
    cancelled: int = 0
    duration_ms: int = 0


class Stats(Struct, kw_only=True):
    duration_ms: int = 0
    requests: int = 0
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    cost: float | None = 0.0
    """Dollars; null if the price of a model is unknown."""
    tools: ToolStats = field(default_factory=ToolStats)
    decisions: dict[str, int] = field(default_factory=dict[str, int])
    """How calls came to be allowed: by person, rule, mode, grant, or because the tool is harmless."""


class UnfinishedCall(Struct, frozen=True):
    """A call that did not do what the model wanted."""

    call_id: str
    tool: str
    about: str
    status: Literal["refused", "cancelled", "failed"]
    """Refused: by a person, a rule or a mode, or because nobody could be asked."""
    reason: str


class Summary(Struct, tag_field="type", tag="result", omit_defaults=True, kw_only=True):
    """The final result; its `type` makes it a line of the event stream. Only `error` and `calls` may be absent."""

    session_id: str
    status: Status
    response: str
    """The final answer: the text of the last reply. What the model said before is in the events."""
    error: Failure | None = None
    calls: list[UnfinishedCall] = field(default_factory=list[UnfinishedCall])
    """Those that were refused, were cancelled or failed."""
    stats: Stats = field(default_factory=Stats)

    def exit_code(self) -> int:
        match self.status:
            case "success" | "refused":
                return exit_codes.OK
            case "cancelled":
                return exit_codes.CANCELLED
            case "max_turns" | "loop_detected" | "limit_reached":
                return exit_codes.TURN_LIMIT
            case "incomplete":
                return exit_codes.INCOMPLETE
            case "waiting":
                return exit_codes.WAITING
            case "error":
                return _ERROR_CODES.get(self.error.type if self.error else "", exit_codes.ERROR)


_ERROR_CODES = {
    "auth": exit_codes.AUTH,
    "input": exit_codes.INPUT,
    "unknown_model": exit_codes.INPUT,
    "config": exit_codes.CONFIG,
    "storage": exit_codes.STORAGE,
    "busy": exit_codes.BUSY,
}


def failed(failure: Failure, session: str = "") -> Summary:
    """The summary of a run that ended before there was anything to count."""
    return Summary(session_id=session, status="error", response="", error=failure)


class Summariser:
    def __init__(self, session: str, started_at: float) -> None:
        self.summary = Summary(session_id=session, status="error", response="")
        self._started_at = started_at
        self._requests: dict[str, CallRequest] = {}
        self._refused: set[str] = set()
        self._unasked: list[CallFinished] = []
        """Calls that were refused because nobody could be asked."""
        self._usage = Usage()

    def known(self, request: CallRequest) -> None:
        """A call of an earlier run."""
        self._requests[request.call_id] = request

    def event(self, envelope: Envelope) -> None:
        stats = self.summary.stats
        match envelope.event:
            case ModelReplied(parts=parts):
                stats.requests += 1
                self._count(envelope.event)
                self.summary.response = "".join(part.text for part in parts if isinstance(part, Text))
            case ChatCompressed(usage=usage):
                stats.requests += usage != Usage()
                self._count(envelope.event)
            case CallScheduled(decision=decision):
                stats.decisions[decision.source] = stats.decisions.get(decision.source, 0) + 1
            case CallRequested(request=request):
                self._requests[request.call_id] = request
            case ApprovalAnswered(call_id=call_id, outcome="cancel"):
                self._refused.add(call_id)
            case CallFinished():
                self._finish_call(envelope.event)
            case TurnFinished(status=status, failure=failure):
                self.summary.status, self.summary.error = _STATUS[status], failure
            case _:
                pass

    def _finish_call(self, event: CallFinished) -> None:
        tools = self.summary.stats.tools
        tools.total += 1
        tools.duration_ms += event.duration_ms
        setattr(tools, event.status, getattr(tools, event.status) + 1)
        if event.failure is not None and event.failure.type == UNASKED:
            self._unasked.append(event)
        if event.status != "success":
            self.summary.calls.append(self._unfinished(event))

    def _unfinished(self, event: CallFinished) -> UnfinishedCall:
        request = self._requests.get(event.call_id)
        failure = event.failure
        refused = event.call_id in self._refused or (failure is not None and failure.type in REFUSALS)
        return UnfinishedCall(
            call_id=event.call_id,
            tool=event.result.name,
            about=event.about or (call_about(request) if request is not None else ""),
            status="refused" if refused else "cancelled" if event.status == "cancelled" else "failed",
            reason=failure.message if failure is not None else str(event.result.response.get("error", "")),
        )

    def refusal(self) -> str:
        """How many calls were refused because nobody could be asked, and what to do; empty if there are none."""
        if not self._unasked:
            return ""
        from assent.app.rule_sources import allowed_form

        calls = "1 call was" if len(self._unasked) == 1 else f"{len(self._unasked)} calls were"
        tools = ",".join(dict.fromkeys(map(allowed_form, (event.result.name for event in self._unasked))))
        return (
            f"{calls} refused because nobody could be asked.\n"
            f'To allow such calls: --allowed-tools "{tools}", or another --approval-mode. '
            "To be asked: run this in a terminal, or use --ask wait and `assent answer`."
        )

    def _count(self, event: ModelReplied | ChatCompressed) -> None:
        self._usage += event.usage
        if event.usage != Usage():
            cost = self.summary.stats.cost
            self.summary.stats.cost = None if cost is None or event.cost is None else cost + event.cost

    def finish(self, now: float) -> Summary:
        if self.summary.status == "success" and self._unasked:
            self.summary.status = "refused"
        self.summary.stats.duration_ms = round((now - self._started_at) * 1000)
        usage = self._usage
        self.summary.stats.tokens = {
            "input": usage.input,
            "output": usage.output,
            "thoughts": usage.thoughts,
            "cached": usage.cached,
            "total": usage.total,
        }
        return self.summary
