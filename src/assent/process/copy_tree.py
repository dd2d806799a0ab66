"""Copies what is in one folder into another, which must be empty: `copy_tree.py SOURCE TARGET`.

It follows no link, not even one that takes the place of a folder meanwhile: a background command may replace one at any
time, and `cp`, which uses paths, would then copy what is outside SOURCE. So everything is opened in the open folder
around it. What cannot be read is missing from the copy. A program of its own, so that it can be cancelled. Needs only
the standard library, which it loads without site packages.
"""

import errno
import fcntl
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _HERE
_READ = os.O_RDONLY | os.O_NONBLOCK | _HERE  # a pipe may have taken the place of a file
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _HERE
_SHARE_BLOCKS = 0x40049409
_CANNOT = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)
_EXCHANGED = (errno.ELOOP, errno.ENOTDIR, errno.EINVAL)
"""An entry has become something else since it was listed."""
_PIECE = 1 << 20
_FAILED = 1


class NotCopied(Exception):
    """What could not be copied, and why."""


def main(argv: list[str]) -> None:
    source, target = argv
    try:
        copy_tree(source, target)
    except (NotCopied, OSError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(_FAILED)


def copy_tree(source: str, target: str) -> None:
    """Raises NotCopied or OSError."""
    into = os.open(target, _FOLDER)
    try:
        _Copy(into).entries(os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), into, "")
    finally:
        os.close(into)


class _Copy:
    def __init__(self, top: int) -> None:
        self._top = top
        self._linked = dict[tuple[int, int], str]()
        """Where the first copy of a file with several names is, from the top."""

    def entries(self, source: int, target: int, path: str) -> None:
        """Closes `source`."""
        try:
            with os.scandir(source) as found:
                names = [entry.name for entry in found]
            for name in names:
                self._entry(name, source, target, f"{path}{name}")
        finally:
            os.close(source)

    def _entry(self, name: str, source: int, target: int, path: str) -> None:
        try:
            found = os.stat(name, dir_fd=source, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                self._folder(name, found, source, target, path)
            elif stat.S_ISREG(found.st_mode):
                self._file(name, source, target, path)
            else:
                self._other(name, found, source, target, path)
        except (FileNotFoundError, PermissionError):
            return  # it is gone, or nobody may read it
        except OSError as error:
            why = "it was replaced while it was being copied" if error.errno in _EXCHANGED else error.strerror
            raise NotCopied(f"{path}: {why}") from error

    def _folder(self, name: str, found: os.stat_result, source: int, target: int, path: str) -> None:
        try:
            opened = os.open(name, _FOLDER, dir_fd=source)
        except PermissionError:
            return os.mkdir(name, stat.S_IMODE(found.st_mode), dir_fd=target)
        os.mkdir(name, 0o700, dir_fd=target)
        made = os.open(name, _FOLDER, dir_fd=target)
        try:
            found = os.fstat(opened)
            _copy_attributes(opened, made)
            self.entries(opened, made, f"{path}/")
            _finish(made, found)
        finally:
            os.close(made)

    def _file(self, name: str, source: int, target: int, path: str) -> None:
        opened = os.open(name, _READ, dir_fd=source)
        try:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            if not self._is_linked(name, found, target, path):
                _copy_file(opened, found, name, target)
        finally:
            os.close(opened)

    def _is_linked(self, name: str, found: os.stat_result, target: int, path: str) -> bool:
        """Whether it is another name for a file that was already copied, and now has that name too."""
        if found.st_nlink < 2:
            return False
        first = self._linked.setdefault((found.st_dev, found.st_ino), path)
        if first != path:
            os.link(first, name, src_dir_fd=self._top, dst_dir_fd=target, follow_symlinks=False)
        return first != path

    def _other(self, name: str, found: os.stat_result, source: int, target: int, path: str) -> None:
        if self._is_linked(name, found, target, path):
            return
        if stat.S_ISLNK(found.st_mode):
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        else:
            os.mknod(name, found.st_mode, found.st_rdev, dir_fd=target)
        os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=target, follow_symlinks=False)


def _copy_file(source: int, found: os.stat_result, name: str, target: int) -> None:
    made = os.open(name, _NEW, 0o600, dir_fd=target)
    try:
        _copy_content(source, made, found.st_size)
        _copy_attributes(source, made)
        _finish(made, found)
    finally:
        os.close(made)


def _copy_content(source: int, target: int, size: int) -> None:
    if not size:
        return
    try:
        fcntl.ioctl(target, _SHARE_BLOCKS, source)
    except OSError:
        os.ftruncate(target, size)
        for start, end in _written_parts(source, size):
            _copy_part(source, target, start, end)


def _written_parts(fd: int, size: int) -> "Iterator[tuple[int, int]]":
    """What is not a hole."""
    end = 0
    while end < size:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                return
            raise
        end = os.lseek(fd, start, os.SEEK_HOLE)
        yield start, end


def _copy_part(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        try:
            copied = os.copy_file_range(source, target, end - start, start, start)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            copied = os.pwrite(target, os.pread(source, min(_PIECE, end - start), start), start)
        if not copied:
            return  # it has become shorter
        start += copied


def _copy_attributes(source: int, target: int) -> None:
    """As far as the file system of the copy takes them."""
    try:
        for name in os.listxattr(source):
            os.setxattr(target, name, os.getxattr(source, name))
    except OSError:
        return


def _finish(fd: int, found: os.stat_result) -> None:
    os.fchmod(fd, stat.S_IMODE(found.st_mode))
    os.utime(fd, ns=(found.st_atime_ns, found.st_mtime_ns))


if __name__ == "__main__":
    main(sys.argv[1:])
