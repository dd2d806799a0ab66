"""What an approved command does, as data: pipelines of argument lists.

A plan is made by the judge from words it understood completely and is executed as it stands, by
`assent.process.pipeline`. It must not know rules, models or any shell: there is no command string in
it.
"""

from typing import Literal

from msgspec import Struct

PartKind = Literal["text", "glob", "home", "variable"]
Join = Literal["", "&&", "||", ";"]
RedirectKind = Literal["null", "copy", "read", "text"]
# How names of files come through a pipe: one a line, ended by a NUL, or as words with quotes as xargs reads them.
Names = Literal["", "lines", "null", "words"]


class Part(Struct, frozen=True):
    """A piece of a word. `text` stands for itself; the other kinds are expanded by the runner."""

    kind: PartKind
    text: str


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


class Redirect(Struct, frozen=True):
    """`null`: fd to or from /dev/null · `copy`: fd becomes what fd `target` is · `read`: file · `text`:
    given text."""

    kind: RedirectKind
    fd: int
    target: Word | int | str = ""


class Stage(Struct, frozen=True):
    """One simple command of a pipeline."""

    words: tuple[Word, ...]
    env: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    text: str = ""
    names: Names = ""
    """Its input are names of files, and it gets none that `Plan.secret` is about; they reach it ended by NULs."""
    hides: bool = False
    """It is git, and `Plan.hidden` stands behind its words."""


class Step(Struct, frozen=True):
    """One pipeline, and what must have happened before it: `&&` success, `||` failure, `;` anything."""

    join: Join
    stages: tuple[Stage, ...]


class Plan(Struct, frozen=True):
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


def paths_in(text: str) -> list[str]:
    """The paths that a word of a command may name: itself, or whatever is glued to an option."""
    if not text.startswith("-"):
        return [text]
    _, equals, value = text.partition("=")
    return [value] if equals else [text[at:] for at in range(2, len(text))]
