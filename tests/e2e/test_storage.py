"""A log that cannot be written or read: a clear word, code 74, and no effect without a record of its start."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.older_log import take_back_to
from support.program import Ended, Program, asks_for, says, shell
from support.terminal import Terminal

CANARY = shell("echo x >> canary")


def run(program: Program, *args: str, prefix: tuple[str, ...] = ()) -> Ended:
    model = program.scenario(asks_for(CANARY), says("Done."))
    given = ("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json", *args)
    return program.run(*given, prefix=prefix)


def check_refused(program: Program, ended: Ended, said: str) -> None:
    assert (ended.code, ended.err) == (74, "")
    assert (ended.result["status"], ended.result["error"]["type"]) == ("error", "storage")
    assert said in ended.result["error"]["message"]
    assert not (program.folder / "canary").exists()


def a_file(program: Program) -> None:
    program.home.write_text("not a folder")


def not_a_log(program: Program) -> None:
    program.env["ASSENT_LOG"] = "mysql://db/assent"


def below_a_file(program: Program) -> None:
    program.home.write_text("not a folder")
    program.env["ASSENT_HOME"] = str(program.home / "deeper")


def where_nothing_can_be_made(program: Program) -> None:
    program.env["ASSENT_HOME"] = "/proc/assent"


def a_folder_in_place_of_the_log(program: Program) -> None:
    (program.home / "assent.db").mkdir(parents=True)


def no_database(program: Program) -> None:
    program.home.mkdir()
    (program.home / "assent.db").write_bytes(b"This is a letter to my aunt. " * 300)


def a_newer_layout(program: Program) -> None:
    program.home.mkdir()
    db = sqlite3.connect(program.home / "assent.db")
    db.execute("PRAGMA user_version = 99")
    db.close()


@pytest.mark.spec("F11")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (a_file, "is a file"),
        (not_a_log, "postgresql://"),
        (below_a_file, "assent.db"),
        (where_nothing_can_be_made, "/proc/assent"),
        (a_folder_in_place_of_the_log, "assent.db"),
        (no_database, "is damaged"),
        (a_newer_layout, "newer Assent"),
    ],
)
def test_a_home_that_cannot_be_used_is_named_and_nothing_starts(
    program: Program, spoil: Callable[[Program], None], said: str
):
    spoil(program)
    check_refused(program, run(program), said)
    reading = [] if spoil is where_nothing_can_be_made else [["sessions", "list"]]  # there simply are no sessions
    for command in (*reading, ["answer", "latest", "run", "yes"]):
        ended = program.run(*command)
        assert ended.code == 74
        assert said in ended.err
        assert "Traceback" not in ended.err


@pytest.mark.spec("F11")
def test_a_session_that_cannot_be_locked_is_not_opened(program: Program):
    assert run(program).code == 0
    (program.folder / "canary").unlink()
    lock = program.home / f"{program.sessions()[0]}.lock"
    lock.mkdir()
    check_refused(program, run(program, "--resume"), "cannot lock session")


@pytest.mark.spec("F11")
@pytest.mark.needs("prlimit")
@pytest.mark.parametrize("limit", [0, 20_000, 50_000])
def test_a_log_that_cannot_grow_starts_nothing(program: Program, limit: int):
    """A limit on the size of files acts like a disk that is full from the start, or soon after."""
    ended = run(program, prefix=("prlimit", f"--fsize={limit}"))
    check_refused(program, ended, "assent.db")


@pytest.fixture
def small_disk(program: Program) -> Iterator[Path]:
    """A disk with next to no space; only root may make one."""
    program.home.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k,mode=700", "none", str(program.home)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("no right to mount")
    yield program.home
    subprocess.run(["umount", "-l", str(program.home)], check=True)


@pytest.mark.spec("F11")
@pytest.mark.spec("J2")
def test_a_full_disk_stops_the_session_and_it_goes_on_when_there_is_space_again(program: Program, small_disk: Path):
    assert run(program, "-o", "json").code == 0
    session = program.sessions()[0]
    events = program.events(session)
    (program.folder / "canary").unlink()
    ballast = small_disk / "ballast"
    fill(ballast)
    full = run(program, "--resume", session)
    assert full.code == 74
    assert "full" in full.result["error"]["message"] or "assent.db" in full.result["error"]["message"]
    assert not (program.folder / "canary").exists()
    ballast.unlink()
    assert program.events(session)[: len(events)] == events
    longer = program.scenario(asks_for(CANARY), says("Done."), says("Here."))
    after = program.run("--resume", session, "-p", "again", "-m", longer)
    assert (after.code, after.out) == (0, "Here.\n")


def test_a_disk_that_fills_up_in_a_turn_is_named_in_the_terminal_and_nothing_spins_on(
    program: Program, small_disk: Path
):
    long = [{"text": "word "}, {"pause_ms": 20}] * 40
    model = program.scenario({"chunks": long}, says("never"))
    with Terminal(program, "-m", model, size=(100, 30)) as terminal:
        terminal.until("Ask something about this folder")
        terminal.type("go\r")
        terminal.until("word word")
        fill(small_disk / "ballast")
        terminal.until("is full")
        terminal.until_true(lambda: "Esc to cancel" not in terminal.shown, "it still says that something runs")


def fill(path: Path) -> None:
    """Takes what space there is."""
    with path.open("wb", buffering=0) as file:
        for size in (4096, 512, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue


# --- what was stored is damaged ---


def make_session(program: Program) -> str:
    assert run(program).code == 0
    (program.folder / "canary").unlink()
    return program.sessions()[0]


def change(program: Program, sql: str) -> None:
    db = sqlite3.connect(program.home / "assent.db")
    db.execute(sql)
    db.commit()
    db.close()


@pytest.mark.spec("F11")
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE events SET data = '{\"type\":\"call.sta' WHERE type = 'call.started'",
        'UPDATE events SET data = \'{"type":"never.heard"}\' WHERE seq = 3',
        "DELETE FROM events WHERE type = 'call.requested'",
        "DELETE FROM events WHERE type = 'prompt.submitted'",
        "UPDATE events SET v = 99 WHERE seq = 4",
        "DELETE FROM events WHERE seq = 1",
        "DELETE FROM events WHERE type = 'turn.finished'",
        "UPDATE events SET data = replace(data, 'call.started', 'approval.answered') WHERE type = 'call.started'",
    ],
)
def test_damage_in_the_middle_of_a_session_is_reported_and_never_a_shorter_story(program: Program, sql: str):
    session = make_session(program)
    change(program, sql)
    for command in (["answer", session, "run", "yes"], ["sessions", "fork", session]):
        ended = program.run(*command)
        assert (ended.code, ended.out) == (74, "")
        assert f"session {session}" in ended.err
        assert "Traceback" not in ended.err
    ended = run(program, "--resume", session)
    check_refused(program, ended, f"session {session}")


@pytest.mark.spec("F11")
@pytest.mark.parametrize("event", ["prompt.submitted", "model.message", "call.requested", "call.started"])
@pytest.mark.parametrize(
    "damage", ["UPDATE events SET data = '{\"ty'", "UPDATE events SET v = 99", "DELETE FROM events"]
)
def test_an_event_that_cannot_be_read_hides_none_of_the_others(program: Program, event: str, damage: str):
    session = make_session(program)
    whole = [json.loads(line) for line in program.run("sessions", "export", session).out.splitlines()]
    change(program, f"{damage} WHERE type = '{event}'")
    lost = {line["seq"] for line in whole if line["type"] == event}
    exported = program.run("sessions", "export", session)
    lines = [json.loads(line) for line in exported.out.splitlines()]
    assert [line for line in lines if line["type"] != "unreadable"] == [
        line for line in whole if line["seq"] not in lost
    ]
    assert {line["seq"] for line in lines if line["type"] == "unreadable"} == lost
    shown = program.run("sessions", "show", session)
    assert all(f"event {seq} cannot be read" in shown.out for seq in lost)
    assert "completed" in shown.out
    for ended in (exported, shown):
        assert ended.code == 74
        assert f"of session {session} cannot be read" in ended.err
        assert "Traceback" not in ended.err
    assert session in program.run("sessions", "list").out


@pytest.mark.spec("F11")
def test_a_damaged_page_of_the_file_hides_only_what_is_on_it(program: Program):
    long = program.scenario(*(asks_for(shell(f"echo {'x' * 3000} {n}", f"c{n}")) for n in range(30)), says("The end."))
    assert program.run("-p", "the beginning", "-m", long, "--approval-mode", "yolo").code == 0
    change(program, "VACUUM")
    path = program.home / "assent.db"
    data = path.read_bytes()
    middle = data.index(b"x" * 200, len(data) // 2) // 4096 * 4096
    with path.open("r+b") as file:
        file.seek(middle)
        file.write(b"\xff" * 4096)
    shown = program.run("sessions", "show")
    assert shown.code == 74
    assert "the beginning" in shown.out and "The end." in shown.out
    assert "Traceback" not in shown.err


@pytest.mark.spec("F11")
@pytest.mark.parametrize("state", ["clean", "killed", "older layout"])
@pytest.mark.parametrize("disk", ["full", "read-only"])
def test_what_is_stored_can_be_read_where_nothing_can_be_written(
    program: Program, small_disk: Path, disk: str, state: str
):
    session = make_session(program)
    expected = program.run("sessions", "export", session).out
    spoil_state(program, state)
    before = sorted(path.name for path in small_disk.iterdir())
    if disk == "full":
        fill(small_disk / "ballast")
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        exported = program.run("sessions", "export", session)
        assert (exported.code, exported.out, exported.err) == (0, expected, "")
        assert session in program.run("sessions", "list").out
        shown = program.run("sessions", "show", session)
        assert (shown.code, shown.err) == (0, "")
        assert "Done." in shown.out
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert {path.name for path in small_disk.iterdir()} - {"ballast"} >= set(before)


def spoil_state(program: Program, state: str) -> None:
    """As a process that ended well leaves the log, one that was killed, or an earlier version."""
    path = program.home / "assent.db"
    match state:
        case "killed":
            db = sqlite3.connect(path, isolation_level=None)
            db.execute("UPDATE sessions SET held = 1 - held")
            copies = {name: (program.home / name).read_bytes() for name in ("assent.db", "assent.db-wal")}
            db.close()
            for name, data in copies.items():
                (program.home / name).write_bytes(data)
        case "older layout":
            take_back_to(path, 3)
        case _:
            pass


@pytest.mark.spec("F11")
def test_reading_commands_make_no_folder(program: Program):
    ended = program.run("sessions", "list")
    assert (ended.code, ended.err) == (0, "")
    assert not program.home.exists()


def test_settings_that_cannot_be_written_are_named_without_a_trace(program: Program, small_disk: Path):
    (program.folder / "AGENTS.md").write_text("Be kind.")
    program.env["XDG_CONFIG_HOME"] = str(small_disk)
    program.env["ASSENT_HOME"] = str(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        for command in (["mcp", "add", "notes", "--", "cat"], ["trust", "--yes"]):
            ended = program.run(*command)
            assert ended.code == 74, ended
            assert "Read-only file system" in ended.err and str(small_disk) in ended.err
            assert "Traceback" not in ended.err
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)


@pytest.mark.spec("F11")
def test_a_damaged_file_is_reported(program: Program):
    make_session(program)
    path = program.home / "assent.db"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    check_refused(program, run(program), "is damaged")


@pytest.mark.spec("F11")
def test_damage_of_one_session_leaves_the_others_alone(program: Program):
    first, second = make_session(program), None
    change(program, "DELETE FROM events WHERE type = 'call.requested'")
    assert run(program).code == 0
    second = next(session for session in program.sessions() if session != first)
    assert program.run("sessions", "show", second).code == 0
    assert program.run("sessions", "show", first).code == 74
    assert len(program.run("sessions", "list").out.splitlines()) == 2


@pytest.mark.parametrize(
    "args", [("-p", "hi"), ("serve", "--port", "0"), ("undo", "latest"), ("mcp", "list"), ("trust",)]
)
def test_in_a_folder_that_no_longer_exists_one_is_told_to_change_to_another(program: Program, args: tuple[str, ...]):
    gone = program.folder.parent / "gone"
    gone.mkdir()
    ended = program.run(*args, prefix=("sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh"), cwd=gone)
    assert ended.code == 42
    assert ended.err.startswith("assent: the folder you are in no longer exists; change to another one")
