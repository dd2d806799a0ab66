"""Finds what an earlier Assent process was running, by its mark, and sees to it that it is gone.

Usually its reaper is already at it: Assent's death is what it waits for. It can be found by the address that it holds
(`reaper.NAME`). Should it have been killed too, the mark in the environment of what is left remains.
"""

import asyncio
import os
import signal
import socket
import struct
from contextlib import suppress

from assent.process import table
from assent.process.ancestry import MARKER, TITLE
from assent.process.reaper import GRACE, NAME

PATIENCE = 5.0
_LOOK_AGAIN = 0.02


async def end_leftovers(mark: str, patience: float = PATIENCE) -> tuple[int, ...]:
    """Returns when nobody is left, or with those that could not be ended within so many seconds."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    reaper = _reaper(mark)
    while (living := await asyncio.to_thread(_living, mark, reaper)) or _is_reaper(reaper):
        passed = loop.time() - begun
        if passed > patience:
            break
        if not _is_reaper(reaper) or passed > GRACE + 1:
            _send(living, signal.SIGKILL)
        await asyncio.sleep(_LOOK_AGAIN)
    return tuple(living)


def _living(mark: str, reaper: int) -> list[int]:
    me = os.getpid()
    below = table.below(reaper) if _is_reaper(reaper) else []
    sign = mark.encode()
    marked = [pid for pid in table.all_pids() if sign in _mark_of(pid)]
    return sorted(pid for pid in {*below, *marked} if pid != me and _lives(pid))


def _lives(pid: int) -> bool:
    fields = table.line(pid)
    return fields is not None and not table.is_dead(fields)


def _mark_of(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            variables = file.read(1 << 20).split(b"\0")
    except OSError:
        return b""
    return next((one for one in variables if one.startswith(MARKER.encode() + b"=")), b"")


def _reaper(mark: str) -> int:
    """The process that holds the address, if it is one of ours; 0 when there is none."""
    with suppress(OSError, AttributeError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        asking.connect(NAME + mark.encode())
        pid, user, _ = struct.unpack("3i", asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return pid if user == os.getuid() else 0
    return 0


def _is_reaper(pid: int) -> bool:
    return pid > 0 and table.words(pid)[-1:] == [TITLE.encode()]


def _send(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
