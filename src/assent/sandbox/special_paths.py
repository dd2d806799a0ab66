"""Finds the files of a folder that a sandbox treats specially, by name: protected ones and secrets.

A folder is read again only if it has changed since the last time, so that a large workspace costs one `stat` per folder
and command. (A command can set the time of a folder's last modification as it likes, but not that of its last change.)
Links are entries, but are not followed. It decides nothing.
"""

import os
import re
import stat
from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from assent.files.protected import why_protected, why_secret
from assent.safe_open import read_regular

_SKIPPED = frozenset(("node_modules", "__pycache__", ".venv", "venv", "site-packages"))
"""Other people's code, in thousands of folders; what is in it runs anyway."""
_MAX_FOLDERS = 20_000
_READ_AS_EMPTY = frozenset((".npmrc", "pip.conf", "gradle.properties"))
_SETTINGS = _READ_AS_EMPTY | {"settings.xml"}
"""Often harmless settings, which their program must be able to read. Maven does not accept an empty file."""
_TOKEN = re.compile(rb"_auth|password|passphrase|token|secret|://[^/\s]*@", re.IGNORECASE)
_WITH_PROGRAMS = (".config", ".local", ".local/share", ".local/state")
"""Folders of the home folder in which programs have folders of their own."""


class SpecialPaths(Struct, frozen=True):
    protected: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    """Settings that contain a secret: they read as empty."""
    complete: bool = True
    """False: there are more folders than were searched."""


class _Folder(Struct, frozen=True, gc=False):
    changed: tuple[int, int, int]
    folders: tuple[str, ...]
    protected: tuple[str, ...]
    secret: tuple[str, ...]


class SpecialPathFinder:
    """Remembers what it has seen of one folder."""

    _follows = False

    def __init__(self, root: str) -> None:
        self._root = root
        self._seen: dict[str, _Folder] = {}

    def _enters(self, names: tuple[str, ...]) -> bool:
        return names[-1] not in _SKIPPED

    def find(self) -> SpecialPaths:
        found: dict[str, _Folder] = {}
        todo = [(self._root, ())]
        while todo and len(found) < _MAX_FOLDERS:
            path, names = todo.pop()
            if (folder := self._look(path, names)) is not None:
                found[path] = folder
                below = ((os.path.join(path, name), (*names, name)) for name in folder.folders)
                todo += [one for one in below if self._enters(one[1])]
        self._seen = found
        secret = sorted(one for folder in found.values() for one in folder.secret)
        protected = sorted(one for folder in found.values() for one in folder.protected)
        closed = [path for path in secret if not _is_settings(path) or _has_token(path)]
        emptied = [path for path in closed if os.path.basename(path) in _READ_AS_EMPTY]
        hidden = [path for path in closed if path not in emptied]
        return SpecialPaths(tuple(protected), tuple(hidden), tuple(emptied), not todo)

    def _look(self, path: str, names: tuple[str, ...]) -> _Folder | None:
        try:
            found = os.stat(path)
            changed = (found.st_dev, found.st_ino, found.st_ctime_ns)
            seen = self._seen.get(path)
            return (
                seen
                if seen is not None and seen.changed == changed
                else _read(path, names, changed, follows=self._follows)
            )
        except OSError:
            return None  # the command cannot read it either


class HomeFinder(SpecialPathFinder):
    """Looks where programs keep their settings: in `~`, in `~/.NAME` and in `~/.config/NAME`, but not in the projects
    of a person. Some people keep such folders elsewhere, behind links.
    """

    _follows = True

    def _enters(self, names: tuple[str, ...]) -> bool:
        *above, _ = names
        return "/".join(above) in _WITH_PROGRAMS if above else names[0].startswith(".")


def _read(path: str, names: tuple[str, ...], changed: tuple[int, int, int], *, follows: bool) -> _Folder:
    """Of a protected folder, only the secrets: it is protected as a whole."""
    folders: list[str] = []
    protected: list[str] = []
    secret: list[str] = []
    is_inside = bool(names and why_protected(names))
    with os.scandir(path) as entries:
        for entry in entries:
            below = (*names, entry.name)
            if why_secret(below):
                secret.append(entry.path)
                continue
            if not is_inside and why_protected(below):
                protected.append(entry.path)
            if entry.name != ".git" and entry.is_dir(follow_symlinks=follows):
                folders.append(entry.name)
    return _Folder(changed, tuple(folders), tuple(protected), tuple(secret))


def other_names(files: Iterable[str], roots: Iterable[str]) -> list[str]:
    """Further names of these files below the roots (hard links)."""
    wanted = {identity for path in files if (identity := _identity_if_linked(path)) is not None}
    return [path for root in roots for path in _with_identity(root, wanted)] if wanted else []


def _identity_if_linked(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None


def _with_identity(root: str, wanted: Container[tuple[int, int] | None]) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in _SKIPPED]
        yield from (path for name in files if _identity_if_linked(path := os.path.join(folder, name)) in wanted)


def _is_settings(path: str) -> bool:
    return os.path.basename(path) in _SETTINGS


def _has_token(path: str) -> bool:
    """Also if it cannot be read: what is not understood is hidden."""
    try:
        return _TOKEN.search(read_regular(path)) is not None
    except OSError:
        return True
