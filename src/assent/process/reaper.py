"""A reaper: starts one command, reports how it ended, and stays until everything that command left is gone.

It is a *child subreaper* of the kernel: processes that lose their parent become its children, whatever sessions they
create, variables they clear and descriptors they close. So the family of a command is everything below its reaper.

Assent talks to it through one socket. If that ends without `LEAVE`, Assent has died, or wants the family gone: they get
SIGTERM, a second, and then SIGKILL, until nobody is left. After `LEAVE` they stay, and the reaper as long as they do.
After `KEEP` they also stay when Assent is gone, and the reaper writes their output to a file.
When nobody is left, it serves the next command if there is a seat for it (`Seats`). Like the supervisor that it is
forked from, it imports only what costs next to nothing: the C modules below `signal`, `socket` and `ctypes`, and no
`contextlib` or `functools`. The first command waits for all of that.
"""

import errno
import fcntl
import os
import select
import sys
import time
from _collections_abc import Callable, Iterator
from _socket import AF_UNIX, CMSG_LEN, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, SOCK_STREAM, SOL_SOCKET, socket

from assent.process import process_table
from assent.process.kept_output import KEEP, KeptOutput
from assent.process.launcher_report import LauncherReport
from assent.process.mount_gate import WAITS, MountGate

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without the enumerations

