"""Files and folders of our own, outside the workspace: created when first needed, readable by their owner only.

They hold complete outputs that were too long for the model, and file contents from before a large change. Names come
from call ids, which a model may have chosen, so only harmless characters of them are used.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assent.files.regular_file import read_plain

_ODD = re.compile(r"[^a-z0-9._-]+")
_MAX_NAME_LENGTH = 80


def make_private(folder: str) -> None:
    """Create the folder and its missing parents."""
    if not os.path.isdir(folder):
        make_private(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


class PrivateFolder:
    def __init__(self, path: str) -> None:
        self.path = path

    def create(self, name: str) -> "PrivateFile":
        """A new file; an existing one of the same name is not touched, and the new one gets a number."""
        return PrivateFile(*self.open_new(name))

    def open_new(self, name: str) -> tuple[str, int]:
        """The path and the descriptor of a new file, as with `create`."""
        make_private(self.path)
        base, ending = os.path.splitext(harmless(name))
        for number in range(1, 1000):
            path = os.path.join(self.path, f"{base}-{number}{ending}" if number > 1 else f"{base}{ending}")
            try:
                return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
        raise FileExistsError(f"there are too many files called {name} in {self.path}")

    def keep(self, data: bytes) -> str:
        """Store a content under its own hash and return the name; the same content is stored once."""
        import hashlib

        name = hashlib.sha256(data).hexdigest()
        if not os.path.lexists(os.path.join(self.path, name)):
            with self.create(f"{name}.part") as part:
                part.write(data)
            os.replace(part.path, os.path.join(self.path, name))
        return name

    def piece(self, name: str, offset: int, limit: int) -> "Piece | None":
        """Some bytes of a file, without reading the rest; None if we have no such file."""
        try:
            handle = self._open_own(harmless(name))
        except OSError:
            return None
        try:
            return Piece(os.pread(handle, limit, offset), os.fstat(handle).st_size)
        finally:
            os.close(handle)

    def _open_own(self, name: str) -> int:
        """Neither it nor its folder may be a link, and it must be a regular file that belongs to this user."""
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            os.close(handle)
            raise PermissionError(f"{name} is not one of our files")
        return handle

    def share(self, other: "PrivateFolder", names: Iterable[str]) -> None:
        """Make the files of these names in the other folder available here; skip those for which that fails."""
        with suppress(OSError):
            there = {entry.name for entry in os.scandir(other.path) if entry.is_file(follow_symlinks=False)}
            wanted = there & {harmless(name) for name in names}
            if wanted:
                make_private(self.path)
            for name in wanted:
                os.link(os.path.join(other.path, name), os.path.join(self.path, name), follow_symlinks=False)

    def forget(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self.path, harmless(name)))

    def remove(self) -> None:
        """Remove the folder and the files in it; a folder in it is not ours, and stays."""
        with suppress(OSError):
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)
            os.rmdir(self.path)

    def kept(self, name: str) -> bytes:
        """Raises FileNotFoundError, or NotPlain."""
        return read_plain(os.path.join(self.path, harmless(name)), limit=1 << 30)


class Piece(NamedTuple):
    data: bytes
    total: int
    """Size of the whole file in bytes."""


class PrivateFile:
    """Open for writing until `close`."""

    def __init__(self, path: str, handle: int) -> None:
        self.path = path
        self._file = os.fdopen(handle, "wb")
        self.closed: Callable[[str], None] = lambda _: None
        """Called with the path when all of it is written."""

    def __enter__(self) -> "PrivateFile":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self.closed(self.path)


def harmless(name: str) -> str:
    """A name that is one file in its folder, whatever it was: cut from the left, so that the extension stays."""
    return _ODD.sub("_", name.lower()).lstrip(".-")[-_MAX_NAME_LENGTH:] or "_"


def save_private(path: Path, data: bytes) -> None:
    """Write a whole file: the old content or the new, never a mixture, even if two processes write at once."""
    import secrets

    make_private(str(path.parent))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(draft)
        error.filename = str(path)  # a full-disk error does not say which file it is about
        raise
