"""The runbooks, followed literally (docs/runbooks.md), where `test_cluster_failures.py` and the chaos test do not.

Each test prints how long it took (`pytest -s`).
"""

import asyncio
import os
import random
import sys
import time
from pathlib import Path

import pytest

from assent.client import ApiProblem
from assent.client.http_client import Unreachable
from assent.events import CallStarted
from support.chaos_cluster import ChaosCluster
from support.cluster import Cluster
from support.postgres_server import PostgresServer
from support.program import Program, asks_for, says, shell
from support.served import until_event, until_waiting
from support.temporal_server import TemporalServer

pytestmark = [pytest.mark.needs("postgres", "temporal"), pytest.mark.spec("M2")]


def dump(server: PostgresServer, database: str, file: Path) -> None:
    server.run("pg_dump", "-h", str(server.folder), "-U", "assent", "-Fc", "-f", str(file), database)


def restore(server: PostgresServer, database: str, file: Path) -> None:
    where = ("-h", str(server.folder), "-U", "assent")
    server.run("dropdb", *where, database)
    server.run("createdb", *where, database)
    server.run("pg_restore", *where, "-d", database, str(file))


async def test_after_a_restore_approvals_given_since_the_backup_are_asked_for_again(
    postgres_server: PostgresServer, database: str, temporal_server: TemporalServer, tmp_path: Path
):
    program, name = Program(tmp_path), database.split("?")[0].rpartition("/")[2]
    (program.folder / "run.sh").write_text("#!/bin/sh\necho ran >> runs\n")
    (program.folder / "run.sh").chmod(0o755)
    model = program.scenario(asks_for(shell("./run.sh")), says("Done."))
    cluster = Cluster(program, model, database, temporal_server)
    backup = postgres_server.folder / f"{name}.backup"
    try:
        cluster.worker()
        _, api = cluster.server()
        async with api:
            session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
            (asked,) = await until_waiting(api, session)
            dump(postgres_server, name, backup)
            await api.decide(session, asked["call_id"], "proceed_once", asked["approval"]["digest"])
            await until_event(api, session, "turn.finished")
        cluster.kill()
        restore(postgres_server, name, backup)
        cluster.worker()
        _, api = cluster.server()
        async with api:
            (again,) = await until_waiting(api, session)
            assert again["approval"]["digest"] == asked["approval"]["digest"]
            await api.decide(session, again["call_id"], "proceed_once", again["approval"]["digest"])
            events = await until_event(api, session, "turn.finished")
    finally:
        cluster.kill()
    durable = [one for one in events if one.seq]
    assert [one.seq for one in durable] == list(range(1, len(durable) + 1))
    assert sum(isinstance(one.event, CallStarted) for one in durable) == 1
    assert (program.folder / "runs").read_text() == "ran\nran\n", "the log does not know the first one"
    checked = await program.run_beside("audit", "verify", env={"ASSENT_LOG": database})
    assert checked.code == 0, checked.err


async def test_a_standby_takes_over_and_what_was_acknowledged_is_there(tmp_path: Path):
    """The primary is cut off, not stopped, where there are network namespaces: nobody closes its connections."""
    cluster = ChaosCluster(tmp_path, random.Random(1))
    model = cluster.program.scenario(asks_for(shell("touch done")), says("Done."))
    try:
        await cluster.start(model, workers=1, servers=1)
        api, pair = await cluster.any_api(), cluster.postgres
        session = (await api.create(folder=str(cluster.program.folder), prompt="go"))["id"]
        (asked,) = await until_waiting(api, session)
        if pair.primary.place is None:
            await asyncio.to_thread(pair.stop, "immediate")
        else:
            pair.primary.place.cut()
        await asyncio.to_thread(pair.take_over)
        began = time.monotonic()
        rebuilding = asyncio.create_task(rebuild(cluster))
        await answered(cluster, session, asked["call_id"], asked["approval"]["digest"])
        sys.stderr.write(
            f"answer after a fail-over: {time.monotonic() - began:.1f} s (load {os.getloadavg()[0]:.0f})\n"
        )
        await rebuilding
        events = [one for one in await until_event(api, session, "turn.finished") if one.seq]
    finally:
        await cluster.end()
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    assert sum(isinstance(one.event, CallStarted) for one in events) == 1
    assert (cluster.program.folder / "done").exists()


async def rebuild(cluster: ChaosCluster) -> None:
    """The old primary is put down before its network is back, and becomes the standby."""
    old = cluster.postgres.standby
    if old.place is not None:
        await asyncio.to_thread(old.stop, "immediate")
        old.place.heal()
    await asyncio.to_thread(cluster.postgres.rebuild)


async def answered(cluster: ChaosCluster, session: str, call: str, digest: str) -> None:
    """As a client does it: the same request again until there is a response."""
    while True:
        api = await cluster.any_api()
        try:
            await api.decide(session, call, "proceed_once", digest, key="one-key-for-all-attempts")
        except Unreachable:
            continue
        except ApiProblem as problem:
            if problem.status < 500:
                raise
            await asyncio.sleep(0.1)
            continue
        return
