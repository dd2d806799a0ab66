"""The runbooks, followed literally (docs/runbooks.md), where `test_cluster_failures.py` and the chaos test do not."""

from pathlib import Path

import pytest

from assent.events import CallStarted
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
