"""The tour's sample project: a copy in a temporary folder, the script that the model plays, and what to try next."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from assent.app.style import Style

HERE = Path(__file__).parent
SCENARIO = HERE / "scenario.json"
PROMPT = "A test of this project fails. Find out why, fix it, and show me that it works."


def make_project() -> tuple[Path, Path]:
    """The temporary folder, and the project in it."""
    scratch = Path(tempfile.mkdtemp(prefix="assent-tour-"))
    project = scratch / "cart"
    shutil.copytree(HERE / "sample", project, ignore=shutil.ignore_patterns("__pycache__"))
    return scratch, project


def next_steps(scratch: Path, style: Style) -> list[str]:
    return [
        style.dim("That was the tour. Everything that happened is in the log:"),
        f"  ASSENT_HOME={scratch / 'home'} {_program()} sessions show",
        style.dim("With an API key, you can do the same on your own project:"),
        f"  export GEMINI_API_KEY=…; {_program()}",
    ]


def _program() -> str:
    """How this program was started, so that the lines above can be copied."""
    name = sys.argv[0]
    if name.endswith("__main__.py"):
        return "python -m assent"
    found = shutil.which("assent")
    if os.sep not in name or not os.path.exists(name) or (found and os.path.samefile(found, name)):
        return "assent"
    near = os.path.relpath(name)
    return os.path.abspath(name) if near.startswith("..") else near
