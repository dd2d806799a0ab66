"""The outcome of a prompt: the reply, the counts, the status. A fold of the events, shared by all output formats."""

from typing import Literal

from msgspec import Struct, field

from assent import exit_codes
from assent.events import CallFinished, CallScheduled, ChatCompressed, Envelope, ModelReplied, TurnFinished, TurnStatus
from assent.parts import Failure, Text, Usage

Status = Literal[
    "success", "error", "cancelled", "max_turns", "loop_detected", "incomplete", "limit_reached", "waiting"
]

_STATUS: dict[TurnStatus, Status] = {
    "completed": "success",
    "cancelled": "cancelled",
    "failed": "error",
    "max_turns": "max_turns",
    "loop_detected": "loop_detected",
    "incomplete": "incomplete",
    "limit_reached": "limit_reached",
}


class ToolStats(Struct):
    total: int = 0
    success: int = 0
    error: int = 0
    cancelled: int = 0
    duration_ms: int = 0


class Stats(Struct):
    duration_ms: int = 0
    requests: int = 0
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    cost: float | None = 0.0
    """Dollars; null if the price of a model is unknown."""
    tools: ToolStats = field(default_factory=ToolStats)
    decisions: dict[str, int] = field(default_factory=dict[str, int])
    """How calls came to be allowed: by person, rule, mode, grant, or because the tool is harmless."""


class Summary(Struct, tag_field="type", tag="result", omit_defaults=True):
    """The final result; its `type` makes it a line of the event stream. Only `error` may be absent."""

    session_id: str
    status: Status
    response: str
    error: Failure | None = None
    stats: Stats = field(default_factory=Stats)

    def exit_code(self) -> int:
        match self.status:
            case "success":
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
    "config": exit_codes.CONFIG,
    "storage": exit_codes.STORAGE,
    "busy": exit_codes.BUSY,
}


def failed(failure: Failure, session: str = "") -> Summary:
    """The summary of a run that ended before there was anything to count."""
    return Summary(session, "error", "", failure)


class Summariser:
    def __init__(self, session: str, started_at: float) -> None:
        self.summary = Summary(session, "error", "")
        self._started_at = started_at
        self._texts: list[str] = []
        self._usage = Usage()

    def event(self, envelope: Envelope) -> None:
        stats = self.summary.stats
        match envelope.event:
            case ModelReplied(parts=parts):
                stats.requests += 1
                self._count(envelope.event)
                self._texts += ["".join(part.text for part in parts if isinstance(part, Text))]
            case ChatCompressed(usage=usage):
                stats.requests += usage != Usage()
                self._count(envelope.event)
            case CallScheduled(decision=decision):
                stats.decisions[decision.source] = stats.decisions.get(decision.source, 0) + 1
            case CallFinished(status=status, duration_ms=took):
                stats.tools.total += 1
                stats.tools.duration_ms += took
                setattr(stats.tools, status, getattr(stats.tools, status) + 1)
            case TurnFinished(status=status, failure=failure):
                self.summary.status, self.summary.error = _STATUS[status], failure
            case _:
                pass

    def _count(self, event: ModelReplied | ChatCompressed) -> None:
        self._usage += event.usage
        if event.usage != Usage():
            cost = self.summary.stats.cost
            self.summary.stats.cost = None if cost is None or event.cost is None else cost + event.cost

    def finish(self, now: float) -> Summary:
        self.summary.response = "\n\n".join(text for text in self._texts if text)
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
