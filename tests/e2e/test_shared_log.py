"""Assent with its sessions in PostgreSQL: the same program, the same promises."""

from pathlib import Path

import pytest

from assent import exit_codes
from assent.app.storage import open_log_at
from assent.events import Envelope
from support.program import Ended, Program, asks_for, says, shell, write
from support.served import ServedProgram, until_event, until_waiting

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.spec("M1")]


def run(program: Program, database: str, *args: str) -> Ended:
    return program.run(*args, env={"ASSENT_LOG": database})


def make_session(program: Program, database: str) -> str:
    model = program.scenario(asks_for(shell("echo one")), says("Done."), says("More."))
    ended = run(program, database, "-p", "first prompt", "-m", model, "--approval-mode", "yolo", "-o", "json")
    assert ended.code == 0, ended.err
    return ended.result["session_id"]


def test_a_prompt_is_recorded_there_and_nowhere_else(program: Program, database: str):
    session = make_session(program, database)
    assert session in run(program, database, "sessions", "list").out
    assert "1: allowed: yolo mode" in run(program, database, "sessions", "show", session).out
    assert not (program.home / "assent.db").exists()


async def test_an_approval_survives_the_death_of_the_server_that_asked(program: Program, database: str):
    model = program.scenario(asks_for(write("a.txt", "hello\n")), says("Done."))
    first = ServedProgram(program, model, "--log", database)
    async with first.start() as api:
        session = (await api.create(folder=str(program.folder)))["id"]
        await api.say(session, "go")
        (waiting,) = await until_waiting(api, session)
    first.kill()
    second = ServedProgram(program, model, "--log", database)
    async with second.start() as api:
        (same,) = await until_waiting(api, session)
        assert same == waiting | {"session": same["session"]}
        await api.decide(session, same["call_id"], "proceed_once", same["approval"]["digest"])
        await until_event(api, session, "turn.finished")
    second.kill()
    assert (program.folder / "a.txt").read_text() == "hello\n"


async def events_at(place: str) -> dict[str, list[Envelope]]:
    log = open_log_at(place)
    try:
        return {info.id: await log.read(info.id) for info in await log.sessions()}
    finally:
        await log.close()


async def test_a_log_moves_to_a_database_and_back_event_by_event(program: Program, database: str, tmp_path: Path):
    sessions = {make_session(program, str(program.home)) for _ in range(3)}
    there = await program.run_beside("log", "migrate", "--to", database)
    assert there.code == 0, there.err
    assert there.out.startswith("Copied 3 sessions with ")
    again = await program.run_beside("log", "migrate", "--to", database)
    assert "Copied 0 sessions" in again.out
    assert "3 sessions already existed." in again.out
    back = await program.run_beside("log", "migrate", "--from", database, "--to", str(tmp_path / "back"))
    assert back.code == 0, back.err
    before = await events_at(str(program.home))
    assert set(before) == sessions
    assert await events_at(database) == before == await events_at(str(tmp_path / "back"))


async def test_a_session_that_went_on_elsewhere_is_reported_and_not_overwritten(program: Program, database: str):
    session = make_session(program, str(program.home))
    assert (await program.run_beside("log", "migrate", "--to", database)).code == 0
    more = await program.run_beside("--resume", session, "-p", "go on", env={"ASSENT_LOG": database})
    assert more.code == 0, more.err
    refused = await program.run_beside("log", "migrate", "--to", database)
    assert refused.code == exit_codes.INPUT
    assert f"of session {session} differs between the two logs" in refused.err


def test_old_sessions_can_be_deleted_and_the_audit_keeps_that(program: Program, database: str):
    session = make_session(program, database)
    assert run(program, database, "log", "prune", "--days", "1").out == "Deleted 0 sessions.\n"
    assert session in run(program, database, "sessions", "list").out
    assert run(program, database, "log", "prune", "--days", "0.0000001").out == "Deleted 1 sessions.\n"
    assert session not in run(program, database, "sessions", "list").out
    assert "deleted the session first prompt" in run(program, database, "audit", "list").out
    assert run(program, database, "log", "prune").code == exit_codes.INPUT


def test_a_database_that_cannot_be_reached_is_a_clear_error_without_the_password(program: Program):
    ended = run(program, "postgresql://ann:hunter2@127.0.0.1:1/assent", "sessions", "list")
    assert ended.code == exit_codes.STORAGE
    assert "the log at postgresql://127.0.0.1:1/assent cannot be reached" in ended.err
    assert "hunter2" not in ended.err


def test_a_log_of_an_unknown_kind_is_a_clear_error(program: Program):
    ended = run(program, "mysql://db/assent", "sessions", "list")
    assert ended.code == exit_codes.STORAGE
    assert "must be a folder or a URL that starts with postgresql://" in ended.err


@pytest.mark.parametrize("option", ["--store", "--log"])
def test_the_place_of_sessions_is_not_mistaken_for_the_log_file_of_the_server(program: Program, option: str):
    ended = program.run("serve", "--port", "0", option, "assent.log")
    assert ended.code == exit_codes.INPUT and "did you mean --log-file?" in ended.err
    (program.folder / "server").write_text("lines\n")
    ended = program.run("serve", "--port", "0", option, "server")
    assert ended.code == exit_codes.STORAGE and "server is a file" in ended.err
    assert (program.folder / "server").read_text() == "lines\n"
    assert not (program.folder / "assent.log").exists()
