"""The running side of a call: one `CallTask` takes one call from request to result.

Only the state in `CallTask.call` is authoritative, and it is always one of the frozen states. Everything else here is
lost in a crash and can be rebuilt from the log.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from assent.events import (
    CallInput,
    CallOutput,
    CallProcess,
    CallRequest,
    ConnectionEnded,
    ConnectionRequested,
    DurableEvent,
    TransientEvent,
)
from assent.parts import InputWanted, JsonObject
from assent.plan import Plan, SandboxName
from assent.policy.action import Action
from assent.scheduler.call import Terminal, ToolCall, advance
from assent.secrets.mask import Masker
from assent.tools.tool import AnyTool, Invocation, Proposal, Resources, TypeIn
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination


class Journal(Protocol):
    """Where transitions go. They are ordered once `record` is called, and durable once it has been awaited."""

    def record(self, *events: DurableEvent) -> Awaitable[None]: ...

    def announce(self, event: TransientEvent) -> None: ...


class Siblings(Protocol):
    """What a call sees of the other calls of its batch."""

    def earlier(self, at: int, path: str) -> Proposal | None:
        """What the earlier calls would make of the file."""
        ...

    def note(self, task: "CallTask") -> None:
        """What it would do may have changed."""
        ...

    def may_change(self, task: "CallTask") -> bool:
        """An earlier call may still change what it would do."""
        ...

    def reconsider(self, task: "CallTask") -> None:
        """It must look again before the batch starts."""
        ...


class CallTask:
    max_wait: float | None = None
    """Seconds after which a question about it expires, if that is sooner than for others."""
    type_in: TypeIn | None = None
    """Types a line into the running command, while that waits for one. It is never recorded."""
    edited_until: float | None = None
    """When whoever edits the proposal no longer counts as editing it, by the timer."""
    on_decided: Callable[[], None] | None = None
    """Called once it is asked about, allowed or over: until then, the calls after it wait to be judged."""

    def __init__(self, call: ToolCall) -> None:
        self.call: ToolCall = call
        self.at = 0
        """Its position in the batch."""
        self.siblings: Siblings | None = None
        """None if it is alone."""
        self.touches = Resources()
        self.proposal: Proposal | None = None
        """The file as it would leave it, as its siblings know it."""
        self.chained: tuple[str, ...] = ()
        """The files for which its siblings take it into account."""
        self.stale = False
        """Set if an earlier call was refused or changed: what this one would do must be looked at again."""
        self.postponed = False
        """It cannot be judged before earlier calls have run, and is judged when its turn comes."""
        self.in_turn = False
        """All calls that it had to wait for are over."""
        self.tool: AnyTool | None = None
        self.invocation: Invocation | None = None
        self.action: Action | None = None
        """What was judged last; judged again when a mode or a grant changes."""
        self.plan: Plan | None = None
        """For a command allowed by its words: exactly these words run, without a shell."""
        self.sandbox: SandboxName | None = None
        self.answers: tuple[str, ...] | None = None
        """The person's answers, for a call that asks questions."""
        self.asyncio_task: asyncio.Task[None] | None = None
        self.changed: asyncio.Event | None = None
        """Exists while the task waits for an answer; every transition sets it, so that the task looks again."""
        self.answerable = asyncio.Event()
        """Set when the task waits for an answer; a call from the log is built and judged again before that."""
        self.recorded: Awaitable[None] | None = None
        """The newest record of this call; await it to know that it is durable."""
        self.cancel_reason = ""
        self.since = 0.0
        """When it began, by the timer."""
        self.runs_since: float | None = None
        """When it started to run, by the timer."""
        self.expiry: tuple[str, float] | None = None
        """The waiting approval, and when it expires by the timer."""
        self._begun = False

    def begin(self) -> None:
        """Called first in the call's own task."""
        self._begun = True
        if self.cancel_reason:
            raise asyncio.CancelledError

    def cancel(self, reason: str) -> None:
        """End the call from outside, even before it has started: a task cancelled that early would never run."""
        self.cancel_reason = reason
        if self._begun and self.asyncio_task is not None:
            self.asyncio_task.cancel()

    def decided(self) -> None:
        if self.on_decided is not None:
            self.on_decided()
            self.on_decided = None

    def build_on_siblings(self, invocation: Invocation) -> None:
        if self.siblings is not None:
            invocation.build_on(partial(self.siblings.earlier, self.at))

    def tell_siblings(self) -> None:
        if self.siblings is not None:
            self.siblings.note(self)

    def reconsider(self) -> None:
        """What it may do has changed; if it waits for its batch, its task looks again."""
        if self.siblings is not None and not self.in_turn:
            self.siblings.reconsider(self)

    def disturb(self) -> None:
        """What it would do may have changed; its task looks again."""
        self.stale = True
        self.wake()

    def wake(self) -> None:
        """If it waits for an answer, its task looks at it again."""
        if self.changed is not None:
            self.changed.set()

    @property
    def request(self) -> CallRequest:
        return self.call.request

    @property
    def exact(self) -> bool:
        """Whether its result is kept unmasked."""
        return self.tool is not None and self.tool.exact

    @property
    def call_id(self) -> str:
        return self.call.request.call_id


