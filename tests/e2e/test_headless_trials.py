"""`assent -p` where nobody can be asked, in the mode `auto_try`: the trial decides, if a rule says so."""

import sys

import pytest

from assent.sandbox.bubblewrap import bubblewrap
from support.program import Program, asks_for, says, shell

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
RULE = """
[[rule]]
tool = "run_shell_command"
mode = "auto_try"
without_effects = true
decision = "allow"
"""


def test_a_command_without_effects_runs_and_one_with_effects_is_refused(program: Program):
    program.home.mkdir()
    (program.home / "policy.toml").write_text(RULE)
    commands = ["python3 -c 'print(41 + 1)'", 'python3 -c \'open("new", "w")\'']
    scenario = program.scenario(*(asks_for(shell(command)) for command in commands), says("Done."))
    ended = program.run("-p", "go", "-m", scenario, "--approval-mode", "auto_try", "-o", "stream-json")
    first, second = ended.of_type("call.finished")
    assert first["status"] == "success" and second["status"] == "error"
    assert not (program.folder / "new").exists()
