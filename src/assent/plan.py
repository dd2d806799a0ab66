"""What an approved command does, as data: a small tree of pipelines and argument lists.

The judge makes a plan from words it fully understood, and `assent.process.pipeline` executes it as it is. It must not
know rules, models or any shell: there is no command string in it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

PartKind = Literal["text", "glob", "home", "variable", "status", "item", "output"]
Join = Literal["", "&&", "||", ";"]
RedirectKind = Literal["null", "copy", "read", "text"]
# How file names come through a pipe: one per line, terminated by a NUL, or as words with quotes as xargs reads them.
Names = Literal["", "lines", "null", "words"]
# What words may be that are known only at run time: anything; names of files that may be read; names of commits; or, in
# quotes, text where only text is possible and otherwise a plain name. Without an entry there are none.
Unknown = Literal["", "text", "file", "revision", "name"]
# What a git command does: it reads, or it changes files and its repository. Without an entry it does more, or is
# exactly what a person allowed.
GitWork = Literal["", "looks", "changes"]

SandboxName = Literal["off", "read-only", "workspace", "network"]

UNKNOWN: tuple[PartKind, ...] = ("status", "item", "output")


class ExecutedFile(Struct, frozen=True, gc=False):
    """A file that a command executes or obeys, with its content."""

    path: str
    """Absolute."""
    sha256: str
    """Empty if it cannot be read."""


class Part(Struct, frozen=True):
    """A piece of a word. `text` stands for itself; the runner expands the other kinds.

    `status` is how the last pipeline ended (`?`) or the value of a variable that is only shown, `item` the current word
    of the loop over the variable `text`, and `output` what `steps` print. Unquoted, these are split into words as in
    bash.
    """

    kind: PartKind
    text: str
    quoted: bool = False
    steps: tuple["Step", ...] = ()
    item: str = ""
    """For a wildcard: not what it matches, but the current match of the loop over this variable."""
    cut: str = ""
    """What is cut off a variable: `%.py` or `##*/`. Before loops are unrolled, also arithmetic with it: `((x+1))`."""


class Word(Struct, frozen=True):
    """One word of a command, quotes removed. `text` is how it reads; `literal` means that nothing in it expands."""

    text: str
    literal: bool = True
    parts: tuple[Part, ...] = ()

    @property
    def fixed(self) -> str:
        """The start of the word that no file name and no variable can change."""
        if self.literal:
            return self.text
        first = self.parts[0]
        return first.text if first.kind == "text" else ""

    @property
    def unknown(self) -> bool:
        """Whether its value is known only at run time."""
        return any(part.kind in UNKNOWN for part in self.parts)


class Redirect(Struct, frozen=True):
    """`null`: fd to or from /dev/null · `copy`: fd becomes what fd `target` is · `read`: file · `text`: given text."""

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
    """Its input is file names, without those that `Plan.secret` matches; they reach it terminated by NULs."""
    hides: bool = False
    """It is git, and told to leave out secrets, by name or by `Plan.hidden`."""
    listing: tuple[tuple[Word, ...], ...] = ()
    """Git commands that list the names of everything it may show. A command that hides nothing must not show a secret.
    """
    git: GitWork = ""
    unknown: Unknown = ""
    files: tuple[int, ...] = ()
    """Which of the words name files to read."""
    texts: tuple[int, ...] = ()
    """Which of the words are text, and not file names whatever they look like: a pattern, a script, a separator."""


class Group(Struct, frozen=True, tag="group"):
    """`( … )`, which does not affect the commands after it, or `{ …; }`."""

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
    """Everything the runner needs. `writes` are checked against `roots` again, with links followed, at run time."""

    steps: tuple[Step, ...]
    cwd: str = ""
    roots: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    inside: bool = False
    """Every path that the words name must be in `roots`, with links followed, or nothing starts."""
    sweeps: bool = False
    """A search in it skips files that usually hold secrets."""
    secret: str = ""
    """A regular expression that matches the lower-cased path of a secret."""
    hidden: tuple[str, ...] = ()
    """Patterns that make git leave out secrets."""
    sandbox: SandboxName = "off"
    """What all of it runs in."""
    only_confined: bool = False
    """A rule names the sandbox: without it, nothing starts."""
    domains: tuple[str, ...] = ()
    """The hosts that it may connect to in the sandbox `network` without asking."""
    writable: tuple[str, ...] = ()
    """What it may write to in its sandbox, besides the workspace: real paths."""
    variables: dict[str, str] = {}
    """What its sandbox adds to the environment: where caches are, and the proxy."""
    unchanged: tuple[ExecutedFile, ...] = ()
    """Files that must still have this content whenever a program starts."""


def simple_commands(steps: Sequence[Step]) -> Iterator[Stage]:
    """Every simple command of a tree, including those whose output becomes a word."""
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
    """The lists of pipelines in a compound command, in source order."""
    match command:
        case Group() | Loop():
            return [command.steps]
        case Choice():
            inner = [steps for branch in command.branches for steps in (branch.condition, branch.steps)]
            return [*inner, command.otherwise]


def without(value: str, cut: str) -> str:
    """`${value%.*}` and the like. The pattern has at most one `*`. The end is cut off the reversed value, because a
    pattern that is tried from every position would take too long.
    """
    sign = cut[: 2 if cut[:2] in ("##", "%%") else 1]
    turn = -1 if sign[0] == "%" else 1
    many = ".*" if len(sign) == 2 else ".*?"
    pattern = "".join(many if one == "*" else "." if one == "?" else re.escape(one) for one in cut[len(sign) :][::turn])
    found = re.match(pattern, value[::turn], re.DOTALL)
    return value[::turn][found.end() :][::turn] if found else value


# Facts about the machine that everyone on it may know, and the programs and libraries installed on it. Nothing about a
# process, a person or a service.
_PUBLIC = (
    r"/proc/(?:cpuinfo|meminfo|version|uptime|loadavg|stat|vmstat|filesystems|partitions|diskstats|swaps|devices|modules|crypto"
    r"|pressure/(?:cpu|memory|io)|sys/kernel/(?:osrelease|ostype|version|hostname|pid_max|threads-max|random/entropy_avail)"
    r"|sys/vm/(?:swappiness|overcommit_memory|max_map_count)|sys/fs/(?:file-max|file-nr|nr_open|inotify/max_user_\w+))"
    r"|/sys/devices/system/(?:cpu|node|memory)(?:/[\w.-]+)+|/sys/fs/cgroup/(?:cpu|memory|pids|io|cpuset)\.[\w.]+"
    r"|/etc/(?:os-release|lsb-release|[a-z]+[-_](?:release|version)|timezone|shells|services|protocols)|/usr/lib/os-release"
    r"|(?:/usr)?/s?bin/[\w.+\[-]+|(?:/usr)?/lib(?:32|64|x32)?/(?:[\w.+-]+/)*[\w.+-]+\.so(?:\.[\w.]+)?"
    r"|/usr/include/(?:[\w.+-]+/)*[\w.+-]+\.h(?:pp)?"
)


def is_public(path: str) -> bool:
    """Whether an absolute, normalized path is a file that only describes the machine."""
    return ".." not in path and re.fullmatch(_PUBLIC, path) is not None  # compiled only where it is needed


def paths_in(text: str) -> list[str]:
    """The paths that a word of a command may name: itself, or the value glued to an option."""
    if not text.startswith("-"):
        return [text]
    _, equals, value = text.partition("=")
    return [value] if equals else [text[at:] for at in range(2, len(text))]
