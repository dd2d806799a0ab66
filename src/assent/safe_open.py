"""Opens files by name without blocking: regular files only, and no more of them than requested.

Opening a pipe waits for a writer, and opening a device may do anything. Every read of a file that someone else may
have put there goes through here. Knows no workspace and no rules.
"""

import errno
import os
import stat

SIZE_LIMIT = 1_000_000
DIGEST_LIMIT = 32_000_000

AnyPath = str | bytes | os.PathLike[str]

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotRegular(OSError):
    """It is a pipe, a device, a socket or a folder, or too large."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(errno.EINVAL, why, path)


def open_regular(path: AnyPath, *, follow: bool = True) -> int:
    """A descriptor for reading. Also checked before opening, because opening a device can have side effects."""
    _check(os.stat(path, follow_symlinks=follow), path)
    handle = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        _check(os.fstat(handle), path)
    except NotRegular:
        os.close(handle)
        raise
    return handle


def _check(found: os.stat_result, path: AnyPath) -> None:
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):  # opening a link raises its own error
        raise NotRegular(os.fsdecode(path), "it is not a regular file")


def read_regular(path: AnyPath, limit: int = SIZE_LIMIT, *, follow: bool = True) -> bytes:
    """The whole content. Raises OSError."""
    with os.fdopen(open_regular(path, follow=follow), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise NotRegular(os.fsdecode(path), f"it is larger than {limit:,} bytes")
    return data


def content_digest(path: AnyPath) -> str | None:
    """SHA-256 of a file's content in hex; empty if it cannot be read, None if there is no file.

    A very large file is not read: identity, size and times stand for its content.
    """
    from hashlib import sha256

    try:
        with os.fdopen(open_regular(path), "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_size > DIGEST_LIMIT:
                times = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                return sha256(repr(times).encode()).hexdigest()
            return sha256(file.read(DIGEST_LIMIT + 1)).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return None if os.path.isdir(path) else ""
