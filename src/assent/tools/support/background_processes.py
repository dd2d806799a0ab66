"""Runs commands in the background of a session: starts them, remembers their newest output, and ends them with it.

One that a person keeps goes on without the session (`kept_commands.py`), and is found again when that is opened. It
knows neither the log nor the person; whoever listens is told of every start and end.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from assent.files.private_folder import PrivateFolder
from assent.parts import TerminalDisplay
from assent.tools.tool import ToolResult

if TYPE_CHECKING:  # most sessions never run a command in the background
    from assent.process.kept_process import KeptProcess
    from assent.process.run_program import Keeping, ProcessFinished
    from assent.sandbox.kept_places import KeptPlaces
    from assent.tools.support.ended_output import EndedOutputs
    from assent.tools.support.kept_commands import KeptFiles

MAX_RUNNING = 20
MAX_ENDED = 100
"""Commands that are remembered after their end."""
SETTLE_SECONDS = 1.0
"""A command that fails at once has failed by then, and is reported as such."""
_FIRST_LINES = 50
"""Lines of its first output that are told with the start."""
_KEPT = 200_000
"""Characters of output."""
NOT_FOUND = "no longer found on this machine"


class Work(Protocol):
    """Runs the command to its end."""

    def __call__(
        self, on_start: Callable[[int], None], on_output: Callable[[str], None], keeping: "Keeping"
    ) -> "Awaitable[ProcessFinished]": ...


class TooMany(Exception):
    """No more commands can run in the background."""


class RunningCommand:
    def __init__(self, call_id: str, command: str, pid: int = 0) -> None:
        from assent.process.output_buffer import Kept
        from assent.process.run_program import Keeping

        self.call_id = call_id
        self.command = command
        self.pid = pid
        self.outcome = ""
        """How it ended; empty while it runs."""
        self.since = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        self.keeping = Keeping()
        self.places: KeptPlaces | None = None
        """What its sandbox puts right after the end."""
        self.files: KeptFiles | None = None
        """Where the output of a kept command goes."""
        self.process: KeptProcess | None = None
        """If an earlier process of Assent started it."""
        self.saved: Callable[[], str] | None = None
        """Reads its output, if it ended in an earlier process of Assent."""
        self._kept = Kept(_KEPT)

    def heard(self, text: str) -> None:
        self._kept.add(text)

    def last_lines(self, count: int) -> str:
        return "\n".join(self.newest_output().rstrip("\n").split("\n")[-count:])

    def newest_output(self) -> str:
        from assent.process.plain_text import plain

        if self.files is None and self.saved is not None:
            return self.saved()
        return plain(("" if self.files is None else self.files.tail()) + self._kept.excerpt().text())

    def keep(self, folder: PrivateFolder) -> str:
        """The path of the file with its output. Raises OSError."""
        from assent.process.output_buffer import Kept
        from assent.sandbox.kept_places import KeptPlaces
        from assent.tools.support.kept_commands import keep

        places = self.places or KeptPlaces()
        self.files = keep(folder, self.call_id, self.keeping, lambda: self._kept.excerpt().text(), places)
        self._kept = Kept(_KEPT)  # from now on it is in the file
        return self.files.path

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
    def __init__(
        self,
        settle: float = SETTLE_SECONDS,
        outputs: PrivateFolder | None = None,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        """`outputs` is for the output of kept commands; without it, none can be kept. With `mask`, which masks secrets,
        the output of the others is saved there when they end.
        """
        self._settle = settle
        self._outputs = outputs
        self._mask = mask
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

    async def start(self, call_id: str, command: str, work: Work, places: "KeptPlaces | None" = None) -> RunningCommand:
        """Returns when it runs, and has had a moment to fail. Raises what keeps it from starting, and TooMany."""
        if sum(not one.outcome for one in self._commands.values()) >= MAX_RUNNING:
            raise TooMany(f"{MAX_RUNNING} commands are already running in the background; stop one of them first")
        one = RunningCommand(call_id, command)
        one.places = places
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
            finished = await work(on_start, one.heard, one.keeping)
        except BaseException as error:
            if not began.done():
                began.set_exception(error)
                began.exception()
                return
            if one.keeping.kept and isinstance(error, asyncio.CancelledError):
                return  # it goes on without us
            self._over(one, "stopped" if isinstance(error, asyncio.CancelledError) else f"failed: {error}")
        else:
            self._over(one, ended_badly(finished) or "exit 0")

    def _remember(self, one: RunningCommand) -> None:
        self._commands[one.call_id] = one
        ended = [each.call_id for each in self._commands.values() if each.outcome]
        for call_id in ended[: max(len(ended) - MAX_ENDED, 0)]:
            del self._commands[call_id]

    @property
    def _ended_outputs(self) -> "EndedOutputs | None":
        from assent.tools.support.ended_output import EndedOutputs

        return None if self._outputs is None or self._mask is None else EndedOutputs(self._outputs, self._mask)

    def recall(self, call_id: str, command: str, pid: int, outcome: str, path: str) -> None:
        """An earlier process of Assent ran it. `path`: the file with its output, if it was kept."""
        from assent.tools.support.ended_output import NOT_KEPT
        from assent.tools.support.kept_commands import KeptFiles

        one, outputs = RunningCommand(call_id, command, pid), self._ended_outputs
        one.outcome = outcome
        one.saved = lambda: NOT_KEPT if outputs is None else outputs.load(call_id)
        if path and self._outputs is not None:
            one.files = KeptFiles(self._outputs, path)
        self._remember(one)

    def _over(self, one: RunningCommand, outcome: str) -> None:
        one.outcome = outcome
        if one.files is None and (outputs := self._ended_outputs) is not None:
            outputs.save(one.call_id, one.newest_output())
        self._ended(one.call_id, outcome)

    async def stop(self, call_id: str) -> bool:
        one = self._commands.get(call_id)
        if one is None or one.outcome:
            return False
        one.keeping.kept = False
        if one.process is None:
            await self._end(one)
        else:
            await self._end_found(one, one.process)
        return True

    async def _end_found(self, one: RunningCommand, process: "KeptProcess") -> None:
        if left := await process.end():
            await self._end(one)
            self._over(one, f"stopped; still running: process {', '.join(map(str, left))}")
        elif one.task is not None:
            await asyncio.wait([one.task])

    @staticmethod
    async def _end(one: RunningCommand) -> None:
        """One that is kept goes on."""
        if one.task is not None:
            one.task.cancel()
            await asyncio.wait([one.task])

    def keep(self, call_id: str) -> str | None:
        """The file to which its output goes from now on; None if it is not running. Raises OSError."""
        one = self._commands.get(call_id)
        if one is None or one.outcome:
            return None
        if self._outputs is None:
            raise OSError("commands of this session cannot be kept")
        if one.files is not None:
            raise OSError("it is already kept")
        return one.keep(self._outputs)

    async def find_kept(self, call_id: str, command: str, pid: int, started_at: float, path: str) -> str:
        """Continues to look after a kept command, like one that was started here; returns how it ended, if it has."""
        from assent.tools.support.kept_commands import KeptFiles

        if self._outputs is None:
            return NOT_FOUND
        one = RunningCommand(call_id, command, pid)
        one.since -= max(0.0, time.time() - started_at)
        one.files = KeptFiles(self._outputs, path)
        try:
            process = one.files.process()
        except ProcessLookupError:
            return await _ended_alone(one.files)
        except OSError:
            return ""  # unknown: it may well be running
        one.keeping.kept = True
        one.process = process
        self._remember(one)
        one.task = asyncio.create_task(self._watch(one, one.files, process), name="kept command")
        one.task.add_done_callback(lambda _: process.close())
        return ""

    async def _watch(self, one: RunningCommand, files: "KeptFiles", process: "KeptProcess") -> None:
        await process.ended()
        self._over(one, await _ended_alone(files, "" if one.keeping.kept else "stopped"))

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        from assent.process.leftover_processes import end_leftovers

        return await end_leftovers(mark)

    async def close(self) -> None:
        await asyncio.gather(*(self._end(one) for one in self.all() if not one.outcome))
        self.listen(_nobody, _nobody)  # the listener refers to us, so both would stay until garbage is collected


async def _ended_alone(files: "KeptFiles", outcome: str = "") -> str:
    """How it ended, and what its sandbox had to put right."""
    return "; ".join([outcome or files.outcome() or NOT_FOUND, *await asyncio.to_thread(files.restore)])


def _nobody(*_: object) -> None:
    """Listens to nothing."""
