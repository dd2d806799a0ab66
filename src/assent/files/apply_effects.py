"""Writes effects to the workspace: exactly those that were shown, and only if every place is still as it was before.

All places are compared first; if one of them differs, nothing is written. Each place is compared once more right before
it is changed, and each file appears as a whole. No link is followed. What is replaced is kept first, so that the
effects can be reversed, even after a crash in the middle: `progress` says how far it came.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from assent import failpoints
from assent.files.atomic_write import AtomicWrite
from assent.files.entries import PERMISSIONS, Effect, Entry, OpenFolders, Stamp, entry_at, opened, stamp_of
from assent.files.openat import FOLDER

Contents = Callable[[str, Entry], str]
"""Where the content of a file is, given its place and what it will be."""
_MANY = 50
"""Files that are synced one by one; of more, all are synced together at the end."""


class Changed(Exception):
    """These places are not as they were; nothing was written."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(", ".join(paths[:5]))
        self.paths = tuple(paths)


class PartlyApplied(Exception):
    """It had to stop in the middle."""

    def __init__(self, done: Sequence[str], why: str) -> None:
        super().__init__(why)
        self.done = tuple(done)


class Progress(Struct, frozen=True):
    """Which of the effects are in the workspace."""

    applied: tuple[str, ...]
    open: tuple[str, ...]
    """As before."""
    other: tuple[str, ...]
    """Neither state: someone else changed them."""


def changed_places(root: str, effects: Sequence[Effect]) -> list[str]:
    """The places that are no longer as they were before."""
    with opened(root) as folders:
        return _changed(folders, effects)[0]


def progress(root: str, effects: Sequence[Effect]) -> Progress:
    applied, still, other = list[str](), list[str](), list[str]()
    with opened(root) as folders:
        for effect in effects:
            now = _now(folders, effect.path)
            entry = None if now is None else now[0]
            (applied if entry == effect.after else still if entry == effect.before else other).append(effect.path)
    return Progress(tuple(applied), tuple(still), tuple(other))


def reversal(root: str, effects: Sequence[Effect], *, interrupted: bool) -> tuple[list[Effect], list[str]]:
    """What restores the places that have changed, and the places that someone else changed. If applying was
    interrupted, a place may be empty on its way from one thing to another, and a new folder may lack its permissions.
    """
    reverse, other = list[Effect](), list[str]()
    with opened(root) as folders:
        for effect in effects:
            found = _now(folders, effect.path)
            now = None if found is None else found[0]
            if now == effect.after or (interrupted and now != effect.before and _is_between(now, effect.after)):
                reverse.append(Effect(effect.path, now, effect.before))
            elif now != effect.before:
                other.append(effect.path)
    return reverse, other


def _is_between(now: Entry | None, after: Entry | None) -> bool:
    return now is None or (now.kind == "folder" and after is not None and after.kind == "folder")


def apply_effects(root: str, effects: Sequence[Effect], contents: Contents, keep: str) -> None:
    """`keep` is a folder for what is replaced, by hash. Raises Changed, PartlyApplied, or OSError if nothing was
    written.
    """
    with opened(root) as folders:
        changed, stamps = _changed(folders, effects)
        if changed:
            raise Changed(changed)
        _check_writable(folders, effects)
        _check_contents(effects, contents)
        for effect in effects:
            _keep(folders, effect, keep)
        failpoints.hit("effects kept")
        _Applying(folders, stamps, contents, sync=len(effects) <= _MANY).run(effects)
    if len(effects) > _MANY:
        os.sync()


# --- checking ---


