"""The scheduler's cost per call in batches of no-op calls: it must not grow with the batch.

Each call goes the whole way (requested, scheduled, started, finished), every step recorded. The floor is the cost per
call in a batch of 100; in a batch of 10 the fixed cost of a batch and of its commits is shared by few.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from assent.events import CallRequest
from assent.policy.rules import Policy
from assent.scheduler.scheduler import Scheduler
from assent.session.hub import Hub
from assent.session.journal import SessionJournal
from assent.session.log import SessionLog
from assent.session.memory import MemoryLog
from assent.session.runner import create_session
from assent.session.sqlite import SqliteLog
from assent.session.state import fold
from assent.tools.base import Invocation, Live, Permit, Tool, ToolResult
from assent.tools.registry import Registry
from bench.measure import interleaved
from bench.report import Row

SIZES = (10, 100, 1_000, 10_000)
BASE = 100
RATIO = 1.3


class NoParams(Struct):
    pass


class NoOp(Invocation):
    def describe(self) -> str:
        return "nothing"

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
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        logs: dict[str, Callable[[], SessionLog]] = {
            "memory log": MemoryLog,
            "SQLite log": lambda: SqliteLog(Path(folder)),
        }
        for name, make_log in logs.items():
            yield from _rows(name, make_log, runs=3 if quick else 7)


def _rows(name: str, make_log: Callable[[], SessionLog], runs: int) -> Iterator[Row]:
    contestants = {str(size): lambda size=size: asyncio.run(_per_call(make_log, size)) for size in SIZES}
    medians = interleaved(contestants, runs)
    base = medians[str(BASE)]
    for size in SIZES:
        goal = RATIO if size > BASE else None
        yield Row(f"{name}, a call in a batch of {size:,}", medians[str(size)], "µs", base, goal)


async def _per_call(make_log: Callable[[], SessionLog], size: int) -> float:
    """Microseconds, over enough batches that the clock does not matter; each batch has a session of its own."""
    log = make_log()
    batches = max(1, 1_000 // size)
    took = 0.0
    for _ in range(batches):
        took += await _batch(log, size)
    await log.close()
    return took / (batches * size) * 1e6


async def _batch(log: SessionLog, size: int) -> float:
    session = await create_session(log, "/", "none", "default")
    fence = await log.acquire(session)
    journal = SessionJournal(log, fence, fold(session, await log.read(session)), Hub())
    scheduler = Scheduler(session, Registry([NoOpTool()]), Policy((), "default"), journal)
    requests = [CallRequest(f"c{n}", "no_op", {}, "p") for n in range(size)]
    gc.collect()  # what the batch before left behind is not this one's cost
    started = time.process_time()
    await scheduler.schedule(requests).results()
    took = time.process_time() - started
    await log.release(fence)
    return took
