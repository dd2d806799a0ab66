"""Switches off the filters that a repository's configuration asks git to run.

Their names are chosen by the repository, so they are known only where it lies; the other helpers of git
are switched off by the plan. Reading the configuration starts no program. The overrides go through the
environment, where a name may hold any byte. Knows git, not the policy.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

_KEYS = ("clean", "smudge", "process")
# Global options of git whose value is the next word.
_VALUED = frozenset(("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"))
_PAGING = frozenset(("-p", "--paginate"))
_WRAPPERS = frozenset(("timeout", "gtimeout", "nice", "ionice", "stdbuf", "time", "command", "env", "xargs", "nohup"))
_NO_MATCH = 1


_LOOKS_FOR_CHANGES = re.compile(r"--(?:d|br)")  # `--dirty`, `--broken`, also shortened
_SUBMODULE = b"160000 "


class UnreadableError(Exception):
    """Git could not read the configuration, so nobody knows which filters there are."""


def without_filters(program: str, argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that empty every filter of the repository `argv` works in; none when it is not about git."""
    start = _git_at(program, argv)
    if start is None:
        return {}
    git = [program if start == 0 else argv[start], *_global_options(argv[start + 1 :])]
    listing = _ask([*git, "config", "--null", "--name-only", "--get-regexp", "^filter"], cwd, environment)
    if listing.returncode not in (0, _NO_MATCH):
        raise UnreadableError(os.fsdecode(listing.stderr).strip())
    if "diff" in argv[start:] and _ask([*git, "rev-parse"], cwd, environment).returncode != 0:
        raise UnreadableError("there is no repository, where `git diff` shows whatever files lie in two folders")
    if "describe" in argv[start:] and any(map(_LOOKS_FOR_CHANGES.match, argv[start:])):
        staged = _ask([*git, "ls-files", "--stage", "-z"], cwd, environment)
        if staged.returncode != 0 or any(entry.startswith(_SUBMODULE) for entry in staged.stdout.split(b"\0")):
            raise UnreadableError("there are submodules, whose own filters `git describe --dirty` would run")
    found = {key.rpartition(b".")[0] for key in listing.stdout.split(b"\0") if key.startswith(b"filter.")}
    return _emptied([os.fsdecode(name) for name in sorted(found)])


def _ask(argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        argv, cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )


def _git_at(program: str, argv: Sequence[str]) -> int | None:
    """Where git stands among the words: first, or behind a program that only starts it."""
    name = os.path.basename(program)
    if name == "git":
        return 0
    if name not in _WRAPPERS:
        return None
    return next((index for index, word in enumerate(argv) if os.path.basename(word) == "git"), None)


def _global_options(words: Sequence[str]) -> list[str]:
    """The words before the sub-command: they decide which repository it is."""
    found: list[str] = []
    at = 0
    while at < len(words) and words[at].startswith("-"):
        width = 2 if words[at] in _VALUED else 1
        if words[at] not in _PAGING:
            found += words[at : at + width]
        at += width
    return found if at < len(words) else []


def _emptied(names: Sequence[str]) -> dict[str, str]:
    pairs = [(f"{name}.{key}", "") for name in names for key in _KEYS]
    pairs += [(f"{name}.required", "false") for name in names]
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for index, (key, value) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return variables
