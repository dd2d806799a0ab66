"""A cluster without faults: how fast an answer starts a tool, what parked sessions cost, and a rolling upgrade.

CLUSTER_SESSIONS says how many sessions are parked, CLUSTER_ANSWERS_PER_SECOND how fast they are answered. Each test
prints its figures (`pytest -s`); see docs/scaling.md.
"""

import asyncio
import os
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.client import Api
from assent.events import CallStarted
from assent.postgres.postgres_schema import CURRENT
from support.chaos_cluster import ChaosCluster, ChaosNode
from support.chaos_load import EFFECT, Load, replies
from support.history import check
from support.next_release import VERSION, make_next_release
from support.program import Json
from support.served import until_event

SESSIONS = int(os.environ.get("CLUSTER_SESSIONS", "60"))
AT_ONCE = 12
IDLE_SECONDS = 10.0
ANSWERS = 200
ANSWERS_PER_SECOND = float(os.environ.get("CLUSTER_ANSWERS_PER_SECOND", "4"))
MOST_PROMPTED = ANSWERS
"""More sessions than this are copies of one of them, in the database, under ids of their own. They are opened and asked
like the others, but the digest of their question is that of the original, so the first answer is refused."""
COPIED = "-00000000"
"""In the ids of copies."""
COPY = """
SET search_path = assent;
CREATE TEMP TABLE made AS SELECT left(of, 16) || lpad(to_hex(n), 16, '0') AS id, of
    FROM (SELECT id AS of FROM sessions LIMIT 1) one, generate_series(1, {count}) n;
INSERT INTO sessions SELECT (jsonb_populate_record(s, jsonb_build_object('id', made.id))).*
    FROM made JOIN sessions s ON s.id = of;
INSERT INTO events
    SELECT made.id, seq, ts, type, v, convert_to(replace(convert_from(data, 'UTF8'), of, made.id), 'UTF8')
    FROM made JOIN events ON session = of;
INSERT INTO approvals SELECT (jsonb_populate_record(a, jsonb_build_object('session', made.id))).*
    FROM made JOIN approvals a ON a.session = of;
ANALYZE"""
TICK = os.sysconf("SC_CLK_TCK")

pytestmark = [pytest.mark.needs("postgres", "temporal"), pytest.mark.spec("M2"), pytest.mark.timeout(1800)]


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[ChaosCluster]:
    made = ChaosCluster(tmp_path, random.Random(1))
    try:
        await made.start(made.program.scenario(*replies()), workers=2, servers=2)
        yield made
    finally:
        await made.end()


def report(text: str) -> None:
    sys.stderr.write(f"{text} (load {os.getloadavg()[0]:.1f})\n")