class Gate(Protocol):
    """Judges the connections of a running call."""

    async def judge(self, wanted: Destination, entries: tuple[str, ...]) -> Access: ...


class Again(Protocol):
    async def offer(self, wider: JsonObject) -> str | None: ...


class LiveChannel:
    """What a running tool sees of the scheduler: where to send output, which is masked here, its process, and who
    judges its connections.
    """

    def __init__(
        self, task: CallTask, journal: Journal, masker: Masker, gate: Gate, again: "Again | None" = None
    ) -> None:
        self._task = task
        self._journal = journal
        self._masker = masker
        self._stream = None if task.exact else masker.stream()
        self._gate = gate
        self._again = again

    async def offer(self, wider: JsonObject) -> str | None:
        return None if self._again is None else await self._again.offer(wider)

    def output(self, text: str) -> None:
        if shown := text if self._stream is None else self._stream.feed(text):
            self._tell(CallOutput(self._task.call_id, shown))

    def close(self) -> None:
        """Pass on what was held back because it might have been the start of a secret."""
        if self._stream is not None and (left := self._stream.close()):
            self._tell(CallOutput(self._task.call_id, left))

    def received(self, total: int) -> None:
        self._tell(CallOutput(self._task.call_id, "", total))

    def process(self, pid: int) -> None:
        self._tell(CallProcess(self._task.call_id, pid))

    async def may_connect(self, number: int, wanted: Destination, entries: tuple[str, ...]) -> Access:
        access = await self._gate.judge(wanted, entries)
        await self._journal.record(
            ConnectionRequested(
                call_id=self._task.call_id,
                connection=number,
                host=wanted.host,
                port=wanted.port,
                allowed=access.allowed,
                reason=access.reason,
            )
        )
        return access

    def connection_ended(self, number: int, end: ConnectionEnd) -> None:
        event = ConnectionEnded(
            call_id=self._task.call_id,
            connection=number,
            sent=end.sent,
            received=end.received,
            address=end.address,
            problem=end.problem,
        )
        self._task.recorded = self._journal.record(event)

    def asks(self, wanted: InputWanted | None, type_in: TypeIn) -> None:
        self._task.type_in = None if wanted is None else type_in
        if wanted is not None:
            wanted = replace(wanted, prompt=self._masker.text(wanted.prompt))
        self._tell(CallInput(self._task.call_id, wanted))

    def _tell(self, event: CallOutput | CallProcess | CallInput) -> None:
        if isinstance(self._task.call, Terminal):
            return  # a late reader thread; the call is over
        self._task.call = advance(self._task.call, event)
        self._journal.announce(event)
