"""New content on its way into a folder: written and synced out of sight, then put in place atomically.

If the system supports it (`O_TMPFILE`), the draft has no name, so that even a killed process leaves nothing behind;
otherwise it is a hidden file that only its owner may read. It knows an open folder and a name, not paths, and does not
decide whether the content may be replaced.
"""

import errno
import hashlib
import os
from contextlib import suppress

_PIECE = 1 << 20
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_NOT_SUPPORTED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS)


class AtomicWrite:
    """Use as a context manager; a draft that was not put in place is gone afterwards."""

    def __init__(self, folder: int, mode: int) -> None:
        self._folder = folder
        self._name: str | None = None
        nameless = self._open_nameless(mode) if os.path.isdir("/proc/self/fd") else None
        self._fd = self._open_named(mode) if nameless is None else nameless

    def __enter__(self) -> "AtomicWrite":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        os.close(self._fd)
        if self._name is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._name, dir_fd=self._folder)

    def write(self, data: bytes, like: os.stat_result | None) -> None:
        """Write and sync everything, with the mode and owner of the file it will replace."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        if like is not None:
            self._keep_owner(like)
            os.fchmod(self._fd, like.st_mode & 0o777)
        os.fsync(self._fd)

    def copy(self, source: int, mode: int, *, sync: bool) -> str:
        """Take over the content and the time of an open file; returns the hash of what was copied."""
        found = hashlib.sha256()
        while piece := os.read(source, _PIECE):
            found.update(piece)
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        os.fchmod(self._fd, mode)
        times = os.fstat(source)
        os.utime(self._fd, ns=(times.st_atime_ns, times.st_mtime_ns))
        if sync:
            os.fsync(self._fd)
        return found.hexdigest()

    def become_new(self, name: str) -> None:
        """Appear under a name that must not exist; `FileExistsError` if it does."""
        if self._name is None:
            self._link_nameless(name)
            return
        try:
            os.link(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self._rename_if_free(name)

    def replace(self, name: str) -> None:
        """Atomically replace an existing file."""
        if self._name is None:
            self._name = _hidden_name()  # known before it exists, so that no interruption can leave it behind
            self._link_nameless(self._name)
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._name = None

    def _link_nameless(self, name: str) -> None:
        os.link(f"/proc/self/fd/{self._fd}", name, dst_dir_fd=self._folder, follow_symlinks=True)

    def _rename_if_free(self, name: str) -> None:
        """For file systems without hard links: nearly as good, with a gap between check and rename."""
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=self._folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        self.replace(name)

    def _open_nameless(self, mode: int) -> int | None:
        try:
            return os.open(".", os.O_WRONLY | _NAMELESS | os.O_CLOEXEC, mode, dir_fd=self._folder)
        except OSError as error:
            if error.errno in _NOT_SUPPORTED:
                return None
            raise

    def _open_named(self, mode: int) -> int:
        name = _hidden_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, mode, dir_fd=self._folder)
        self._name = name
        return fd

    def _keep_owner(self, like: os.stat_result) -> None:
        mine = os.fstat(self._fd)
        if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
            try:
                os.fchown(self._fd, like.st_uid, like.st_gid)
            except PermissionError:
                return  # only root may give files away; we may still write the content


def _hidden_name() -> str:
    return f".assent-{os.urandom(8).hex()}.tmp"