LEAVE = b"L"
DESCRIPTORS = 4
"""Descriptors per request: the socket of one command, and its three streams."""
REPLY = 48
"""Bytes of each message we send, padded with spaces."""
KILL_DELAY = 1.0
"""Seconds from SIGTERM to SIGKILL."""
INPUTS = 100
"""The first descriptor at which a launcher finds what was sent along for it."""
EMPTY = "-"
"""Stands for an input without content."""
STATUS = 99
"""The descriptor to which a launcher reports that the program itself ran."""
CHANGED = b"changed"
"""Said, after the number of the file, if a file that must not change has another content."""
EXCHANGED = b"exchanged"
"""Sent after the error number if a folder that a sandbox needs has become something else."""
NAME = b"\0assent-run-"
"""Prefix of a command's mark: an abstract address that its reaper holds, so that others can find it."""
_IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
_LIKE_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Ignored by the interpreter, not by programs."""
_SET_PDEATHSIG, _SET_NAME, _SET_CHILD_SUBREAPER = 1, 15, 36


_SITS = 1 << 31
_ADD_SEALS, _NO_CHANGE = 1033, 0x2 | 0x4 | 0x8
"""Nobody can write to it, shrink it or let it grow, even through `/proc`."""


class Seats:
    """Seats for reapers that wait for the next command. One that has finished may take a seat; without one it exits."""

    def __init__(self) -> None:
        self._seats, self._offering = os.pipe()
        os.set_blocking(self._seats, False)
        self.announcements, self._announcing = os.pipe()

    def offer(self, count: int) -> None:
        os.write(self._offering, b"." * count)

    def take(self) -> bool:
        try:
            return bool(os.read(self._seats, 1))
        except BlockingIOError:
            return False

    def tell(self, *, sits: bool) -> None:
        os.write(self._announcing, (os.getpid() | (_SITS if sits else 0)).to_bytes(4, sys.byteorder))

    def changes(self) -> list[tuple[int, bool]]:
        """Who has sat down or got up, in this order."""
        return [(number & ~_SITS, bool(number & _SITS)) for number in numbers(os.read(self.announcements, 4096))]


class Reaper:
    def __init__(self, supervisor: int, door: socket, seats: Seats, defaults: list[int]) -> None:
        self._supervisor = supervisor
        self._door = door
        self._seats = seats
        self._defaults = defaults
        """Reset the signals to their default meaning for a program."""

    def run(self) -> None:
        """Serves one command after the other, as long as they leave nothing and there is a free seat."""
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
        """Wait for a request. While it waits, it exits with the supervisor; afterwards it stays."""
        go_with_parent(True)
        if not self._has_supervisor():
            return []
        descriptors = receive_descriptors(self._door)
        go_with_parent(False)
        self._seats.tell(sits=False)
        return descriptors

    def _has_supervisor(self) -> bool:
        """Without it Assent asks another reaper, and must not get two answers."""
        return os.getppid() == self._supervisor

    def _served(self, descriptors: list[int]) -> bool:
        """Whether nothing is left of it."""
        self._leader = 0
        self._unchanged = list[tuple[bytes, bytes, bytes]]()
        self._left_alone = False
        self._report: LauncherReport | None = None
        self._gate: MountGate | None = None
        self._kept: KeptOutput | None = None
        self._streams = descriptors[1:]
        self._control = socket(fileno=descriptors[0])
        try:
            mark, argv, cwd, inputs, env = self._request()
            held = _hold(mark)
            try:
                return self._serve(argv, cwd, inputs, env)
            finally:
                held.close()
        finally:
            self._control.close()
            if self._report is not None:
                self._report.close()
            if self._gate is not None:
                self._gate.close()
            if self._kept is not None:
                self._kept.close()

    def _serve(self, argv: list[bytes], cwd: bytes, inputs: list[bytes], env: dict[bytes, bytes]) -> bool:
        if self._is_alone():
            return False
        self._report = LauncherReport() if inputs else None
        extra = [] if self._report is None else _descriptors(self._report, inputs)
        try:
            extra += [] if self._gate is None else [(self._gate.waiting, WAITS), *self._gate.folders()]
        except OSError as error:
            self._leader, problem = 0, b"%d %s" % (error.errno or 0, EXCHANGED)
        else:
            self._leader, problem = self._start(argv, cwd, env, extra)
        for fd, _ in extra:
            os.close(fd)
        since = process_table.line(self._leader) or []
        os.chdir("/")
        if not problem:
            self._say(
                b"%d %d %s"
                % (self._leader, os.getpid(), b"".join(since[process_table.STARTED : process_table.STARTED + 1]))
            )
            self._open_gate()
        for fd in self._streams:
            os.close(fd)
        if problem:
            self._say(problem)
            return True
        return self._stay()

    def _open_gate(self) -> None:
        """Unless the launcher has mounted something else than planned: then it ends here."""
        if self._gate is None or self._report is None:
            return
        if wrong := self._gate.opened(self._report, self._control.fileno()):
            for pid in filter(None, (self._gate.inside, self._leader)):  # the gate opens when it is closed
                _send(pid, signal.SIGKILL)
            os.write(self._streams[2], b"the sandbox was not built as planned (%s): a folder was exchanged\n" % wrong)

    # --- start ---

    def _request(self) -> tuple[bytes, list[bytes], bytes, list[bytes], dict[bytes, bytes]]:
        """The mark, the number of words, the words, the folder, the inputs of a launcher in hexadecimal, the files that
        must not have changed, what it has to mount, and the variables, each terminated by a NUL.
        """
        size = int.from_bytes(self._receive(8), "big")
        mark, count, *rest = self._receive(size).split(b"\0")[:-1]
        argv, (cwd, inputs, unchanged, mounts, *pairs) = rest[: int(count)], rest[int(count) :]
        self._gate = MountGate(mounts) if mounts else None
        self._unchanged = [one.partition(b":") for one in unchanged.split()]
        env = {name: value for name, _, value in (pair.partition(b"=") for pair in pairs)}
        return mark, argv, cwd, [bytes.fromhex(one.decode().strip(EMPTY)) for one in inputs.split()], env

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._heard(min(size - len(data), 1 << 20))
            if not piece:
                os._exit(0)  # Assent has exited, or changed its mind
            data += piece
        return bytes(data)

    def _start(
        self, argv: list[bytes], cwd: bytes, env: dict[bytes, bytes], extra: list[tuple[int, int]]
    ) -> tuple[int, bytes]:
        """The process, or what kept the program from running. Without a fork, which would copy the interpreter.

        A launcher keeps ignoring the polite signals, as we do: they are for the program, which it looks after.
        """
        try:
            os.chdir(cwd)
        except OSError as error:
            return 0, b"%d cwd" % (error.errno or 0)
        actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate(self._streams)
        ]
        actions += [(os.POSIX_SPAWN_DUP2, fd, at) for fd, at in extra]
        ignored = _IGNORED if extra else ()
        if os.isatty(self._streams[0]):
            # Whoever opens a terminal in a new session controls it. When the program exits, the kernel sends SIGHUP to
            # what it left in the background, which is to stay as it does without a terminal.
            actions[0] = (os.POSIX_SPAWN_OPEN, 0, os.ttyname(self._streams[0]), os.O_RDWR, 0)
            ignored = (*ignored, signal.SIGHUP)
        defaults = [number for number in self._defaults if number not in ignored]
        if self._unchanged and (changed := _first_changed(self._unchanged)) is not None:
            return 0, b"%d %s" % (changed, CHANGED)
        problem = errno.ENOENT
        for program in _candidates(argv[0], env):
            try:
                return os.posix_spawn(program, argv, env, file_actions=actions, setsid=True, setsigdef=defaults), b""
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):  # as a shell reports it
                    problem = error.errno or 0
        return 0, b"%d exec" % problem

    def _is_alone(self) -> bool:
        """Assent died between the request and now: what nobody waits for does not start."""
        looking = select.poll()
        looking.register(self._control.fileno(), select.POLLIN)
        return bool(looking.poll(0))

    # --- run and end ---

    def _stay(self) -> bool:
        """Whether the command left nothing. A reaper that stayed with leftovers is not reused: they may know it. Nor is
        one whose command was kept, which is found by its reaper.
        """
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        waiting.register(self._control.fileno(), select.POLLIN)
        if self._report is not None:
            waiting.register(self._report.fd, select.POLLIN)
        alone = False
        while self._any_left():
            ready = {fd for fd, _ in waiting.poll()}
            if self._woken in ready:
                os.read(self._woken, 4096)
            if self._report is not None and self._report.fd in ready and not self._report.hear():
                waiting.unregister(self._report.fd)
            if self._kept is not None and self._kept.source in ready and not self._kept.pass_on():
                waiting.unregister(self._kept.source)
            if not self._left_alone and self._control.fileno() in ready:
                word = self._told()
                if word == KEEP and self._kept is not None:
                    waiting.register(self._kept.source, select.POLLIN)
                    continue
                if word != LEAVE and self._kept is None:
                    self._end_all()
                    return False
                self._left_alone = True
                alone = self._kept is None and not _has_children()
                waiting.unregister(self._control.fileno())
        return alone

    def _told(self) -> bytes:
        """What to do with the family; nothing if Assent is gone."""
        try:
            word, extra, _, _ = self._control.recvmsg(1, CMSG_LEN(8), MSG_CMSG_CLOEXEC)
        except OSError:
            return b""
        descriptors = [fd for level, _, raw in extra if level == SOL_SOCKET for fd in numbers(raw)]
        if word == KEEP and len(descriptors) == 2:
            self._kept = KeptOutput(*descriptors)
        return word

    def _any_left(self) -> bool:
        """Also while Assent has not said what to do with what the command left."""
        for pid, status in collect():
            if pid == self._leader:
                self._leader = -pid
                self._finish_output(status)
                self._say(b"%d" % status if self._report is None else self._report.ending(status))
        return not self._left_alone or _has_children()

    def _finish_output(self, status: int) -> None:
        """Before anyone learns of the end: all of it is in the file by then."""
        if self._kept is not None:
            self._kept.pass_on()
            if self._left_alone:
                self._kept.finish(status)

    def _end_all(self) -> None:
        me, session = os.getpid(), abs(self._leader)
        end(lambda: process_table.below(me, session), KILL_DELAY, any_left=_has_children)

    def _heard(self, size: int) -> bytes:
        try:
            return self._control.recv(size)
        except OSError:  # it exited without reading our messages
            return b""

    def _say(self, data: bytes) -> None:
        try:
            self._control.sendall(data.ljust(REPLY))
        except OSError:
            return  # nobody is listening any longer; that is noticed as well


def _first_changed(files: list[tuple[bytes, bytes, bytes]]) -> int | None:
    """The number of the first file with another content."""
    from assent.safe_open import content_digest

    for number, (path, _, digest) in enumerate(files):
        if content_digest(bytes.fromhex(path.decode())) != digest.decode():
            return number
    return None


def _descriptors(report: LauncherReport, inputs: list[bytes]) -> list[tuple[int, int]]:
    """A launcher's descriptors: ours, and the numbers that it expects."""
    found = [(report.writing, STATUS)]
    for at, data in enumerate(inputs):
        fd = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        while data:
            data = data[os.write(fd, data) :]
        os.lseek(fd, 0, os.SEEK_SET)
        fcntl.fcntl(fd, _ADD_SEALS, _NO_CHANGE)
        found.append((fd, INPUTS + at))
    return found


