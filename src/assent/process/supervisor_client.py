"""Our end of the supervisor: starts it with the first command or a little earlier, and passes it what a command needs.

A request is one byte and four descriptors; its content goes through the command's own socket, whose other end the
reaper holds. The reaper's messages come through it too, and it is how the reaper learns that we are gone.
"""

import asyncio
import atexit
import contextlib
import errno
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence

from assent.plan import ExecutedFile
from assent.process.ancestry import MARKER, TITLE
from assent.process.changed_files import FileChanged
from assent.process.kept_output import KEEP
from assent.process.launcher_report import MISSED, NEVER_RAN
from assent.process.reaper import CHANGED, EMPTY, EXCHANGED, LEAVE, REPLY

AVAILABLE = sys.platform.startswith("linux")
START_TIMEOUT = 10.0
"""Seconds within which a program must have been started."""
_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_START = f"import sys; sys.path.insert(0, {_SOURCE!r}); from assent.process.supervisor import main; main()"
_INHERITED = (MARKER, "LD_LIBRARY_PATH")
"""All of our environment that the supervisor gets: whose child it is, and where its interpreter may be."""


class _SupervisorSocket:
    """The supervisor's socket: reapers take what is sent. It is closed when nobody uses it any longer."""

    def __init__(self, requests: socket.socket, output: int) -> None:
        self.requests = requests
        self._output = os.fdopen(output, "rb", buffering=0)
        self._looking = select.poll()
        self._looking.register(output, 0)

    def is_attended(self) -> bool:
        """A busy reaper would keep what is sent, even after the supervisor has exited."""
        return not self._looking.poll(0)

    def close(self) -> None:
        self.requests.close()
        self._output.close()


_lock = threading.Lock()
_door: _SupervisorSocket | None = None


