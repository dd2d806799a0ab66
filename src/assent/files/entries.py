"""What is at a place of the workspace: a file, a link or a folder, with everything that applying a change compares.

Places are names below one open folder, reached without following links. It reads and compares; it changes nothing.
"""

import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from msgspec import Struct

from assent.files.openat import FOLDER

EntryKind = Literal["file", "link", "folder", "other"]
PERMISSIONS = 0o777
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE = 1 << 20


class Entry(Struct, frozen=True, gc=False, omit_defaults=True):
    """Two entries are equal if nobody could tell them apart by content, target and permissions."""

    kind: EntryKind
    mode: int = 0
    """The permissions, without setuid and the like."""
    sha256: str = ""
    """Of a file; empty if it cannot be read."""
    size: int = 0
    target: str = ""


class Effect(Struct, frozen=True, gc=False, omit_defaults=True):
    """One place before and after; None if nothing is there."""

    path: str
    """Relative to the workspace."""
    before: Entry | None
    after: Entry | None


Stamp = tuple[int, int, int]
"""Changes whenever someone touches a place: the inode, the time of its last change, and its size."""


class OpenFolders:
    """The folders below a root, each opened from the one above it without following links. One is kept open."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, FOLDER)
        self._path: str = ""
        self._fd: int = self._root

    def close(self) -> None:
        self._forget()
        os.close(self._root)

    def _forget(self) -> None:
        if self._fd != self._root:
            os.close(self._fd)
        self._path, self._fd = "", self._root

    def of(self, path: str) -> int:
        """The folder that contains this place; valid until the next call. Raises OSError."""
        folder = os.path.dirname(path)
        if folder != self._path:
            self._forget()
            fd = self._root
            for name in filter(None, folder.split("/")):
                try:
                    below = os.open(name, FOLDER, dir_fd=fd)
                finally:
                    if fd != self._root:
                        os.close(fd)
                fd = below
            self._path, self._fd = folder, fd
        return self._fd


@contextmanager
def opened(root: str) -> Generator[OpenFolders]:
    folders = OpenFolders(root)
    try:
        yield folders
    finally:
        folders.close()


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_ctime_ns, found.st_size


def entry_at(folder: int, name: str) -> tuple[Entry, os.stat_result] | None:
    """What is there; None if nothing is."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    mode = stat.S_IMODE(found.st_mode) & PERMISSIONS
    match stat.S_IFMT(found.st_mode):
        case stat.S_IFREG:
            return Entry("file", mode, hash_at(folder, name), found.st_size), found
        case stat.S_IFLNK:
            return Entry("link", target=os.readlink(name, dir_fd=folder)), found
        case stat.S_IFDIR:
            return Entry("folder", mode), found
        case _:
            return Entry("other", mode), found


def hash_at(folder: int, name: str) -> str:
    """The SHA-256 of a file; empty if it cannot be read."""
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except PermissionError:
        return ""
    try:
        return hash_of(fd)
    finally:
        os.close(fd)


def hash_of(fd: int) -> str:
    found = hashlib.sha256()
    while piece := os.read(fd, _PIECE):
        found.update(piece)
    return found.hexdigest()