def receive_descriptors(door: socket, flags: int = 0) -> list[int]:
    """The descriptors of one request; none if Assent has exited."""
    try:
        _, extra, _, _ = door.recvmsg(1, CMSG_LEN(4 * DESCRIPTORS), MSG_CMSG_CLOEXEC | flags)
    except OSError:
        return []
    return [fd for level, _, raw in extra if level == SOL_SOCKET for fd in numbers(raw)]


def turn_away(door: socket, problem: OSError) -> None:
    """Tell whoever waits for a command that nobody can start it."""
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
    max_wait: float | None = None,
    on_ended: Callable[[dict[int, int]], object] = dict,
    any_left: Callable[[], bool] = lambda: False,
) -> None:
    """Until all are gone, or for this many seconds. Reports the children that exited meanwhile.

    The process table is not read at one moment: a process that forks and exits meanwhile may hide its child. So only
    the kernel's own word counts as the end of a reaper's family: `any_left`.
    """
    begun = time.monotonic()
    told: set[int] = set()
    pause = 0.002
    while (pids := living()) or any_left():
        passed = time.monotonic() - begun
        if max_wait is not None and passed > max_wait:
            return
        polite = passed < grace
        for pid in pids:
            if polite and pid not in told:
                told.add(pid)
                _send(pid, signal.SIGTERM)
                _send(pid, signal.SIGCONT)  # a stopped process could not react to it
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
    """The children that have exited, with exit code or minus the signal. Each stays in the table until reported."""
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
    """If the kernel supports it. The name is what `ps` and `top` show."""
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
    """No polite signal ends the processes that look after others. Returns the signals that commands do not ignore."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _IGNORED}
    return [*_LIKE_PYTHON, *(number for number, meaning in before.items() if meaning != signal.SIG_IGN)]


def wake_on_children() -> int:
    """A descriptor that becomes readable whenever a child has exited."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _, __: None)
    return reading


def _candidates(name: bytes, env: dict[bytes, bytes]) -> list[bytes]:
    """Where the program may be: found via the search path that it gets."""
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
            pass  # someone has it: then they are found
    return held
