"""Commands that run in the background of a session: the port to what runs them, and the record of how they end.

Each is known by the call that started it. It ends with the session; after a crash, its processes are ended before the
session continues, and its outcome is recorded like any other.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from msgspec import Struct

from assent.events import BackgroundEnded, BackgroundStarted, DurableEvent
from assent.scheduler.digest import run_mark
from assent.scheduler.refusals import NotWaiting

INTERRUPTED = "interrupted: Assent stopped while it was running"


class BackgroundCommand(Struct, frozen=True, kw_only=True):
    call_id: str
    command: str
    pid: int
    started_at: float
    outcome: str = ""
    """How it ended; empty while it runs."""


class BackgroundPort(Protocol):
    """What runs background commands."""

    @property
    def running(self) -> bool:
        """Whether any of them runs."""
        ...

    def listen(self, started: Callable[[str, str, int], None], ended: Callable[[str, str], None]) -> None:
        """`started` gets the call, the command and its process; `ended` the call and the outcome."""
        ...

    async def stop(self, call_id: str) -> bool:
        """Ends it with all its processes. False if it is not running."""
        ...

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        """Ends what an earlier process of Assent started with this mark; returns what could not be ended."""
        ...

    async def close(self) -> None:
        """Ends all of them, and drops the reference to their listener."""
        ...


class BackgroundRecorder:
    """Records what the port reports."""

    def __init__(self, session: str, port: BackgroundPort | None, record: Callable[[DurableEvent], object]) -> None:
        self._session = session
        self._port = port
        self._record = record
        if port is not None:
            port.listen(self._started, self._ended)

    def _started(self, call_id: str, command: str, pid: int) -> None:
        self._record(BackgroundStarted(call_id, command, pid))

    def _ended(self, call_id: str, outcome: str) -> None:
        self._record(BackgroundEnded(call_id, outcome))

    @property
    def running(self) -> bool:
        return self._port is not None and self._port.running

    async def settle(
        self, commands: Iterable[BackgroundCommand], record: Callable[[DurableEvent], Awaitable[None]]
    ) -> None:
        """Ends what an earlier process left running, and records that."""
        for command in [one for one in commands if not one.outcome]:
            mark = run_mark(self._session, command.call_id)
            left = () if self._port is None else await self._port.end_leftovers(mark)
            still = f"; still running: process {', '.join(map(str, left))}" if left else ""
            await record(BackgroundEnded(command.call_id, INTERRUPTED + still))

    async def stop(self, call_id: str) -> None:
        """Raises NotWaiting if it does not run."""
        if self._port is None or not await self._port.stop(call_id):
            raise NotWaiting("this command is no longer running in the background")

    async def close(self) -> None:
        if self._port is not None:
            await self._port.close()
