"""Secrets that have a second name (hard link): `notes.txt` may be the very file that `.env` is.

Only files with more than one name are looked at. They are rare where people work; package managers make many of them,
so their folders are passed over. One walk serves all questions of the next seconds. Where a folder is too large to
tell, nobody knows, and who asks must ask a person.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assent.files.protected import why_secret

_MAX_ENTRIES = 50_000
_KEPT_SECONDS = 3.0
_PASSED_OVER = frozenset((".git", "node_modules", "site-packages", ".venv", "venv", ".tox", ".cache", "target"))
"""Whole trees that tools make: their keys are no secrets of the person, and a `cacert.pem` there has many names."""

Identity = tuple[int, int]


class TooManyFiles(Exception):
    """There are more files than anybody wants to wait for."""


def has_other_names(path: str) -> bool:
    """Whether this regular file can be reached by another name as well (hard link)."""
    return _linked(path) is not None


def why_second_name(path: str, roots: Sequence[str]) -> str | None:
    """The sentence for a file that is a secret of the workspace by another name, or may be."""
    identity = _linked(path)
    if identity is None:
        return None
    try:
        twin = secrets_with_second_names(roots).get(identity)
    except TooManyFiles:
        return "it has a second name (hard link), which may be that of a secret"
    return None if twin is None else f"it is another name of {twin}, a usual place for secrets"


def secrets_with_second_names(roots: Sequence[str]) -> dict[Identity, str]:
    """The secrets below these folders that have a second name, wherever that is. Raises TooManyFiles."""
    return _secrets(tuple(roots), int(time.monotonic() / _KEPT_SECONDS))


@lru_cache(4)
def _secrets(roots: tuple[str, ...], _moment: int) -> dict[Identity, str]:
    return {identity: path for path, names, identity in _linked_below(roots) if why_secret(names)}


def _linked_below(roots: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], Identity]]:
    """Files with several names: where they are, their components below the root, and which file it is."""
    seen = 0
    todo: list[tuple[str, tuple[str, ...]]] = [(root, ()) for root in roots]
    while todo:
        folder, above = todo.pop()
        for entry in _entries(folder):
            seen += 1
            if seen > _MAX_ENTRIES:
                raise TooManyFiles
            names = (*above, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _PASSED_OVER:
                    todo.append((entry.path, names))
            elif entry.is_file(follow_symlinks=False) and (identity := _linked(entry)) is not None:
                yield entry.path, names, identity


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # what cannot be read shows no secret either


def _linked(file: str | os.DirEntry[str]) -> Identity | None:
    """Which file it is, if it has several names."""
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None
