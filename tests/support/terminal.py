"""A terminal with a person in front of it: a real pseudo-terminal, what it shows, and keys to press.

Nobody sleeps: `until` reads what the program prints until the screen shows a text.
"""

import fcntl
import os
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping
from typing import Any, Self

import pyte

from support.program import PATIENCE, Program

COLUMNS, ROWS = 250, 200
"""So large that nothing scrolls away and hardly a line is broken."""


class Terminal:
    def __init__(self, program: Program, *args: str, env: Mapping[str, str] | None = None) -> None:
        """Starts the program with this as its controlling terminal, as a shell does."""
        self._master, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
        self._screen: Any = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self.process = subprocess.Popen(
            program.command(*args),
            cwd=program.folder,
            env=program.env | dict(env or {}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.close()

    @property
    def shown(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def until(self, text: str, count: int = 1) -> str:
        """Reads on until the text is on the screen so many times."""
        deadline = time.monotonic() + PATIENCE
        while self.shown.count(text) < count:
            assert self._read(deadline), f"{text!r} did not appear:\n{self.shown}"
        return self.shown

    def until_any(self, *texts: str) -> str:
        """Reads on until one of the texts is on the screen."""
        deadline = time.monotonic() + PATIENCE
        while not any(text in self.shown for text in texts):
            assert self._read(deadline), f"none of {texts} appeared:\n{self.shown}"
        return self.shown

    def type(self, keys: str) -> None:
        """Typed keys are echoed by the terminal itself, so that the screen shows when they have arrived."""
        os.write(self._master, keys.encode())

    def answer(self, line: str) -> None:
        self.type(f"{line}\n")

    def interrupt(self) -> None:
        self.type("\x03")

    def wait(self) -> int:
        """Reads all that is still printed; gives the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """Hangs up, as closing the window does."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more was printed in time:\n{self.shown}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how a terminal says that the last program has left it
            return False
        self._stream.feed(data)
        return bool(data)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
