"""Programs that read ignore files by themselves, and block forever if one of them is a pipe.

Neither git nor ripgrep checks before opening. Checking a whole tree each time would be slow, so it is done only if a
program takes unusually long.
"""

import os
from collections.abc import Iterator

CHECK_AFTER = 2.0  # seconds before checking
_NAMES = frozenset((".gitignore", ".ignore", ".rgignore", ".gitattributes", ".gitmodules", ".mailmap"))
_OF_GIT = ("", "info")  # folders in `.git` whose files are read at start-up
_MAX_FOLDERS = 50_000


def blocking_file(start: str) -> str | None:
    """The first file that git or ripgrep would open and that is neither a regular file nor a folder."""
    return next(_blocking(start), None)


def _blocking(start: str) -> Iterator[str]:
    above = os.path.dirname(start)
    while above != os.path.dirname(above):
        yield from (path for path in (f"{above}/{name}" for name in _NAMES) if _blocks(path))
        above = os.path.dirname(above)
    waiting = [start]
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            return
        folder = waiting.pop()
        yield from _in_folder(folder, waiting)


def _in_folder(folder: str, waiting: list[str]) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name == ".git":
            yield from _of_git(entry.path)
        elif entry.name in _NAMES:
            yield from [entry.path] if _blocks(entry.path) else []
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(entry.path)


def _of_git(folder: str) -> Iterator[str]:
    if _blocks(folder):
        yield folder
    for part in _OF_GIT:
        try:
            entries = list(os.scandir(os.path.join(folder, part)))
        except OSError:
            continue
        yield from (entry.path for entry in entries if _blocks(entry.path))


def _blocks(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
