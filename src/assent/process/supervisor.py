"""The supervisor: a small process beside Assent that starts every command, and sees to its end when Assent cannot.

    Assent ──(socket)── supervisor ──┬── reaper ── command ── whatever it starts
                                     └── reaper ── command ── …

It keeps a few reapers (`reaper.py`) ready, forks of itself. Assent sends descriptors; the first of them that wakes up
takes them and does the rest. The supervisor has a session of its own, so that no key of the terminal reaches it, an
empty environment, and no descriptor of Assent's. It adopts the commands of a reaper that was killed, and ends them.
When Assent goes, it goes. This is a program: it knows no asyncio and nothing outside of the standard library, because
it has to start within a few milliseconds.
"""

import gc
import os
import select
import signal
import time
from _socket import socket

from assent.process import table
from assent.process.ancestry import mark_limits
from assent.process.reaper import (
    Reaper,
    adopt_orphans,
    collect,
    end,
    ignore_signals,
    numbers,
    turn_away,
    wake_on_children,
)

READY = 4
"""Reapers that wait for the next commands: a fork at the time would make every command wait."""
AFTERWARDS = 4.0
"""Seconds that it outlives Assent at most, in case a reaper does not get to the end of its work."""


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
        self._taken, self._taking = os.pipe()
        """A reaper that took a request says who it is, so that another one takes its place."""
        self._woken = wake_on_children()

    def run(self) -> None:
        waiting = select.poll()
        waiting.register(self._door.fileno(), 0)  # only that Assent has gone: requests are for the reapers
        waiting.register(self._taken, select.POLLIN)
        waiting.register(self._woken, select.POLLIN)
        while True:
            self._refill()
            ready = {fd for fd, _ in waiting.poll(None if self._idle else 50)}
            if self._taken in ready:
                self._idle -= set(numbers(os.read(self._taken, 4096)))
            if self._woken in ready:
                self._collect()
            if self._door.fileno() in ready:
                break
        self._see_to_the_end()

    def _see_to_the_end(self) -> None:
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        until = time.monotonic() + AFTERWARDS
        while self._reapers and (left := until - time.monotonic()) > 0:
            if waiting.poll(left * 1000):
                self._collect()

    def _refill(self) -> None:
        try:
            while len(self._idle) < READY:
                self._fork()
        except OSError as error:
            if not self._idle:
                turn_away(self._door, error)

    def _fork(self) -> None:
        pid = os.fork()
        if pid:
            self._reapers.add(pid)
            self._idle.add(pid)
            return
        try:
            os.close(self._woken)
            os.close(self._taken)
            Reaper(self._door, self._taking, self._defaults).run()
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
            everybody = table.below(me)
            return [pid for pid in everybody if pid not in self._reapers and not self._has_reaper(pid)]

        end(strays, 0.0, 1.0, self._forget)

    def _has_reaper(self, pid: int) -> bool:
        while pid > 1 and (fields := table.line(pid)):
            pid = int(fields[table.PARENT])
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
