"""Settings at the beginning of a script that have a plain form: `set -e; a; b` is `a && b`, and `export CI=1; a` is
`CI=1 a`.

The plain form is what is judged and runs. Only top-level steps count, and only settings whose meaning it keeps; any
other `set` or `export` stays a command, which asks. Knows what they mean, not which variables are harmless.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Branch, Choice, Command, Group, Loop, Stage, Step, Word, branches, outputs

_STOPS = (("-e",), ("-eu",), ("-ue",), ("-u",), ("-o", "errexit"))
_WITH_PIPES = (("-euo", "pipefail"), ("-eo", "pipefail"), ("-o", "pipefail"), ("-uo", "pipefail"))
_ASSIGNMENT = lazy_pattern(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)

Variables = tuple[tuple[str, str], ...]


def without_settings(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps without the settings that they begin with."""
    stops = False
    variables: Variables = ()
    rest = list(steps)
    while len(rest) > 1 and rest[1].join in (";", "&&"):
        if (found := _exported(rest[0])) is not None:
            variables += found
        elif (e := _set(rest[0], rest[1:])) is not None:
            stops |= e
        else:
            break
        rest = rest[1:]
    if len(rest) == len(steps):
        return tuple(steps)
    joined = [replace(step, join="&&") if stops and at and step.join == ";" else step for at, step in enumerate(rest)]
    first, *others = (_with(step, variables) for step in joined)
    return (replace(first, join=""), *others)


def _alone(step: Step) -> tuple[Word, ...]:
    """The words of a step that is one simple command and nothing else."""
    match step.stages:
        case (Stage(env=(), redirects=()) as stage,) if not step.negated and not step.timed:
            return stage.words if all(word.literal for word in stage.words) else ()
        case _:
            return ()


def _exported(step: Step) -> Variables | None:
    words = _alone(step)
    if len(words) < 2 or words[0].text != "export":
        return None
    found = [_ASSIGNMENT.fullmatch(word.text) for word in words[1:]]
    return tuple((one[1], one[2]) for one in found if one is not None) if all(found) else None


def _set(step: Step, rest: Sequence[Step]) -> bool | None:
    """Whether a `set` ends the script at the first failure; None if it has another meaning. Without a pipe, `pipefail`
    has none; a compound command or `||` would need more than `&&`.
    """
    words = _alone(step)
    options = tuple(word.text for word in words[1:])
    if not words or words[0].text != "set" or options not in (*_STOPS, *_WITH_PIPES):
        return None
    simple = all(len(one.stages) == 1 and isinstance(one.stages[0], Stage) for one in rest)
    stops = "e" in options[0] or options == ("-o", "errexit")
    if options in _WITH_PIPES and not simple:
        return None
    alone = len(rest) == 1 and not any(_goes_on(command) for command in rest[0].stages)
    return stops if not stops or (simple and all(one.join != "||" for one in rest)) or alone else None


def _goes_on(command: Command) -> bool:
    """Whether something in it runs although what was before it failed: `v=$(false); ls` is a loop here."""
    if isinstance(command, Stage):
        return False
    if isinstance(command, Loop) and outputs(command.words):
        return True
    return any(step.join == ";" or any(map(_goes_on, step.stages)) for steps in branches(command) for step in steps)


def _with(step: Step, variables: Variables) -> Step:
    return replace(step, stages=tuple(_in(command, variables) for command in step.stages)) if variables else step


def _in(command: Command, variables: Variables) -> Command:
    def inside(steps: Sequence[Step]) -> tuple[Step, ...]:
        return tuple(_with(step, variables) for step in steps)

    match command:
        case Stage():
            return replace(command, env=variables + command.env)
        case Group() | Loop():
            return replace(command, steps=inside(command.steps))
        case Choice():
            branches = tuple(Branch(inside(one.condition), inside(one.steps)) for one in command.branches)
            return replace(command, branches=branches, otherwise=inside(command.otherwise))
