"""The running side of calls: a life is one call on its way, a batch the lives of one turn, the barrier their gate.

Only the state in `Life.call` is truth, and it is always one of the frozen states; everything else here is gone after a
crash and can be made again from the log.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Protocol

from assent.events import CallOutput, CallProcess, CallRequest, DurableEvent, TransientEvent
from assent.plan import Plan
from assent.policy.action import Action
from assent.scheduler.call import Terminal, ToolCall, advance
from assent.secrets.mask import Masker
from assent.tools.base import AnyTool, Invocation


class Journal(Protocol):
    """Where transitions go. They are in order from the moment `record` is called, and durable once it was awaited."""

    def record(self, *events: DurableEvent) -> Awaitable[None]: ...

    def announce(self, event: TransientEvent) -> None: ...


class Barrier:
    """Opens each time that everybody who is still in the batch has arrived."""

    def __init__(self, parties: int) -> None:
        self._parties = parties
        self._arrived = 0
        self._opening = asyncio.Event()

    async def arrive(self) -> None:
        opening = self._opening
        self._arrived += 1
        self._open_if_complete()
        try:
            await opening.wait()
        except asyncio.CancelledError:
            if not opening.is_set():
                self._arrived -= 1
            raise

    def leave(self) -> None:
        self._parties -= 1
        self._open_if_complete()

    def _open_if_complete(self) -> None:
        if 0 < self._arrived >= self._parties:
            self._arrived = 0
            self._opening.set()
            self._opening = asyncio.Event()


class Life:
    """One call on its way from request to result."""

    def __init__(self, call: ToolCall) -> None:
        self.call: ToolCall = call
        self.tool: AnyTool | None = None
        self.invocation: Invocation | None = None
        self.action: Action | None = None
        """What was judged last; judged again when a mode or a grant changes."""
        self.plan: Plan | None = None
        """For a command that was allowed by its words: exactly these words run, and no shell."""
        self.answers: tuple[str, ...] | None = None
        """What the person said, for a call that asks them something."""
        self.task: asyncio.Task[None] | None = None
        self.changed: asyncio.Event | None = None
        """Made while the life waits for its answer; set by every transition, so that it looks again."""
        self.answerable = asyncio.Event()
        """Set when the life waits for its answer; a call from the log is built and judged anew before that."""
        self.recorded: Awaitable[None] | None = None
        """The newest record of this call; await it to know that it is durable."""
        self.cancel_reason = ""
        self.runs_since: float | None = None
        """When it started."""
        self._begun = False

    def begin(self) -> None:
        """Called first thing in the life's own task."""
        self._begun = True
        if self.cancel_reason:
            raise asyncio.CancelledError

    def cancel(self, reason: str) -> None:
        """Ends the life from outside, also before it has begun: a task cancelled that early would not run at all."""
        self.cancel_reason = reason
        if self._begun and self.task is not None:
            self.task.cancel()

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


class Parked(Exception):
    """The session was closed while calls of the batch still wait; they go on when it is opened again."""


class Batch:
    """All calls of one turn. `results` gives their final states in request order."""

    def __init__(self, lives: Sequence[Life], *, fresh: bool) -> None:
        self.lives = lives
        self.fresh = fresh
        """False when the calls come from the log and are already recorded."""
        self.barrier = Barrier(len(lives))
        self._results: asyncio.Future[list[Terminal]] = asyncio.get_running_loop().create_future()

    async def results(self) -> list[Terminal]:
        try:
            return await asyncio.shield(self._results)
        finally:
            del self  # an error keeps this frame, and we keep the error: that would be garbage in a circle

    def settle(self) -> None:
        """Tells whoever waits how it ended, unless that was told already."""
        if self._results.done():
            return
        finished = [life.call for life in self.lives if isinstance(life.call, Terminal)]
        if len(finished) == len(self.lives):
            self._results.set_result(finished)
        else:
            self.fail(Parked())

    def fail(self, error: BaseException) -> None:
        self._results.set_exception(error)
        self._results.exception()  # the one who waits is told; nobody waiting is no news


class LiveChannel:
    """What a running tool sees of us: a place for output, which loses its secrets here, and for its process."""

    def __init__(self, life: Life, journal: Journal, masker: Masker) -> None:
        self._life = life
        self._journal = journal
        self._stream = None if life.exact else masker.stream()

    def output(self, text: str) -> None:
        shown = text if self._stream is None else self._stream.feed(text)
        self._tell(CallOutput(self._life.call_id, shown))

    def received(self, total: int) -> None:
        self._tell(CallOutput(self._life.call_id, "", total))

    def process(self, pid: int) -> None:
        self._tell(CallProcess(self._life.call_id, pid))

    def _tell(self, event: CallOutput | CallProcess) -> None:
        if isinstance(self._life.call, Terminal):
            return  # a late reader thread; the call is over
        self._life.call = advance(self._life.call, event)
        self._journal.announce(event)
