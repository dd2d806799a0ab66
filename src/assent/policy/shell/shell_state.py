"""Lines that change the shell which runs them: its variables, its settings, the names of its commands.

The strict reader takes a variable at the value that it sees, and `cd` for the folder that it names. If a person, a mode
or a rule for the whole tool lets the line run, bash runs it as it is written, and after `read x`, `export IFS=,` or
`shopt -s extglob` the same words mean something else. So such a line is not understood, unless nothing in it depends on
the state of the shell.
"""

from collections.abc import Collection, Sequence

from assent.lazy_pattern import lazy_pattern
from assent.plan import Loop, Stage, Step, Word, every_step, simple_commands
from assent.policy.shell.command_survey import Survey
from assent.policy.shell.lexer import Refused
from assent.policy.shell.paths import moves

_CHANGING = frozenset(
    "alias bind compgen complete enable eval fc hash jobs let popd pushd shopt trap unalias".split()  # noqa: SIM905
)
_NAMING = frozenset(
    "declare export getopts local mapfile read readarray readonly typeset unset wait".split()  # noqa: SIM905
)
"""They set the variables that their words name."""
_RUNNING_FILES = frozenset((".", "source"))
"""A script may use the same names; that it changes what expansions depend on is its own affair, as with any program."""
_LEADING = frozenset(("builtin", "command", "time"))
_USUAL = frozenset("-e -u -x -eu -ux -ex -eux -euo -eo -uo -euxo -o pipefail errexit nounset xtrace +e +u +x".split())  # noqa: SIM905
"""What scripts tell `set`."""
# What expansions and `cd` depend on, and what makes bash another shell.
_OF_BASH = frozenset(
    "IFS HOME PWD OLDPWD USER CDPATH GLOBIGNORE POSIXLY_CORRECT SHELLOPTS BASHOPTS BASH_COMPAT BASH_ENV ENV".split()  # noqa: SIM905
)
_NAME = lazy_pattern(r"[A-Za-z_]\w*")
_COMPUTED = lazy_pattern(r"[$`]")
_QUOTING = lazy_pattern(r"[\"'\\]")
_GIVEN = lazy_pattern(r"\"?\$\{?(?:HOME|PWD|USER|PATH|SHELL)\b")


def refuse_changes(written: Sequence[Step], unrolled: Sequence[Step]) -> None:
    """Raises Refused. `unrolled` shows the words that variables hide: `c=readonly; $c x=b`."""
    variables = {one.variable for step in every_step(written) for one in step.stages if isinstance(one, Loop)}
    kept = _OF_BASH | variables
    stages = list(simple_commands(unrolled))
    set_here = {name for one in stages for name, _ in one.env}  # stays set behind `:`, if bash keeps to POSIX
    changing = bool(set_here & kept) or any(_changes(one.words, kept) for one in stages)
    if changing and (variables or any(map(_depends, simple_commands(written)))):
        raise Refused("a command that may change what the shell makes of the others")


def changes(seen: Survey) -> bool:
    """Whether a line that the strict reader refuses may change what the shell makes of its words."""
    assigned = {one.partition("=")[0].rstrip("+") for one in seen.assigned}
    return bool(assigned & _OF_BASH) or any(_changes(one.words, _OF_BASH) for one in seen.commands)


def _changes(words: tuple[Word, ...], kept: Collection[str]) -> bool:
    first, *rest = words
    while rest and (first.text in _LEADING or first.text.startswith("-")):
        first, *rest = rest
    name = first.text
    if name == "set":
        return any(word.text not in _USUAL for word in rest)
    if name == "printf":
        return bool(rest) and _may_be_option(rest[0]) and _names(rest, kept)
    if name in _RUNNING_FILES:
        return not _OF_BASH.issuperset(kept)
    return name in _CHANGING or (name in _NAMING and _names(rest, kept))


def _names(words: Sequence[Word], kept: Collection[str]) -> bool:
    """Whether one of these variables is named, or a name is only known at run time."""
    for word in words:
        text = word.text.partition("=")[0]
        if not word.literal and _COMPUTED.search(text):
            return True
        glued = text.startswith("-") and any(map(text.endswith, kept))  # `printf -vx`
        if glued or not set(_NAME.findall(text)).isdisjoint(kept):
            return True
    return False


def _may_be_option(word: Word) -> bool:
    """`printf -v NAME`; its option comes first."""
    if word.literal:
        return word.text.startswith("-v")
    if _GIVEN.match(word.text):
        return False
    start = _QUOTING.sub("", _COMPUTED.split(word.text)[0])
    return start.startswith("-v") or "-v".startswith(start)


def _depends(stage: Stage) -> bool:
    """Whether bash expands something for it, or looks for the folder of a `cd`."""
    words = (*stage.words, *(one.target for one in stage.redirects if isinstance(one.target, Word)))
    return moves(stage) or any(part.kind not in ("text", "glob") for word in words for part in word.parts)
