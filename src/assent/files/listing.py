"""Paths below a folder, for completing what a person types: names only, quickly, and never more than requested.

Level by level, so that only deep paths are missing when the time is up. Links are neither listed nor followed, so
nothing outside the folder is listed. Files that git ignores, repository folders, files that usually hold secrets and
unprintable names are left out. It blocks: `list_paths` calls it in a thread.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from assent.files.ignore import IgnoreRules
from assent.files.protected import fold, why_secret

MAX_PATHS = 20_000
LISTING_TIMEOUT = 0.2
_MAX_RULES = 200_000
_REPOSITORIES = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "git~1"})

Folder = tuple[str, IgnoreRules]
"""A folder to visit, relative and with a trailing slash (empty for the first), and the rules above it."""


async def list_paths(folder: str) -> list[str]:
    """Relative paths, folders with a trailing slash; those near the top first."""
    return await asyncio.to_thread(paths_below, folder)


def paths_below(
    folder: str, most: int = MAX_PATHS, seconds: float = LISTING_TIMEOUT, clock: Callable[[], float] = time.monotonic
) -> list[str]:
    """At most this many paths, and no more once the time is up."""
    found: list[str] = []
    waiting: deque[Folder] = deque([("", IgnoreRules())])
    end = clock() + seconds
    while waiting:
        for path, rules in _entries(folder, *waiting.popleft()):
            if len(found) >= most or clock() >= end:
                return found
            found.append(path)
            if path.endswith("/"):
                waiting.append((path, rules))
    return found


def _entries(top: str, folder: str, rules: IgnoreRules) -> Iterator[Folder]:
    """The content of one folder, each entry with the rules that apply there."""
    try:
        with os.scandir(f"{top}/{folder}") as scanned:
            entries = sorted(islice(scanned, MAX_PATHS), key=lambda entry: entry.name)
    except OSError:
        return  # what cannot be read has nothing to offer
    if any(entry.name == ".gitignore" for entry in entries):
        rules = rules.below(folder, _rules_in(f"{top}/{folder}.gitignore"))
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not entry.is_file(follow_symlinks=False):
            continue
        if _is_offered(entry.name) and not rules.ignores(folder + entry.name, is_folder=is_folder):
            yield folder + entry.name + ("/" if is_folder else ""), rules


def _is_offered(name: str) -> bool:
    return name.isprintable() and fold(name) not in _REPOSITORIES and why_secret((name,)) is None


def _rules_in(path: str) -> str | None:
    """The text of a .gitignore: a regular file of a sensible size, not a link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
        try:
            return file.read(_MAX_RULES)
        except OSError:
            return None
