"""Starts one program in its own session, and reports when it has ended. It does not know what the program reads.

The supervisor starts it, so that it does not outlive us. Without a supervisor (only Linux lets a process adopt orphans)
we start it ourselves.
"""

import asyncio
import contextlib
import errno
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from assent.plan import ExecutedFile
from assent.process import supervisor_client
from assent.process.ancestry import MARKER
from assent.process.changed_files import FileChanged, first_changed
from assent.process.family import nested_mark


class Launcher(Struct, frozen=True):
    """A program that restricts itself and then becomes, or starts, the one it is given: a sandbox."""

    argv: tuple[str, ...]
    """Its words, before those of the program."""
    inputs: tuple[bytes, ...] = ()
    """What it reads from the descriptors `reaper.INPUTS` and following; it reports to `reaper.STATUS`."""
    copies: tuple[str, ...] = ()
    """Where the program finds the last of these inputs as files, which nothing can change."""
    mounts: bytes = b""
    """What it has to mount (`mount_gate.plan`). If there is something, it waits at `mount_gate.WAITS`."""


class Child(Protocol):
    """A program that was started. The caller must close it."""

    @property
    def pid(self) -> int: ...

    @property
    def reaper(self) -> int:
        """The process below which all its descendants are; 0 if there is none."""
        ...

    @property
    def since(self) -> int:
        """When it was started, in the units of the process table; 0 if not yet known."""
        ...

    def status(self) -> int | None:
        """How it ended: the exit code, or minus the signal; None while it runs."""
        ...

    @property
    def lost(self) -> bool:
        """Its reaper was killed: nobody looks after what it left."""
        ...

    @property
    def never_ran(self) -> bool:
        """The launcher failed; the program itself was not started."""
        ...

    @property
    def missed_network(self) -> bool:
        """It tried to use the network, and its sandbox has none."""
        ...

    def on_exit(self, tell: Callable[[], None]) -> None:
        """Call `tell` in the running loop when it has ended."""
        ...

    def leave_rest(self) -> None:
        """What it left in the background continues; otherwise nothing of it outlives `close`."""
        ...

    def keep(self, source: int, file: int) -> None:
        """Nothing of it ends with us, and from now on what can be read at `source` goes to the file. Raises OSError."""
        ...

    def close(self) -> None: ...


async def spawn(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    mark: str,
    *,
    output: int,
    errors: int | None = None,
    input: int | None = None,
    launcher: Launcher | None = None,
    unchanged: Sequence[ExecutedFile] = (),
) -> Child:
    """Errors go where the output goes, unless told otherwise. Our own input may be a protocol: nobody gets it. Raises
    FileChanged, and starts nothing, if one of these files has another content.

    Raises OSError if it cannot be started. If the caller is cancelled meanwhile, it learns that at its next `await` and
    has to end what was started.
    """
    marked = {**env, MARKER: nested_mark(mark, os.environ.get(MARKER))}
    start = supervisor_client.start if supervisor_client.AVAILABLE else _start
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        streams = (nothing if input is None else input, output, output if errors is None else errors)
        if launcher is None:
            return await start(argv, cwd, marked, mark, streams, unchanged=unchanged)
        words = [*launcher.argv, *argv]
        return await start(words, cwd, marked, mark, streams, launcher.inputs, unchanged, launcher.mounts)
    finally:
        os.close(nothing)


async def _start(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    _: str,
    streams: tuple[int, int, int],
    inputs: Sequence[bytes] = (),
    unchanged: Sequence[ExecutedFile] = (),
    mounts: bytes = b"",
) -> "_Unsupervised":
    assert not inputs and not mounts, "only the supervisor can hand these to a launcher"
    if (path := first_changed((one.path, one.sha256) for one in unchanged)) is not None:
        raise FileChanged(path)
    return _Unsupervised(argv, cwd, env, streams)


class _Unsupervised:
    """Started by ourselves: its group is all we know of its family."""

    reaper = 0
    since = 0
    lost = False
    never_ran = False
    missed_network = False

    def __init__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], streams: tuple[int, int, int]) -> None:
        self._closed = False
        self._process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=streams[0], stdout=streams[1], stderr=streams[2], start_new_session=True
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def status(self) -> int | None:
        return self._process.poll()

    def on_exit(self, tell: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()

        def ended() -> None:
            if not self._closed:
                tell()

        def wait() -> None:
            self._process.wait()
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(ended)

        threading.Thread(target=wait, daemon=True).start()

    def leave_rest(self) -> None:
        """They continue whatever we do."""

    def keep(self, source: int, file: int) -> None:
        raise OSError(errno.ENOTSUP, "commands cannot be kept on this system")

    def close(self) -> None:
        self._closed = True
        self._process.poll()
