"""Reads what a command changed in an overlay of the workspace: its upper folder holds the changes, and nothing else.

In an upper folder, a character device 0/0 means that a name is deleted, and an attribute on a folder means that nothing
of the folder below shows through. A full copy of the workspace is read in the same way, except that what has kept its
stamp is no change, and that a name that is gone is deleted. Effects are always relative to the workspace as it is now:
a file that the command only touched, or rewrote with the same content, has no effect. It changes only the upper folder,
and only permissions that would keep us from reading it.
"""

import os
import stat

from msgspec import Struct, field

from assent.files.copied_tree import Stamps, copied_stamp
from assent.files.entries import PERMISSIONS, Effect, Entry, OpenFolders, entry_at, hash_at, opened
from assent.files.openat import FOLDER

_OPAQUE = "user.overlay.opaque"
_SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_SECOND_NAME = "it has a second name (hard link), which keeps the old content"
_OTHER_NAMES_OUTSIDE = "its other names outside the workspace (hard links) keep the old content"
_ATTRIBUTES = "its extended attributes and access list are not applied"
_OVERLAY_ATTRIBUTES = "user.overlay."
_MAX_PATH = 3000
"""Bytes of a path below the workspace: the system has a limit for whole paths."""
_OTHER_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}


class Unappliable(Struct, frozen=True, gc=False):
    """Something that the command made and that cannot be put into the workspace."""

    path: str
    reason: str


