"""Who is at the other end of a pipe of ours. Without /proc nobody can tell."""

import os
import stat
from contextlib import suppress


def has_producer(descriptor: int) -> bool:
    """Whether a process that neither is this one nor started it can still write into this pipe.

    In `pytest | assent` that is pytest. A program that started us and keeps our input open without using it is none.
    """
    found = os.fstat(descriptor)
    if not stat.S_ISFIFO(found.st_mode):
        return False
    name, family = f"pipe:[{found.st_ino}]", _ancestors(os.getpid())
    with suppress(OSError):
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
        return any(_writes(pid, name) for pid in pids if pid not in family)
    return False


def _ancestors(pid: int) -> set[int]:
    """The process and all above it."""
    found = {pid}
    while pid > 1:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            break
        found.add(pid)
    return found


def _writes(pid: int, name: str) -> bool:
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with suppress(OSError):
                if os.readlink(entry.path) == name and os.lstat(entry.path).st_mode & 0o200:
                    return True
    return False
