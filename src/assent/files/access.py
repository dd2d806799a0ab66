"""The only place that reads or writes the user's files.

Every operation judges the path again and then walks to it with open folders, following no link on the way, so that what
was judged is what is touched. A write replaces exactly the content that was shown: it takes the digest of that content,
and compares before it starts and again right before the file is put in place. Afterwards the file has the old content
or the new one, never a mixture, and nothing else is left in the folder.

It asks nobody: `protected_ok` says that someone did. Two races remain: another process may change the file between the
last comparison and the rename (microseconds; no system call does both), or move the folder in that moment.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

import msgspec

from assent.files.atomic_write import AtomicWrite
from assent.files.errors import (
    ChangedSinceShown,
    NotAFile,
    OutsideWorkspace,
    ProtectedPath,
    RejectedPath,
    TooLarge,
    WorkspaceError,
)
from assent.files.openat import (
    FOLDER,
    check_unchanged,
    digest_of,
    identity,
    open_file,
    preimage,
    read,
    step,
    typed_errors,
)
from assent.files.workspace import Operation, Workspace


class FileContent(msgspec.Struct, frozen=True):
    """What a file contained at one moment. A later write is compared with `digest` (SHA-256, hex)."""

    data: bytes
    digest: str
    mode: int
    size: int


class Entry(msgspec.Struct, frozen=True):
    """One name in a folder. A link is described by itself; `inside` is False if it leads out."""

    name: str
    kind: Literal["file", "folder", "link", "other"]
    size: int
    inside: bool = True


class FileAccess:
    """Reads and writes within one workspace."""

    def __init__(self, workspace: Workspace, *, new_mode: int = 0o644) -> None:
        """`new_mode`: the permissions of new files."""
        self._workspace = workspace
        self._new_mode = new_mode
        self._root_ids = {root: _identity_of(root) for root in (*workspace.roots, *workspace.readable)}

    def read_bytes(self, path: str, limit: int, *, protected_ok: bool = False) -> FileContent:
        """The whole content of a regular file of at most `limit` bytes."""
        with self._target(path, "read", protected_ok) as (folder, name), open_file(folder, name, path) as fd:
            found = os.fstat(fd)
            if found.st_size > limit:
                raise TooLarge(path, f"the file has {found.st_size:,} bytes, more than {limit:,}")
            data = read(fd, limit + 1)
            if len(data) > limit:
                raise TooLarge(path, f"the file has more than {limit:,} bytes")
            return FileContent(data, digest_of(data), stat.S_IMODE(found.st_mode), len(data))

    @contextmanager
    def opened(self, path: str) -> Generator[int]:
        """A regular file, open for reading."""
        with self._target(path, "read", protected_ok=False) as (folder, name), open_file(folder, name, path) as fd:
            yield fd

    def write(self, path: str, data: bytes, expected: str | None, *, protected_ok: bool = False) -> str:
        """Replace the content that has the digest `expected` (None: nothing may exist yet) with `data`.

        Returns the digest of the new content. The folder must exist, unless `make_dirs` creates it.
        """
        op = "create" if expected is None else "write"
        with self._target(path, op, protected_ok) as (folder, name):
            before = preimage(folder, name, path, expected)
            with AtomicWrite(folder, self._new_mode if before is None else 0o600) as draft:
                draft.write(data, before)
                self._check_still_there(path, op, folder)
                check_unchanged(folder, name, path, before, expected)
                _put(draft, name, path, before)
            os.fsync(folder)
        return digest_of(data)

    def delete(self, path: str, expected: str, *, protected_ok: bool = False) -> None:
        """Remove a regular file that still has the content with this digest."""
        with self._target(path, "delete", protected_ok) as (folder, name):
            before = preimage(folder, name, path, expected)
            self._check_still_there(path, "delete", folder)
            check_unchanged(folder, name, path, before, expected)
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    def make_dirs(self, path: str, *, protected_ok: bool = False) -> None:
        """Create a folder and its missing parents, below the root."""
        inner = os.path.join(path, "x")  # judged as a new file in it: an empty folder brings nothing
        with self._target(inner, "create", protected_ok, make=True):
            return

    def scan(self, path: str) -> list[Entry]:
        """The entries of a folder by name. Links are listed, not followed."""
        canonical = self._judge(path, "list", protected_ok=False)
        with typed_errors(path), self._folder(canonical, path, make=False) as fd, os.scandir(fd) as entries:
            found = [self._entry(canonical, entry) for entry in entries]
        return sorted(filter(None, found), key=lambda entry: entry.name)

    def has(self, canonical: str) -> bool:
        """Whether there is something of this name, reached without following links."""
        above, name = os.path.split(canonical)
        try:
            with typed_errors(canonical), self._folder(above, canonical, make=False) as folder:
                os.stat(name, dir_fd=folder, follow_symlinks=False)
        except WorkspaceError:
            return False
        return True

    def _entry(self, folder: str, entry: os.DirEntry[str]) -> Entry | None:
        try:
            size = entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            return None  # deleted in the meantime
        if entry.is_symlink():
            leads = self._workspace.classify(os.path.join(folder, entry.name), "list").kind
            return Entry(entry.name, "link", size, inside=leads == "inside")
        if entry.is_dir(follow_symlinks=False):
            return Entry(entry.name, "folder", size)
        return Entry(entry.name, "file" if entry.is_file(follow_symlinks=False) else "other", size)

    def _judge(self, path: str, op: Operation, *, protected_ok: bool) -> str:
        """The canonical path, if it may be touched."""
        verdict = self._workspace.classify(path, op)
        match verdict.kind:
            case "reject":
                raise RejectedPath(path, verdict.reason)
            case "outside":
                raise OutsideWorkspace(path, verdict.reason)
            case "protected" if not protected_ok:
                raise ProtectedPath(path, verdict.reason)
            case _:
                return verdict.path

    @contextmanager
    def _target(
        self, path: str, op: Operation, protected_ok: bool, *, make: bool = False
    ) -> Generator[tuple[int, str]]:
        """The open folder that contains the file, and the file's name in it."""
        canonical = self._judge(path, op, protected_ok=protected_ok)
        if canonical in self._workspace.roots:
            raise NotAFile(path, "this is a folder")
        with typed_errors(path), self._folder(os.path.dirname(canonical), path, make=make) as folder:
            yield folder, os.path.basename(canonical)

    @contextmanager
    def _folder(self, canonical: str, path: str, *, make: bool) -> Generator[int]:
        """Walk from the root to a folder, each step from the previous one and without following links."""
        found = self._workspace.below_readable(canonical)  # judged before: only reading may go outside
        if found is None:
            raise OutsideWorkspace(path, f"{canonical} is outside the workspace")
        root, names = found
        fd = self._open_root(root, path)
        try:
            for name in names:
                fd = step(fd, name, make=make)
            yield fd
        finally:
            os.close(fd)

    def _open_root(self, root: str, path: str) -> int:
        fd = os.open(root, FOLDER)
        if identity(os.fstat(fd)) == (self._root_ids[root] or identity(os.fstat(fd))):
            return fd
        os.close(fd)
        raise OutsideWorkspace(path, f"{root} is no longer the folder that was opened as the workspace")

    def _check_still_there(self, path: str, op: Operation, folder: int) -> None:
        """The path must still lead to the open folder: it may have been moved away."""
        canonical = self._judge(path, op, protected_ok=True)
        with self._folder(os.path.dirname(canonical), path, make=False) as again:
            if identity(os.fstat(again)) != identity(os.fstat(folder)):
                raise ChangedSinceShown(path, "its folder has been replaced")


def _put(draft: AtomicWrite, name: str, path: str, before: os.stat_result | None) -> None:
    if before is not None:
        draft.replace(name)
        return
    try:
        draft.become_new(name)
    except FileExistsError:
        raise ChangedSinceShown(path, "a file of this name already exists") from None


def _identity_of(path: str) -> tuple[int, int] | None:
    try:
        return identity(os.stat(path))
    except OSError:
        return None  # does not exist yet, so there is nothing to compare with
