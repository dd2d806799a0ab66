"""The running side of a call: one `CallTask` takes one call from request to result.

Only the state in `CallTask.call` is authoritative, and it is always one of the frozen states. Everything else here is
lost in a crash and can be rebuilt from the log.
"""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Protocol

from assent.events import CallOutput, CallProcess, CallRequest, DurableEvent, TransientEvent
from assent.plan import Plan
from assent.policy.action import Action
from assent.scheduler.call import Terminal, ToolCall, advance
from assent.secrets.mask import Masker
from assent.tools.tool import AnyTool, Invocation, Proposal, Resources


class Journal(Protocol):
    """Where transitions go. They are in order from the moment `record` is called, and durable once it was awaited."""

    def record(self, *events: DurableEvent) -> Awaitable[None]: ...

    def announce(self, event: TransientEvent) -> None: ...


class Siblings(Protocol):
    """What a life sees of the other calls of its batch."""

    def earlier(self, at: int, path: str) -> Proposal | None:
        """What the calls before this one would make of the file."""
        ...

    def note(self, task: "CallTask") -> None:
        """What it would do may be something else now."""
        ...

    def may_change(self, task: "CallTask") -> bool:
        """A call before it may still change what it would do."""
        ...


class CallTask:
    def __init__(self, call: ToolCall) -> None:
        self.call: ToolCall = call
        self.at = 0
        """Its number in the batch."""
        self.siblings: Siblings | None = None
        """None when it is alone."""
        self.touches = Resources()
        self.proposal: Proposal | None = None
        """The file as it would leave it, as its siblings know it."""
        self.chained: tuple[str, ...] = ()
        """The files for which its siblings take it into account."""
        self.stale = False
        """Set when a call before it was refused or changed: what it would do is to be looked at again."""
        self.postponed = False
        """It cannot be judged before earlier calls have run, and is judged when its turn comes."""
        self.in_turn = False
        """All calls that it had to wait for are over."""
        self.tool: AnyTool | None = None
        self.invocation: Invocation | None = None
        self.action: Action | None = None
        """What was judged last; judged again when a mode or a grant changes."""
        self.plan: Plan | None = None
        """For a command that was allowed by its words: exactly these words run, and no shell."""
        self.answers: tuple[str, ...] | None = None
        """What the person said, for a call that asks them something."""
        self.asyncio_task: asyncio.Task[None] | None = None
        self.changed: asyncio.Event | None = None
        """Made while the life waits for its answer; set by every transition, so that it looks again."""
        self.answerable = asyncio.Event()
        """Set when the life waits for its answer; a call from the log is built and judged anew before that."""
        self.recorded: Awaitable[None] | None = None
        """The newest record of this call; await it to know that it is durable."""
        self.cancel_reason = ""
        self.since = 0.0
        """When it began, by the timer."""
        self.runs_since: float | None = None
        """When it started to run, by the timer."""
        self.expiry: tuple[str, float] | None = None
        """The approval that waits, and when it expires by the timer."""
        self._begun = False

    def begin(self) -> None:
        """Called first thing in the life's own task."""
        self._begun = True
        if self.cancel_reason:
            raise asyncio.CancelledError

    def cancel(self, reason: str) -> None:
        """Ends the life from outside, also before it has begun: a task cancelled that early would not run at all."""
        self.cancel_reason = reason
        if self._begun and self.asyncio_task is not None:
            self.asyncio_task.cancel()

    def build_on_siblings(self, invocation: Invocation) -> None:
        if self.siblings is not None:
            invocation.build_on(partial(self.siblings.earlier, self.at))

    def tell_siblings(self) -> None:
        if self.siblings is not None:
            self.siblings.note(self)

    def disturb(self) -> None:
        """What it would do may have changed; whoever drives it looks again."""
        self.stale = True
        if self.changed is not None:
            self.changed.set()

    @property
    def request(self) -> CallRequest:
        return self.call.request

    @property
    def exact(self) -> bool:
        """What comes of it is kept as it is."""
        return self.tool is not None and self.tool.exact

    @property
    def call_id(self) -> str:
        return self.call.request.call_id


class LiveChannel:
    """What a running tool sees of us: a place for output, which loses its secrets here, and for its process."""

    def __init__(self, task: CallTask, journal: Journal, masker: Masker) -> None:
        self._task = task
        self._journal = journal
        self._stream = None if task.exact else masker.stream()

    def output(self, text: str) -> None:
        if shown := text if self._stream is None else self._stream.feed(text):
            self._tell(CallOutput(self._task.call_id, shown))

    def close(self) -> None:
        """Tells what was held back because it might have been the beginning of a secret."""
        if self._stream is not None and (left := self._stream.close()):
            self._tell(CallOutput(self._task.call_id, left))

    def received(self, total: int) -> None:
        self._tell(CallOutput(self._task.call_id, "", total))

    def process(self, pid: int) -> None:
        self._tell(CallProcess(self._task.call_id, pid))

    def _tell(self, event: CallOutput | CallProcess) -> None:
        if isinstance(self._task.call, Terminal):
            return  # a late reader thread; the call is over
        self._task.call = advance(self._task.call, event)
        self._journal.announce(event)
