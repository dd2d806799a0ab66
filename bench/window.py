"""A program in a terminal window: what it prints, keys to press, and what it has cost so far."""

import fcntl
import os
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from bench.measure import KEPT, SOURCE

COLUMNS, ROWS = 100, 40
TIMEOUT = 120.0


class Window:
    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._master, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.started_ns = time.monotonic_ns()
        self._process = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env=kept | SOURCE | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | dict(env),
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(theirs)
        self._printed = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def until(self, text: str) -> int:
        """Read until the text has been printed in one piece; return the time, in `time.monotonic_ns()`."""
        wanted, deadline = text.encode(), time.monotonic() + TIMEOUT
        while (at := self._printed.find(wanted)) < 0:
            self._read(deadline - time.monotonic())
        now = time.monotonic_ns()
        self._printed = self._printed[at + len(wanted) :]
        return now

    def until_drawn(self, quiet: float = 0.02) -> None:
        """Wait for the next output, and for its end."""
        self._read(TIMEOUT)
        self.until_quiet(quiet)

    def until_quiet(self, seconds: float = 0.3) -> None:
        """Read until nothing more comes for this long."""
        while select.select([self._master], [], [], seconds)[0]:
            self._read(seconds)
        self._printed = b""

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        termios.tcsetwinsize(self._master, (rows, columns))  # notifies the program

    @property
    def cpu(self) -> float:
        """Seconds of all its threads, without child processes. `stat` would be too coarse: it counts ticks of 10 ms."""
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(one.read_text().split()[0]) for one in threads) / 1e9

    @property
    def megabytes(self) -> float:
        """Resident memory now."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def _read(self, seconds: float) -> None:
        if not select.select([self._master], [], [], max(seconds, 0))[0]:
            raise TimeoutError(f"timed out; last printed: {self._printed[-2000:]!r}")
        try:
            self._printed += os.read(self._master, 1 << 16)
        except OSError as error:  # how a terminal reports that the program has left it
            raise RuntimeError(f"it has ended; last printed: {self._printed[-2000:]!r}") from error


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
