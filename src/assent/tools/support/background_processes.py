"""Runs commands in the background of a session: starts them, keeps their newest output, and ends them with it.

It knows neither the log nor the person; whoever listens is told of every start and end.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from assent.parts import TerminalDisplay
from assent.tools.tool import ToolResult

if TYPE_CHECKING:  # most sessions never run a command in the background
    from assent.process.run_program import ProcessFinished

MAX_RUNNING = 20
MAX_ENDED = 100
"""Commands that are remembered after their end."""
SETTLE_SECONDS = 1.0
"""A command that fails at once has failed by then, and is reported as such."""
_FIRST_LINES = 50
"""Lines of its first output that are told with the start."""
_KEPT = 200_000
"""Characters of output."""


class Work(Protocol):
    """Runs the command to its end."""

    def __call__(
        self, on_start: Callable[[int], None], on_output: Callable[[str], None]
    ) -> "Awaitable[ProcessFinished]": ...


class TooMany(Exception):
    """No more commands can run in the background."""


class RunningCommand:
    def __init__(self, call_id: str, command: str) -> None:
        from assent.process.output_buffer import Kept

        self.call_id = call_id
        self.command = command
        self.pid = 0
        self.outcome = ""
        """How it ended; empty while it runs."""
        self.since = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        self._kept = Kept(_KEPT)

    def heard(self, text: str) -> None:
        self._kept.add(text)

    def last_lines(self, count: int) -> str:
        from assent.process.plain_text import plain

        return "\n".join(plain(self._kept.excerpt().text()).rstrip("\n").split("\n")[-count:])

    @property
    def seconds(self) -> int:
        return int(time.monotonic() - self.since)

    def report(self, notices: Sequence[str]) -> ToolResult:
        """The result of the call that started it."""
        output = self.last_lines(_FIRST_LINES)
        runs = f"The command is running in the background, as process {self.pid}."
        state = f"The command has already ended ({self.outcome})." if self.outcome else runs
        told = [state, *([f"Output so far: {output}"] if output else []), *notices]
        shown = "".join(f"[{line}]\n" for line in (state, *notices))
        return ToolResult("\n".join(told), TerminalDisplay(shown + output, self.outcome.removeprefix("exit 0")))


class BackgroundCommands:
    def __init__(self, settle: float = SETTLE_SECONDS) -> None:
        self._settle = settle
        self._commands: dict[str, RunningCommand] = {}
        self.listen(_nobody, _nobody)

    def listen(self, started: Callable[[str, str, int], None], ended: Callable[[str, str], None]) -> None:
        self._started, self._ended = started, ended

    @property
    def running(self) -> bool:
        return any(not one.outcome for one in self._commands.values())

    def all(self) -> list[RunningCommand]:
        """Those that run, and the newest of those that ended."""
        return list(self._commands.values())

    def find(self, pid: int) -> RunningCommand | None:
        return next((one for one in reversed(self._commands.values()) if one.pid == pid), None)

    async def start(self, call_id: str, command: str, work: Work) -> RunningCommand:
        """Returns when it runs, and has had a moment to fail. Raises what keeps it from starting, and TooMany."""
        if sum(not one.outcome for one in self._commands.values()) >= MAX_RUNNING:
            raise TooMany(f"{MAX_RUNNING} commands are already running in the background; stop one of them first")
        one = RunningCommand(call_id, command)
        began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        one.task = asyncio.create_task(self._run(one, work, began), name="background command")
        try:
            await asyncio.shield(began)
            await asyncio.wait([one.task], timeout=self._settle)
        except asyncio.CancelledError:
            await self._end(one)
            raise
        return one

    async def _run(self, one: RunningCommand, work: Work, began: "asyncio.Future[None]") -> None:
        from assent.tools.support.command_report import ended_badly

        def on_start(pid: int) -> None:
            one.pid = pid
            self._remember(one)
            self._started(one.call_id, one.command, pid)
            began.set_result(None)

        try:
            finished = await work(on_start, one.heard)
        except BaseException as error:
            if not began.done():
                began.set_exception(error)
                began.exception()
                return
            self._over(one, "stopped" if isinstance(error, asyncio.CancelledError) else f"failed: {error}")
        else:
            self._over(one, ended_badly(finished) or "exit 0")

    def _remember(self, one: RunningCommand) -> None:
        self._commands[one.call_id] = one
        ended = [each.call_id for each in self._commands.values() if each.outcome]
        for call_id in ended[: max(len(ended) - MAX_ENDED, 0)]:
            del self._commands[call_id]

    def _over(self, one: RunningCommand, outcome: str) -> None:
        one.outcome = outcome
        self._ended(one.call_id, outcome)

    async def stop(self, call_id: str) -> bool:
        one = self._commands.get(call_id)
        if one is None or one.outcome:
            return False
        await self._end(one)
        return True

    @staticmethod
    async def _end(one: RunningCommand) -> None:
        if one.task is not None:
            one.task.cancel()
            await asyncio.wait([one.task])

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        from assent.process.leftover_processes import end_leftovers

        return await end_leftovers(mark)

    async def close(self) -> None:
        await asyncio.gather(*(self._end(one) for one in self.all() if not one.outcome))
        self.listen(_nobody, _nobody)  # the listener refers to us, so both would stay until garbage is collected


def _nobody(*_: object) -> None:
    """Listens to nothing."""