class UpperChanges(Struct):
    effects: list[Effect] = field(default_factory=list[Effect])
    unappliable: list[Unappliable] = field(default_factory=list[Unappliable])
    notes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By path: what applying it does not do."""
    changed_meanwhile: list[str] = field(default_factory=list[str])
    """What someone else changed in the workspace since the command started."""


def read_upper(upper: str, root: str, since: int, copied: Stamps | None = None) -> UpperChanges:
    """`since`: when the command started, in nanoseconds by the clock of the file system. `copied`: what `upper` was
    before, if it is a full copy.
    """
    with opened(root) as lower:
        reader = _Reader(lower, since, copied or {})
        reader.read(upper)
        reader.delete_missing()
        return reader.found


class _Reader:
    def __init__(self, lower: OpenFolders, since: int, copied: Stamps) -> None:
        self.found = UpperChanges()
        self._lower = lower
        self._since = since
        self._copied = copied
        self._missing = set(copied)
        """What the copy had and the walk has not met."""
        self._folders: list[tuple[str, str, bool]] = []
        """Those above it that are yet to be read: where they are, and what `_walk` needs."""

    def read(self, upper: str) -> None:
        """Without recursion: a command can nest folders deeper than that."""
        self._walk(upper, "", opaque=False)
        while self._folders:
            inner, path, opaque = self._folders.pop()
            if len(path.encode(errors="surrogateescape")) > _MAX_PATH:
                self.found.unappliable.append(Unappliable(_printable(path), "its path is too long"))
                self._missing = {one for one in self._missing if not one.startswith(f"{path}/")}
            else:
                self._walk(inner, path, opaque=opaque)

    def _walk(self, upper: str, path: str, *, opaque: bool) -> None:
        """One folder that exists above. `opaque`: what is below it in the workspace, and not above, is gone."""
        fd = _open_upper(upper)
        try:
            names = sorted(os.listdir(fd))
            for name in names:
                self._look(fd, upper, name, _join(path, name), opaque=opaque)
        finally:
            os.close(fd)
        if opaque:
            for name in set(self._names_below(path)) - set(names):
                self._delete(_join(path, name))

    def delete_missing(self) -> None:
        for path in sorted(self._missing):
            if path in self._missing:  # not yet deleted with its folder
                self._delete(path)

    def _look(self, folder: int, upper: str, name: str, path: str, *, opaque: bool) -> None:
        above = os.stat(name, dir_fd=folder, follow_symlinks=False)
        self._missing.discard(path)
        if self._copied.get(path) == copied_stamp(above):
            if stat.S_ISDIR(above.st_mode):
                self._folders.append((os.path.join(upper, name), path, False))
            return
        if stat.S_ISCHR(above.st_mode) and above.st_rdev == 0:
            self._delete(path)
            return
        match stat.S_IFMT(above.st_mode):
            case stat.S_IFDIR:
                self._folder(os.path.join(upper, name), path, above, opaque=opaque)
            case stat.S_IFREG:
                self._file(folder, name, path, above)
            case stat.S_IFLNK:
                self._link(folder, name, path)
            case other:
                kind = _OTHER_KINDS.get(other, "a device")
                self.found.unappliable.append(Unappliable(_printable(path), f"it is {kind}"))

    def _folder(self, inner: str, path: str, above: os.stat_result, *, opaque: bool) -> None:
        before = self._before(path)
        after = Entry("folder", above.st_mode & PERMISSIONS)
        hides = opaque or _is_opaque(inner)
        self._change(path, before, after)
        self._say_special_bits(path, above, before)
        self._folders.append((inner, path, hides and before is not None and before.kind == "folder"))

    def _file(self, folder: int, name: str, path: str, above: os.stat_result) -> None:
        if not above.st_mode & stat.S_IRUSR:
            os.chmod(name, above.st_mode | stat.S_IRUSR, dir_fd=folder)
        before = self._before(path)
        after = Entry("file", above.st_mode & PERMISSIONS, hash_at(folder, name), above.st_size)
        if above.st_nlink > 1:
            self._note(path, "it has several names (hard links); each becomes a file of its own")
        self._say_special_bits(path, above, before)
        if before != after and _has_attributes(folder, name):
            self._note(path, _ATTRIBUTES)
        self._change(path, before, after)

    def _link(self, folder: int, name: str, path: str) -> None:
        self._change(path, self._before(path), Entry("link", target=os.readlink(name, dir_fd=folder)))

    def _delete(self, path: str) -> None:
        """With everything below it."""
        todo = [path]
        while todo:
            path = todo.pop()
            self._missing.discard(path)
            before = self._before(path)
            if before is not None and self._changes(path, before, None) and before.kind == "folder":
                todo += [_join(path, name) for name in self._names_below(path)]

    def _change(self, path: str, before: Entry | None, after: Entry | None) -> None:
        if not self._changes(path, before, after):
            return
        if before is not None and before.kind == "folder" and (after is None or after.kind != "folder"):
            for name in self._names_below(path):
                self._delete(_join(path, name))

    def _changes(self, path: str, before: Entry | None, after: Entry | None) -> bool:
        """Note it; whether it can be applied."""
        if before == after:
            return False
        if problem := _why_unappliable(path, before, after):
            self.found.unappliable.append(Unappliable(_printable(path), problem))
            return False
        self.found.effects.append(Effect(path, before, after))
        return True

    # --- the workspace ---

    def _before(self, path: str) -> Entry | None:
        try:
            found = entry_at(self._lower.of(path), os.path.basename(path))
        except OSError:  # no folder leads there without a link
            return None
        if found is None:
            return None
        entry, status = found
        if entry.kind != "folder" and status.st_ctime_ns > self._since:
            self.found.changed_meanwhile.append(path)
        if entry.kind == "file" and status.st_nlink > 1:
            self._note(path, _OTHER_NAMES_OUTSIDE if self._copied else _SECOND_NAME)
        return entry

    def _names_below(self, path: str) -> list[str]:
        try:
            fd = os.open(os.path.basename(path), FOLDER, dir_fd=self._lower.of(path))
        except OSError:
            return []
        try:
            return sorted(os.listdir(fd))
        finally:
            os.close(fd)

    # --- notes ---

    def _note(self, path: str, text: str) -> None:
        notes = self.found.notes.setdefault(path, [])
        if text not in notes:
            notes.append(text)

    def _say_special_bits(self, path: str, above: os.stat_result, before: Entry | None) -> None:
        sticky_folder = stat.S_ISDIR(above.st_mode) and before is not None  # it keeps the bits that it has
        if above.st_mode & _SPECIAL_BITS and not sticky_folder:
            self._note(path, "its setuid, setgid or sticky bit is not applied")


def _open_upper(path: str) -> int:
    if os.stat(path, follow_symlinks=False).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(path, stat.S_IRWXU)
    return os.open(path, FOLDER)


def _is_opaque(path: str) -> bool:
    try:
        return os.getxattr(path, _OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False


def _has_attributes(folder: int, name: str) -> bool:
    """Except those that every file of this system has, and those of the overlay itself."""
    try:
        names = os.listxattr(f"/proc/self/fd/{folder}/{name}", follow_symlinks=False)
    except OSError:
        return False
    return any(not one.startswith((_OVERLAY_ATTRIBUTES, "security.selinux")) for one in names)


def _why_unappliable(path: str, before: Entry | None, after: Entry | None) -> str:
    """The record of a change is text, and whatever is replaced must be restorable."""
    for text in (path, *(one.target for one in (before, after) if one is not None)):
        try:
            text.encode()
        except UnicodeEncodeError:
            return "its name or the target of the link is not valid UTF-8"
    match before:
        case Entry(kind="other"):
            return "a pipe, a socket or a device is there"
        case Entry(kind="file", sha256=""):
            return "the file that is there cannot be read, so it could not be restored"
        case _:
            return ""


def _printable(path: str) -> str:
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
