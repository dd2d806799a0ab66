"""The default memory limit of a command: most of the machine's memory, not all of it.

Beyond that the system kills whatever it likes, perhaps the person's editor, perhaps Assent.
"""

from contextlib import suppress
from pathlib import Path

_SHARE = 0.8


def most_memory() -> int | None:
    """In bytes; None if the system does not say."""
    found = [size for size in (_of_machine(), _of_group()) if size]
    return int(min(found) * _SHARE) if found else None


def _of_machine() -> int | None:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) * 1024
    return None


def _of_group() -> int | None:
    """In a container, the container's limit; the word `max` means none."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            return int(Path("/sys/fs/cgroup", name).read_text())
    return None
