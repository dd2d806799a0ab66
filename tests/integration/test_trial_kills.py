"""Assent is killed at every fail point from the question to the end of a command that is tried and applied.

Whatever the moment, afterwards the workspace is as before or as shown, or undo restores it.
"""

import sys
from pathlib import Path

import pytest

from assent.sandbox.bubblewrap import bubblewrap
from support.program import Program, Running, asks_for, says, shell

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
COMMAND = 'python3 -c \'import os; os.rename("d", "e")\' && sed -i s/hi/ho/ a.txt && echo new > b.txt'
BEFORE = {"a.txt": "hi\n", "d/x": "x\n"}
AFTER = {"a.txt": "ho\n", "b.txt": "new\n", "e/x": "x\n"}


def tree(program: Program) -> dict[str, str]:
    files = [path for path in program.folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(program.folder)): path.read_text() for path in files}


def start(program: Program, env: dict[str, str]) -> Running:
    for name, text in BEFORE.items():
        (program.folder / name).parent.mkdir(exist_ok=True, parents=True)
        (program.folder / name).write_text(text)
    model = program.scenario(asks_for(shell(COMMAND)), says("Done."))
    return program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json", env=env)


def asks(running: Running) -> str:
    """The session that asks next; empty if the process is gone first."""
    try:
        return str(running.until_type("approval.requested")["session"])
    except AssertionError:
        return ""


def play(program: Program, env: dict[str, str]) -> str:
    """The session, after it has come as far as it can."""
    running = start(program, env)
    with running:
        if session := asks(running):
            program.run("answer", session, "run", "try")
            if asks(running):
                program.run("answer", session, "run", "apply")
        running.wait()
    return session


def test_at_every_fail_point_the_outcome_is_known(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    play(whole := Program(tmp_path / "whole"), {"ASSENT_FAILPOINTS": str(trace)})
    assert tree(whole) == AFTER
    hits = trace.read_text().splitlines()
    wrong: dict[str, object] = {}
    for number in range(hits.index("trial prepared"), len(hits) + 1):
        program = Program(tmp_path / str(number))
        env = {"ASSENT_FAILPOINTS": str(tmp_path / f"trace{number}"), "ASSENT_FAILPOINT_KILL": str(number)}
        session = play(program, env)
        program.run("--resume", session, "--ask", "refuse")
        if (found := tree(program)) not in (BEFORE, AFTER):
            program.run("undo", session)
            found = tree(program)
        if found not in (BEFORE, AFTER):
            wrong[f"{number}: {hits[number - 1]}"] = found
    assert wrong == {}