def _now(folders: OpenFolders, path: str) -> tuple[Entry, os.stat_result] | None:
    try:
        return entry_at(folders.of(path), os.path.basename(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Entry("other"), os.stat_result((0,) * 10)  # a link leads there now, or it cannot be looked at


def _changed(folders: OpenFolders, effects: Sequence[Effect]) -> tuple[list[str], dict[str, Stamp]]:
    changed: list[str] = []
    stamps: dict[str, Stamp] = {}
    gone = {effect.path for effect in effects if effect.after is None or effect.after.kind != "folder"}
    for effect in effects:
        now = _now(folders, effect.path)
        if (None if now is None else now[0]) != effect.before:
            changed.append(effect.path)
        elif now is not None and now[0].kind != "folder":
            stamps[effect.path] = stamp_of(now[1])
        elif now is not None and effect.path in gone:
            inside = _names(folders, effect.path)
            changed += [path for name in inside if (path := f"{effect.path}/{name}") not in gone]
    return changed, stamps


def _names(folders: OpenFolders, path: str) -> list[str]:
    fd = os.open(os.path.basename(path), FOLDER, dir_fd=folders.of(path))
    try:
        return os.listdir(fd)
    finally:
        os.close(fd)


def _check_writable(folders: OpenFolders, effects: Sequence[Effect]) -> None:
    """So that it does not fail in the middle."""
    for folder in sorted({os.path.dirname(effect.path) for effect in effects}):
        with suppress(FileNotFoundError, NotADirectoryError):  # it is created first
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=folders.of(f"{folder}/." if folder else ".")):
                raise PermissionError(f"the folder {folder or '.'} is read-only")


def _check_contents(effects: Sequence[Effect], contents: Contents) -> None:
    for effect in effects:
        if effect.after is not None and effect.after.kind == "file":
            os.lstat(contents(effect.path, effect.after))


def _keep(folders: OpenFolders, effect: Effect, keep: str) -> None:
    """Store the content of a file that is about to be replaced or deleted."""
    if effect.before is None or effect.before.kind != "file":
        return
    kept = os.path.join(keep, effect.before.sha256)
    if os.path.lexists(kept):
        return
    source = os.open(os.path.basename(effect.path), os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folders.of(effect.path))
    try:
        copy_private(source, kept)
    finally:
        os.close(source)


def copy_private(source: int, path: str) -> None:
    """A copy of an open file, which appears as a whole."""
    draft = f"{path}.part"
    target = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        while os.sendfile(target, source, None, 1 << 24):  # pyright: ignore[reportArgumentType]
            pass
    finally:
        os.close(target)
    os.replace(draft, path)


# --- applying ---


class _Applying:
    def __init__(self, folders: OpenFolders, stamps: dict[str, Stamp], contents: Contents, *, sync: bool) -> None:
        self._folders = folders
        self._stamps = stamps
        self._contents = contents
        self._sync = sync
        self._done: list[str] = []
        self._relinked: set[int] = set()
        """Files that we took a name from. If one has others, the system counts that as a change of them."""

    def run(self, effects: Sequence[Effect]) -> None:
        try:
            for effect in _in_order(effects):
                self._apply(effect)
        except OSError as error:
            raise PartlyApplied(self._done, str(error)) from error

    def _apply(self, effect: Effect) -> None:
        folder, name = self._folders.of(effect.path), os.path.basename(effect.path)
        self._check(folder, name, effect)
        match effect.before, effect.after:
            case Entry(kind="folder"), None:
                os.rmdir(name, dir_fd=folder)
            case _, None:
                os.unlink(name, dir_fd=folder)
            case _, Entry(kind="folder", mode=mode):
                _make_folder(folder, name, effect.before, mode)
            case _, Entry(kind="link", target=target):
                _make_link(folder, name, target, replaces=effect.before is not None)
            case _, after:
                self._write(folder, name, effect, after)
        if (known := self._stamps.pop(effect.path, None)) is not None:
            self._relinked.add(known[0])
        self._done.append(effect.path)
        failpoints.hit(f"effect {len(self._done)} applied")

    def _check(self, folder: int, name: str, effect: Effect) -> None:
        """Nobody has touched it since it was compared."""
        try:
            now = stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            now = None
        known = self._stamps.get(effect.path)
        appeared = effect.before is None and now is not None
        if appeared or (known is not None and now != known and not self._lost_only_a_name(effect, known)):
            raise OSError(f"{effect.path} has just been changed by someone else")

    def _lost_only_a_name(self, effect: Effect, known: Stamp) -> bool:
        now = _now(self._folders, effect.path) if known[0] in self._relinked else None
        return now is not None and now[1].st_ino == known[0] and now[0] == effect.before

    def _write(self, folder: int, name: str, effect: Effect, after: Entry) -> None:
        source = os.open(self._contents(effect.path, after), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            with AtomicWrite(folder, after.mode) as draft:
                if draft.copy(source, after.mode, sync=self._sync) != after.sha256:
                    raise OSError(f"the new content of {effect.path} is not what was shown")
                if effect.before is None:
                    draft.become_new(name)
                else:
                    draft.replace(name)
        finally:
            os.close(source)


def _make_folder(folder: int, name: str, before: Entry | None, mode: int) -> None:
    if before is None:
        os.mkdir(name, 0o700, dir_fd=folder)
    fd = os.open(name, FOLDER, dir_fd=folder)
    try:
        special = os.fstat(fd).st_mode & 0o7777 & ~PERMISSIONS
        os.fchmod(fd, special | mode)
    finally:
        os.close(fd)


def _make_link(folder: int, name: str, target: str, *, replaces: bool) -> None:
    if not replaces:
        os.symlink(target, name, dir_fd=folder)
        return
    import secrets

    draft = f".assent-{secrets.token_hex(8)}.tmp"
    os.symlink(target, draft, dir_fd=folder)
    os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def _in_order(effects: Sequence[Effect]) -> Iterator[Effect]:
    """First deletions, innermost first; then additions, outermost first, while each folder is still writable; the
    permissions of folders last.
    """
    for effect in sorted(effects, key=lambda one: one.path.count("/"), reverse=True):
        if _goes(effect):
            yield effect if effect.after is None else Effect(effect.path, effect.before, None)
    late: list[Effect] = []
    for effect in sorted(effects, key=lambda one: one.path.count("/")):
        if effect.after is None:
            continue
        before = None if _goes(effect) else effect.before
        if effect.after.kind == "folder":
            late.append(Effect(effect.path, effect.after, effect.after))
            if before is None:
                yield Effect(effect.path, None, Entry("folder", 0o700))
        else:
            yield Effect(effect.path, before, effect.after)
    yield from reversed(late)


def _goes(effect: Effect) -> bool:
    """It is deleted, or replaced with something of another kind."""
    if effect.before is None:
        return False
    return effect.after is None or (effect.before.kind == "folder") != (effect.after.kind == "folder")
