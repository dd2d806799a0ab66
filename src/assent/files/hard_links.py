"""Secrets that have a second name (hard link): `notes.txt` may be the same file as `.env`.

Only files with more than one name are checked. They are rare where people work; package managers create many, so their
folders are skipped. One walk serves all queries of the next seconds. If a folder is too large to check, the answer is
unknown, and the caller must ask a person.
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
"""Whole trees that tools create: their keys are not the person's secrets, and a `cacert.pem` there has many names."""

Identity = tuple[int, int]


class TooManyFiles(Exception):
    """There are too many files to check in reasonable time."""


def has_other_names(path: str) -> bool:
    """Whether this regular file has another name as well (hard link)."""
    return _linked(path) is not None


def why_second_name(path: str, roots: Sequence[str]) -> str | None:
    """The reason if a file is, or may be, a workspace secret under another name."""
    identity = _linked(path)
    if identity is None:
        return None
    try:
        twin = secrets_with_second_names(roots).get(identity)
    except TooManyFiles:
        return "it has a second name (hard link), which may be that of a secret"
    return None if twin is None else f"it is another name for {twin}, which usually holds secrets"


def secrets_with_second_names(roots: Sequence[str]) -> dict[Identity, str]:
    """The secrets below these folders that have a second name, wherever that is. Raises TooManyFiles."""
    return _secrets(tuple(roots), int(time.monotonic() / _KEPT_SECONDS))


@lru_cache(4)
def _secrets(roots: tuple[str, ...], _moment: int) -> dict[Identity, str]:
    return {identity: path for path, names, identity in _linked_below(roots) if why_secret(names)}


def _linked_below(roots: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], Identity]]:
    """Files with several names: their paths, their components below the root, and their identity."""
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
    """The file's identity, if it has several names."""
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None
