"""Secrets that have a second name: `notes.txt` may be the same file as `.env` (hard link), or what `.env` leads to.

Only files with more than one name and links are checked. They are rare where people work; package managers create many,
so their folders are skipped. One walk serves all queries of the next seconds; a file that got its second name since
then is looked up again. If a folder is too large to check, the answer is unknown, and the caller must ask a person.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from assent.files.protected import why_secret

_MAX_ENTRIES = 50_000
SHORT_LOOK = 5_000
_KEPT_SECONDS = 3.0
_COARSE = 0.05
"""Seconds by which the times of files may be behind the clock."""
_PASSED_OVER = frozenset((".git", "node_modules", "site-packages", ".venv", "venv", ".tox", ".cache", "target"))
"""Whole trees that tools create: their keys are not the person's secrets, and a `cacert.pem` there has many names."""

Identity = tuple[int, int]


class TooManyFiles(Exception):
    """There are too many files to check in reasonable time."""


def has_other_names(path: str) -> bool:
    """Whether this regular file has another name as well (hard link)."""
    return _linked(path) is not None


def second_name_below(folder: str) -> str | None:
    """A file below this folder that has another name as well. In a folder that is too large to check, its own name."""
    for seen, (entry, _) in enumerate(_below((folder,))):
        if seen >= _MAX_ENTRIES:
            return folder
        if not entry.is_symlink() and _linked(entry) is not None:
            return entry.path
    return None


def why_second_name(path: str, roots: Sequence[str]) -> str | None:
    """The reason if a file is, or may be, a workspace secret under another name."""
    identity = _linked(path)
    if identity is None:
        return None
    try:
        twin = secrets_with_second_names(roots).get(identity) or _newer(path, roots).get(identity)
    except TooManyFiles:
        return "it has a second name (hard link), which may be that of a secret"
    return None if twin is None else f"it is another name for {twin}, which usually holds secrets"


def secrets_with_second_names(roots: Sequence[str]) -> dict[Identity, str]:
    """The secrets below these folders that have a second name, wherever that is. Raises TooManyFiles."""
    return _found(roots, _MAX_ENTRIES).twins


def secrets_by_links(roots: Sequence[str], limit: int = _MAX_ENTRIES) -> dict[str, str]:
    """Where links below these folders lead that have the name of a secret, and the links: with `a/.env -> ../conf/dev`,
    `conf/dev` is a secret. Raises TooManyFiles.
    """
    return _found(roots, limit).led


class _Secrets(Struct, frozen=True):
    twins: dict[Identity, str]
    led: dict[str, str]
    began: float
    """The time of day when the walk began."""


def _found(roots: Sequence[str], limit: int, again: float = 0.0) -> _Secrets:
    found = _secrets(tuple(roots), limit, int(time.monotonic() / _KEPT_SECONDS), again)
    if found is None:
        raise TooManyFiles
    return found


def _newer(path: str, roots: Sequence[str]) -> dict[Identity, str]:
    """The same from a walk that began after the file got its newest name: a new name changes its `ctime`."""
    changed = os.lstat(path).st_ctime + _COARSE
    found = _found(roots, _MAX_ENTRIES)
    return found.twins if found.began > changed else _found(roots, _MAX_ENTRIES, changed).twins


@lru_cache(8)
def _secrets(roots: tuple[str, ...], limit: int, _moment: int, _again: float = 0.0) -> _Secrets | None:
    """None if there are too many files, which is kept as well. Another `_again` walks again."""
    found = _Secrets({}, {}, time.time())
    for seen, (entry, names) in enumerate(_below(roots)):
        if seen >= limit:
            return None
        if entry.is_symlink():
            if why_secret(names):
                found.led[os.path.realpath(entry.path)] = entry.path
        elif entry.is_file(follow_symlinks=False) and (identity := _linked(entry)) is not None and why_secret(names):
            found.twins[identity] = entry.path
    return found


def _below(roots: Sequence[str]) -> Iterator[tuple[os.DirEntry[str], tuple[str, ...]]]:
    """Everything below these folders, with its components below the root."""
    todo: list[tuple[str, tuple[str, ...]]] = [(root, ()) for root in roots]
    while todo:
        folder, above = todo.pop()
        for entry in _entries(folder):
            names = (*above, entry.name)
            yield entry, names
            if entry.is_dir(follow_symlinks=False) and entry.name not in _PASSED_OVER:
                todo.append((entry.path, names))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # what cannot be read shows no secret either


def _linked(file: str | os.DirEntry[str]) -> Identity | None:
    """The file's identity, if it has several names."""
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None
