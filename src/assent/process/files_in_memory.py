"""How much memory processes hold in files instead of in their own pages: the temporary folders of a sandbox, and files
without a name (`memfd_create`).

The memory of a process does not include them, unless it maps them.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

FOLDERS = ("/tmp", "/var/tmp", "/run", "/dev", "/dev/shm")
"""Where a sandbox has file systems of its own, in memory."""
_NAMELESS = "/memfd:"
_BLOCK = 512


def files_in_memory(pids: Iterable[int]) -> int:
    """In bytes, each file system and each file once."""
    found: dict[tuple[int, int], int] = {}
    looked_at = {"", _namespace("self")}
    for pid in pids:
        found |= _nameless(pid)
        if (namespace := _namespace(pid)) not in looked_at and (temporary := _temporary(pid)):
            looked_at.add(namespace)
            found |= temporary
    return sum(found.values())


def _namespace(pid: int | str) -> str:
    """Empty if the process has ended."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt")
    except OSError:
        return ""


def _temporary(pid: int) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for folder in FOLDERS:
        with suppress(OSError):
            inside = f"/proc/{pid}/root{folder}"
            device = os.stat(inside).st_dev
            if device != os.stat(folder).st_dev:
                system = os.statvfs(inside)
                found[device, 0] = (system.f_blocks - system.f_bfree) * system.f_frsize
    return found


def _nameless(pid: int) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                path = f"{folder}/{name}"
                if os.readlink(path).startswith(_NAMELESS):
                    file = os.stat(path)
                    found[file.st_dev, file.st_ino] = file.st_blocks * _BLOCK
    return found
