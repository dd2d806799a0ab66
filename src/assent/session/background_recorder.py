"""Commands that run in the background of a session: the port to what runs them, and the record of how they end.

Each is known by the call that started it. It ends with the session, unless a person has kept it; after a crash, its
processes are ended before the session continues, and its outcome is recorded like any other.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from msgspec import Struct

from assent.commands import KeepBackground, StopBackground
from assent.events import BackgroundEnded, BackgroundKept, BackgroundStarted, DurableEvent
from assent.scheduler.digest import run_mark
from assent.scheduler.refusals import NotWaiting, Refused

INTERRUPTED = "interrupted: Assent stopped while it was running"


class BackgroundCommand(Struct, frozen=True, kw_only=True):
    call_id: str
    command: str
    pid: int
    started_at: float
    outcome: str = ""
    """How it ended; empty while it runs."""
    kept: bool = False
    """It goes on when the session ends, because a person wants that."""
    kept_by: str = ""
    output: str = ""
    """The file with the output of a kept command."""


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

    def keep(self, call_id: str) -> str | None:
        """From now on it goes on without the session; returns the file to which its output goes. None if it is not
        running. Raises OSError.
        """
        ...

    async def find_kept(self, call_id: str, command: str, pid: int, started_at: float, path: str) -> str:
        """Looks after a command that was kept in an earlier process; returns how it ended, if it no longer runs."""
        ...

    def recall(self, call_id: str, command: str, pid: int, outcome: str, path: str) -> None:
        """Knows a command that has ended in an earlier process, so that its output can be read."""
        ...

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        """Ends what an earlier process of Assent started with this mark; returns what could not be ended."""
        ...

    async def close(self) -> None:
        """Ends all that are not kept, and drops the reference to their listener."""
        ...


class BackgroundRecorder:
    """Records what the port reports."""

    def __init__(
        self, session: str, port: BackgroundPort | None, record: Callable[[DurableEvent], Awaitable[None]]
    ) -> None:
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
        """Ends what an earlier process left running, unless it was kept, and records that."""
        for command in commands:
            if outcome := command.outcome or await self._outcome(command):
                self._recall(command, outcome)
            if outcome and not command.outcome:
                await record(BackgroundEnded(command.call_id, outcome))

    async def _outcome(self, command: BackgroundCommand) -> str:
        return await (self._kept_outcome(command) if command.kept else self._interrupted(command))

    def _recall(self, one: BackgroundCommand, outcome: str) -> None:
        if self._port is not None:
            self._port.recall(one.call_id, one.command, one.pid, outcome, one.output)

    async def _interrupted(self, one: BackgroundCommand) -> str:
        mark = run_mark(self._session, one.call_id)
        left = () if self._port is None else await self._port.end_leftovers(mark)
        still = f"; still running: process {', '.join(map(str, left))}" if left else ""
        return INTERRUPTED + still

    async def _kept_outcome(self, one: BackgroundCommand) -> str:
        """Empty if it still runs, or nobody here can know."""
        if self._port is None:
            return ""
        return await self._port.find_kept(one.call_id, one.command, one.pid, one.started_at, one.output)

    async def carry_out(self, command: StopBackground | KeepBackground) -> None:
        """Raises NotWaiting if it does not run, and Refused if it cannot be kept."""
        match command:
            case StopBackground(call_id=call_id):
                await self._stop(call_id)
            case KeepBackground(call_id=call_id, by=by):
                await self._keep(call_id, by)

    async def _keep(self, call_id: str, by: str) -> None:
        try:
            path = None if self._port is None else self._port.keep(call_id)
        except OSError as error:
            raise Refused(f"it cannot be kept: {error.strerror or error}") from error
        if path is None:
            raise NotWaiting("this command is no longer running in the background")
        await self._record(BackgroundKept(call_id, path, by))

    async def _stop(self, call_id: str) -> None:
        if self._port is None or not await self._port.stop(call_id):
            raise NotWaiting("this command is no longer running in the background")

    async def close(self) -> None:
        if self._port is not None:
            await self._port.close()
