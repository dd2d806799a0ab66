"""In which folders each command of a plan may run: `cd` moves the commands after it, unless it fails.

Follows the runner: a `cd` in a multi-command pipe moves nothing, and only `&&` guarantees that it succeeded. Asks the
environment for the home folder, and looks at no file.
"""

import os
from collections.abc import Iterator
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from assent.plan import Choice, Command, Group, Loop, Plan, Stage, Step, Word, branches, outputs, simple_commands
from assent.policy.shell.compound import has_uncertain_cd
from assent.policy.shell.paths import cd_target, moves

_MAX_FOLDERS = 32


def with_folders(plan: Plan) -> Iterator[tuple[Stage, tuple[str, ...]]]:
    """Every command with all the folders it may run in; with none if there are too many to check."""
    if has_uncertain_cd(plan.steps):
        return ((stage, ()) for stage in simple_commands(plan.steps))
    return _steps(plan.steps, _Folders((plan.cwd,), (plan.cwd,)))


class _Folders(Struct):
    """The folders of the next command, and every folder so far."""

    now: tuple[str, ...]
    ever: tuple[str, ...]

    def inside(self) -> "_Folders":
        """For commands that do not affect the commands after them."""
        return _Folders(self.now, self.now)


def _steps(steps: tuple[Step, ...], folders: _Folders) -> Iterator[tuple[Stage, tuple[str, ...]]]:
    for step in steps:
        if step.join != "&&":  # anything before it may have failed
            folders.now = folders.ever
        before = folders.now
        alone = len(step.stages) == 1
        for command in step.stages:
            yield from _command(command, folders if alone else folders.inside())
        if step.join == "||" and folders.now:  # it may not run at all
            folders.now = tuple(dict.fromkeys((*before, *folders.now)))


def _command(command: Command, folders: _Folders) -> Iterator[tuple[Stage, tuple[str, ...]]]:
    match command:
        case Stage():
            yield from _steps(outputs(command.words), folders.inside())
            yield command, folders.now
            if moves(command):
                _move(command, folders)
        case Group(subshell=False):
            yield from _steps(_begun(command.steps), folders)
        case Group() | Loop() | Choice():
            yield from _steps(outputs(command.words if isinstance(command, Loop) else ()), folders.inside())
            for inner in branches(command):
                yield from _steps(_begun(inner), folders.inside())


def _begun(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The first step runs where the previous command led."""
    return (replace(steps[0], join="&&"), *steps[1:]) if steps else ()


def _move(stage: Stage, folders: _Folders) -> None:
    folders.now = tuple(_moved(stage, cwd) for cwd in folders.now)
    folders.ever = tuple(dict.fromkeys((*folders.ever, *folders.now)))
    if len(folders.ever) > _MAX_FOLDERS:
        folders.now = folders.ever = ()


def _moved(stage: Stage, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, expanded(cd_target(stage), cwd)))


def is_wild(word: Word) -> bool:
    return any(part.kind == "glob" for part in word.parts)


def before_wildcard(word: Word, cwd: str) -> str:
    """The text of a word, as far as it is known without looking at files."""
    known = takewhile(lambda part: part.kind != "glob", word.parts)
    return "".join(value(part.kind, part.text, cwd) for part in known)


def expanded(word: Word, cwd: str) -> str:
    """The text of a word without wildcards."""
    return word.text if word.literal else "".join(value(part.kind, part.text, cwd) for part in word.parts)


def value(kind: str, text: str, cwd: str) -> str:
    """What a part of a word expands to in the runner."""
    match kind, text:
        case ("home", _) | ("variable", "HOME"):
            return os.environ.get("HOME") or "/"
        case ("variable", "PWD"):
            return cwd
        case ("variable", _):
            return os.environ.get("USER") or str(os.getuid())
        case _:
            return text
