"""Opens files by name without blocking: regular files only, and no more of them than requested.

Opening a pipe waits for a writer, and opening a device may do anything. Every read of a file that somebody else may
have put there goes through here. Knows no workspace and no rules.
"""

import errno
import os
import stat

SIZE_LIMIT = 1_000_000

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotRegular(OSError):
    """It is a pipe, a device, a socket or a folder, or too large."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(errno.EINVAL, why, path)


def open_regular(path: str | os.PathLike[str], *, follow: bool = True) -> int:
    """A descriptor for reading. Also checked before opening, because opening a device can have side effects."""
    _check(os.stat(path, follow_symlinks=follow), path)
    handle = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        _check(os.fstat(handle), path)
    except NotRegular:
        os.close(handle)
        raise
    return handle


def _check(found: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):  # opening a link raises its own error
        raise NotRegular(os.fspath(path), "it is not a regular file")


def read_regular(path: str | os.PathLike[str], limit: int = SIZE_LIMIT, *, follow: bool = True) -> bytes:
    """The whole content. Raises OSError."""
    with os.fdopen(open_regular(path, follow=follow), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise NotRegular(os.fspath(path), f"it is larger than {limit:,} bytes")
    return data
