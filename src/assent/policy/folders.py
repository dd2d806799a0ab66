"""In which folders each command of a plan may run: `cd` moves what stands behind it, unless it fails.

As the runner does it: a `cd` in a pipe of several moves nothing, and only `&&` makes sure that it came about. Asks the
environment where home is, and looks at no file.
"""

import os
from collections.abc import Iterator
from itertools import takewhile

from assent.plan import Plan, Stage, Word
from assent.policy.shell.paths import cd_target, moves

_MOST = 32


def with_folders(plan: Plan) -> Iterator[tuple[Stage, tuple[str, ...]]]:
    """Every command with all the folders that it may run in; with none when there are too many to look at."""
    now = ever = (plan.cwd,)
    for step in plan.steps:
        if step.join != "&&":  # whatever stands before may have failed
            now = ever
        yield from ((stage, now) for stage in step.stages)
        if len(step.stages) == 1 and moves(step.stages[0]):
            moved = tuple(_moved(step.stages[0], cwd) for cwd in now)
            now = (*now, *moved) if step.join == "||" else moved
            ever = tuple(dict.fromkeys((*ever, *now)))
        if len(ever) > _MOST:
            now = ever = ()


def _moved(stage: Stage, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, expanded(cd_target(stage), cwd)))


def is_wild(word: Word) -> bool:
    return any(part.kind == "glob" for part in word.parts)


def before_wildcard(word: Word, cwd: str) -> str:
    """The text of a word as far as it is known without looking at files."""
    known = takewhile(lambda part: part.kind != "glob", word.parts)
    return "".join(value(part.kind, part.text, cwd) for part in known)


def expanded(word: Word, cwd: str) -> str:
    """The text of a word without wildcards."""
    return word.text if word.literal else "".join(value(part.kind, part.text, cwd) for part in word.parts)


def value(kind: str, text: str, cwd: str) -> str:
    """What a part of a word stands for, as the runner expands it."""
    match kind, text:
        case ("home", _) | ("variable", "HOME"):
            return os.environ.get("HOME") or "/"
        case ("variable", "PWD"):
            return cwd
        case ("variable", _):
            return os.environ.get("USER") or str(os.getuid())
        case _:
            return text
