"""Makes git safe to run in a repository that nobody has looked at.

Before git starts, its effective settings are read, which starts no program. Anything they would run is set to something
harmless through the environment, where a name may contain any byte; a repository that leads outside the workspace is
refused. Settings that are the same for every repository are in the plan. Knows git, not the policy.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.git_folder import folders_of, git_folders, hooks_of, included_by, leads_outside, split_options, taken
from assent.git_part import Part, kept_to, names_beyond, part_of_repository, shows_changes
from assent.process.excluded_secrets import Git, LeftOut, leading_to_secrets, left_out, names_content
from assent.process.file_limits import Bounds
from assent.process.git_bounds import Work, bounds_for
from assent.process.git_settings import (
    Setting,
    dangerous_connection,
    files_of,
    forced_push,
    helpers,
    ignores_by,
    included_from_outside,
    overrides,
    parsed,
    remotes,
)
from assent.process.pinned_folder import Pinned, pin
from assent.subpath import is_below

if TYPE_CHECKING:
    from assent.plan import GitWork

_PAGING = frozenset(("-p", "--paginate"))
_WRAPPERS = frozenset(("timeout", "gtimeout", "nice", "ionice", "stdbuf", "time", "command", "env", "xargs", "nohup"))
_CONNECTS = frozenset(("fetch", "pull", "push", "ls-remote", "clone"))
_REMOTE_STAYS = frozenset(("-v", "--verbose", "get-url"))
_PROTOCOLS = "file:git:http:https:ssh"
_COMMIT_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
_MERGE_HOOKS = ("pre-merge-commit", "commit-msg", "post-merge", "post-checkout", "pre-rebase", "post-rewrite")
_HOOKS = {
    "commit": (*_COMMIT_HOOKS, "post-rewrite"),
    "merge": _MERGE_HOOKS,
    "pull": _MERGE_HOOKS,
    "rebase": _MERGE_HOOKS,
    "cherry-pick": _COMMIT_HOOKS,
    "revert": _COMMIT_HOOKS,
    "am": ("applypatch-msg", "pre-applypatch", "post-applypatch"),
    "checkout": ("post-checkout",),
    "switch": ("post-checkout",),
    "push": ("pre-push",),
}
_SHOWS_OBJECTS = frozenset(("show", "diff", "grep", "cat-file"))
_READING = {"config": included_from_outside, "blame": ignores_by, "annotate": ignores_by}
_WITHOUT_HOOKS = {"commit": ("-n", "--no-verify", "--dry-run"), "push": ("--no-verify", "-n", "--dry-run")}


_LOOKS_FOR_CHANGES = re.compile(r"--(?:d|br)")  # `--dirty`, `--broken`, including abbreviations
_SUBMODULE = b"160000 "
_ONLY_A_PART = "only files in the workspace are shown, which is part of a larger repository"


class RefusedRepository(Exception):
    """`str(error)` says why git must not run there."""


class Guard(Struct, frozen=True):
    """How git runs, and what readers of its output should know."""

    argv: list[str]
    cwd: str
    variables: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    bounds: Bounds | None = None


class Setup(Struct, frozen=True, kw_only=True):
    """What the plan says about a command, and where to put descriptors that stay open until it has started."""

    roots: Sequence[str]
    work: "GitWork"
    inside: bool
    opened: list[int]
    hides: bool = False
    listings: Sequence[Sequence[str]] = ()
    patterns: Sequence[str] = ()
    is_secret: Callable[[str], bool] = bool
    texts: Collection[int] = ()
    """Which of the arguments name nothing."""


def guard(program: str, argv: Sequence[str], cwd: str, environment: Mapping[str, str], setup: Setup) -> Guard:
    """How `argv` may run. Unchanged if it does not run git. Raises RefusedRepository or OSError."""
    start = _git_at(program, argv)
    if start is None:
        return Guard([*argv], cwd)
    before, words = split_options(argv[start + 1 :])
    here = _pinned(os.path.join(cwd, *folders_of(before)), setup)
    options = _without_folders(before)
    name = program if start == 0 else argv[start]
    git = [name, *(word for word in options if word not in _PAGING)]
    if "describe" in words and any(map(_LOOKS_FOR_CHANGES.match, words)):
        _no_submodules(git, here.path, environment)
    _no_secret_settings(here.place, setup)
    settings = _settings(git, here.path, environment)
    found = _Git(words, here.place, setup.roots)
    variables, notes = found.guard(settings)
    part = part_of_repository(here.place, found.roots)
    if part is not None:
        words = _kept_to_part(part, here.place, words, {one - (len(argv) - len(words)) for one in setup.texts})
        notes += (_ONLY_A_PART,) if shows_changes(words) else ()
    path = program if start == 0 else shutil.which(name, path=environment.get("PATH")) or name
    files = files_of(settings, here.place, environment.get("HOME", "/"))
    bounds = bounds_for(_work(found, words, files, environment, setup), path, program)
    hidden = _hidden(Git(git, here.path, {**environment, **variables}, bounds), words, setup, part)
    notes += (hidden.note,) if hidden.note else ()
    return Guard([*argv[: start + 1], *options, *words, *hidden.words], here.path, variables, notes, bounds)


def _work(
    found: "_Git", words: Sequence[str], files: Collection[str], environment: Mapping[str, str], setup: Setup
) -> Work:
    return Work(
        kind=setup.work,
        words=words,
        cwd=found.cwd,
        roots=found.roots,
        repository=found.taken,
        files=[*files],
        environment=environment,
        inside=setup.inside,
    )


def _hidden(git: Git, words: Sequence[str], setup: Setup, part: Part | None) -> LeftOut:
    """What the command leaves out. If it must not run, its bounds are closed."""
    try:
        if words and words[0] in _SHOWS_OBJECTS and (content := names_content(git, words[1:])) is not None:
            raise RefusedRepository(f"`{content}` is the content of a file without its name, which may be a secret")
        return _left_out(git, setup, part)
    except BaseException:
        if git.bounds is not None:
            git.bounds.close()
        raise


def _no_secret_settings(cwd: str, setup: Setup) -> None:
    """Git quotes an included file that holds no settings in its error."""
    for path in included_by(cwd, setup.roots):
        if setup.is_secret(path) or setup.is_secret(os.path.realpath(path)):
            raise RefusedRepository(f"its settings include {path}, which usually holds secrets")


def _kept_to_part(part: Part, cwd: str, words: Sequence[str], texts: set[int]) -> list[str]:
    if (word := names_beyond(part, cwd, words, texts)) is not None:
        raise RefusedRepository(f"`{word}` reaches outside the workspace, which is only part of the repository")
    return kept_to(part, words) if words else []


def _left_out(git: Git, setup: Setup, part: Part | None) -> LeftOut:
    def is_secret(name: str) -> bool:
        return (part is None or name.startswith(part.prefix)) and setup.is_secret(name)

    if setup.hides:
        return left_out(git, setup.listings, is_secret, setup.patterns)
    if setup.listings and (why := leading_to_secrets(git, setup.listings, is_secret)):
        raise RefusedRepository(why)
    return LeftOut()


def _pinned(folder: str, setup: Setup) -> Pinned:
    """The folder that is checked and that git runs in, which a link must not replace in between."""
    here = pin(folder, setup.opened)
    roots = [os.path.realpath(root) for root in setup.roots]
    if roots and not is_below(here.place, roots):
        raise RefusedRepository(f"{folder} leads out of the workspace")
    return here


class _Git:
    """One git command, and the place where it works."""

    def __init__(self, words: Sequence[str], cwd: str, roots: Sequence[str]) -> None:
        self.cwd = cwd
        self.words = words
        self.sub = self.words[0] if self.words else ""
        self.roots = [os.path.realpath(root) for root in roots]
        self.folders = git_folders(cwd)
        self.taken = taken(self.folders)
        self.places = [os.path.realpath(cwd), *(place for one in self.folders for place in (one.work, one.git))]

    def guard(self, settings: Sequence[Setting]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Variables for git, and what to report."""
        if "diff" in self.words and self.taken is None:
            raise RefusedRepository("this is not a repository, so `git diff` would show any files in two folders")
        if self.roots:
            self._stay_inside(settings)
        pairs = overrides(settings, self.roots, self.places)
        if not self._connects():
            return _variables(pairs), self._notes(settings)
        self._connect_safely(settings)
        variables = {**_variables([*pairs, *helpers(settings)]), "GIT_ALLOW_PROTOCOL": _PROTOCOLS}
        return variables, self._notes(settings)

    def _connects(self) -> bool:
        stays = self.sub != "remote" or _REMOTE_STAYS.issuperset(self.words[1:2])
        return self.sub in _CONNECTS or not stays

    def _stay_inside(self, settings: Sequence[Setting]) -> None:
        if (why := leads_outside(self.cwd, self.roots)) is not None:
            raise RefusedRepository(why)
        own = [one for one in settings if one.is_own]
        trees = [one.value for one in own if one.key == "core.worktree"]
        if (one := self.taken) is not None and trees and is_below(one.work, self.roots):
            tree = os.path.realpath(os.path.join(one.git, os.path.expanduser(trees[-1])))
            if not is_below(tree, self.roots):
                raise RefusedRepository(f"the git repository {one.work} has its files in {tree}, outside the workspace")
        check = _READING.get(self.sub)
        if check is not None and (key := check(own, self.roots, self.places)) is not None:
            raise RefusedRepository(f"its setting `{key}` may show a file outside the workspace or a secret")

    def _connect_safely(self, settings: Sequence[Setting]) -> None:
        if (key := dangerous_connection(settings, self.roots, self.places)) is not None:
            raise RefusedRepository(f"its setting `{key}` decides what runs to connect to another repository")
        if self.sub == "push" and (key := forced_push(settings)) is not None:
            raise RefusedRepository(f"its setting `{key}` forces or deletes branches of another repository")
        names = [word for word in self.words[2 if self.sub == "remote" else 1 :] if not word.startswith("-")]
        name = names[0] if names else "origin"
        if name not in remotes(settings) and self._is_folder(name):
            raise RefusedRepository(f"`{name}` is not a remote but a folder, whose own hooks and settings would run")
        legacy = [os.path.join(one.common, name) for one in self.folders for name in ("remotes", "branches")]
        if any(map(_has_entries, legacy)):
            raise RefusedRepository("it defines remotes in an old format that cannot be checked")

    def _is_folder(self, name: str) -> bool:
        found = (os.path.realpath(os.path.join(self.cwd, name + end)) for end in ("", ".git"))
        return any(os.path.exists(one) and is_below(one, self.roots) for one in found)

    def _notes(self, settings: Sequence[Setting]) -> tuple[str, ...]:
        """Hooks are commands of the repository, so they do not run; anyone who relies on them must know."""
        wanted = _HOOKS.get(self.sub, ())
        skipped = not set(_WITHOUT_HOOKS.get(self.sub, ())).isdisjoint(self.words)
        if not wanted or skipped or self.taken is None:
            return ()
        configured = [one.value for one in settings if one.key == "core.hookspath" and one.scope != "command"]
        there = hooks_of(self.taken, configured[-1] if configured else None)
        there += [one.value for one in settings if one.names == ("hook", "event")]
        named = [name for name in dict.fromkeys(there) if name in wanted]
        return (f"git {self.sub}: hooks of this repository were not run: {', '.join(named)}",) if named else ()


