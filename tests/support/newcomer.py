"""Follows a how-to page: takes its code blocks and applies them to a copy of the source."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import assent
from support.program import Ended

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120.0
"""A whole pytest run takes two; a busy machine may need many times that."""
_BLOCK = re.compile(r"^```(python|diff)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DATA = re.compile(r"Save this as `(\S+)`:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Newcomer:
    """`folder` is their copy of the project, as far as the page needs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = Path(assent.__file__).parent
        shutil.copytree(package, folder / "src/assent")  # including compiled files
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "ASSENT_HOME": str(folder / "home"),
            "PYTHONPATH": str(folder / "src"),
        }

    def follows(self, page: str) -> None:
        """A block begins with the name of its file; one marked `diff` adds lines below existing lines."""
        text = (ROOT / "docs/howto" / page).read_text(encoding="utf-8")
        for kind, name, body in _BLOCK.findall(text):
            path = self.folder / name
            if kind == "diff":
                path.write_text(_added(path.read_text(), body))
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(body)
        for name, _, body in _DATA.findall(text):
            (self.folder / name).write_text(body)

    def runs(self, *words: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def declares_tools(self) -> None:
        shutil.copy(ROOT / "scripts/declare_tools.py", self.folder)
        assert self.runs("declare_tools").code == 0

    def tests(self, path: str) -> Ended:
        return self.runs("pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", path)


def _added(text: str, changes: str) -> str:
    """Lines with a leading space are searched for; those with a plus go below the previous one."""
    place = 0
    for line in changes.splitlines(keepends=True):
        if line[0] == "+":
            text = text[:place] + line[1:] + text[place:]
            place += len(line) - 1
        else:
            assert text.count(line[1:]) == 1, f"the page changes a line that is not there: {line[1:]!r}"
            place = text.index(line[1:]) + len(line) - 1
    return text
