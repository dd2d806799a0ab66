"""A reaper: starts one command, tells how it ended, and stays with whatever that command left, to the last of them.

It is a *child subreaper* of the kernel: what loses its parent becomes a child of the reaper, whatever sessions it made,
variables it cleared and descriptors it closed. So the family of a command is all that is below its reaper.

What Assent says comes through one socket. When it ends without `LEAVE`, Assent has died, or wants the family gone: they
get a polite signal, a second, and then the one that cannot be refused, until nobody is left. After `LEAVE` they stay,
and the reaper as long as they do. Standard library only, like the supervisor that it is a fork of.
"""

import errno
import os
import select
import signal
import sys
import time
from _socket import AF_UNIX, CMSG_LEN, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, SOCK_STREAM, SOL_SOCKET, socket
from collections.abc import Callable, Iterator
from functools import cache

from assent.process import table

LEAVE = b"L"
DESCRIPTORS = 4
"""A request has so many: the socket of one command, and its three streams."""
REPLY = 48
"""Bytes of each thing that we say, filled up with spaces."""
GRACE = 1.0
"""Seconds from the polite signal to the other one."""
NAME = b"\0assent-run-"
"""Before the mark of a command: an abstract address that its reaper holds, so that others can find it."""
_IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
_LIKE_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Ignored by the interpreter, not by programs."""
_SET_PDEATHSIG, _SET_NAME, _SET_CHILD_SUBREAPER = 1, 15, 36


class Reaper:
    def __init__(self, door: socket, taking: int, defaults: list[int]) -> None:
        self._door = door
        self._taking = taking
        self._defaults = defaults
        """The signals that mean to a program what they mean to all, and not what they mean to us."""
        self._leader = 0
        self._left_alone = False

    def run(self) -> None:
        """Waits for a request, and does it. As long as it waits, it goes with the supervisor; afterwards it stays."""
        adopt_orphans(b"assent-reaper")
        go_with_parent(True)
        self._woken = wake_on_children()
        descriptors = receive_descriptors(self._door)
        go_with_parent(False)
        os.write(self._taking, os.getpid().to_bytes(4, sys.byteorder))
        os.close(self._taking)
        self._door.close()
        if len(descriptors) == DESCRIPTORS:
            self._control = socket(fileno=descriptors[0])
            self._streams = descriptors[1:]
            self._serve()

    def _serve(self) -> None:
        mark, argv, cwd, env = self._request()
        held = _hold(mark)
        if self._is_alone():
            return
        self._leader, problem = self._start(argv, cwd, env)
        since = table.line(self._leader) or []
        os.chdir("/")
        for fd in self._streams:
            os.close(fd)
        if problem:
            self._say(problem)
            return
        self._say(b"%d %d %s" % (self._leader, os.getpid(), b"".join(since[table.STARTED : table.STARTED + 1])))
        self._stay()
        if held is not None:
            held.close()

    # --- the beginning ---

    def _request(self) -> tuple[bytes, list[bytes], bytes, dict[bytes, bytes]]:
        """The mark, the number of words, the words, the folder and the variables, each ended by a NUL."""
        size = int.from_bytes(self._receive(8), "big")
        mark, count, *rest = self._receive(size).split(b"\0")[:-1]
        argv, cwd, pairs = rest[: int(count)], rest[int(count)], rest[int(count) + 1 :]
        return mark, argv, cwd, {name: value for name, _, value in (pair.partition(b"=") for pair in pairs)}

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._heard(min(size - len(data), 1 << 20))
            if not piece:
                os._exit(0)  # Assent has gone, or changed its mind
            data += piece
        return bytes(data)

    def _start(self, argv: list[bytes], cwd: bytes, env: dict[bytes, bytes]) -> tuple[int, bytes]:
        """The process, or what kept the program from running. Without a fork: that would copy the interpreter."""
        try:
            os.chdir(cwd)
        except OSError as error:
            return 0, b"%d cwd" % (error.errno or 0)
        actions = [(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate(self._streams)]
        problem = errno.ENOENT
        for program in _candidates(argv[0], env):
            try:
                return os.posix_spawn(
                    program, argv, env, file_actions=actions, setsid=True, setsigdef=self._defaults
                ), b""
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):  # as a shell tells it
                    problem = error.errno or 0
        return 0, b"%d exec" % problem

    def _is_alone(self) -> bool:
        """Assent died between the request and now: what nobody waits for does not begin."""
        looking = select.poll()
        looking.register(self._control.fileno(), select.POLLIN)
        return bool(looking.poll(0))

    # --- the middle and the end ---

    def _stay(self) -> None:
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        waiting.register(self._control.fileno(), select.POLLIN)
        while self._any_left():
            ready = {fd for fd, _ in waiting.poll()}
            if self._woken in ready:
                os.read(self._woken, 4096)
            if not self._left_alone and self._control.fileno() in ready:
                if self._heard(1) != LEAVE:
                    self._end_all()
                    return
                self._left_alone = True
                waiting.unregister(self._control.fileno())

    def _any_left(self) -> bool:
        """Also while Assent has not said what shall become of those that the command left."""
        for pid, status in collect():
            if pid == self._leader:
                self._leader = -pid
                self._say(b"%d" % status)
        return not self._left_alone or _has_children()

    def _end_all(self) -> None:
        me, session = os.getpid(), abs(self._leader)
        end(lambda: table.below(me, session), GRACE)

    def _heard(self, size: int) -> bytes:
        try:
            return self._control.recv(size)
        except OSError:  # it went without reading what we said
            return b""

    def _say(self, data: bytes) -> None:
        try:
            self._control.sendall(data.ljust(REPLY))
        except OSError:
            return  # nobody listens any more; that is heard as well


def receive_descriptors(door: socket, flags: int = 0) -> list[int]:
    """Of one request; none when Assent has gone."""
    try:
        _, extra, _, _ = door.recvmsg(1, CMSG_LEN(4 * DESCRIPTORS), MSG_CMSG_CLOEXEC | flags)
    except OSError:
        return []
    return [fd for level, _, raw in extra if level == SOL_SOCKET for fd in numbers(raw)]


def turn_away(door: socket, problem: OSError) -> None:
    """Tells whoever waits for a command that there is nobody to start it."""
    descriptors = receive_descriptors(door, MSG_DONTWAIT)
    if descriptors:
        os.write(descriptors[0], (b"%d fork" % (problem.errno or 0)).ljust(REPLY))
    for fd in descriptors:
        os.close(fd)


def numbers(raw: bytes) -> list[int]:
    whole = len(raw) - len(raw) % 4
    return [int.from_bytes(raw[at : at + 4], sys.byteorder) for at in range(0, whole, 4)]


def end(
    living: Callable[[], list[int]],
    grace: float,
    patience: float | None = None,
    on_ended: Callable[[dict[int, int]], object] = dict,
) -> None:
    """Until all are gone, or for so many seconds. Tells the children that ended meanwhile."""
    begun = time.monotonic()
    told: set[int] = set()
    pause = 0.002
    while pids := living():
        passed = time.monotonic() - begun
        if patience is not None and passed > patience:
            return
        polite = passed < grace
        for pid in pids:
            if polite and pid not in told:
                told.add(pid)
                _send(pid, signal.SIGTERM)
                _send(pid, signal.SIGCONT)  # one that is stopped could not hear it
            elif not polite:
                _send(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05 if passed < 10 else 1.0)
        on_ended(dict(collect()))


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


def collect() -> Iterator[tuple[int, int]]:
    """The children that have ended, with exit code or minus the signal. Each is in the table until it was told."""
    while (ended := _ended()) is not None:
        yield ended.si_pid, ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        os.waitpid(ended.si_pid, 0)


def _ended() -> os.waitid_result | None:
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def adopt_orphans(name: bytes) -> None:
    """Where the kernel knows it. The name is what `ps` and `top` show."""
    if (prctl := _prctl()) is not None:
        prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_SET_NAME, name, 0, 0, 0)


def go_with_parent(going: bool) -> None:
    if (prctl := _prctl()) is not None:
        prctl(_SET_PDEATHSIG, signal.SIGKILL if going else 0, 0, 0, 0)


@cache
def _prctl() -> Callable[..., int] | None:
    """Found by the supervisor, once for all its reapers; Assent itself does not need it."""
    import ctypes

    return getattr(ctypes.CDLL(None), "prctl", None)


def ignore_signals() -> list[int]:
    """Nobody's polite signal ends those who look after others. Returns those that are not ignored by commands."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _IGNORED}
    return [*_LIKE_PYTHON, *(number for number, meaning in before.items() if meaning != signal.SIG_IGN)]


def wake_on_children() -> int:
    """A descriptor to read from whenever a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _, __: None)
    return reading


def _candidates(name: bytes, env: dict[bytes, bytes]) -> list[bytes]:
    """Where the program may be: found by the search path that it gets."""
    if b"/" in name:
        return [name]
    folders = env.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    return [os.path.join(folder, name) for folder in folders]


def _hold(mark: bytes) -> socket | None:
    """Whoever connects learns that this command still has a reaper, and which process it is."""
    if not mark or not sys.platform.startswith("linux"):
        return None
    held = socket(AF_UNIX, SOCK_STREAM)
    try:
        held.bind(NAME + mark)
        held.listen(8)
    except OSError:
        held.close()
        return None
    return held
