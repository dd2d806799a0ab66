"""A workspace that is only part of a larger repository: git is restricted to that part.

Most git commands act on a whole repository, wherever they run. Those that show changes are told to show only the part;
words that name something outside it are found here, and need approval. Reads the names of folders; starts nothing, and
knows no rules.
"""

import os
import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from assent.git_folder import git_folders, taken
from assent.subpath import is_below

_SHOW_CHANGES = frozenset(
    ("diff", "log", "show", "whatchanged", "diff-tree", "diff-index", "diff-files", "format-patch")
)
_OPTIONS = re.compile(r"--(?:full-tree|objects(?:-edge)?|no-relative|relative=.*)", re.DOTALL)
_COMBINED = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*|--cc")  # otherwise `diff-tree` shows all of a merge
_TOP = re.compile(r":(?:/|\([^)]*\btop\b[^)]*\))")
# They name no files: they are about commits and settings, or change whatever a commit or a patch says.
_NAME_NO_FILES = frozenset(
    """
    am apply bisect branch check-attr check-ignore cherry cherry-pick clone config count-objects describe fetch
    for-each-ref fsck gc init merge merge-base name-rev notes pull push rebase reflog remote rev-parse revert shortlog
    show-branch show-ref switch symbolic-ref tag var worktree
    """.split()  # noqa: SIM905
)


class Part(Struct, frozen=True):
    """`top` is the folder of the whole repository, `prefix` the workspace relative to it: `packages/web/`."""

    top: str
    prefix: str
    root: str


def part_of_repository(cwd: str, roots: Sequence[str]) -> Part | None:
    """None if the workspace contains the whole repository of `cwd`, or there is none."""
    place = os.path.realpath(cwd)
    root = next((one for one in map(os.path.realpath, roots) if is_below(place, [one])), None)
    folder = taken(git_folders(place))
    if root is None or folder is None or folder.work == root or not is_below(root, [folder.work]):
        return None
    return Part(folder.work, os.path.relpath(root, folder.work) + "/", root)


def names_beyond(part: Part, cwd: str, words: Sequence[str], texts: Collection[int] = ()) -> str | None:
    """A word that concerns the repository outside the workspace. `words` begin with the sub-command; those at `texts`
    name nothing.
    """
    if not words or words[0] in _NAME_NO_FILES:
        return None
    if words[0] == "range-diff":
        return words[0]
    for at, word in enumerate(words[1:], 1):
        if at not in texts and _is_beyond(part, os.path.realpath(cwd), words, at):
            return word
    return None


def kept_to(part: Part, words: Sequence[str]) -> list[str]:
    """The words, with what restricts git to the part."""
    if words[0] in _SHOW_CHANGES:
        return [words[0], f"--relative={part.prefix}", *words[1:]]
    if words[0] == "status" and all(word.startswith("-") for word in words[1:]):
        return [*words, *(() if "--" in words else ("--",)), f":(top,literal){part.prefix}"]
    return [*words]


def shows_changes(words: Sequence[str]) -> bool:
    return bool(words) and words[0] in _SHOW_CHANGES


def _is_beyond(part: Part, cwd: str, words: Sequence[str], at: int) -> bool:
    word = words[at]
    if "--" not in words[:at]:
        if word.startswith("-") and not word.startswith("-L"):
            return bool(_OPTIONS.fullmatch(word) or (words[0] == "diff-tree" and _COMBINED.fullmatch(word)))
        if word.startswith("-L") or words[at - 1] == "-L":
            return not is_below(_join(cwd, word.rpartition(":")[2]), [part.root])
        if word.endswith("^{tree}") and words[0] in ("show", "cat-file"):
            return True
    if (found := _TOP.match(word)) is not None:
        return not is_below(_join(part.top, word[found.end() :]), [part.root])
    if ":" in word and not word.startswith((":(", ":!", ":^")) and "--" not in words[:at]:
        return not is_below(_file_in_commit(part, cwd, word), [part.root])
    path = _join(cwd, word)
    return (word.startswith("/") or ".." in word.split("/")) and not is_below(path, [part.root])


def _file_in_commit(part: Part, cwd: str, word: str) -> str:
    """`HEAD:a` and `:0:a` are relative to the top, `HEAD:./a` to the current folder."""
    path = re.sub(r"^:[0-3]:|^[^:]*:", "", word)
    return _join(cwd if path.startswith(("./", "../")) else part.top, path)


def _join(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))
