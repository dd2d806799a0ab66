"""Where the parts of a git repository are, read from its folders without starting git.

A repository may say that its files, its objects or all of it are elsewhere (`.git` as a file or a link, `commondir`,
`core.worktree`, `objects/info/alternates`), and readers then see that place. Knows the layout of git's folders; knows
no rules.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from assent.subpath import is_below

_MAX_ALTERNATES = 20
_MAX_FILE_SIZE = 1_000_000
_HEAD = re.compile(r"ref:\s*refs/|[0-9a-f]{40}", re.IGNORECASE)
_INCLUDES = re.compile(r"\[\s*include", re.IGNORECASE)
_PATH = re.compile(r"^[^#;\n]*?\bpath\s*=\s*([^\n#;]+)", re.MULTILINE | re.IGNORECASE)
_MAX_INCLUDED = 50
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*\"?([^\"\n]*)\"?\s*$", re.MULTILINE | re.IGNORECASE)


# Global options of git whose value is the next word.
_VALUED = frozenset(("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"))


class GitFolder(Struct, frozen=True):
    """A repository: the folder that contains `.git`, and where git keeps its data."""

    work: str
    git: str
    common: str


def git_folders(cwd: str) -> list[GitFolder]:
    """Every folder that git could take for the repository of `cwd`, from there upwards: git is rather strict, and skips
    those that do not look like one to it.
    """
    found: list[GitFolder] = []
    folder = os.path.realpath(cwd)
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.lexists(entry):
            found.append(_opened(folder, entry))
        if _is_repository(folder):
            found.append(_at(folder, folder))
        if folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)


def taken(folders: Sequence[GitFolder]) -> GitFolder | None:
    """The one that git takes."""
    return next((one for one in folders if _is_repository(one.git)), None)


def leads_outside(cwd: str, roots: Sequence[str]) -> str | None:
    """Why git would look outside the workspace there. A repository that contains the workspace is fine, and so is one
    that itself says that its files are here (`git worktree add`, a submodule).
    """
    real = [os.path.realpath(root) for root in roots]
    for one in git_folders(cwd):
        if is_below(one.work, real) and (place := next(_outside(one, real), None)) is not None:
            return f"the git repository {one.work} leads to {place}, outside the workspace"
    return None


def included_by(cwd: str, roots: Sequence[str]) -> list[str]:
    """The files that the settings of workspace repositories include, and those that these include."""
    folders = [one for one in git_folders(cwd) if is_below(one.work, [os.path.realpath(root) for root in roots])]
    todo = [path for one in folders for path in (f"{one.common}/config", f"{one.git}/config.worktree")]
    found: list[str] = []
    while todo and len(found) < _MAX_INCLUDED:
        config = todo.pop()
        text = _text(config)
        if _INCLUDES.search(text):
            paths = [value.strip().strip('"') for value in _PATH.findall(text)]
            new = [os.path.join(os.path.dirname(config), os.path.expanduser(path)) for path in paths]
            todo += [path for path in new if path not in found]
            found += new
    return found


def hooks_of(folder: GitFolder, configured: str | None) -> list[str]:
    """The names of its hooks that git would run."""
    place = os.path.join(folder.work, os.path.expanduser(configured)) if configured else f"{folder.common}/hooks"
    try:
        entries = list(os.scandir(place))
    except OSError:
        return []
    return sorted(one.name for one in entries if one.is_file() and os.access(one.path, os.X_OK) and "." not in one.name)


def alternates_of(folder: GitFolder) -> list[str]:
    """Other object folders that it uses."""
    return list(_alternates(os.path.join(folder.common, "objects")))


def split_options(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words between `git` and the sub-command, which select the repository, and the rest."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUED else 1
    return (words[:at], words[at:]) if at < len(words) else ((), words)


def folders_of(options: Sequence[str]) -> list[str]:
    """Where `-C` leads, each relative to the previous one."""
    return [value for name, value in pairwise(options) if name == "-C"]


def _opened(work: str, entry: str) -> GitFolder:
    text = _text(entry) if os.path.isfile(entry) else ""
    _, _, named = text.partition("gitdir:")
    return _at(work, os.path.join(work, named.strip()) if named.strip() else entry)


def _at(work: str, git: str) -> GitFolder:
    common = _text(os.path.join(git, "commondir")).strip()
    return GitFolder(work, git, os.path.join(git, common) if common else git)


def _is_repository(folder: str) -> bool:
    common = _at(folder, folder).common
    head = os.path.join(folder, "HEAD")
    there = all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs"))
    return there and (os.path.islink(head) or _HEAD.match(_text(head)) is not None)


def _outside(one: GitFolder, roots: Sequence[str]) -> Iterator[str]:
    """The places of a workspace repository that are outside the workspace."""
    if not is_below(os.path.realpath(one.git), roots):
        if not _says_it_is_here(one):
            yield os.path.realpath(one.git)
        return  # nothing in here writes what is outside
    if (work := _work_tree(one)) is not None:
        yield from _leaving([work], roots)
    objects = os.path.join(one.common, "objects")
    folders = [one.git, one.common, objects, *(os.path.join(objects, name) for name in ("info", "pack"))]
    yield from _leaving([*folders, *(path for folder in folders for path in _links_in(folder))], roots)
    yield from _leaving(_alternates(objects), roots)


def _says_it_is_here(one: GitFolder) -> bool:
    """A folder of `git worktree add` is known to the `.git` it points to; a submodule's `.git` knows its files."""
    back = _text(os.path.join(one.git, "gitdir")).strip()
    if back and os.path.realpath(back) == os.path.realpath(os.path.join(one.work, ".git")):
        return True
    work = _work_tree(one)
    return work is not None and os.path.realpath(work) == os.path.realpath(one.work)


def _work_tree(one: GitFolder) -> str | None:
    """According to its configuration files; includes are seen by callers that ask git."""
    for name in (os.path.join(one.git, "config.worktree"), os.path.join(one.common, "config")):
        if (found := _WORKTREE.findall(_text(name))) and found[-1].strip():
            return os.path.join(one.git, os.path.expanduser(found[-1].strip()))
    return None


def _alternates(objects: str) -> Iterator[str]:
    """The folders in which git also looks for objects, and those that these name."""
    todo, seen = [objects], 0
    while todo:
        folder = todo.pop()
        for line in _text(os.path.join(folder, "info", "alternates")).splitlines():
            seen += 1
            if line.startswith('"') or seen > _MAX_ALTERNATES:  # quotes hide the real path
                yield "/"
                return
            if line.strip() and not line.startswith("#"):
                todo.append(os.path.join(folder, line))
                yield todo[-1]


def _links_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        return []


def _leaving(paths: Sequence[str] | Iterator[str], roots: Sequence[str]) -> Iterator[str]:
    return (real for path in paths if not is_below(real := os.path.realpath(path), roots))


def _text(path: str) -> str:
    """The content of a file, up to the size of git's own; empty if it is not a regular file."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MAX_FILE_SIZE)
    except OSError:
        return ""
