"""Unrolls loops: a loop over known words becomes its commands, once per word.

Each of these is then judged like any other command, and exactly that runs. If the words are known only at run time
(wildcards, the output of a command), the loop stays, and its variable stands for any of them.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import (
    Branch,
    Choice,
    Command,
    Group,
    Loop,
    Part,
    Stage,
    Step,
    Word,
    simple_commands,
    without,
)
from assent.policy.shell.arithmetic import NoNumber, evaluate
from assent.policy.shell.lexer import IDENTIFIER, Refused, word_of
from assent.policy.shell.plain_forms import as_test, as_text

MAX_COMMANDS = 200

_INTEGER = lazy_pattern(r"-?(?:0|[1-9]\d{0,17})")
_BECOMES_MORE = lazy_pattern(r"[ \t\n*?\[\\]")  # without quotes bash splits it into other words


def unrolled(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps without loops over known words. Raises Refused if there are too many commands."""
    found = _Unroller().steps(steps, {})
    if sum(1 for _ in simple_commands(found)) > MAX_COMMANDS:
        raise Refused(f"loops that make more than {MAX_COMMANDS} commands")
    return found


class _Unroller:
    def __init__(self) -> None:
        self._left = MAX_COMMANDS

    def steps(self, steps: Sequence[Step], known: dict[str, Word]) -> tuple[Step, ...]:
        return tuple(replace(step, stages=tuple(self._command(one, known) for one in step.stages)) for step in steps)

    def _command(self, command: Command, known: dict[str, Word]) -> Command:
        self._left -= 1
        if self._left < 0:
            raise Refused(f"loops that make more than {MAX_COMMANDS} commands")
        match command:
            case Stage():
                return as_test(replace(command, words=tuple(self._word(word, known) for word in command.words)))
            case Group():
                return replace(command, steps=self.steps(command.steps, known))
            case Choice():
                branches = tuple(
                    Branch(self.steps(one.condition, known), self.steps(one.steps, known)) for one in command.branches
                )
                return replace(command, branches=branches, otherwise=self.steps(command.otherwise, known))
            case Loop():
                return self._loop(command, known)

    def _loop(self, loop: Loop, known: dict[str, Word]) -> Command:
        words = [self._word(word, known) for word in loop.words]
        if any(part.kind in ("variable", "home") for word in words for part in word.parts):
            raise Refused("a loop over a variable or `~`")
        rounds = tuple(Step(";", (self._round(loop, word, known),)) for word in words)
        return Group(rounds, redirects=loop.redirects)

    def _round(self, loop: Loop, word: Word, known: dict[str, Word]) -> Command:
        steps = self.steps(loop.steps, {**known, loop.variable: word})
        return Group(steps) if word.literal else Loop(loop.variable, (word,), steps)

    def _word(self, word: Word, known: dict[str, Word]) -> Word:
        if not word.unknown:
            return word
        parts = [one for part in word.parts for one in self._part(part, known)]
        if all(part.kind == "text" for part in parts):
            return Word("".join(part.text for part in parts))
        return word_of(parts)

    def _part(self, part: Part, known: dict[str, Word]) -> list[Part]:
        if part.kind == "output":
            return [as_text(replace(part, steps=self.steps(part.steps, known)))]
        if part.kind != "item":
            return [part]
        word = known[part.text]
        if part.cut.startswith("(("):
            return [Part("text", _calculated(part.cut, known))]
        if word.literal:
            return [Part("text", _kept_whole(_cut(word.text, part.cut), part))]
        if part.cut:
            return [part]
        if all(one.kind in ("text", "glob") for one in word.parts):
            return _wild(part, word)
        return [part]


def _cut(text: str, cut: str) -> str:
    if "?" in cut and not text.isascii():
        raise Refused("`?` in front of letters that may be several characters to bash")
    return without(text, cut) if cut else text


def _kept_whole(text: str, part: Part) -> str:
    if not part.quoted and (not text or _BECOMES_MORE.search(text)):
        raise Refused(f"`${part.text}` without quotes, which bash may split into other words")
    return text


def _calculated(expression: str, known: dict[str, Word]) -> str:
    """`((x+1))`, if every variable is a plain number: of anything else, bash evaluates the text."""
    names = IDENTIFIER.findall(expression)
    if not all(known[name].literal and _INTEGER.fullmatch(known[name].text) for name in names):
        raise Refused("arithmetic on something other than plain numbers")
    try:
        return str(evaluate(IDENTIFIER.sub(lambda name: f"({known[name[1]].text})", expression[2:-2])))
    except NoNumber:
        raise Refused("arithmetic on something other than plain numbers") from None


def _wild(item: Part, word: Word) -> list[Part]:
    """The wildcard itself, for judging; the runner substitutes the current match."""
    first, *rest = (replace(one, kind="glob", quoted=item.quoted) for one in word.parts)
    return [replace(first, item=item.text), *(replace(one, item="+") for one in rest)]
