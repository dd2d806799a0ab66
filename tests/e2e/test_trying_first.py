"""A command is tried first, from another terminal; and Assent is killed while it tries or applies."""

import os
import sys
from pathlib import Path

import pytest

from assent.sandbox.bubblewrap import bubblewrap
from support.program import Json, Program, Running, asks_for, says, shell
from support.terminal import Terminal

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
CHANGES = "sed -i s/hi/ho/ a.txt; echo b > b.txt; rm c.txt"


def start(program: Program, command: str = CHANGES, env: dict[str, str] | None = None) -> tuple[Running, str]:
    """A run that waits for an answer about the command."""
    (program.folder / "a.txt").write_text("hi\n")
    (program.folder / "c.txt").write_text("c\n")
    model = program.scenario(asks_for(shell(command)), says("Done."))
    running = program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json", env=env)
    return running, running.until_type("approval.requested")["session"]


def tried(program: Program, running: Running, session: str) -> Json:
    """The question after the trial."""
    answered = program.run("answer", session, "run", "try")
    assert answered.code == 0, answered.err
    return running.until_type("approval.requested")["approval"]


def tree(program: Program) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(program.folder.iterdir())}


def trials(program: Program) -> list[str]:
    folder = program.home / "trials"
    return sorted(os.listdir(folder)) if folder.exists() else []


BEFORE = {"a.txt": "hi\n", "c.txt": "c\n"}
AFTER = {"a.txt": "ho\n", "b.txt": "b\n"}


def test_a_command_is_tried_and_what_it_did_is_applied(program: Program):
    running, session = start(program)
    with running:
        approval = tried(program, running, session)
        assert [effect["path"] for effect in approval["details"]["trial"]["effects"]] == ["a.txt", "b.txt", "c.txt"]
        assert tree(program) == BEFORE
        answered = program.run("answer", session, "run", "apply")
        ended = running.wait()
    assert (answered.code, ended.result["status"], tree(program)) == (0, "success", AFTER)
    assert "-hi" in answered.err and "+ho" in answered.err
    undone = program.run("undo", session)
    assert (undone.code, tree(program)) == (0, BEFORE), undone.err


def test_parts_are_left_out_by_number(program: Program):
    running, session = start(program)
    with running:
        tried(program, running, session)
        assert program.run("answer", session, "run", "apply", "--without", "2").code == 0
        running.wait()
    assert tree(program) == AFTER | {"c.txt": "c\n"}


def test_a_discarded_trial_leaves_nothing(program: Program):
    running, session = start(program)
    with running:
        tried(program, running, session)
        assert program.run("answer", session, "run", "discard").code == 0
        running.wait()
    assert (tree(program), trials(program)) == (BEFORE, [])


@pytest.mark.parametrize("word", ["apply", "direct", "discard"])
def test_what_was_not_tried_cannot_be_applied(program: Program, word: str):
    running, session = start(program)
    with running:
        refused = program.run("answer", session, "run", word)
        assert refused.code != 0
        assert f"`{word}` is for a command that was tried" in refused.err
        assert program.events_of_type("approval.answered", session) == []
    assert tree(program) == BEFORE


def test_assent_killed_during_a_trial_leaves_the_question_and_nothing_else(program: Program):
    running, session = start(program, "echo b > b.txt; rm c.txt; echo ready; sleep 1000")
    with running:
        assert program.run("answer", session, "run", "try").code == 0
        running.until(lambda event: event["type"] == "call.output" and "ready" in event["text"])
        running.kill()
    assert tree(program) == BEFORE and len(trials(program)) == 1
    again = program.start("--resume", session, "--ask", "wait", "-o", "stream-json")
    with again:
        approval = again.until_type("approval.requested")["approval"]
        assert "stopped while it was being tried" in approval["why"] and "trial" not in approval["details"]
        assert (tree(program), trials(program)) == (BEFORE, [])


RENAMES = 'python3 -c \'import os; os.rename("d", "e")\''
"""An overlay refuses that, so it is tried again in a copy."""


