"""Which branch is checked out: read from git's own files, without starting a program."""

import os

from assent.safe_open import open_regular


def current_branch(folder: str) -> str:
    """The branch, or the abbreviated commit if there is none; empty outside a repository."""
    git = _git_folder(folder)
    head = _line(os.path.join(git, "HEAD")) if git else ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:8]


def _git_folder(folder: str) -> str:
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return git
        if os.path.isfile(git):  # a worktree names the location
            return os.path.join(folder, _line(git).removeprefix("gitdir: "))
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def _line(path: str) -> str:
    try:
        with os.fdopen(open_regular(path), encoding="utf-8", errors="replace") as file:
            return file.readline(500).strip()
    except OSError:
        return ""
