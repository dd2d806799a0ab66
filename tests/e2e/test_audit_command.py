"""`assent audit`: as a person uses it, after sessions that were decided, deleted and killed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from support.program import Json, Program, asks_for, says, shell

pytestmark = pytest.mark.spec("N2")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def run_once(program: Program, *args: str) -> None:
    model = program.scenario(asks_for(shell("touch made.txt")), says("Done."))
    program.run("-p", "go", "-m", model, *args)


def exported(program: Program) -> list[Json]:
    return [line["data"] for line in program.run("audit", "export").lines]


def test_what_ran_and_why_is_listed_shown_exported_and_verified(program: Program):
    run_once(program, "--approval-mode", "yolo")
    found = exported(program)
    assert [one["kind"] for one in found] == ["session.created", "call.allowed"]
    allowed = found[1]
    assert (allowed["tool"], allowed["outcome"], allowed["about"]) == ("run_shell_command", "mode", "touch made.txt")
    assert allowed["digest"] and allowed["session"] == found[0]["session"]
    assert "allowed by mode: run_shell_command touch made.txt" in program.run("audit", "list").out
    assert program.run("audit", "list", "--kind", "login").out == "No records.\n"
    assert allowed["digest"] in program.run("audit", "show", "2").out
    verified = program.run("audit", "verify")
    assert verified.code == 0 and verified.out.startswith("2 records, intact.\nhead: 2:")


def test_verify_finds_a_changed_record_and_an_export_is_verified_by_itself(program: Program, tmp_path: Path):
    run_once(program)
    file = tmp_path / "audit.jsonl"
    file.write_text(program.run("audit", "export").out)
    assert program.run("audit", "verify", str(file)).code == 0
    file.write_text(file.read_text().replace("session.created", "session.deleted", 1))
    ended = program.run("audit", "verify", str(file))
    assert ended.code == 74 and "record 1 was changed" in ended.err and "NOT intact" in ended.out


@pytest.mark.parametrize("data", ["'nonsense'", "7", '\'{"kind":"audit.pruned"}\''])
def test_a_record_that_was_made_unreadable_is_named_and_the_others_are_shown(program: Program, data: str):
    run_once(program, "--approval-mode", "yolo")
    with closing(sqlite3.connect(program.home / "assent.db", isolation_level=None)) as db:
        db.executescript(f"DROP TRIGGER audit_unchanged; UPDATE audit SET data = {data} WHERE id = 2")
    listed = program.run("audit", "list")
    assert listed.code == 0 and "     2  unreadable" in listed.out and "created a session" in listed.out
    assert "unreadable" in program.run("audit", "show", "2").out
    ended = program.run("audit", "verify")
    assert ended.code == 74 and "record 2 was changed" in ended.err and "Traceback" not in ended.err


def test_a_head_that_was_noted_shows_that_an_older_file_was_put_back(program: Program):
    run_once(program)
    older = (program.home / "assent.db").read_bytes()
    run_once(program)
    head = program.run("audit", "verify").out.split("head: ")[1].strip()
    assert program.run("audit", "verify", "--head", head).code == 0
    for file in program.home.glob("assent.db*"):
        file.unlink()
    (program.home / "assent.db").write_bytes(older)
    assert program.run("audit", "verify").code == 0
    ended = program.run("audit", "verify", "--head", head)
    assert ended.code == 74 and "whose head was noted, is missing" in ended.err


def test_pruning_needs_a_setting_and_leaves_what_is_young_enough(program: Program):
    run_once(program)
    assert "keep_days" in program.run("audit", "prune").err
    (program.home / "settings.toml").write_text("[audit]\nkeep_days = 1\n")
    assert program.run("audit", "prune").out == "0 records removed.\n"
    assert program.run("audit", "verify").code == 0


@pytest.mark.parametrize("args", [("show", "x"), ("show", "99"), ("verify", "--head", "1"), ("verify", "/nonexistent")])
def test_what_cannot_be_found_is_said(program: Program, args: tuple[str, ...]):
    ended = program.run("audit", *args)
    assert ended.code in (42, 74) and ended.err.startswith("assent: ") and "Traceback" not in ended.err


def test_without_anything_recorded_it_says_so_and_writes_nothing(program: Program):
    assert program.run("audit").out == "No records.\n"
    assert program.run("audit", "verify").out == "0 records, intact.\n"
    assert not (program.home / "assent.db").exists()


def test_each_line_of_an_export_is_one_record(program: Program):
    run_once(program)
    for line in program.run("audit", "export").out.splitlines():
        assert set(msgspec.json.decode(line)) == {"id", "previous", "hash", "data"}
