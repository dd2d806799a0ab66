"""A command that a person kept: found again by another process of Assent, watched, and ended.

Everything of it is below its reaper, which stays as long as the command does. A process id may be someone else's
later, so the reaper is known by the time of its start, and by the start of the machine.
"""

import asyncio
import contextlib
import os
import select
import signal

from msgspec import Struct

from assent.process import process_table
from assent.process.ancestry import TITLE
from assent.process.reaper import KILL_DELAY

END_TIMEOUT = 5.0
_LOOK_AGAIN = 0.05
_BOOT = "/proc/sys/kernel/random/boot_id"


class ReaperId(Struct, frozen=True):
    """A reaper, so that no later process is taken for it."""

    pid: int
    since: int
    boot: str


def reaper_id(pid: int) -> ReaperId:
    return ReaperId(pid, _since(pid), _boot())


class KeptProcess:
    """What runs below a reaper. It must be closed."""

    def __init__(self, reaper: ReaperId) -> None:
        """Raises ProcessLookupError if it has ended."""
        self._pid = reaper.pid
        self._handle = os.pidfd_open(reaper.pid)
        if reaper != reaper_id(reaper.pid) or process_table.words(reaper.pid)[-1:] != [TITLE.encode()]:
            self.close()
            raise ProcessLookupError("it has ended")

    async def ended(self) -> None:
        """Waits until nothing of it is left."""
        loop = asyncio.get_running_loop()
        gone = loop.create_future()
        loop.add_reader(self._handle, lambda: gone.done() or gone.set_result(None))
        try:
            await gone
        finally:
            loop.remove_reader(self._handle)

    async def end(self) -> list[int]:
        """SIGTERM, a second, and then SIGKILL; returns what could not be ended."""
        begun = asyncio.get_running_loop().time()
        below: list[int] = []
        told: set[int] = set()
        while (passed := asyncio.get_running_loop().time() - begun) < END_TIMEOUT:
            below = await asyncio.to_thread(process_table.below, self._pid)
            if not self._is_there():
                return []
            polite = passed < KILL_DELAY
            for pid in [one for one in below if not polite or one not in told]:
                _send(pid, signal.SIGTERM if polite else signal.SIGKILL)
            told.update(below)
            await asyncio.sleep(_LOOK_AGAIN)
        return below

    def _is_there(self) -> bool:
        looking = select.poll()
        looking.register(self._handle, select.POLLIN)
        return not looking.poll(0)

    def close(self) -> None:
        os.close(self._handle)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
        os.kill(pid, signal.SIGCONT)  # a stopped process could not react to it


def _since(pid: int) -> int:
    fields = process_table.line(pid)
    return int(fields[process_table.STARTED]) if fields else 0


def _boot() -> str:
    try:
        with open(_BOOT) as file:
            return file.read().strip()
    except OSError:
        return ""
