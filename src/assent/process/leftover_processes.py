"""Finds what an earlier Assent process was running, by its mark, and makes sure that it is gone.

Usually its reaper is already doing that: it waits for Assent's death. The reaper can be found by the address that it
holds (`reaper.NAME`). If it was killed too, the mark in the environment of the remaining processes is left.
"""

import asyncio
import os
import select
import signal
import socket
import struct
from contextlib import suppress
from typing import Self

from assent.process import process_table
from assent.process.ancestry import MARKER, TITLE
from assent.process.reaper import KILL_DELAY, NAME

END_TIMEOUT = 5.0
_LOOK_AGAIN = 0.02


async def end_leftovers(mark: str, max_wait: float = END_TIMEOUT) -> tuple[int, ...]:
    """Returns when nothing is left, or with those that could not be ended within this many seconds."""
    with _MarkHolder(mark) as holder:
        return await _end(mark, holder, max_wait)


async def _end(mark: str, holder: "_MarkHolder", max_wait: float) -> tuple[int, ...]:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while (living := await asyncio.to_thread(_living, mark, holder)) or holder.is_there():
        passed = loop.time() - begun
        if passed > max_wait:
            break
        if not holder.is_there() or passed > KILL_DELAY + 1:
            _send(living, signal.SIGKILL)
        await asyncio.sleep(_LOOK_AGAIN)
    return tuple(living)


def _living(mark: str, holder: "_MarkHolder") -> list[int]:
    me = os.getpid()
    below = process_table.below(holder.pid) if holder.is_there() else []
    sign = mark.encode()
    marked = [pid for pid in process_table.all_pids() if sign in _mark_of(pid)]
    return sorted(pid for pid in {*below, *marked} if pid != me and _lives(pid))


def _lives(pid: int) -> bool:
    fields = process_table.line(pid)
    return fields is not None and not process_table.is_dead(fields)


def _mark_of(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            variables = file.read(1 << 20).split(b"\0")
    except OSError:
        return b""
    return next((one for one in variables if one.startswith(MARKER.encode() + b"=")), b"")


class _MarkHolder:
    """The reaper that holds the address of a mark, as long as it does: afterwards the process id may be someone
    else's.
    """

    def __init__(self, mark: str) -> None:
        self._asking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._asking.setblocking(False)
        self._looking = select.poll()
        self._looking.register(self._asking.fileno(), 0)
        self.pid = 0
        with suppress(OSError, AttributeError):
            self._asking.connect(NAME + mark.encode())
            pid, user, _ = struct.unpack("3i", self._asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            self.pid = pid if user == os.getuid() and process_table.words(pid)[-1:] == [TITLE.encode()] else 0

    def is_there(self) -> bool:
        """It accepts nobody; when it releases the address, the connection breaks."""
        return self.pid > 0 and not self._looking.poll(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._asking.close()


def _send(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