@pytest.mark.parametrize("moment", ["trial prepared", "trial overlaid", "trial copied", "trial read", "trial kept"])
def test_assent_killed_at_any_point_of_a_trial_leaves_the_question_and_nothing_else(
    program: Program, tmp_path: Path, moment: str
):
    (program.folder / "d").mkdir()
    (program.folder / "d/x").write_text("x\n")
    env = {"ASSENT_FAILPOINTS": str(tmp_path / "trace"), "ASSENT_FAILPOINT_KILL": moment}
    running, session = start(program, RENAMES, env=env)
    with running:
        program.run("answer", session, "run", "try")
        assert running.wait().code == -9
    assert sorted(path.name for path in program.folder.rglob("*")) == ["a.txt", "c.txt", "d", "x"]
    again = program.start("--resume", session, "--ask", "wait", "-o", "stream-json")
    with again:
        assert "trial" not in again.until_type("approval.requested")["approval"]["details"]
        assert trials(program) == []


def test_a_folder_renamed_in_a_copy_is_applied_and_undone(program: Program):
    (program.folder / "d").mkdir()
    (program.folder / "d/x").write_text("x\n")
    running, session = start(program, RENAMES)
    with running:
        approval = tried(program, running, session)
        effects = {one["path"]: one["what"] for one in approval["details"]["trial"]["effects"]}
        assert effects == {"d/x": "deleted", "e/x": "added"}
        assert program.run("answer", session, "run", "apply").code == 0
        running.wait()
    assert (program.folder / "e/x").read_text() == "x\n" and not (program.folder / "d").exists()
    assert program.run("undo", session).code == 0
    assert (program.folder / "d/x").read_text() == "x\n" and not (program.folder / "e").exists()


@pytest.mark.parametrize(
    ("moment", "known"),
    [
        ("effects kept", "None of the effects of its trial were applied."),
        ("effect 1 applied", "only in part. Applied: c.txt. Not applied: a.txt, b.txt."),
        ("effect 2 applied", "only in part. Applied: a.txt, c.txt. Not applied: b.txt."),
        ("effect 3 applied", "All effects of its trial were applied."),
        ("effect done", "All effects of its trial were applied."),
    ],
)
def test_assent_killed_while_it_applies_knows_afterwards_what_was_applied(
    program: Program, tmp_path: Path, moment: str, known: str
):
    env = {"ASSENT_FAILPOINTS": str(tmp_path / "trace"), "ASSENT_FAILPOINT_KILL": moment}
    running, session = start(program, env=env)
    with running:
        tried(program, running, session)
        program.run("answer", session, "run", "apply")
        assert running.wait().code == -9
    program.run("--resume", session, "--ask", "refuse")
    (finished,) = program.events_of_type("call.finished", session)
    assert finished["failure"]["type"] == "interrupted" and known in finished["failure"]["message"]
    undone = program.run("undo", session)
    assert tree(program) == BEFORE, undone.err


def test_in_the_terminal_t_tries_and_y_applies(program: Program):
    (program.folder / "a.txt").write_text("hi\n")
    model = program.scenario(asks_for(shell("sed -i s/hi/ho/ a.txt; echo x > b.txt")), says("All done."))
    with Terminal(program, "-m", model, size=(100, 40)) as terminal:
        terminal.until("Ask something about this folder")
        terminal.type("go")
        terminal.until("> go")
        terminal.type("\r")
        terminal.until("t  try it first")
        terminal.decide("t", "Apply what it did: 1 file added, 1 file changed")
        terminal.until("y  apply this")
        assert (program.folder / "a.txt").read_text() == "hi\n"
        terminal.type(" ")  # leaves out the first part
        terminal.until("y  apply these parts")
        terminal.decide("y", "All done.")
    assert tree(program) == {"a.txt": "hi\n", "b.txt": "x\n"}


def test_a_prompt_on_a_terminal_tries_and_applies(program: Program):
    (program.folder / "a.txt").write_text("hi\n")
    model = program.scenario(asks_for(shell("sed -i s/hi/ho/ a.txt")), says("Done."))
    with Terminal(program, "-p", "go", "-m", model) as terminal:
        assert "t  try it first" in terminal.until("n]:")
        terminal.answer("t")
        shown = terminal.until("y  apply this")
        assert "  -hi\n  +ho" in shown
        terminal.until("n]:", 2)
        terminal.answer("y")
        assert terminal.wait() == 0
    assert tree(program) == {"a.txt": "ho\n"}


def test_auto_try_asks_about_what_a_command_did(program: Program):
    model = program.scenario(asks_for(shell("echo x > b.txt")), says("Done."))
    with Terminal(program, "-p", "go", "-m", model, "--approval-mode", "auto_try") as terminal:
        shown = terminal.until("n]:")
        assert "Apply what it did: 1 file added" in shown and "+x" in shown
        terminal.answer("y")
        assert terminal.wait() == 0
    assert tree(program) == {"b.txt": "x\n"}
