"""20 independent calls in one batch: they run at the same time.

The floor is the same calls one after another. Reads are of 20 files with `read_file`; the commands only read, and are
allowed by their words.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from assent.cli import collect_rarely
from assent.events import CallRequest
from assent.files.workspace import Workspace
from assent.parts import JsonObject
from assent.policy.policy import Policy
from assent.scheduler.call import Success
from assent.scheduler.scheduler import Scheduler
from assent.session.hub import Hub
from assent.session.journal import SessionJournal
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session
from assent.session.state import fold
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry
from bench.measure import interleaved
from bench.report import Row

CALLS = 20

Calls = Sequence[tuple[str, JsonObject]]


def measure(quick: bool) -> Iterator[Row]:
    collect_rarely()
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as name:
        folder = Path(name)
        for number in range(CALLS):
            (folder / f"{number}.txt").write_text("a line of text\n" * 200)
        reads = [("read_file", {"file_path": f"{number}.txt"}) for number in range(CALLS)]
        commands = [("run_shell_command", {"command": f"tail -n 3 {number}.txt"}) for number in range(CALLS)]
        yield _row("20 reads", folder, reads, 5 if quick else 21)
        yield _row("20 commands that only read", folder, commands, 3 if quick else 9)


def _row(name: str, folder: Path, calls: Calls, runs: int) -> Row:
    one_by_one = [[call] for call in calls]
    medians = interleaved(
        {"batch": partial(_run, folder, [calls]), "one by one": partial(_run, folder, one_by_one)}, runs
    )
    return Row(name, medians["batch"], "ms", medians["one by one"])


def _run(folder: Path, batches: Sequence[Calls]) -> float:
    return asyncio.run(_timed(folder, batches))


async def _timed(folder: Path, batches: Sequence[Calls]) -> float:
    """Milliseconds."""
    log = MemoryLog()
    session = await create_session(log, str(folder), "none", "default")
    journal = SessionJournal(log, await log.acquire(session), fold(session, await log.read(session)), Hub())
    registry = Registry(builtin_tools(Workspace([str(folder)], str(folder))))
    scheduler = Scheduler(session, registry, Policy((), "default", roots=(str(folder),)), journal)
    started = time.perf_counter()
    for number, calls in enumerate(batches):
        requests = [
            CallRequest(call_id=f"c{number}-{at}", tool=tool, args=args, prompt_id="p")
            for at, (tool, args) in enumerate(calls)
        ]
        results = await scheduler.schedule(requests).results()
        assert all(isinstance(call, Success) for call in results)
    return (time.perf_counter() - started) * 1000
