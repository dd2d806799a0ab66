"""The agent does not answer its own questions: what Assent runs may not call what only a person may."""

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from assent import exit_codes
from assent.cli import COMMANDS
from assent.cli.child_guard import refusal
from support.processes import helper_env
from support.program import Program, asks_for, says, shell
from support.waiting import WAIT_LIMIT

WAITING = ("--ask", "wait", "-o", "stream-json")
REFUSED = "only you may do this"
DAEMON = """
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 256)
os.open("/dev/null", os.O_RDONLY)
os.dup2(os.open("answer", os.O_CREAT | os.O_WRONLY), 1)
os.dup2(1, 2)
os.execve(sys.argv[1], sys.argv[1:], {"ASSENT_HOME": os.environ["ASSENT_HOME"], "PYTHONPATH": os.environ["PYTHONPATH"]})
"""
WAYS = {
    "plainly": "{answer}",
    "without our variables": "env -u ASSENT -u ASSENT_RUN {answer}",
    "in a session": "env -u ASSENT_RUN setsid -w {answer}",
    "without a hangup": "env -u ASSENT_RUN nohup {answer} > answer 2>&1; cat answer",
    "as a daemon": "env -u ASSENT_RUN {python} -S daemon.py {answer}; until [ -s answer ]; do sleep 0.02; done; "
    "cat answer",
    "on a terminal": "env -u ASSENT_RUN script -qec {quoted} /dev/null",
}


@pytest.mark.spec("I2")
@pytest.mark.parametrize("way", WAYS)
def test_a_child_cannot_answer_a_question_whatever_it_takes_off(program: Program, way: str):
    (program.folder / "daemon.py").write_text(DAEMON)
    waiting = program.scenario(asks_for(shell("touch canary")), says("Done."), name="waiting")
    with program.start("-p", "go", "-m", waiting, *WAITING) as asked:
        session = asked.until_type("approval.requested")["session"]
        answer = shlex.join([*program.command("answer", session, "run", "yes")])
        command = WAYS[way].format(answer=answer, python=sys.executable, quoted=shlex.quote(answer))
        child = program.scenario(asks_for(shell(command, "try")), says("Tried."), name="child")
        ended = program.run("-p", "go", "-m", child, "--approval-mode", "yolo", "-o", "stream-json")
        (finished,) = ended.of_type("call.finished")
        assert REFUSED in finished["display"]["text"]
        assert not (program.folder / "canary").exists()
        assert program.run("answer", session, "run", "yes").out == "Answered.\n", "the person's own terminal"
        assert asked.wait().code == 0
    assert (program.folder / "canary").exists()


def as_child(program: Program, *args: str, prefix: str = "") -> tuple[int, str]:
    """What a command of the agent that calls Assent gets: the exit code, and what it prints."""
    command = f"{prefix} {shlex.join(program.command(*args))} < /dev/null; echo code=$?"
    model = program.scenario(asks_for(shell(command, "try")), says("Tried."), name="child")
    ended = program.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    text = ended.of_type("call.finished")[0]["display"]["text"]
    return int(text.rpartition("code=")[2]), text


@pytest.mark.spec("I2")
@pytest.mark.parametrize(
    "args",
    [
        ["undo", "latest"],
        ["trust", "--yes", "."],
        ["trust", "--forget"],
        ["mcp", "add", "x", "--", "true"],
        ["mcp", "remove", "x"],
        ["mcp", "accept", "x"],
        ["policy", "revoke", "s", "g"],
        ["serve", "--port", "0"],
        ["serve", "token", "add", "me", "--role", "operator"],
        ["attach"],
        ["tour"],
        ["sessions", "fork", "latest"],
        ["sessions", "export", "latest", "--unmasked"],
        ["--resume", "latest"],
        ["-p", "x", "--approval-mode", "yolo"],
        ["-p", "x", "--approval-mode=auto_edit"],
        ["-p", "x", "--allowed-tools", "run_shell_command"],
        ["-p", "x", "--ask", "wait"],
    ],
    ids=" ".join,
)
def test_a_child_cannot_call_what_widens_or_answers(program: Program, args: list[str]):
    code, text = as_child(program, *args, prefix="env -u ASSENT -u ASSENT_RUN")
    assert (code, REFUSED in text) == (exit_codes.INSIDE, True)


def test_a_child_may_read_and_ask_a_model_that_nobody_answers(program: Program):
    assert as_child(program, "sessions", "list")[0] == 0
    assert as_child(program, "policy", "explain", "--", "ls")[0] == 0
    assert as_child(program, "answer", "--help")[0] == 0
    inner = program.scenario(asks_for(shell("touch canary")), says("It was refused."), name="inner")
    code, text = as_child(program, "-p", "x", "-m", inner)
    assert (code, "It was refused." in text) == (0, True)
    assert not (program.folder / "canary").exists()


def test_the_settings_of_a_child_do_not_widen_its_mode(program: Program):
    program.home.mkdir()
    (program.home / "settings.toml").write_text('approval_mode = "auto_edit"\n')
    assert as_child(program, "-p", "x")[0] == exit_codes.INSIDE
    assert as_child(program, "-p", "x", "--approval-mode", "plan", "-m", program.scenario(says("ok")))[0] == 0


def test_a_command_that_nobody_listed_is_refused():
    listed = {"sessions", "policy", "mcp", "sandbox", "audit"}
    assert {name for name in COMMANDS if refusal([name]) is None} == listed
    assert refusal(["mcp", "add", "x", "--", "true", "--help"]) is not None


@pytest.mark.spec("I2")
@pytest.mark.skipif(os.getuid() != 0, reason="becomes someone without privileges")
def test_one_without_privileges_who_kills_supervisor_and_reaper_is_still_known(tmp_path: Path):
    """Neither variables nor ancestors are left, only the limits; raising them is refused."""
    out = tmp_path / "out"
    argv = [sys.executable, "-m", "support.orphaned_child", "start", str(out)]
    subprocess.run(argv, env=helper_env(), check=True, timeout=WAIT_LIMIT)
    assert out.read_text() == "True\n"


def test_a_person_is_no_child(tmp_path: Path):
    """Also on a terminal, with anything in the environment but the mark."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    code = (
        f"import sys; sys.path.insert(0, {source!r}); from assent.process.ancestry import is_inside; print(is_inside())"
    )
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=theirs, capture_output=True, env={"ASSENT": "1"}, text=True, check=True
    )
    os.close(ours)
    os.close(theirs)
    assert done.stdout == "False\n"
