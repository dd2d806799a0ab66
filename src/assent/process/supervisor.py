"""The supervisor: a small process beside Assent that starts every command, and sees to its end when Assent cannot.

    Assent ──(socket)── supervisor ──┬── reaper ── command ── whatever it starts
                                     └── reaper ── command ── …

Assent sends descriptors; the supervisor forks a reaper (`reaper.py`) for them, which does the rest. It has a session of
its own, so that no key of the terminal reaches it, an empty environment, and no descriptor of Assent's. It adopts the
commands of a reaper that was killed, and ends them. When Assent goes, it goes. This is a program: it knows no asyncio
and nothing outside of the standard library, because it has to start within a few milliseconds.
"""

import gc
import os
import select
import signal
import sys
import time
from _socket import CMSG_LEN, MSG_CMSG_CLOEXEC, SOL_SOCKET, socket

from assent.process import table
from assent.process.ancestry import mark_limits
from assent.process.reaper import REPLY, Reaper, adopt_orphans, collect, end, ignore_signals, wake_on_children

DESCRIPTORS = 4
"""A request has so many: the socket of one command, and its three streams."""
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
        self._woken = wake_on_children()

    def run(self) -> None:
        waiting = select.poll()
        waiting.register(self._door.fileno(), select.POLLIN)
        waiting.register(self._woken, select.POLLIN)
        while True:
            ready = {fd for fd, _ in waiting.poll()}
            if self._woken in ready:
                self._collect()
            if self._door.fileno() in ready and not self._take():
                waiting.unregister(self._door.fileno())
                break
        until = time.monotonic() + AFTERWARDS
        while self._reapers and (left := until - time.monotonic()) > 0:
            if waiting.poll(left * 1000):
                self._collect()

    def _take(self) -> bool:
        """One request; False when Assent has gone."""
        data, extra, _, _ = self._door.recvmsg(1, CMSG_LEN(4 * DESCRIPTORS), MSG_CMSG_CLOEXEC)
        if not data:
            return False
        fds = [fd for level, _, raw in extra if level == SOL_SOCKET for fd in _numbers(raw)]
        if len(fds) == DESCRIPTORS:
            self._fork(fds)
        for fd in fds:
            os.close(fd)
        return True

    def _fork(self, fds: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.write(fds[0], (b"%d fork" % (error.errno or 0)).ljust(REPLY))
            return
        if pid:
            self._reapers.add(pid)
            return
        try:
            self._door.close()
            os.close(self._woken)
            Reaper(socket(fileno=fds[0]), fds[1:], self._defaults).run()
            os._exit(0)
        finally:
            os._exit(1)

    def _collect(self) -> None:
        os.read(self._woken, 4096)
        _revive()
        ended = dict(collect())
        failed = any(ended[pid] for pid in self._reapers & ended.keys())
        self._reapers -= ended.keys()
        if failed:
            self._end_strays()

    def _end_strays(self) -> None:
        """A reaper was killed, or failed: what it looked after is ours now, and nobody waits for it."""
        me = os.getpid()

        def strays() -> list[int]:
            everybody = table.below(me)
            return [pid for pid in everybody if pid not in self._reapers and not self._has_reaper(pid)]

        end(strays, 0.0, 1.0, lambda ended: self._reapers.difference_update(ended))

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


def _numbers(raw: bytes) -> list[int]:
    whole = len(raw) - len(raw) % 4
    return [int.from_bytes(raw[at : at + 4], sys.byteorder) for at in range(0, whole, 4)]
