"""What is exported, as plain data: spans, measurements and log records, before any SDK sees them.

Ids are derived from the session's own ids. What one process exports of a turn and what another one exports after a
crash or a long wait therefore belong to the same trace.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct

Attribute = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Attribute]


class Place(Struct, frozen=True):
    """The trace and span that something belongs to."""

    trace: str
    span: str

    @property
    def trace_id(self) -> int:
        return _number(self.trace, 16)

    @property
    def span_id(self) -> int:
        return _number(f"{self.trace}/{self.span}", 8)


def _number(of: str, size: int) -> int:
    """Never zero, which would be invalid."""
    return int.from_bytes(sha256(of.encode("utf-8", "surrogatepass")).digest()[:size], "big") or 1


class Span(Struct, frozen=True, kw_only=True):
    """An operation that is over."""

    place: Place
    name: str
    started: float
    ended: float
    attributes: Attributes
    parent: Place | None = None
    kind: Literal["internal", "client"] = "internal"
    failed: bool = False
    reason: str = ""


class Measurement(Struct, frozen=True):
    """One value for a histogram."""

    metric: str
    value: float
    attributes: Attributes


class LogRecord(Struct, frozen=True, kw_only=True):
    event: str
    ts: float
    place: Place
    attributes: Attributes
    level: Literal["info", "warning", "error"] = "info"


Record = Span | Measurement | LogRecord


class Metric(Struct, frozen=True):
    """A histogram, with the bounds that the conventions recommend."""

    name: str
    unit: str
    about: str
    bounds: tuple[float, ...]


_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TURNS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)
_TOKENS = tuple(float(4**power) for power in range(14))
_WAITS = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 86400.0)
METRICS = (
    Metric("gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", _TOKENS),
    Metric("gen_ai.client.operation.duration", "s", "GenAI operation duration.", _SECONDS),
    Metric("gen_ai.client.operation.time_to_first_chunk", "s", "Time to receive the first chunk.", _SECONDS),
    Metric("gen_ai.invoke_agent.duration", "s", "The duration of a single agent invocation.", _TURNS),
    Metric("gen_ai.execute_tool.duration", "s", "The duration of a single tool execution.", _SECONDS),
    Metric("assent.approval.duration", "s", "How long a question waited for an answer.", _WAITS),
)
