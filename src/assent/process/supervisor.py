"""The supervisor: a small process beside Assent that starts every command, and ends it if Assent cannot.

    Assent ──(socket)── supervisor ──┬── reaper ── command ── whatever it starts
                                     └── reaper ── command ── …

It keeps a few reapers (`reaper.py`) ready, forked from itself. Assent sends descriptors; the first reaper that wakes up
takes them and does the rest. A reaper whose command left nothing serves again: a fork costs more than most commands.

The supervisor has its own session, so that no key of the terminal reaches it, an empty environment, and no descriptor
of Assent's. It adopts the commands of a reaper that was killed, and ends them. When Assent exits, so does it; when it
exits, Assent sees the end of its output, which no reaper holds. This is a program: it knows no asyncio and only a few
modules of the standard library, because it must start within a few milliseconds.
"""

import gc
import os
import select
import time
from _socket import socket

from assent.process import process_table
from assent.process.ancestry import mark_limits
from assent.process.reaper import (
    Reaper,
    Seats,
    adopt_orphans,
    collect,
    end,
    ignore_signals,
    turn_away,
    wake_on_children,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

READY = 4
"""Reapers that wait for the next commands: forking on demand would delay every command."""
REFILL_DELAY = 0.03
"""Seconds without a request until vacant seats are filled, unless all of them are vacant."""
MAX_OUTLIVE_SECONDS = 4.0
"""Maximum seconds that it outlives Assent, in case a reaper does not finish its work."""


def main() -> None:
    door = socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    os.chdir("/")
    adopt_orphans(b"assent-superv")
    mark_limits()
    defaults = ignore_signals()
    gc.freeze()
    gc.disable()
    Supervisor(door, defaults).run()


class Supervisor:
    def __init__(self, door: socket, defaults: list[int]) -> None:
        self._door = door
        self._defaults = defaults
        self._reapers: set[int] = set()
        self._idle: set[int] = set()
        self._seats = Seats()
        self._vacant = 0
        """Seats for reapers that have finished; after a while another one is forked for each empty seat."""
        self._woken = wake_on_children()

    def run(self) -> None:
        waiting = select.poll()
        waiting.register(self._door.fileno(), 0)  # only to notice that Assent has exited: requests are for the reapers
        waiting.register(self._seats.announcements, select.POLLIN)
        waiting.register(self._woken, select.POLLIN)
        self._offer()
        self._refill()
        while True:
            ready = {fd for fd, _ in waiting.poll(REFILL_DELAY * 1000 if self._vacant else None)}
            if self._seats.announcements in ready:
                self._hear()
            if self._woken in ready:
                self._collect()
            if self._door.fileno() in ready:
                break
            self._offer()
            if not (ready and self._idle):
                self._refill()
        self._see_to_the_end()

    def _hear(self) -> None:
        for pid, sits in self._seats.changes():
            if sits:
                self._idle.add(pid)
                self._vacant = max(self._vacant - 1, 0)
            else:
                self._idle.discard(pid)

    def _offer(self) -> None:
        missing = READY - len(self._idle) - self._vacant
        if missing > 0:
            self._seats.offer(missing)
            self._vacant += missing

    def _see_to_the_end(self) -> None:
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        until = time.monotonic() + MAX_OUTLIVE_SECONDS
        while self._reapers and (left := until - time.monotonic()) > 0:
            if waiting.poll(left * 1000):
                self._collect()

    def _refill(self) -> None:
        """Seats that were taken meanwhile are not vacant: whoever took one will say so soon."""
        try:
            while self._vacant and self._seats.take():
                self._vacant -= 1
                self._fork()
            self._vacant = 0
            if not self._idle:
                self._fork()
        except OSError as error:
            if not self._idle:
                turn_away(self._door, error)

    def _fork(self) -> None:
        me = os.getpid()
        pid = os.fork()
        if pid:
            self._reapers.add(pid)
            self._idle.add(pid)
            return
        try:
            os.dup2(0, 1)
            os.close(self._woken)
            Reaper(me, self._door, self._seats, self._defaults).run()
            os._exit(0)
        finally:
            os._exit(1)

    def _collect(self) -> None:
        os.read(self._woken, 4096)
        _revive()
        ended = dict(collect())
        failed = any(ended[pid] for pid in self._reapers & ended.keys())
        self._forget(ended)
        if failed:
            self._end_strays()

    def _forget(self, ended: dict[int, int]) -> None:
        self._reapers -= ended.keys()
        self._idle -= ended.keys()

    def _end_strays(self) -> None:
        """A reaper was killed, or failed: what it looked after is ours now, and nobody waits for it."""
        me = os.getpid()

        def strays() -> list[int]:
            everyone = process_table.below(me)
            return [pid for pid in everyone if pid not in self._reapers and not self._has_reaper(pid)]

        end(strays, 0.0, 1.0, self._forget)

    def _has_reaper(self, pid: int) -> bool:
        while pid > 1 and (fields := process_table.line(pid)):
            pid = int(fields[process_table.PARENT])
            if pid in self._reapers:
                return True
        return False


def _revive() -> None:
    """A command may have stopped its reaper."""
    try:
        while stopped := os.waitid(os.P_ALL, 0, os.WSTOPPED | os.WNOHANG):
            os.kill(stopped.si_pid, signal.SIGCONT)
    except (ChildProcessError, ProcessLookupError):
        return