class Cost:
    """Memory and processor time of some processes."""

    def __init__(self, name: str, *pids: int) -> None:
        self._name, self._pids = name, [pid for top in pids for pid in (top, *_children(top))]
        self._before, self._since = self._seconds(), time.monotonic()

    def __str__(self) -> str:
        share = (self._seconds() - self._before) / (time.monotonic() - self._since)
        return f"{self._name}: {sum(map(_megabytes, self._pids)):.0f} MB, {100 * share:.1f} % of a core"

    def _seconds(self) -> float:
        return sum(_processor_seconds(pid) for pid in self._pids)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _megabytes(pid: int) -> float:
    """What is shared counts once."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


async def park(cluster: ChaosCluster) -> None:
    """Sessions that each wait for an answer, and are open nowhere."""
    (cluster.program.folder / "effect").write_text(EFFECT)
    (cluster.program.folder / "effect").chmod(0o755)
    limit = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with limit:
            api = await cluster.any_api()
            session = (await api.create(folder=str(cluster.program.folder), prompt="go"))["id"]
            while not (await api.snapshot(session))["session"]["waiting"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    began, prompted = time.monotonic(), min(SESSIONS, MOST_PROMPTED)
    await asyncio.gather(*(one() for _ in range(prompted)))
    report(f"{prompted} sessions asked within {time.monotonic() - began:.0f} s")
    await asyncio.sleep(IDLE_SECONDS)  # they stay open for a while
    if prompted < SESSIONS:
        database = cluster.postgres
        await asyncio.to_thread(database.primary.ask, COPY.format(count=SESSIONS - prompted), database.database)
        await asyncio.sleep(IDLE_SECONDS)


async def waiting(api: Api) -> list[Json]:
    found: list[Json] = []
    while page := (await api.approvals(limit=200, offset=len(found)))["approvals"]:
        found += page
    return found


async def answered(cluster: ChaosCluster, question: Json, at: float) -> float:
    """Milliseconds from the request to the start of the call."""
    await asyncio.sleep(at)
    session, api, began = question["session"]["id"], await cluster.any_api(), time.time()
    await api.decide(session, question["call_id"], "proceed_once", question["approval"]["digest"])
    events = await until_event(api, session, "call.started", question["session"]["seq"])
    return 1000 * next(one.ts - began for one in events if isinstance(one.event, CallStarted))


async def test_parked_sessions_cost_nothing_and_answers_wake_them_fast(cluster: ChaosCluster):
    await park(cluster)
    assert cluster.temporal.process is not None
    postgres = int((cluster.postgres.primary.folder / "data" / "postmaster.pid").read_text().split()[0])
    costs = [
        *(Cost("worker", node.pid) for node in cluster.workers),
        *(Cost("server", node.pid) for node in cluster.servers),
        Cost("Temporal", cluster.temporal.process.pid),
        Cost("PostgreSQL", postgres),
    ]
    await asyncio.sleep(IDLE_SECONDS)
    for cost in costs:
        report(f"{SESSIONS} parked: {cost}")
    began = time.monotonic()
    questions = await waiting(await cluster.any_api())
    report(f"{len(questions)} questions listed within {time.monotonic() - began:.1f} s")
    assert len(questions) == SESSIONS
    some = [question for question in questions if COPIED not in question["session"]["id"]][:ANSWERS]
    cluster.chance.shuffle(some)
    took = await asyncio.gather(
        *(answered(cluster, question, number / ANSWERS_PER_SECOND) for number, question in enumerate(some))
    )
    cuts = statistics.quantiles(took, n=100)
    report(
        f"{len(took)} answers: median {cuts[49]:.0f} ms, 90 % {cuts[89]:.0f}, 99 % {cuts[98]:.0f}, max {max(took):.0f}"
    )


async def replaced_under_load(cluster: ChaosCluster, release: Path | None = None) -> None:
    """The workers first, one by one, then the servers, while people prompt, answer and watch."""
    load = Load(cluster)
    running = asyncio.create_task(load.run(4))
    for node in cluster.nodes:
        await node.replace(release)
    load.over = True
    await running
    report(f"{load.counts['requests']} requests, {len(load.sessions)} sessions, while every node was replaced")
    assert not load.counts["requests without response"]
    assert not [name for name in load.counts if name.startswith("responses 5")]
    assert check(await load.history()) == []


async def test_a_rolling_restart_under_load_fails_no_request(cluster: ChaosCluster):
    await replaced_under_load(cluster)


async def test_a_rolling_upgrade_to_the_next_release_under_load_fails_no_request(cluster: ChaosCluster, tmp_path: Path):
    await replaced_under_load(cluster, make_next_release(tmp_path / "next"))
    for node in cluster.servers:
        assert f'version="{VERSION}"'.encode() in await metrics(node)
    version = cluster.postgres.primary.ask("SELECT version FROM assent.layout", cluster.postgres.database)
    assert int(version) == CURRENT + 1


async def metrics(node: ChaosNode) -> bytes:
    assert node.api is not None
    return (await node.api.http.request("GET", "/metrics")).body
