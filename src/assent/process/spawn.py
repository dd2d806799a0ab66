"""Starting one program in a session of its own, and hearing when it has ended. What is said to it is not known here."""

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

from assent.process.family import MARKER, nested_mark


def spawn(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    mark: str,
    *,
    output: int,
    errors: int | None = None,
    input: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    """Errors go where the output goes, unless told otherwise. Our own input may be a protocol: nobody gets it."""
    marked = {**env, MARKER: nested_mark(mark, os.environ.get(MARKER))}
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=marked,
        stdin=input,
        stdout=output,
        stderr=output if errors is None else errors,
        start_new_session=True,
    )


class ExitNotice:
    """Calls `tell` in the loop when the process has ended: by its descriptor, or else by a thread."""

    def __init__(self, process: "subprocess.Popen[bytes]", tell: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self._fd = -1
        self._closed = False
        try:
            self._fd = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait, args=(process,), daemon=True).start()
        else:
            self._loop.add_reader(self._fd, self._ended)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is gone
            self._loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        if not self._closed:
            self.close()
            self._tell()

    def close(self) -> None:
        self._closed = True
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
