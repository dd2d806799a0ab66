"""Events that only current watchers get: text as it arrives, live output, the queue. None of them is stored.

They are part of the union in `events.py`, which is where everyone else imports them from.
"""

from msgspec import Struct

from assent.event_base import EventBase
from assent.parts import InputWanted


class TextDelta(EventBase, frozen=True, tag="model.text"):
    prompt_id: str
    text: str


class ThoughtDelta(EventBase, frozen=True, tag="model.thought"):
    prompt_id: str
    subject: str
    description: str
    continues: bool = False
    """Whether it continues the previous thought."""


class ModelRetry(EventBase, frozen=True, tag="model.retry"):
    """The stream broke and is requested again: discard the deltas of this reply."""

    prompt_id: str
    attempt: int
    reason: str
    delay: float


class ModelFallback(EventBase, frozen=True, tag="model.fallback"):
    """The quota of one model is used up; another one takes over."""

    prompt_id: str
    model: str
    fallback: str
    reason: str


class Queued(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A prompt waiting for its turn; with `tool` set, a tool that a person wants to run on `text`."""

    key: str
    text: str
    by: str
    tool: str = ""
    steer: bool = False
    """The model reads it as soon as its current calls are over."""
    held: bool = False
    """It waits until someone releases the queue."""


class PromptsQueued(EventBase, frozen=True, tag="prompts.queued"):
    """The whole queue, each time it changes. The queue itself is durable: it is the session's inbox."""

    waiting: tuple[Queued, ...]


class CallsQueued(EventBase, frozen=True, tag="calls.queued"):
    """A batch is waiting for the running one."""

    call_ids: tuple[str, ...]


class ApprovalModifying(EventBase, frozen=True, tag="approval.modifying"):
    """Someone has the proposal open in an editor."""

    call_id: str
    by: str
    """Empty when nobody has it open any more."""


class CallOutput(EventBase, frozen=True, tag="call.output"):
    call_id: str
    text: str
    received: int = 0
    """For output that is not text: the number of bytes received so far, instead of a text."""


class CallProcess(EventBase, frozen=True, tag="call.process"):
    call_id: str
    pid: int


class CallInput(EventBase, frozen=True, tag="call.input"):
    """A running command waits for a person to type something; without `wanted`, it no longer does."""

    call_id: str
    wanted: InputWanted | None = None
