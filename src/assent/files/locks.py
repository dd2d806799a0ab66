"""Locks between processes: held by an open file, so the system releases them when a process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress


def take_lock(path: str | os.PathLike[str], *, wait: bool = False) -> int:
    """The open file; close it to release the lock. Raises BlockingIOError if it is taken and `wait` is false."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(handle)
        raise
    return handle


def take_removable_lock(path: str | os.PathLike[str]) -> int:
    """The same, for a lock file that is removed when it is released. Someone may have removed it between our opening
    and our locking it: then we hold a file that nobody else will ever see, and try again."""
    while True:
        handle = take_lock(path)
        try:
            found, ours = os.stat(path), os.fstat(handle)
            if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino):
                return handle
        except FileNotFoundError:
            pass
        os.close(handle)


def remove_lock(path: str | os.PathLike[str], handle: int) -> None:
    """Removes the file while the lock is still held, so that nobody waits for a file that is gone."""
    with suppress(OSError):
        os.unlink(path)
    os.close(handle)


def remove_unused_locks(paths: Iterable[os.PathLike[str]]) -> int:
    """Removes files left by killed processes or older versions. Returns how many."""
    count = 0
    for path in paths:
        with suppress(OSError):  # someone holds it
            remove_lock(path, take_removable_lock(path))
            count += 1
    return count