def _settings(git: Sequence[str], cwd: str, environment: Mapping[str, str]) -> list[Setting]:
    listing = _ask([*git, "config", "--null", "--list", "--show-scope", "--show-origin"], cwd, environment)
    if listing.returncode != 0:
        raise RefusedRepository(f"the git configuration cannot be read: {os.fsdecode(listing.stderr).strip()}")
    return parsed(listing.stdout)


def _no_submodules(git: Sequence[str], cwd: str, environment: Mapping[str, str]) -> None:
    staged = _ask([*git, "ls-files", "--stage", "-z"], cwd, environment)
    if staged.returncode != 0 or any(entry.startswith(_SUBMODULE) for entry in staged.stdout.split(b"\0")):
        raise RefusedRepository("there are submodules, and `git describe --dirty` would run their own filters")


def _ask(argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        argv, cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )


def _git_at(program: str, argv: Sequence[str]) -> int | None:
    """The position of git in the words: first, or after a program that only starts it."""
    name = os.path.basename(program)
    if name == "git":
        return 0
    if name not in _WRAPPERS:
        return None
    return next((index for index, word in enumerate(argv) if os.path.basename(word) == "git"), None)


def _without_folders(options: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for before, word in pairwise(("", *options)):
        if word != "-C" and before != "-C":
            kept.append(word)
    return kept


def _has_entries(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _variables(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    # A replacement or a graft substitutes one object for another: a secret under the name of an ordinary file.
    variables = {
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": f"{os.devnull}/none",
        "GIT_CONFIG_COUNT": str(len(pairs)),
    }
    for index, (key, value) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return variables
