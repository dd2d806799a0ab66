"""Makes docs/tour.svg: plays the tour in a real pseudo-terminal, answers as a person would, draws what was shown."""

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = [b"a\n", b"y\n"]
COLUMNS = 100
LINES = 40
"""The picture shows the part around the diff, not the whole tour."""


def play() -> str:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(COLUMNS=str(COLUMNS), TERM="xterm-256color")
        program = str(Path(sys.executable).with_name("assent"))
        os.execv(program, [program, "tour"])
    answers, seen, asked = iter(ANSWERS), b"", 0
    while chunk := read(terminal):
        seen += chunk
        if seen.count(b"your answer") > asked:
            asked += 1
            os.write(terminal, next(answers, b"n\n"))
    os.waitpid(pid, 0)
    return seen.decode()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the program has ended
        return b""


def main() -> None:
    text = re.sub(r"/tmp/assent-tour-\w+", "/tmp/tour", play()).replace("\r\n", "\n")
    start = text.index("? Change") if "? Change" in text else 0
    for _ in range(3):  # and the sentence before it
        start = text.rindex("\n", 0, start)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    shown = Text.from_ansi("\n".join(text[start + 1 :].splitlines()[:LINES]))
    console.print(shown)
    (ROOT / "docs" / "tour.svg").write_text(console.export_svg(title="assent tour"), encoding="utf-8")


if __name__ == "__main__":
    main()
