"""Secrets that a git command leaves out, by name.

Comparing every file with hundreds of patterns is slow, and does not tell what was left out. So the names of all files
that may be shown are listed first, and git is told to leave out the secrets among them. If that takes too long, git
gets the patterns. The note comes from names alone, never from file content. The plan knows which commands list what;
this module does not.
"""

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from assent.process.file_limits import Bounds
from assent.process.jobs import in_bounds

LISTING_TIMEOUT = 1.0  # seconds
_ONE_LISTING_TIMEOUT = 20.0  # it takes as long as the command itself
_MAX_NAMES = 60  # excluded one by one; each is compared with each file
_MAX_ROUNDS = 4
_MAX_NAMES_SHOWN = 5
_IF_ANY = "left out: files in usual places for secrets, if there are any"
_MAY_FAIL = "ls-tree"  # a word that is not a tree is a path


class Failed(Exception):
    """The names cannot be listed: it takes too long, or git itself will report an error."""

    def __init__(self, *, slow: bool) -> None:
        super().__init__()
        self.slow = slow


class Git(Struct, frozen=True):
    """How git is run here."""

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    bounds: Bounds | None


class LeftOut(Struct, frozen=True):
    """Words for git, and a line for readers of its output."""

    words: Sequence[str] = ()
    note: str = ""


def left_out(
    git: Git, listings: Sequence[Sequence[str]], is_secret: Callable[[str], bool], patterns: Sequence[str]
) -> LeftOut:
    """With fewer files to show, git may go further back in the history, so the names are listed again."""
    found: set[str] = set()
    if not listings:
        return LeftOut(patterns, _IF_ANY)
    try:
        for _ in range(_MAX_ROUNDS):
            more = secrets_among(git, listings, is_secret, _excluding(found), LISTING_TIMEOUT) - found
            found |= more
            if not more or _all_at_once(listings):
                return LeftOut(_excluding(found) if len(found) <= _MAX_NAMES else patterns, _note(found))
    except Failed as failed:
        return LeftOut(patterns, _IF_ANY if failed.slow else "")
    return LeftOut(patterns, _note(found))


def leading_to_secrets(git: Git, listings: Sequence[Sequence[str]], is_secret: Callable[[str], bool]) -> str:
    """Why a command that shows one file, including under its earlier names, must not run; empty if it may."""
    try:
        found = secrets_among(git, listings, is_secret, max_wait=_ONE_LISTING_TIMEOUT)
    except Failed:
        return "the earlier names of the file cannot be listed"
    return f"its history includes {min(found)}, which usually holds secrets" if found else ""


def names_content(git: Git, words: Sequence[str]) -> str | None:
    """The first word that names the content of a file and not a commit: a tag may name anything."""
    shown = words[: words.index("--")] if "--" in words else words
    named = [word for word in shown if not word.startswith("-") and ":" not in word and "\n" not in word]
    ends = [(end, word) for word in named for end in re.split(r"\.{2,3}", word.lstrip("^")) if end]
    lines = "".join(f"{end}^{{}}\n" for end, _ in ends)
    if not lines:
        return None
    try:
        types = _asked(git, ["cat-file", "--batch-check=%(objecttype)"], lines.encode("utf-8", "surrogateescape"))
    except (subprocess.TimeoutExpired, OSError):
        return ends[0][1]
    return next((word for (_, word), kind in zip(ends, types.splitlines(), strict=False) if kind == b"blob"), None)


def _asked(git: Git, words: Sequence[str], given: bytes) -> bytes:
    def run() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*git.argv, *words],
            cwd=git.cwd,
            env=dict(git.environment),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ONE_LISTING_TIMEOUT,
            check=False,
        )

    return (run() if git.bounds is None or not git.bounds.kept else in_bounds(git.bounds, run)).stdout


def secrets_among(
    git: Git,
    listings: Sequence[Sequence[str]],
    is_secret: Callable[[str], bool],
    behind: Sequence[str] = (),
    max_wait: float | None = None,
) -> set[str]:
    """The names of secrets in these listings. Raises Failed."""
    names = {name for words in listings for name in _listed(git, [*words, *behind], max_wait)}
    return {name for name in map(os.fsdecode, names) if is_secret(name)}


def _all_at_once(listings: Sequence[Sequence[str]]) -> bool:
    """Whether leaving something out shows nothing else instead."""
    return not any(words[0] == "log" for words in listings)


def _listed(git: Git, words: Sequence[str], max_wait: float | None) -> list[bytes]:
    def run() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*git.argv, *words],
            cwd=git.cwd,
            env=dict(git.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max_wait,
            check=False,
        )

    try:
        done = run() if git.bounds is None or not git.bounds.kept else in_bounds(git.bounds, run)
    except (subprocess.TimeoutExpired, OSError) as error:
        raise Failed(slow=True) from error
    if done.returncode not in (0, 1) and words[0] != _MAY_FAIL:
        raise Failed(slow=False)
    return [name for name in done.stdout.split(b"\0") if name]


def _excluding(names: set[str]) -> list[str]:
    return [f":(top,exclude,literal){name}" for name in sorted(names)]


def _note(names: set[str]) -> str:
    if not names:
        return ""
    shown = [name if name.isprintable() else ascii(name) for name in sorted(names)[:_MAX_NAMES_SHOWN]]
    more = f" and {len(names) - _MAX_NAMES_SHOWN} more" if len(names) > _MAX_NAMES_SHOWN else ""
    return f"left out: {', '.join(shown)}{more} (usual place{'s' if len(names) > 1 else ''} for secrets)"
