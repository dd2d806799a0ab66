"""A machine of a cluster is lost with its disk: another one continues with everything that the session needs."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.postgres_server import PostgresServer
from support.program import Program, asks_for, replace, says, shell
from support.s3_server import ENV, S3Server
from support.served import Served

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.spec("M3")]
LARGE = "".join(f"line {number}\n" for number in range(20_000))


@pytest.fixture(params=["postgres", "s3"])
def settings(request: pytest.FixtureRequest) -> Iterator[str]:
    """The settings of every machine."""
    if request.param == "postgres":
        yield ""
        return
    server = S3Server()
    server.start()
    bucket = asyncio.run(server.new_bucket())
    yield f'[blobs]\nurl = "{bucket.url}"\nendpoint = "{bucket.endpoint}"\n'
    server.stop()


async def test_after_the_loss_of_a_machine_another_undoes_its_changes_and_shows_its_whole_outputs(
    program: Program, postgres_server: PostgresServer, settings: str
):
    database = postgres_server.new_database()
    (program.folder / "large.txt").write_text(LARGE)
    model = program.scenario(
        asks_for(shell("seq 1 30000", "count"), replace("large.txt", "line 7\n", "line seven\n", "edit")), says("Done.")
    )
    first, second = (machine(program, name, database, settings) for name in ("first", "second"))
    ended = program.run("-p", "go", "--model", model, "--approval-mode", "yolo", env=first)
    assert ended.code == 0, ended.err
    assert "line seven" in (program.folder / "large.txt").read_text()
    shutil.rmtree(first["ASSENT_HOME"])

    async with Served(Path(program.home).with_name("server"), database=database, settings=settings, env=ENV) as served:
        (session,) = (await served.api().get("/sessions"))["sessions"]
        output = await served.api().get(f"/sessions/{session['id']}/calls/count/output?offset=0&limit=1000000")
        assert output["text"].splitlines() == [str(number) for number in range(1, 30_001)]

    undone = program.run("undo", "latest", "edit", env=second)
    assert undone.code == 0, undone.err
    assert (program.folder / "large.txt").read_text() == LARGE


def machine(program: Program, name: str, database: str, settings: str) -> dict[str, str]:
    """Its environment; it has a disk of its own, and the project's folder is on a shared one."""
    home = Path(program.home).with_name(name)
    home.mkdir()
    (home / "settings.toml").write_text(settings)
    return {"ASSENT_HOME": str(home), "ASSENT_LOG": database, **ENV}


def test_what_a_machine_has_kept_beside_its_sessions_moves_to_the_cluster_with_them(
    program: Program, postgres_server: PostgresServer
):
    database = postgres_server.new_database()
    (program.folder / "large.txt").write_text(LARGE)
    (program.folder / ".assent").mkdir()
    (program.folder / ".assent/policy.toml").write_text("")
    assert program.run("trust", "--yes").code == 0
    token = program.run("serve", "token", "add", "bob").out
    model = program.scenario(
        asks_for(shell("seq 1 30000", "count"), replace("large.txt", "line 7\n", "line seven\n", "edit")), says("Done.")
    )
    assert program.run("-p", "go", "--model", model, "--approval-mode", "yolo").code == 0
    moved = program.run("log", "migrate", "--to", database)
    assert moved.code == 0, moved.err
    assert "and 2 outputs and contents for undo" in moved.out
    again = program.run("log", "migrate", "--to", database)
    assert "Copied 0 tokens" in again.out and "and 0 outputs" in again.out

    elsewhere = machine(program, "second", database, "")
    assert "bob" in program.run("serve", "token", "list", env=elsewhere).out and token
    assert "untrusted" not in program.run("policy", env=elsewhere).out
    assert program.run("undo", "latest", "edit", env=elsewhere).code == 0
    assert (program.folder / "large.txt").read_text() == LARGE
