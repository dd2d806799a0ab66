"""Sessions from the outside: listed, shown, exported, forked, resumed, and one process at a time."""

import asyncio

import msgspec
import pytest

from assent.events import from_wire
from assent.session.runner import create_session
from assent.session.sqlite_log import SqliteLog
from assent.session.state import SessionState, fold
from support.program import Program, asks_for, says, shell


def describe(state: SessionState) -> bytes:
    """Everything the fold knows, to be compared."""
    return msgspec.json.encode(
        [state.seq, state.folder, state.mode, state.calls, state.answered_by, state.grants, state.history()]
    )


def make_session(program: Program, *args: str) -> str:
    model = program.scenario(asks_for(shell("echo one"), text="I run it."), says("Done."), says("And on."))
    ended = program.run("-p", "first prompt", "-m", model, "--approval-mode", "yolo", "-o", "json", *args)
    assert ended.code == 0
    return ended.result["session_id"]


@pytest.mark.spec("F11")
def test_sessions_are_listed_newest_first_and_shown_with_what_was_decided(program: Program):
    assert program.run("sessions").out == 'No sessions yet. Start one with: assent -p "…"\n'
    first, second = make_session(program), make_session(program)
    listed = program.run("sessions", "list").out.splitlines()
    assert [line.split()[0] for line in listed] == [second, first]
    assert all("first prompt" in line and str(program.folder) in line for line in listed)
    shown = program.run("sessions", "show", first).out
    for expected in (
        "> first prompt",
        "▸ 1: run_shell_command echo one",
        "1: allowed: yolo mode",
        "1: success",
        "Done.",
    ):
        assert expected in shown


@pytest.mark.spec("F11")
def test_lines_about_calls_side_by_side_say_which_call_they_are_about(program: Program):
    one, two = shell("exit 3", "one"), shell("true", "two")
    model = program.scenario(asks_for(one, two), says("Done."))
    assert program.run("-p", "go", "-m", model, "--approval-mode", "yolo").code == 0
    shown = [line.strip() for line in program.run("sessions", "show").out.splitlines()]
    ends = sorted(line.partition(" after")[0] for line in shown if " after " in line)
    assert ends == ["1: success", "2: success"]
    assert [line[:2] for line in shown if line.endswith(": exit 3")] == ["1:"]


@pytest.mark.spec("F11")
def test_an_export_is_json_lines_that_fold_to_the_same_state(program: Program):
    session = make_session(program)
    exported = [from_wire(line) for line in program.run("sessions", "export", session).out.splitlines()]
    stored = asyncio.run(read_log(program, session))
    assert [envelope.seq for envelope in exported] == list(range(1, len(exported) + 1))
    assert describe(fold(session, exported)) == describe(stored)


async def read_log(program: Program, session: str) -> SessionState:
    log = SqliteLog(program.home)
    try:
        return fold(session, await log.read(session))
    finally:
        await log.close()


@pytest.mark.spec("F11")
def test_a_fork_knows_what_the_original_knew_and_goes_its_own_way(program: Program):
    original = make_session(program)
    before = program.events(original)
    fork = program.run("sessions", "fork", original).out.strip()
    ended = program.run("-p", "go on", "--resume", fork)
    assert (ended.code, ended.out) == (0, "And on.\n")
    assert program.events(original) == before
    assert program.events(fork)[0]["forked_from"] == original
    assert len(program.events_of_type("prompt.submitted", fork)) == 2


@pytest.mark.spec("F11")
def test_a_session_may_be_named_by_its_beginning_or_as_the_latest(program: Program):
    first, second = make_session(program), make_session(program)
    for name in (second, second[:-1], "latest"):
        assert program.run("sessions", "show", name).out.startswith(f"session {second}")
    ambiguous = program.run("sessions", "show", first[:6])
    assert ambiguous.code == 42
    assert first in ambiguous.err and second in ambiguous.err
    unknown = program.run("sessions", "show", "nope")
    assert (unknown.code, unknown.out) == (42, "")
    assert "assent sessions list" in unknown.err


@pytest.mark.spec("F11")
def test_resume_without_an_id_takes_the_newest_session_of_this_folder(program: Program):
    here = make_session(program)
    other = Program(program.folder / "other")
    other.env = program.env
    make_session(other)
    ended = program.run("-p", "go on", "--resume", "-o", "json")
    assert (ended.code, ended.result["session_id"], ended.result["response"]) == (0, here, "And on.")


@pytest.mark.spec("F11")
def test_resuming_with_nothing_left_to_do_asks_for_a_prompt(program: Program):
    session = make_session(program)
    ended = program.run("--resume", session)
    assert ended.code == 42
    assert "has nothing left to do; give it a prompt with -p" in ended.err


@pytest.mark.spec("F11")
def test_a_stream_of_a_resumed_session_begins_where_this_process_took_over(program: Program):
    session = make_session(program)
    known = len(program.events(session))
    ended = program.run("-p", "go on", "--resume", session, "-o", "stream-json")
    numbers = [line["seq"] for line in ended.lines[:-1] if line["seq"]]
    assert ended.lines[0]["type"] == "session.opened"
    assert numbers == list(range(known + 1, known + 1 + len(numbers)))


@pytest.mark.spec("F11")
def test_a_second_process_on_one_session_is_refused_with_a_hint(program: Program):
    model = program.scenario(asks_for(shell("echo x > y")), says("Done."))
    with program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json") as first:
        session = first.until_type("approval.requested")["session"]
        before = program.events(session)
        second = program.run("-p", "me too", "--resume", session, "-o", "stream-json")
        assert (second.code, second.result["error"]["type"]) == (56, "busy")
        assert f"assent sessions show {session}" in second.result["error"]["message"]
        assert program.events(session) == before
        shown = program.run("sessions", "show", session)
        assert f"assent answer {session} run yes|try|no\n" in shown.out, "no `always` for what goes to a shell"
        assert program.run("answer", session, "run", "yes").code == 0
        assert first.wait().result["status"] == "success"


@pytest.mark.spec("I5")
def test_everything_that_is_kept_is_readable_by_its_owner_only(program: Program):
    make_session(program)
    assert program.home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in program.home.iterdir()} == {0}


@pytest.mark.spec("F11")
def test_a_session_in_which_nothing_was_said_is_neither_listed_nor_the_latest(program: Program):
    told = make_session(program)
    unused = asyncio.run(make_unused(program))
    assert [line.split()[0] for line in program.run("sessions", "list").out.splitlines()] == [told]
    assert program.run("sessions", "show", "latest").out.startswith(f"session {told}")
    assert program.run("sessions", "show", unused).out.startswith(f"session {unused}")


async def make_unused(program: Program) -> str:
    """As a terminal UI leaves it that is killed before anything was said."""
    log = SqliteLog(program.home)
    try:
        return await create_session(log, str(program.folder), "scripted", "default")
    finally:
        await log.close()
