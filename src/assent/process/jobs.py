"""The programs of a plan that run, each pipeline in a group of its own, and their end when it is cancelled."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assent.process.openings import Bounds

CANCELLED = 128 + signal.SIGTERM


class Jobs:
    """`cancel` may be called from any thread, once or often."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Ends what runs; nothing further starts."""
        with self._lock:
            self._cancelled = True
            for group in self._groups:
                _kill(group)

    def start(
        self,
        group: int,
        program: str,
        argv: Sequence[str],
        cwd: str,
        environment: Mapping[str, str],
        descriptors: Sequence[int],
        handed: Sequence[int] = (),
        bounds: "Bounds | None" = None,
    ) -> "subprocess.Popen[bytes] | int":
        """In the group of that number, or a new one for 0. Gives a code when nothing was started. Raises OSError."""

        def spawn() -> "subprocess.Popen[bytes] | int":
            with self._lock:
                if self._cancelled:
                    return CANCELLED
                child = subprocess.Popen(
                    argv,
                    executable=program,
                    cwd=cwd,
                    env=environment,
                    stdin=descriptors[0],
                    stdout=descriptors[1],
                    stderr=descriptors[2],
                    process_group=group,
                    pass_fds=handed,
                )
                self._groups.add(group or child.pid)
                return child

        return spawn() if bounds is None or not bounds.kept else _in_bounds(bounds, spawn)

    def ended(self, group: int) -> None:
        with self._lock:
            self._groups.discard(group)


class _Bound(threading.Thread):
    """The kernel binds a thread and what it starts, so it is one that does nothing else."""

    def __init__(self, bounds: "Bounds", spawn: "Spawn") -> None:
        super().__init__(daemon=True)
        self._bounds, self._spawn = bounds, spawn
        self.found: subprocess.Popen[bytes] | int = 0
        self.problem: OSError | None = None

    def run(self) -> None:
        try:
            self._bounds.restrict_thread()
            self.found = self._spawn()
        except OSError as error:
            self.problem = error


if TYPE_CHECKING:
    from collections.abc import Callable

    Spawn = Callable[[], subprocess.Popen[bytes] | int]


def _in_bounds(bounds: "Bounds", spawn: "Spawn") -> "subprocess.Popen[bytes] | int":
    thread = _Bound(bounds, spawn)
    thread.start()
    thread.join()
    if thread.problem is not None:
        raise thread.problem
    return thread.found


def code_of(child: "subprocess.Popen[bytes] | int") -> int:
    """How it ended, as a shell says it."""
    if isinstance(child, int):
        return child
    returned = child.wait()
    return 128 - returned if returned < 0 else returned


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
