"""20 MB of a command's output: what reading it, keeping its ends, masking secrets and writing all of it to a file cost.

The command runs in a terminal, as when someone is watching, and the floor is a bare loop that reads from a terminal
and drops everything: first for one line again and again, then for a log whose lines differ. CPU is that of this process
alone. `assent -p` is a whole run, whose command has a pipe, against the minimal client; and what 20 MB add to it.
"""

import asyncio
import random
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.parts import JsonObject
from assent.process.environment import child_environment
from assent.process.pty import Channel, Size
from assent.process.run_program import run
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import Permit
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination
from bench.measure import interleaved
from bench.provider import Provider, shell_rounds
from bench.report import Row

SIZE = 20_000_000
SAME = f"yes abcdefghijklmnopqrstuvwxyz0123456789 | head -c {SIZE}"
TOOL, WHOLE_RUN = 2.0, 3.0
"""Goals, as ratios."""
Timed = Callable[[Callable[[], object]], float]
"""Does the work and returns how long that took."""


class _Unheard:
    """Live output that nobody watches."""

    def output(self, text: str) -> None: ...

    def received(self, total: int) -> None: ...

    def process(self, pid: int) -> None: ...

    def asks(self, wanted: object, type_in: object) -> None: ...

    async def offer(self, wider: JsonObject) -> str | None:
        return None

    async def may_connect(self, number: int, wanted: Destination, entries: tuple[str, ...]) -> Access:
        return Access(False, "it has no network")

    def connection_ended(self, number: int, end: ConnectionEnd) -> None: ...


def measure(quick: bool) -> Iterator[Row]:
    runs = 3 if quick else 9
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder, asyncio.Runner() as loop:
        log = Path(folder, "log")
        log.write_text(_log())
        for name, command in (("same line", SAME), ("log", f"cat {log}")):
            for unit, clock in (("wall", time.perf_counter), ("CPU", time.process_time)):
                here = partial(_timed, clock)
                yield from _in_this_process(f"{name}, {unit}", command, folder, loop, here, runs)
    yield from _whole_runs(runs)


def _log() -> str:
    """Like that of a server."""
    at_random = random.Random(1)
    lines, size = list[str](), 0
    while size < SIZE:
        item, took = at_random.randrange(10**6), at_random.randrange(900)
        lines.append(
            f"2026-01-02T03:04:{item % 60:02}.{took:03} INFO [worker-{item % 16}] GET /items/{item} in {took} ms\n"
        )
        size += len(lines[-1])
    return "".join(lines)[:SIZE]


def _in_this_process(
    name: str, command: str, folder: str, loop: asyncio.Runner, timed: Timed, runs: int
) -> Iterator[Row]:
    medians = interleaved(
        {
            "bare": lambda: timed(lambda: _bare(command)),
            "run": lambda: timed(lambda: loop.run(_run(command, folder))),
            "tool": lambda: timed(lambda: loop.run(_tool(command, folder))),
        },
        runs,
    )
    yield Row(f"{name}: reading", medians["run"], "ms", medians["bare"])
    yield Row(f"{name}: the tool", medians["tool"], "ms", medians["bare"], TOOL if command == SAME else None)


def _timed(clock: Callable[[], float], work: Callable[[], object]) -> float:
    """Milliseconds."""
    started = clock()
    work()
    return (clock() - started) * 1000


def _bare(command: str) -> None:
    channel = Channel(Size())
    child = subprocess.Popen(
        ["/bin/bash", "--noprofile", "--norc", "-c", command], stdin=subprocess.DEVNULL, stdout=channel.theirs
    )
    channel.close_theirs()
    data: bytes | None = None
    while data != b"":
        select.select([channel.ours], [], [])
        while data := channel.read():
            pass
    child.wait()
    channel.close()


async def _run(command: str, folder: str) -> None:
    argv = ["/bin/bash", "--noprofile", "--norc", "-c", command]
    finished = await run(argv, cwd=folder, env=child_environment(), terminal=Size())
    assert finished.bytes == SIZE


async def _tool(command: str, folder: str) -> None:
    outputs = PrivateFolder(str(Path(folder, "outputs")))
    invocation = ShellTool(Files(Workspace([folder], folder)), ShellOptions(outputs=outputs)).build(
        {"command": command}
    )
    result = await invocation.execute(Permit(call_id="call", digest=""), _Unheard())
    assert "Output too large" in str(result.content)
    outputs.remove()


def _whole_runs(runs: int) -> Iterator[Row]:
    with Provider() as provider:

        def assent(command: str) -> float:
            return provider.assent(shell_rounds(1, command), "--approval-mode", "yolo").seconds * 1000

        def client(command: str) -> float:
            return provider.floor(shell_rounds(1, command)).seconds * 1000

        medians = interleaved(
            {
                "assent": lambda: assent(SAME),
                "client": lambda: client(SAME),
                "assent, more": lambda: assent(SAME) - assent("true"),
                "client, more": lambda: client(SAME) - client("true"),
            },
            runs,
        )
    yield Row("assent -p", medians["assent"], "ms", medians["client"], WHOLE_RUN)
    yield Row("assent -p, more than with `true`", medians["assent, more"], "ms", medians["client, more"])
