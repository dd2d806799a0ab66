"""`make run MODEL=local` as a person sees it: a real terminal, a real model, one question."""

import os
import re
import sys
from pathlib import Path

import pytest

from support.program import Program
from support.terminal import Terminal

pytestmark = [pytest.mark.timeout(600), pytest.mark.spec("K1")]
SCRIPT = Path(__file__).parents[2] / "scripts" / "try_local_model.py"


class Demo(Program):
    def command(self, *args: str) -> list[str]:
        return [sys.executable, str(SCRIPT)]


def folder_of(terminal: Terminal) -> Path:
    found = re.search(r"Folder\s+(/\S+)", terminal.until("Folder"))
    assert found is not None
    return Path(found[1])


@pytest.mark.parametrize(("answer", "made"), [("y", True), ("n", False)])
def test_the_model_proposes_a_command_that_runs_only_after_a_yes(tmp_path: Path, answer: str, made: bool) -> None:
    demo = Demo(tmp_path)
    demo.env |= {"TMPDIR": str(tmp_path), "GGUF_THREADS": "1"}
    with Terminal(demo) as terminal:
        folder = folder_of(terminal)
        shown = terminal.until("touch made.txt", 2)
        assert "SmolLM2-135M" in shown
        terminal.until("your answer")
        assert not os.path.exists(folder / "made.txt")
        terminal.press(f"{answer}\n")
        terminal.wait()
        assert os.path.exists(folder / "made.txt") == made
