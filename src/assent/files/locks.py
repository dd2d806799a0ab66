"""Locks between processes: held by an open file, so the system releases them when a process ends, however it ends."""

import fcntl
import os


def take_lock(path: str | os.PathLike[str], *, wait: bool = False) -> int:
    """The open file; close it to release the lock. Raises BlockingIOError if it is taken and `wait` is false."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        os.close(handle)
        raise
    return handle