async def start(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    mark: str,
    streams: tuple[int, int, int],
    inputs: Sequence[bytes] = (),
    unchanged: Sequence[ExecutedFile] = (),
    mounts: bytes = b"",
) -> "Supervised":
    """Raises OSError or FileChanged if it cannot be started. If cancelled meanwhile, the caller is cancelled at its
    next `await` and has to end what was started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    ours.setblocking(False)
    try:
        with theirs:
            _hand_over([theirs.fileno(), *streams])
        request = _request(
            argv, cwd, env, mark, inputs, unchanged, mounts
        )  # only now, because it takes until the reaper wakes up
        rest = memoryview(request)[ours.send(request) :]  # what does not fit into the socket
        return Supervised(ours, *_started(await _whatever_happens(_Reply(ours, rest)), argv, cwd, unchanged))
    except BaseException as error:
        ours.close()
        if isinstance(error, TimeoutError) and _door is not None:
            _close_door(_door)  # it may be stopped; the next command gets another one
        raise


async def _whatever_happens(reply: "_Reply") -> bytes:
    try:
        return await reply
    except asyncio.CancelledError:
        if reply.exception() is not None:
            raise
        if (task := asyncio.current_task()) is not None:
            task.uncancel()  # it is still one cancellation
            task.cancel()
        return reply.result()


class _Reply(asyncio.Future[bytes]):
    """The reaper's message about the start. It always arrives, or START_TIMEOUT passes: it cannot be cancelled. Without
    its own task, because each round of the event loop delays the command.
    """

    def __init__(self, control: socket.socket, rest: memoryview) -> None:
        self._running = asyncio.get_running_loop()
        super().__init__(loop=self._running)
        self._control, self._rest, self._data = control, rest, b""
        self._running.add_reader(control, self._readable)
        if rest:
            self._running.add_writer(control, self._writable)
        self._timer = self._running.call_later(START_TIMEOUT, self._fail, TimeoutError())

    def cancel(self, msg: object = None) -> bool:
        return False

    def _readable(self) -> None:
        """Exactly the reply: how the program ended may follow immediately."""
        with self._failing():
            piece = self._control.recv(REPLY - len(self._data))
            self._data += piece
            if not piece:
                raise OSError(errno.EPIPE, "the supervisor exited before the program was started")
            if len(self._data) == REPLY:
                self._stop()
                self.set_result(self._data)

    def _writable(self) -> None:
        with self._failing():
            self._rest = self._rest[self._control.send(self._rest) :]
            if not self._rest:
                self._running.remove_writer(self._control)

    @contextlib.contextmanager
    def _failing(self) -> Generator[None]:
        try:
            yield
        except BlockingIOError:
            return
        except OSError as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._stop()
        self.set_exception(error)

    def _stop(self) -> None:
        self._timer.cancel()
        self._running.remove_reader(self._control)
        self._running.remove_writer(self._control)


def prepare() -> None:
    """Start the supervisor in the background, so that the first command need not wait for it."""
    if AVAILABLE and _door is None:
        threading.Thread(target=_open_door, daemon=True).start()


def _hand_over(descriptors: list[int]) -> None:
    """To another supervisor, if ours was killed. The request has not been sent yet, so it runs once."""
    for _ in range(2):
        door = _open_door()
        try:
            if door.is_attended():
                socket.send_fds(door.requests, [b"+"], descriptors)
                return
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):
                raise
        _close_door(door)
    raise OSError(errno.EPIPE, "the supervisor for commands is not running")


def _open_door() -> _SupervisorSocket:
    global _door
    with _lock:
        if _door is None:
            _door = _start_supervisor()
            atexit.register(_door.close)
        return _door


def _close_door(door: _SupervisorSocket) -> None:
    global _door
    with _lock:
        if _door is door:
            _door = None
        door.close()


def _start_supervisor() -> _SupervisorSocket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    output, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, TITLE],
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
            cwd="/",
            stdin=theirs.fileno(),
            stdout=writing,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        os.close(output)
        raise
    finally:
        theirs.close()
        os.close(writing)
    threading.Thread(target=process.wait, daemon=True).start()  # reaped whenever it exits
    return _SupervisorSocket(ours, output)


def _request(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    mark: str,
    inputs: Sequence[bytes],
    unchanged: Sequence[ExecutedFile],
    mounts: bytes,
) -> bytes:
    pairs = (f"{name}={value}" for name, value in env.items())
    encoded = " ".join(data.hex() or EMPTY for data in inputs)
    checked = " ".join(f"{os.fsencode(file.path).hex()}:{file.sha256}" for file in unchanged)
    texts = (mark, str(len(argv)), *argv, cwd, encoded, checked, os.fsdecode(mounts), *pairs)
    fields = [os.fsencode(text) for text in texts]
    if any(b"\0" in field for field in fields):
        raise ValueError("embedded null byte")
    body = b"\0".join([*fields, b""])
    return len(body).to_bytes(8, "big") + body


def _started(reply: bytes, argv: Sequence[str], cwd: str, unchanged: Sequence[ExecutedFile]) -> tuple[int, int, int]:
    """The program, its reaper, and when the program was started."""
    number, what, *since = reply.split()
    if since:
        return int(number), int(what), int(since[0])
    if what == CHANGED:
        raise FileChanged(unchanged[int(number)].path)
    if what == EXCHANGED:
        raise OSError(int(number), "a folder of the workspace was replaced while the sandbox was being built")
    named = {b"cwd": cwd, b"exec": argv[0]}.get(what)
    raise OSError(int(number), os.strerror(int(number)), *([named] if named else []))


class Supervised:
    """A program below its reaper."""

    def __init__(self, control: socket.socket, pid: int, reaper: int, since: int) -> None:
        self._control = control
        self.pid = pid
        self.reaper = reaper
        self.since = since
        self.lost = False
        self.never_ran = False
        self.missed_network = False
        self._status: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def status(self) -> int | None:
        return self._status

    def on_exit(self, tell: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._control, self._heard, tell)

    def _heard(self, tell: Callable[[], None]) -> None:
        """A reaper that says nothing more was killed; the supervisor ends what it looked after."""
        try:
            data = self._control.recv(64)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.never_ran = data.startswith(NEVER_RAN)
        self.missed_network = MISSED in data
        self._status = 1 if self.never_ran else int(data.split()[0]) if data else -signal.SIGKILL
        self.lost = not data
        self._stop_listening()
        tell()

    def _stop_listening(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._control)
            self._loop = None

    def leave_rest(self) -> None:
        with contextlib.suppress(OSError):
            self._control.send(LEAVE)

    def keep(self, source: int, file: int) -> None:
        """Arrives before the end of file, however soon we exit."""
        socket.send_fds(self._control, [KEEP], [source, file])

    def close(self) -> None:
        self._stop_listening()
        self._control.close()
