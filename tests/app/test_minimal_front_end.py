"""The example front end: a real process with a real session, and nothing imported below the application layer."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from support.program import asks_for, says, write

EXAMPLE = Path(__file__).parents[2] / "examples" / "minimal_front_end.py"
ANSWERS = [("y\n", "success", True), ("\n", "cancelled", False), ("", "cancelled", False)]
GROUND = {"approval", "commands", "config", "events", "parts", "screen"}


@pytest.mark.parametrize(("answer", "status", "written"), ANSWERS)
def test_it_asks_before_a_file_is_written_and_prints_what_came_of_it(
    tmp_path: Path, answer: str, status: str, written: bool
) -> None:
    scenario, folder = tmp_path / "scenario.json", tmp_path / "project"
    scenario.write_bytes(msgspec.json.encode({"replies": [asks_for(write("a.txt", "hello\n")), says("Done.")]}))
    folder.mkdir()
    ended = subprocess.run(
        [sys.executable, str(EXAMPLE), "write it", f"scripted:{scenario}"],
        input=answer,
        capture_output=True,
        text=True,
        cwd=folder,
        env={"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        check=True,
        timeout=60,
    )
    assert f"? Create {folder}/a.txt" in ended.stdout and f": {status}" in ended.stdout
    assert (folder / "a.txt").exists() == written


def test_it_imports_the_application_layer_and_plain_data_only() -> None:
    tree = ast.parse(EXAMPLE.read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    layers = {module.split(".")[1] for module in imported if module.startswith("assent.")}
    assert layers - {"app"} <= GROUND
