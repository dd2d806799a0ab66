"""Switches off the filters that a repository's configuration asks git to run.

Their names are chosen by the repository, so they are known only where it lies; the other helpers of git
are switched off by the plan. Reading the configuration starts no program. Knows git, not the policy.
"""

import subprocess
from collections.abc import Mapping, Sequence
from itertools import pairwise

_KEYS = ("clean", "smudge", "process")


def without_filters(program: str, argv: Sequence[str], cwd: str, environment: Mapping[str, str]) -> list[str]:
    """Options for git that empty every filter of the repository `argv` works in."""
    folders = [word for option, word in pairwise(argv) if option == "-C"]
    names: set[str] = set()
    for place in ([], *(["-C", folder] for folder in folders)):
        listing = subprocess.run(
            [program, *place, "config", "--null", "--name-only", "--get-regexp", r"^filter\."],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        names.update(key.rpartition(".")[0] for key in listing.stdout.decode(errors="replace").split("\0") if key)
    return [word for name in sorted(names) for word in _emptied(name)]


def _emptied(name: str) -> list[str]:
    pairs = [f"{name}.{key}=" for key in _KEYS] + [f"{name}.required=false"]
    return [word for pair in pairs for word in ("-c", pair)]
