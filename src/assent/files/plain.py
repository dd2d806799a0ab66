"""Reads a configuration file as it is: a regular file, not through a link, not larger than it may be."""

import os
import stat

SIZE_LIMIT = 1_000_000


class NotPlain(Exception):
    """It is a link, a device, a pipe, too large, or cannot be read; the message says which."""


def read_plain(path: str | os.PathLike[str], limit: int = SIZE_LIMIT) -> bytes:
    """Raises FileNotFoundError when there is nothing, NotPlain for whatever is no ordinary file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotPlain(f"{os.fspath(path)} is a link or cannot be read: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotPlain(f"{os.fspath(path)} is no ordinary file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(handle)
    if len(data) > limit:
        raise NotPlain(f"{os.fspath(path)} is larger than {limit:,} bytes")
    return data
