"""Runs one program to its end: own session, one stream of output, timeouts, and nothing left behind.

There is no input, unless a person can type: then `terminal_input.py` watches for a program that waits for it.

Cancelling the task that awaits `run` ends the program with all its descendants; `run` returns only when they are gone.
A program that left children in the background has still ended: what they hold does not hold up the call.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from assent.plan import ExecutedFile
from assent.process.command_limits import ProcessWatch
from assent.process.environment import child_environment
from assent.process.family import Family
from assent.process.kill import end_family
from assent.process.output_buffer import Decoder, Excerpt, Kept
from assent.process.pty import CHUNK, Channel, Size
from assent.process.spawn import Launcher, spawn
from assent.process.supervisor_client import AVAILABLE

TYPE_CHECKING = False
if TYPE_CHECKING:  # needed only for commands that people can type into
    from assent.process.terminal_input import Keyboard, TerminalInput

Ended = Literal[
    "exited", "idle_timeout", "total_timeout", "too_much_output", "too_much_memory", "too_many_processes", "no_input"
]
Tell = Callable[[str], None]

_READS = 32  # in a block; a terminal returns 4 KB at a time
_BLOCKS_AT_ONCE = 1
_BLOCKS_TO_DRAIN = 16


class ProcessLimits(Struct, frozen=True, kw_only=True):
    """Seconds, bytes and characters."""

    idle: float | None = None
    """Maximum time without any output."""
    total: float | None = None
    output: int | None = None
    """Bytes that it may print."""
    memory: int | None = None
    """Bytes that all its processes may use together."""
    processes: int | None = None
    """Processes that it may have at the same time."""
    look: float = 2.0
    """Between two memory checks."""
    count: float = 0.2
    """Between two checks of the number of processes."""
    input: float | None = None
    """Time that a person has to type something."""
    grace: float = 0.5
    """From SIGTERM to SIGKILL."""
    drain: float = 0.1
    """For output that comes after the end, from a background process or a process substitution."""
    keep: int = 200_000
    """Characters of output kept, a fifth of them from the beginning."""
    sniff: bool = True
    """Look for NUL bytes at the beginning: output that contains some is binary, and only counted."""


class ProcessFinished(Struct, frozen=True, kw_only=True):
    code: int | None
    """The exit code; None after a signal."""
    signal: int | None
    ended: Ended
    output: Excerpt
    bytes: int
    binary: bool
    """The output was binary: only its bytes were counted."""
    background: tuple[int, ...] = ()
    """Processes that still hold the output after a normal end. They are left alone."""
    survivors: tuple[int, ...] = ()
    """Processes that could not be ended after a timeout: someone else's, or stuck in the kernel."""
    never_ran: bool = False
    """The sandbox could not be set up; its own message is the output."""
    missed_network: bool = False
    """It tried to use the network, and its sandbox has none."""


class Keeping:
    """Lets a person keep a running program: it then goes on when we exit, and when the task that runs it is cancelled.
    To end it after all, `kept` becomes false first.
    """

    def __init__(self) -> None:
        self.kept = False
        self._child: _Child | None = None

    def attach(self, child: "_Child") -> None:
        self._child = child

    def keep(self, file: int, prepare: Callable[[int], None]) -> None:
        """From now on its output goes to the file. Before that, `prepare` gets its reaper, and everything that it has
        printed by then has been reported. Raises OSError.
        """
        if self._child is None:
            raise ProcessLookupError("it is not running")
        self._child.keep(file, prepare)
        self.kept = True


def _ignore(_: object) -> None:
    return None


async def run(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    on_start: Callable[[int], None] = _ignore,
    on_output: Tell = _ignore,
    on_binary: Callable[[int], None] = _ignore,
    limits: ProcessLimits = ProcessLimits(),  # noqa: B008  (frozen)
    terminal: Size | None = None,
    mark: str = "",
    launcher: Launcher | None = None,
    unchanged: Sequence[ExecutedFile] = (),
    is_held_up: Callable[[], bool] = bool,
    keyboard: "Keyboard | None" = None,
    keeping: Keeping | None = None,
) -> ProcessFinished:
    """Raises OSError if the program cannot be started, and FileChanged if one of these files has another content.
    `on_binary` counts the bytes of binary output. While `is_held_up` says that the program waits for a person, its
    silence does not count. With a `keyboard`, a person can type into the terminal; through `keeping`, they can keep it.

    By its `mark` (see `leftover_processes.py`) another process can find it if this one dies.
    """
    env = child_environment() if env is None else env
    keyboard = keyboard if AVAILABLE and terminal is not None else None
    child = _Child(on_output, on_binary, limits, terminal, is_held_up, keyboard)
    await child.start(argv, cwd, env, mark or os.urandom(8).hex(), launcher, unchanged)
    if keeping is not None:
        keeping.attach(child)
    try:
        return await child.over(on_start, keeping)
    finally:
        child.close()


