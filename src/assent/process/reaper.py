"""A reaper: starts one command, tells how it ended, and stays with whatever that command left, to the last of them.

It is a *child subreaper* of the kernel: what loses its parent becomes a child of the reaper, whatever sessions it made,
variables it cleared and descriptors it closed. So the family of a command is all that is below its reaper.

What Assent says comes through one socket. When it ends without `LEAVE`, Assent has died, or wants the family gone: they
get a polite signal, a second, and then the one that cannot be refused, until nobody is left. After `LEAVE` they stay,
and the reaper as long as they do. With nobody left it serves the next command, if there is a seat for it (`Seats`).
Like the supervisor that it is a fork of, it imports only what costs next to nothing: the C modules below `signal`,
`socket` and `ctypes`, and no `contextlib` or `functools`. The first command waits for all of that.
"""

import errno
import os
import select
import sys
import time
from _collections_abc import Callable, Iterator
from _socket import AF_UNIX, CMSG_LEN, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, SOCK_STREAM, SOL_SOCKET, socket

from assent.process import process_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without the enumerations

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


_SITS = 1 << 31


class Seats:
    """For reapers that wait for the next command. One that has done its work may take a seat; without one it goes."""

    def __init__(self) -> None:
        self._seats, self._offering = os.pipe()
        os.set_blocking(self._seats, False)
        self.heard, self._telling = os.pipe()

    def offer(self, count: int) -> None:
        os.write(self._offering, b"." * count)

    def take(self) -> bool:
        try:
            return bool(os.read(self._seats, 1))
        except BlockingIOError:
            return False

    def tell(self, *, sits: bool) -> None:
        os.write(self._telling, (os.getpid() | (_SITS if sits else 0)).to_bytes(4, sys.byteorder))

    def changes(self) -> list[tuple[int, bool]]:
        """Who has sat down or got up, in this order."""
        return [(number & ~_SITS, bool(number & _SITS)) for number in numbers(os.read(self.heard, 4096))]


class Reaper:
    def __init__(self, supervisor: int, door: socket, seats: Seats, defaults: list[int]) -> None:
        self._supervisor = supervisor
        self._door = door
        self._seats = seats
        self._defaults = defaults
        """The signals that mean to a program what they mean to all, and not what they mean to us."""

    def run(self) -> None:
        """Serves one command after the other, as long as they leave nothing and there is a seat to wait on."""
        adopt_orphans(b"assent-reaper")
        self._woken = wake_on_children()
        descriptors = self._wait()
        while len(descriptors) == DESCRIPTORS:
            if not self._served(descriptors) or not self._has_supervisor():
                return
            descriptors = receive_descriptors(self._door, MSG_DONTWAIT)
            if not descriptors and self._seats.take():
                self._seats.tell(sits=True)
                descriptors = self._wait()

    def _wait(self) -> list[int]:
        """For a request. As long as it waits, it goes with the supervisor; afterwards it stays."""
        go_with_parent(True)
        if not self._has_supervisor():
            return []
        descriptors = receive_descriptors(self._door)
        go_with_parent(False)
        self._seats.tell(sits=False)
        return descriptors

    def _has_supervisor(self) -> bool:
        """Without it Assent asks another one, and must not be answered twice."""
        return os.getppid() == self._supervisor

    def _served(self, descriptors: list[int]) -> bool:
        """Whether nothing is left of it."""
        self._leader = 0
        self._left_alone = False
        self._streams = descriptors[1:]
        self._control = socket(fileno=descriptors[0])
        try:
            mark, argv, cwd, env = self._request()
            held = _hold(mark)
            try:
                return self._serve(argv, cwd, env)
            finally:
                held.close()
        finally:
            self._control.close()

    def _serve(self, argv: list[bytes], cwd: bytes, env: dict[bytes, bytes]) -> bool:
        if self._is_alone():
            return False
        self._leader, problem = self._start(argv, cwd, env)
        since = process_table.line(self._leader) or []
        os.chdir("/")
        for fd in self._streams:
            os.close(fd)
        if problem:
            self._say(problem)
            return True
        self._say(
            b"%d %d %s"
            % (self._leader, os.getpid(), b"".join(since[process_table.STARTED : process_table.STARTED + 1]))
        )
        return self._stay()

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

    def _stay(self) -> bool:
        """Whether the command left nobody. Who stayed with others is done when they are: he may be known by them."""
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        waiting.register(self._control.fileno(), select.POLLIN)
        alone = False
        while self._any_left():
            ready = {fd for fd, _ in waiting.poll()}
            if self._woken in ready:
                os.read(self._woken, 4096)
            if not self._left_alone and self._control.fileno() in ready:
                if self._heard(1) != LEAVE:
                    self._end_all()
                    return False
                self._left_alone = True
                alone = not _has_children()
                waiting.unregister(self._control.fileno())
        return alone

    def _any_left(self) -> bool:
        """Also while Assent has not said what shall become of those that the command left."""
        for pid, status in collect():
            if pid == self._leader:
                self._leader = -pid
                self._say(b"%d" % status)
        return not self._left_alone or _has_children()

    def _end_all(self) -> None:
        me, session = os.getpid(), abs(self._leader)
        end(lambda: process_table.below(me, session), GRACE)

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
    _prctl(_SET_CHILD_SUBREAPER, 1)
    _prctl(_SET_NAME, name)


def go_with_parent(going: bool) -> None:
    _prctl(_SET_PDEATHSIG, signal.SIGKILL if going else 0)


def _prctl(option: int, value: int | bytes) -> None:
    """Found by the supervisor, once for all its reapers; Assent itself does not need it."""
    import _ctypes

    global _prctl_address
    if not _prctl_address and sys.platform.startswith("linux"):
        _prctl_address = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # pyright: ignore[reportArgumentType]
    if _prctl_address:
        _ctypes.call_function(_prctl_address, (option, value, 0, 0, 0))


_prctl_address = 0


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


def _hold(mark: bytes) -> socket:
    """Whoever connects learns that this command still has a reaper, and which process it is."""
    held = socket(AF_UNIX, SOCK_STREAM)
    if mark and sys.platform.startswith("linux"):
        try:
            held.bind(NAME + mark)
            held.listen(8)
        except OSError:
            pass  # somebody has it: then they are found
    return held
