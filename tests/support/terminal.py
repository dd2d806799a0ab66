"""A terminal with a person in front of it: a real pseudo-terminal, what it shows, and keys to press.

Nothing sleeps: `until` reads the program's output until the screen shows a text.
"""

import fcntl
import os
import select
import signal
import subprocess
import termios
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

import pyte

from support.program import Program
from support.waiting import WAIT_LIMIT

COLUMNS, ROWS = 250, 200
"""So large that nothing scrolls away and hardly a line is wrapped."""
QUIET = 0.9
"""Seconds without a key after which a key counts, with a little to spare."""
TOO_SOON = "Wait a moment, then press"
"""In the hint about a key that does not count."""
MAX_PIECES = 64
"""Pieces of output before the screen is checked again: a program may print endlessly."""


class Terminal:
    def __init__(
        self,
        program: Program,
        *args: str,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (COLUMNS, ROWS),
    ) -> None:
        """Start the program with this as its controlling terminal, as a shell does."""
        self._master, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (size[1], size[0]))
        self._screen: Any = _Screen(*size)
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
        return "\n".join(self._screen.rows()).rstrip()

    @property
    def title(self) -> str:
        """As set by the program."""
        return self._screen.title

    @property
    def modes(self) -> list[Any]:
        """Echo, line editing and so on, as the terminal is set."""
        return termios.tcgetattr(self._master)

    def until(self, text: str, count: int = 1) -> str:
        """Read until the text is on the screen this many times."""
        self.until_true(lambda: self.shown.count(text) >= count, f"{text!r} did not appear")
        return self.shown

    def until_any(self, *texts: str) -> str:
        """Read until one of the texts is on the screen."""
        self.until_true(lambda: any(text in self.shown for text in texts), f"none of {texts} appeared")
        return self.shown

    def until_true(self, condition: Callable[[], object], problem: str) -> None:
        """Read until the condition holds."""
        deadline = time.monotonic() + WAIT_LIMIT
        while not condition():
            assert self._read(deadline), f"{problem}:\n{self.shown}"

    def until_silent(self, condition: Callable[[], object], problem: str) -> None:
        """Like `until_true`, if the program may print nothing meanwhile."""
        deadline = time.monotonic() + WAIT_LIMIT
        while not condition():
            assert time.monotonic() < deadline, f"{problem}:\n{self.shown}"
            self.read_for(0.05)

    def read_for(self, seconds: float) -> None:
        """Read what is printed in that time: what a waiting person sees."""
        deadline = time.monotonic() + seconds
        while select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))[0]:
            if not self._read(deadline + WAIT_LIMIT):
                return

    def resize(self, columns: int, rows: int) -> None:
        """Like dragging the window's edge."""
        self._screen.resize(rows, columns)
        termios.tcsetwinsize(self._master, (rows, columns))

    def type(self, keys: str) -> None:
        """The terminal itself echoes typed keys, so that the screen shows when they have arrived."""
        os.write(self._master, keys.encode())

    def press(self, key: str) -> None:
        """One deliberate key, after a pause."""
        self.read_for(QUIET)
        self._screen.drawn.clear()
        self.type(key)

    def decide(self, key: str, result: str, count: int = 1) -> None:
        """Answer with a key, again whenever the program says that it came too soon, until the result is shown."""
        self.press(key)
        while self._too_soon_for(result, count):
            self.until_true(lambda: TOO_SOON not in self.shown, "the hint stays")
            self.press(key)

    def _too_soon_for(self, result: str, count: int) -> bool:
        """The hint goes by itself: a test that was held up may read only that it was there."""
        has_result = lambda: self.shown.count(result) >= count  # noqa: E731
        self.until_true(lambda: has_result() or self._screen.has_drawn(TOO_SOON), f"{result!r} did not appear")
        return not has_result()

    def answer(self, line: str) -> None:
        self.type(f"{line}\n")

    def interrupt(self) -> None:
        self.type("\x03")

    def quit(self) -> None:
        """Ctrl-D, twice in case something is running; at once, because later the second might not count."""
        self.type("\x04\x04")

    def wait(self) -> int:
        """Read everything that is still printed; return the exit code."""
        deadline = time.monotonic() + WAIT_LIMIT
        while self._read(deadline):
            pass
        return self.process.wait(WAIT_LIMIT)

    def close(self) -> None:
        """Hang up, like closing the window."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more was printed in time:\n{self.shown}")
        data = self._read_all()
        self._stream.feed(data)
        return bool(data)

    def _read_all(self) -> bytes:
        """Everything available now: a terminal returns it in small pieces."""
        pieces: list[bytes] = []
        with suppress(OSError):  # how a terminal reports that the last program has left it
            while piece := os.read(self._master, 65536):
                pieces.append(piece)
                if len(pieces) == MAX_PIECES or not select.select([self._master], [], [], 0)[0]:
                    break
        return b"".join(pieces)


_ALTERNATE_SCREEN = 1049


class _Screen(pyte.Screen):
    """Knows that a private mode or device query is not for drawing, and that the alternate screen begins empty."""

    def __init__(self, columns: int, lines: int) -> None:
        self._rows: list[str] = []
        self.drawn = deque[str](maxlen=10_000)
        """The pieces of text since the newest key, also those that have been replaced."""
        super().__init__(columns, lines)

    def draw(self, data: str) -> None:
        self.drawn.append(data)
        super().draw(data)

    def has_drawn(self, text: str) -> bool:
        return any(text in piece for piece in self.drawn)

    def rows(self) -> list[str]:
        """Without trailing spaces. Only changed lines are joined again, because they are read often."""
        if len(self._rows) != self.lines:
            self._rows, self.dirty = [""] * self.lines, set(range(self.lines))
        for y in self.dirty.intersection(range(self.lines)):  # after a resize, the cursor may be below the last line
            self._rows[y] = self._row(y)
        self.dirty.clear()
        return self._rows

    def _row(self, y: int) -> str:
        line = self.buffer[y]
        return "".join(line[x].data for x in range(min(self.columns, max(line, default=-1) + 1))).rstrip()

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        super().set_mode(*modes, **kwargs)
        self._switch(modes, **kwargs)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        self._switch(modes, **kwargs)

    def _switch(self, modes: tuple[int, ...], private: bool = False) -> None:
        """What the other screen showed is forgotten, so that only what is drawn again is there."""
        if _ALTERNATE_SCREEN in modes and private:
            self.erase_in_display(2)

    def report_device_status(self, mode: int, **_: object) -> None:
        pass

    def select_graphic_rendition(self, *attrs: int, **_: object) -> None:
        super().select_graphic_rendition(*attrs)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
