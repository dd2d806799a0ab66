"""Small steps below an open folder: no path, no link followed, regular files only.

Everything here takes an open folder and one name in it, so that nobody can replace what is above. `path` is only the
person's name for it, for errors.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from assent.files.errors import ChangedSinceShown, NotAFile, from_os

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE = 1 << 20


def digest_of(data: bytes) -> str:
    """Binds an approval to a content: SHA-256 in hex."""
    import hashlib  # loads OpenSSL, which a short run may not need

    return hashlib.sha256(data).hexdigest()


def identity(found: os.stat_result) -> tuple[int, int]:
    """What makes two open files the same file."""
    return found.st_dev, found.st_ino


def step(folder: int, name: str, *, make: bool) -> int:
    """The folder below, in exchange for the one above; the one above stays open if there is none."""
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    try:
        below = os.open(name, FOLDER, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise
    os.close(folder)
    return below


@contextmanager
def open_file(folder: int, name: str, path: str) -> Generator[int]:
    """A regular file, open for reading. Checked first: opening a device or a pipe can have side effects."""
    _check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        _check_regular(os.fstat(fd), path)
        yield fd
    finally:
        os.close(fd)


def _check_regular(found: os.stat_result, path: str) -> None:
    match stat.S_IFMT(found.st_mode):
        case stat.S_IFREG:
            return
        case stat.S_IFLNK:
            raise ChangedSinceShown(path, "it became a link after it was checked")
        case stat.S_IFDIR:
            raise NotAFile(path, "this is a folder")
        case _:
            raise NotAFile(path, "this is not a regular file")


def preimage(folder: int, name: str, path: str, expected: str | None) -> os.stat_result | None:
    """The file to replace, whose content must have the digest `expected`; None if it must not exist."""
    try:
        with open_file(folder, name, path) as fd:
            if expected is None:
                raise ChangedSinceShown(path, "a file of this name already exists")
            if _digest(fd) != expected:
                raise ChangedSinceShown(path, "its content is no longer what was shown")
            return os.fstat(fd)
    except FileNotFoundError:
        if expected is None:
            return None
        raise ChangedSinceShown(path, "it was deleted after it was shown") from None


def check_unchanged(folder: int, name: str, path: str, before: os.stat_result | None, expected: str | None) -> None:
    """Right before the effect: the same file with the same content as at the start."""
    now = preimage(folder, name, path, expected)
    if now is not None and before is not None and identity(now) != identity(before):
        raise ChangedSinceShown(path, "the file was replaced by another one")


def read(fd: int, limit: int) -> bytes:
    """Up to `limit` bytes."""
    pieces, size = list[bytes](), 0
    while piece := os.read(fd, min(_PIECE, limit - size)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _digest(fd: int) -> str:
    import hashlib

    found = hashlib.sha256()
    while piece := os.read(fd, _PIECE):
        found.update(piece)
    return found.hexdigest()


@contextmanager
def typed_errors(path: str) -> Generator[None]:
    """A system error as an error that a person understands."""
    try:
        yield
    except OSError as error:
        raise from_os(path, error) from error
