"""What an approved command does, as data: a small tree of pipelines and argument lists.

A plan is made by the judge from words it understood completely and is executed as it stands, by
`assent.process.pipeline`. It must not know rules, models or any shell: there is no command string in
it.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

PartKind = Literal["text", "glob", "home", "variable", "status", "item", "output"]
Join = Literal["", "&&", "||", ";"]
RedirectKind = Literal["null", "copy", "read", "text"]
# How names of files come through a pipe: one a line, ended by a NUL, or as words with quotes as xargs reads them.
Names = Literal["", "lines", "null", "words"]
# What words may become that are known only when the command runs: anything, names of files that may be read, or names
# of commits, or a text in quotes where only text can stand and else a plain name. Without an entry there are none.
Unknown = Literal["", "text", "file", "revision", "name"]
# What a command of git does: it looks, or it changes files and its repository. Without an entry it does more, or is
# exactly what a person allowed.
GitWork = Literal["", "looks", "changes"]

UNKNOWN: tuple[PartKind, ...] = ("status", "item", "output")


class Part(Struct, frozen=True):
    """A piece of a word. `text` stands for itself; the other kinds are expanded by the runner.

    `status` is how the last pipeline ended (`?`) or what a variable holds that is only shown, `item` the word that the
    loop over the variable `text` is at, and `output` what `steps` print. Without quotes these are cut into words as
    bash does.
    """

    kind: PartKind
    text: str
    quoted: bool = False
    steps: tuple["Step", ...] = ()
    item: str = ""
    """Of a wildcard: not what it matches, but the match that the loop over this variable is at."""


class Word(Struct, frozen=True):
    """One word of a command, quotes removed. `text` is how it reads; `literal` says nothing in it expands."""

    text: str
    literal: bool = True
    parts: tuple[Part, ...] = ()

    @property
    def fixed(self) -> str:
        """The beginning of the word that no file name and no variable can change."""
        if self.literal:
            return self.text
        first = self.parts[0]
        return first.text if first.kind == "text" else ""

    @property
    def unknown(self) -> bool:
        """Whether it is known only when the command runs what it is."""
        return any(part.kind in UNKNOWN for part in self.parts)


class Redirect(Struct, frozen=True):
    """`null`: fd to or from /dev/null · `copy`: fd becomes what fd `target` is · `read`: file · `text`:
    given text."""

    kind: RedirectKind
    fd: int
    target: Word | int | str = ""


class Stage(Struct, frozen=True, tag="command", kw_only=True):
    """One simple command of a pipeline."""

    words: tuple[Word, ...]
    env: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    text: str = ""
    names: Names = ""
    """Its input are names of files, and it gets none that `Plan.secret` is about; they reach it ended by NULs."""
    hides: bool = False
    """It is git, and told to leave out secrets, by their names or by `Plan.hidden`."""
    listing: tuple[tuple[Word, ...], ...] = ()
    """Commands of git that list the names of all that it may show. One that hides nothing must not show a secret."""
    git: GitWork = ""
    unknown: Unknown = ""
    files: tuple[int, ...] = ()
    """Which of the words name files to be read."""
    texts: tuple[int, ...] = ()
    """Which of the words are text, and name no file whatever they look like: a pattern, a script, a separator."""


class Group(Struct, frozen=True, tag="group"):
    """`( … )`, which moves nobody else, or `{ …; }`."""

    steps: tuple["Step", ...]
    subshell: bool = False
    redirects: tuple[Redirect, ...] = ()


class Loop(Struct, frozen=True, tag="loop"):
    """`for variable in words; do steps; done`."""

    variable: str
    words: tuple[Word, ...]
    steps: tuple["Step", ...]
    redirects: tuple[Redirect, ...] = ()


class Branch(Struct, frozen=True):
    condition: tuple["Step", ...]
    steps: tuple["Step", ...]


class Choice(Struct, frozen=True, tag="choice"):
    """`if … then … elif … then … else … fi`."""

    branches: tuple[Branch, ...]
    otherwise: tuple["Step", ...] = ()
    redirects: tuple[Redirect, ...] = ()


Command = Stage | Group | Loop | Choice


class Step(Struct, frozen=True):
    """One pipeline, and what must have happened before it: `&&` success, `||` failure, `;` anything."""

    join: Join
    stages: tuple[Command, ...]
    negated: bool = False
    timed: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """Everything the runner needs. `writes` are checked against `roots` again, with links followed, at
    run time."""

    steps: tuple[Step, ...]
    cwd: str = ""
    roots: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    inside: bool = False
    """Every path that the words name must be in `roots`, with links followed, or nothing starts."""
    sweeps: bool = False
    """A search in it passes over files that usually hold secrets."""
    secret: str = ""
    """What the path of a secret matches, in small letters: a regular expression."""
    hidden: tuple[str, ...] = ()
    """Patterns that make git leave secrets out."""


def simple_commands(steps: Sequence[Step]) -> Iterator[Stage]:
    """Every simple command of a tree, also those whose output becomes a word."""
    return (command for step in every_step(steps) for command in step.stages if isinstance(command, Stage))


def every_step(steps: Sequence[Step]) -> Iterator[Step]:
    """Every pipeline of a tree, the outer ones first."""
    for step in steps:
        yield step
        for command in step.stages:
            words = command.words if isinstance(command, Stage | Loop) else ()
            inner = [] if isinstance(command, Stage) else branches(command)
            yield from (one for below in (*inner, outputs(words)) for one in every_step(below))


def outputs(words: Sequence[Word]) -> tuple[Step, ...]:
    """What is run for the words themselves."""
    return tuple(step for word in words for part in word.parts for step in part.steps)


def branches(command: Group | Loop | Choice) -> list[tuple[Step, ...]]:
    """The lists of pipelines in a compound command, in the order of the text."""
    match command:
        case Group() | Loop():
            return [command.steps]
        case Choice():
            inner = [steps for branch in command.branches for steps in (branch.condition, branch.steps)]
            return [*inner, command.otherwise]


def paths_in(text: str) -> list[str]:
    """The paths that a word of a command may name: itself, or whatever is glued to an option."""
    if not text.startswith("-"):
        return [text]
    _, equals, value = text.partition("=")
    return [value] if equals else [text[at:] for at in range(2, len(text))]
