"""The running programs of a plan, each pipeline in its own process group, and how they end on cancellation."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from assent.process.file_limits import Bounds

CANCELLED = 128 + signal.SIGTERM

T = TypeVar("T")


class Jobs:
    """`cancel` may be called from any thread, any number of times."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """End everything that runs; nothing else starts."""
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
        """In the group of that number, or a new one for 0. Returns a code if nothing was started. Raises OSError."""

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

        return spawn() if bounds is None or not bounds.kept else in_bounds(bounds, spawn)

    def ended(self, group: int) -> None:
        with self._lock:
            self._groups.discard(group)


class _Bound(threading.Thread, Generic[T]):
    """The kernel restricts a thread and everything it starts, so this thread does nothing else."""

    def __init__(self, bounds: "Bounds", work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._bounds, self._work = bounds, work
        self.found: list[T] = []
        self.problem: Exception | None = None

    def run(self) -> None:
        try:
            self._bounds.restrict_thread()
            self.found.append(self._work())
        except (OSError, subprocess.SubprocessError) as error:
            self.problem = error


def in_bounds(bounds: "Bounds", work: Callable[[], T]) -> T:
    """The result of `work`. The programs that it starts are restricted."""
    thread = _Bound(bounds, work)
    thread.start()
    thread.join()
    if thread.problem is not None:
        raise thread.problem
    return thread.found[0]


def code_of(child: "subprocess.Popen[bytes] | int") -> int:
    """How it ended, as a shell reports it."""
    if isinstance(child, int):
        return child
    returned = child.wait()
    return 128 - returned if returned < 0 else returned


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
