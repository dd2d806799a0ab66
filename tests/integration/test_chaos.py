"""Three workers and two servers under load lose parts of themselves at random; the history must be without fault.

CHAOS_MINUTES says for how long, CHAOS_SEED which faults; both are printed with the figures (`pytest -s`). Each node is
in a network namespace of its own, if this is run as root; otherwise, or with CHAOS_NETWORK=relays, relays cut it off.

    CHAOS_MINUTES=30 CHAOS_SEED=17 pytest -q -s tests/integration/test_chaos.py
"""

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest

from support.chaos_cluster import ChaosCluster
from support.chaos_load import Load, replies
from support.history import check
from support.nemesis import Nemesis

MINUTES = float(os.environ.get("CHAOS_MINUTES", "3"))
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1_000_000)))
PEOPLE = 6
END_SECONDS = 240
"""For sessions to end once nothing is broken any more."""

pytestmark = [
    pytest.mark.needs("postgres", "temporal"),
    pytest.mark.spec("M2"),
    pytest.mark.timeout(MINUTES * 60 + 900),
]


def report(**figures: object) -> None:
    for name, value in figures.items():
        sys.stderr.write(f"{name}: {value}\n")


async def test_nothing_is_lost_or_done_twice_while_parts_fail_at_random(tmp_path: Path):
    cluster = ChaosCluster(tmp_path, random.Random(SEED))
    how = "relays, because namespaces are not possible or not wanted" if cluster.network is None else "namespaces"
    report(seed=SEED, minutes=MINUTES, network=how)
    load, nemesis = Load(cluster), Nemesis(cluster)
    try:
        await cluster.start(cluster.program.scenario(*replies()), workers=3, servers=2)
        running = asyncio.create_task(load.run(PEOPLE))
        await nemesis.run(MINUTES * 60)
        load.over = True
        ended, _ = await asyncio.wait([running], timeout=END_SECONDS)
        running.cancel()
        await asyncio.wait([running])
        history = await load.history()
    finally:
        await cluster.end()
    faults = check(history)
    report(
        machine=f"load {os.getloadavg()[0]:.1f}",
        harms=dict(nemesis.counts),
        load=dict(load.counts),
        sessions=len(history.logs),
        events=sum(map(len, history.logs.values())),
        commands=len(history.commands),
        effects=len(history.effects),
        seen=sum(len(one.events) for one in history.watched),
        faults=faults,
    )
    assert ended, "not all sessions ended"
    running.result()
    assert faults == []
    assert history.effects, "nothing happened"
