"""The scheduler's cost per call in batches of no-op calls: it must not grow with the batch.

Each call goes through all states (requested, scheduled, started, finished), every step recorded. The floor is the cost
per call in a batch of 100; in a batch of 10 the fixed cost of a batch and of its synced commits is shared by few.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct

from assent.cli import collect_rarely
from assent.events import CallRequest
from assent.policy.policy import Policy
from assent.scheduler.scheduler import Scheduler
from assent.session.hub import Hub
from assent.session.journal import SessionJournal
from assent.session.log import SessionLog
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session
from assent.session.sqlite_log import SqliteLog
from assent.session.state import fold
from assent.tools.registry import Registry
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult
from bench.measure import interleaved
from bench.report import Row

SIZES = (10, 100, 1_000, 10_000)
BASE = 100
RATIO = 1.3

Clock = Callable[[], float]


class NoParams(Struct):
    pass


class NoOp(Invocation):
    def describe(self) -> str:
        return "nothing"

    def resources(self) -> Resources:
        return Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        return ToolResult("done")


class NoOpTool(Tool[NoParams]):
    name = "no_op"
    display_name = "No-op"
    description = "Does nothing."
    kind = "read"
    params = NoParams

    def invocation(self, params: NoParams) -> Invocation:
        return NoOp()


def measure(quick: bool) -> Iterator[Row]:
    collect_rarely()  # like every run of Assent
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        runs = 3 if quick else 7
        yield from _rows("memory, CPU", MemoryLog, time.process_time, runs)
        yield from _rows("SQLite, CPU", lambda: SqliteLog(Path(folder)), time.process_time, runs)
        yield from _rows("SQLite, wall", lambda: SqliteLog(Path(folder)), time.perf_counter, runs)


def _rows(name: str, make_log: Callable[[], SessionLog], clock: Clock, runs: int) -> Iterator[Row]:
    medians = interleaved({str(size): partial(_run, make_log, clock, size) for size in SIZES}, runs)
    base = medians[str(BASE)]
    for size in SIZES:
        goal = RATIO if size > BASE else None
        yield Row(f"{name}: a call of {size:,}", medians[str(size)], "µs", base, goal)


def _run(make_log: Callable[[], SessionLog], clock: Clock, size: int) -> float:
    return asyncio.run(_per_call(make_log, clock, size))


async def _per_call(make_log: Callable[[], SessionLog], clock: Clock, size: int) -> float:
    """Microseconds, over enough batches that the clock's resolution does not matter; each batch has its own session."""
    log = make_log()
    batches = max(1, 1_000 // size)
    took = 0.0
    for _ in range(batches):
        took += await _batch(log, clock, size)
    await log.close()
    return took / (batches * size) * 1e6


async def _batch(log: SessionLog, clock: Clock, size: int) -> float:
    session = await create_session(log, "/", "none", "default")
    fence = await log.acquire(session)
    journal = SessionJournal(log, fence, fold(session, await log.read(session)), Hub())
    scheduler = Scheduler(session, Registry([NoOpTool()]), Policy((), "default", roots=("/w",)), journal)
    requests = [CallRequest(call_id=f"c{n}", tool="no_op", args={}, prompt_id="p") for n in range(size)]
    gc.collect()  # garbage of the previous batch is not this one's cost
    started = clock()
    await scheduler.schedule(requests).results()
    took = clock() - started
    await log.release(fence)
    return took