class _Child:
    """A running program with everything to release: descriptors, readers, timers, the process."""

    def __init__(
        self,
        on_output: Tell,
        on_binary: Callable[[int], None],
        limits: ProcessLimits,
        terminal: Size | None,
        is_held_up: Callable[[], bool],
        keyboard: "Keyboard | None",
    ) -> None:
        self._is_held_up = is_held_up
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._kept = Kept(limits.keep)
        self._on_output = on_output
        self._decoder = Decoder(self._text, on_binary, sniff=limits.sniff)
        self._end: asyncio.Future[Ended] = self._loop.create_future()
        self._timers: list[asyncio.TimerHandle] = []
        self._exited = False
        self._held = True
        self._channel = Channel(terminal, input=keyboard is not None)
        self._keyboard = keyboard
        self._input: TerminalInput | None = None

    async def start(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        mark: str,
        launcher: Launcher | None,
        unchanged: Sequence[ExecutedFile],
    ) -> None:
        """Nothing has to be released if it fails."""
        output = self._channel.theirs
        input = output if self._keyboard is not None else None
        try:
            self._process = await spawn(
                argv, cwd, env, mark, output=output, input=input, launcher=launcher, unchanged=unchanged
            )
        except BaseException:
            self._channel.close()
            raise
        self._channel.close_theirs()
        self.pid = self._process.pid
        self._family = Family(self.pid, mark, self._channel.name, self._process.reaper, self._process.since)
        self._loop.add_reader(self._channel.ours, self._readable)
        self._process.on_exit(self._on_exit)
        self._last = self._loop.time()
        self._arm()
        if self._keyboard is not None:
            self._input = self._open_input(self._keyboard)

    def _open_input(self, keyboard: "Keyboard") -> "TerminalInput":
        from assent.process.terminal_input import TerminalInput

        ours, device, max_wait = self._channel.ours, self._channel.device, self._limits.input
        return TerminalInput(ours, device, keyboard, max_wait, lambda: self._over("no_input"), self._pass_on)

    # --- the end -----------------------------------------------------------------------------------------

    async def over(self, on_start: Callable[[int], None], keeping: Keeping | None) -> ProcessFinished:
        try:
            on_start(self.pid)
            ended = await self._end
        except BaseException:  # cancelled, or a listener failed: nobody waits for this process any longer
            if keeping is None or not keeping.kept:
                await self._stop()
            raise
        survivors = () if ended == "exited" and not self._process.lost else await self._stop()
        return self._finished(ended, survivors)

    async def _stop(self) -> tuple[int, ...]:
        """Not to be interrupted: a second cancellation only cuts the grace period short."""
        hurry = asyncio.Event()
        too_many = self._end.done() and not self._end.cancelled() and self._end.result() == "too_many_processes"
        grace = 0.0 if too_many else self._limits.grace  # a fork bomb is killed at once
        ending = asyncio.ensure_future(end_family(self._family, self.pid, grace, hurry))
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                hurry.set()
        self._drain()
        if hurry.is_set():
            raise asyncio.CancelledError
        return ending.result()

    def _finished(self, ended: Ended, survivors: tuple[int, ...]) -> ProcessFinished:
        self._decoder.close()
        if self._input is not None:
            self._pass_on(self._input.typed_text.flush())
        status = self._process.status()
        if ended == "exited":
            self._process.leave_rest()
        # Searching the process table is only worthwhile if someone still holds the output.
        background = self._family.members() if self._held and ended == "exited" else ()
        return ProcessFinished(
            code=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            ended=ended,
            output=self._kept.excerpt(),
            bytes=self._decoder.bytes,
            binary=self._decoder.binary,
            background=tuple(background),
            survivors=survivors,
            never_ran=self._process.never_ran,
            missed_network=self._process.missed_network,
        )

    def keep(self, file: int, prepare: Callable[[int], None]) -> None:
        """In one step: whatever we have not read by then, its reaper reads."""
        self._drain()
        prepare(self._process.reaper)
        self._process.keep(self._channel.ours, file)
        self._stop_reading()

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._stop_reading()
        if self._input is not None:
            self._input.close()
        self._channel.close()
        self._process.close()

    def _over(self, ended: Ended) -> None:
        if not self._end.done():
            self._end.set_result(ended)

    def _on_exit(self) -> None:
        self._process.status()  # without a process table, zombies count as alive
        self._exited = True
        self._drain()
        if self._held:
            self._later(self._limits.drain, self._after_drain)
        else:
            self._over("exited")

    def _after_drain(self, left: int = 50) -> None:
        """If no process is left that could write, the end of the output is still on its way through the kernel."""
        self._drain()
        if self._held and left and not self._family.members():
            self._later(self._limits.drain, lambda: self._after_drain(left - 1))
        else:
            self._over("exited")

    # --- output ------------------------------------------------------------------------------------------

    def _text(self, text: str) -> None:
        if self._input is not None:
            text = self._input.typed_text.feed(text)
            self._input.heard(text)
        self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        self._kept.add(text)
        try:
            self._on_output(text)
        except Exception as error:
            if not self._end.done():
                self._end.set_exception(error)

    def _readable(self) -> None:
        """Not more, so that a flood does not block the event loop."""
        self._read(_BLOCKS_AT_ONCE)

    def _drain(self) -> None:
        """What is available at once. Bounded, because a background process may write faster than we read."""
        self._read(_BLOCKS_TO_DRAIN)

    def _read(self, blocks: int) -> None:
        while blocks > 0 and (block := self._block()):
            blocks -= 1
            self._last = self._loop.time()
            self._decoder.feed(block)
        if self._limits.output is not None and self._decoder.bytes > self._limits.output:
            self._over("too_much_output")

    def _block(self) -> bytes:
        """The output of a few reads in one piece: decoding and everything after it costs time per piece."""
        pieces: list[bytes] = []
        size = 0
        while size < CHUNK and len(pieces) < _READS and self._held:
            data = self._channel.read()
            if data is None:
                break
            if not data:
                self._output_ended()
            pieces.append(data)
            size += len(data)
        return b"".join(pieces)

    def _output_ended(self) -> None:
        self._stop_reading()
        if self._exited:
            self._over("exited")

    def _stop_reading(self) -> None:
        if self._held:
            self._held = False
            self._loop.remove_reader(self._channel.ours)

    # --- time and memory ---------------------------------------------------------------------------------

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        self._timers[:] = [timer for timer in self._timers if timer.when() > self._loop.time()]
        self._timers.append(self._loop.call_later(seconds, do))

    def _arm(self) -> None:
        if self._limits.total is not None:
            self._later(self._limits.total, lambda: self._over("total_timeout"))
        if self._limits.idle is not None:
            self._later(self._limits.idle, self._check_idle)
        if self._limits.memory is not None:
            self._later(self._limits.look, self._look_at_memory)
        if self._limits.processes is not None:
            self._count_processes(ProcessWatch(self._limits.processes, lambda: len(self._family.members())))

    def _count_processes(self, watch: ProcessWatch) -> None:
        if watch.is_too_much():
            self._over("too_many_processes")
        else:
            self._later(self._limits.count, lambda: self._count_processes(watch))

    def _check_idle(self) -> None:
        """Checks when the time could be up, instead of moving a timer with every piece of output."""
        idle = self._limits.idle or 0.0
        if self._is_held_up():
            self._last = self._loop.time()
        left = self._last + idle - self._loop.time()
        if left > 0:
            self._later(left, self._check_idle)
        elif self._input is not None and self._input.waits_for_person:
            self._later(idle, self._check_idle)  # a person's typing has its own limit
        elif not self._exited:
            self._over("idle_timeout")

    def _look_at_memory(self) -> None:
        """In a thread: it goes through all processes of the machine."""
        looking = self._loop.run_in_executor(None, self._family.memory, self._limits.memory or 0)
        looking.add_done_callback(self._saw_memory)

    def _saw_memory(self, looked: "asyncio.Future[int]") -> None:
        if self._end.done() or looked.cancelled():
            return
        if looked.result() > (self._limits.memory or 0):
            self._over("too_much_memory")
        else:
            self._later(self._limits.look, self._look_at_memory)
