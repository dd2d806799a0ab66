"""Limits that the kernel itself puts on a command: the size of a file, open files, and processes.

`prlimit` sets them before it becomes the command, so the command cannot raise them again. The kernel counts processes
per user; only in a sandbox, which has its own count, does that limit apply to this command alone. Root has no such
limit. `ProcessWatch` covers the remaining cases.
"""

import os
import resource
from collections.abc import Callable

_PLACES = ("/usr/bin/prlimit", "/bin/prlimit")
_MB = 1_000_000
_COUNT_ANYWAY = 25
"""After this many checks, which take five seconds, processes are counted in any case."""


def limit_words(file_mb: int, open_files: int, processes: int) -> list[str]:
    """The words to put before those of a command; none if the system cannot do it. 0 means no limit."""
    program = next((path for path in _PLACES if os.access(path, os.X_OK)), None)
    wanted = [
        ("fsize", resource.RLIMIT_FSIZE, file_mb * _MB),
        ("nofile", resource.RLIMIT_NOFILE, open_files),
        ("nproc", resource.RLIMIT_NPROC, processes),
    ]
    words = [f"--{name}={_capped(kind, limit)}" for name, kind, limit in wanted if limit]
    return [program, *words] if program and words else []


def _capped(kind: int, limit: int) -> int:
    """A process cannot raise a limit above its own."""
    _, hard = resource.getrlimit(kind)
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


class ProcessWatch:
    """Notices when a command has too many processes. Cheap: it counts them at once only if the machine has many more
    than before, and otherwise now and then, because others may have ended theirs meanwhile.
    """

    def __init__(self, most: int, count: Callable[[], int]) -> None:
        self._most = most
        self._count = count
        self._before = _tasks()
        self._looks = 0

    def is_too_much(self) -> bool:
        self._looks += 1
        due = self._looks % _COUNT_ANYWAY == 0
        return (due or _tasks() - self._before > self._most) and self._count() > self._most


def _tasks() -> int:
    """The processes and threads of the machine; 0 if unknown."""
    try:
        with open("/proc/loadavg", "rb", buffering=0) as file:
            return int(file.read(100).split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0
