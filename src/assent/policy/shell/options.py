"""Reads the words of one command with the model of its program: which options and files it has, and what is not
harmless.

Says what a command does, never whether it may: it knows neither rules nor the workspace.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.plan import Part, Stage, Step, Word
from assent.policy.shell.operands import UNKNOWN, is_several, meanings
from assent.policy.shell.program_models import OptionUse, ProgramModel, Wrapper, model, options
from assent.policy.shell.synonyms import same_command

_OPTION_NAME = lazy_pattern(r"[!-~]+")
_TOOLCHAIN = lazy_pattern(r"\+(?:stable|beta|nightly|\d[\d.]*)(?:-[\w-]+)?")
_NUMBER = lazy_pattern(r"-\d+")
# Values that begin like an option but cannot be one: `-5`, find's `-10k` and `-u+x`, date's `-2 days`.
_NEGATIVE = lazy_pattern(r"-(?:\d+(?:[bckwKMG]| [a-z ]+)?|[ugoa]+\+[rwxst]+)?")

# To a deny rule these programs' words are the same, but they do not do the same.
_DIFFERENT = frozenset(("apt", "apt-get", "aptitude"))

Words = tuple[Word, ...]
OptionEffect = Literal["change", "execute", "unknown"]


class Use(Struct, kw_only=True):
    """What a command does, as far as its model can tell. `problems` are sentences; none means harmless."""

    names: tuple[str, ...]
    model: ProgramModel
    models: list[ProgramModel]
    at: int = 0  # index of the last name in the words
    seen: list[tuple[str, str]] = []  # option, value
    operands: list[Word] = []
    operands_at: list[int] = []  # their positions in the words
    values_at: list[tuple[str, int]] = []  # options with a value that is not a file, and the position of the value
    texts: list[Word] = []
    reads: list[Word] = []
    writes: list[Word] = []
    items: list[Word] = []  # operands of one kind, such as packages: a rule that names one covers no other
    problems: list[str] = []
    effects: list[tuple[str, OptionEffect]] = []  # options that do more than choose what to show
    payload: tuple[Word, ...] = ()
    payload_at: int = 0
    runs: list[str] = []  # command strings inside options
    unknown_sub: bool = False
    fed: bool = False  # more words will come from its input
    found: bool = False  # one of its words stands for whatever find finds
    wild: bool = False  # the value of an option contains a wildcard
    by_name: bool = False  # only a rule that names it in full covers it
    confined: bool = False  # it writes files that no word names, so it needs a sandbox
    makes: bool = False  # it creates or changes something, unlike its sub-command with other words
    also: list[tuple[str, ...]] = []  # more commands in its words: `make test install` has one

    def option(self, *names: str) -> str | None:
        """The value of the last of these options, or None."""
        for name, value in reversed(self.seen):
            if name in names:
                return value
        return None

    def values(self, *names: str) -> list[str]:
        """All values of these options: a program may obey each of them, or the first."""
        return [value for name, value in self.seen if name in names]

    def excuse(self, *names: str) -> None:
        """The effects of these options do no harm here."""
        excused = [option_problem(*effect) for effect in self.effects if effect[0] in names]
        self.problems[:] = [problem for problem in self.problems if problem not in excused]


def option_problem(option: str, effect: OptionEffect) -> str:
    return _EFFECTS[effect].format(option)


def option_writes(option: str, file: str) -> str:
    return f"`{option}` writes to the file {file}"


_EFFECTS: dict[OptionEffect, str] = {
    "change": "`{}` changes or deletes files or settings",
    "execute": "`{}` can run another program",
    "unknown": "the option `{}` is not known to be harmless",
}


def spread(rule: Sequence[str]) -> set[str]:
    """The options that a rule names; `-rf` is also `-r` and `-f`."""
    named = {word for word in rule if word.startswith("-")}
    return named | {f"-{letter}" for word in named if not word.startswith("--") for letter in word[1:]}


def with_options(rules: Sequence[tuple[str, ...]], use: Use) -> tuple[str, ...] | None:
    """A rule of names and options covers a command that has all of them, in any order: `eslint --fix`."""
    seen = {name for name, _ in use.seen}
    for rule in rules:
        names = tuple(word for word in rule if not word.startswith("-"))
        wanted = [word for word in rule if word.startswith("-")]
        if wanted and use.names[: len(names)] == names and all(_has(word, seen) for word in wanted):
            return rule
    return None


def _has(option: str, seen: set[str]) -> bool:
    letters = {f"-{letter}" for letter in option[1:]}
    return option in seen or (not option.startswith("--") and letters <= seen)


def examine(program: str, words: tuple[Word, ...], *, more: bool = False, many: str = "") -> Use | None:
    """Examine a command; `words` includes the program. None if there is no model.

    `more`: any number of operands will follow. `many`: a word with this text stands for any number of operands.
    """
    found = model(program)
    if found is None:
        return None
    use = Use(names=(program,), model=found, models=[found])
    _Scan(use, tuple(map(_with_numbers, words)), more=more, many=many).run()
    return use


_NUMBER_GIVERS = (("nproc",), ("nproc", "--all"), ("getconf", "_NPROCESSORS_ONLN"))


def is_number(word: Word) -> bool:
    """Whether its only unknown part is a number: `-j$(nproc)`."""
    return word.unknown and all(part.kind == "text" or _prints_number(part) for part in word.parts)


def _prints_number(part: Part) -> bool:
    match part.steps:
        case (Step(stages=(Stage() as stage,), negated=False),) if not stage.env and not stage.redirects:
            return tuple(word.text for word in stage.words) in _NUMBER_GIVERS
        case _:
            return False


def _with_numbers(word: Word) -> Word:
    return Word("".join(part.text if part.kind == "text" else "8" for part in word.parts)) if is_number(word) else word


class _Scan:
    """One pass over the words; descends into the models of sub-commands."""

    def __init__(self, use: Use, words: tuple[Word, ...], *, more: bool, many: str) -> None:
        self.use = use
        self.words = words
        self.more, self.many = more, many
        self.at = 1
        self.table: dict[str, OptionUse] = options(use.names, use.model)

    def run(self) -> None:
        plain = False  # after `--`
        while self.at < len(self.words):
            word = self.words[self.at]
            if not plain and self._sub_option(word):
                continue
            if not plain and word.text == "--":
                plain = True
                self.at += 1
                if self.use.model.style == "words" or self.use.model.sub:
                    self.use.problems.append("`--` does not end the options of this program")
                continue
            if not plain and self._is_option(word):
                self.at += 1
                self._option(word)
                continue
            if self._operand(word):
                return
        self._finish()

    def _sub_option(self, word: Word) -> bool:
        """Some sub-commands look like options (`python -m`)."""
        if word.text in self.use.model.sub:
            self._descend(word)
            return True
        return False

    def _is_option(self, word: Word) -> bool:
        if word.literal:
            return len(word.text) > 1 and word.text[0] == "-"
        if word.fixed.startswith("-"):
            return True
        if word.parts[0].kind == "glob" and not self._welcomes(word):
            self.use.problems.append(f"`{word.text}` could match a file named like an option")
        return False

    def _welcomes(self, word: Word) -> bool:
        return self.use.model.inert or self.use.model.wild or _ends_plainly(word)

    def _operand(self, word: Word) -> bool:
        """Takes an operand; True if the rest belongs to a wrapped program."""
        if self.use.model.toolchain and self.at == 1 and _TOOLCHAIN.fullmatch(word.text):
            self.use.seen.append(("+", word.text))
            self.at += 1
            return False
        if self.use.model.sub and not (self.use.model.operands and word.text not in self.use.model.sub):
            self._descend(word)
            return False
        self.use.operands.append(word)
        self.use.operands_at.append(self.at)
        self.at += 1
        if self._payload_begins():
            return True
        if self.use.model.style == "first" and self._wrapper() is None:
            self.use.operands += self.words[self.at :]
            self.use.operands_at += range(self.at, len(self.words))
            self.at = len(self.words)
        return False

    def _wrapper(self) -> Wrapper | None:
        """For a program whose operands are another command."""
        wrapper = self.use.model.wrapper
        return wrapper if wrapper is not None and wrapper.payload == "argv" else None

    def _payload_begins(self) -> bool:
        """True if the words from here on are another command."""
        wrapper = self._wrapper()
        if wrapper is None:
            return False
        if wrapper.assignments:
            return self._payload_after_assignments()
        start = self.at if len(self.use.operands) == wrapper.skip else self.at - 1
        return self._start_payload(start, drop=len(self.use.operands) - wrapper.skip)

    def _payload_after_assignments(self) -> bool:
        if "=" in self.use.operands[-1].text:
            return False
        return self._start_payload(self.at - 1, drop=1)

    def _start_payload(self, start: int, *, drop: int) -> bool:
        if drop:
            del self.use.operands[-drop:], self.use.operands_at[-drop:]
        if any(map(is_several, self.use.operands)):
            self.use.problems.append("a wildcard before the program it runs may expand to several words")
        if start >= len(self.words):
            return False
        self.use.payload, self.use.payload_at = self.words[start:], start
        return True

    def _descend(self, word: Word) -> None:
        use = self.use
        name = self._described(word.text)
        found = use.model.sub.get(name)
        use.at = self.at
        self.at += 1
        use.names = (*use.names, name)
        if found is None:
            use.unknown_sub = True
            use.problems.append(f"`{' '.join(use.names)}` is not known to be harmless")
            before = use.model
            use.model = ProgramModel(does=before.does, kind=before.kind, risk=before.risk, because=before.because)
            self.table = {}
            return
        path = use.names
        if found.same:
            path, found = (found.same,), model(found.same) or found
        use.model, self.table = found, options(path, found)
        use.models.append(found)

    def _described(self, name: str) -> str:
        """The name under which the sub-command is described, so that checks know it: `npm rum` is `npm run`."""
        program, *further = self.use.names
        if name in self.use.model.sub or further or program in _DIFFERENT:
            return name
        ways = ("/".join(way) for way in same_command(program, (name,)))
        return next((way for way in ways if way in self.use.model.sub), name)

    def _option(self, word: Word) -> None:
        text = word.fixed
        if self.use.model.style == "words" or text.startswith("--"):
            self._named(word, text)
        elif self.use.model.numbers and _NUMBER.fullmatch(word.text):
            self.use.seen.append(("-N", word.text))
        elif not word.literal:
            self.use.problems.append(f"`{word.text}` expands inside an option")
        else:
            self._bundle(text[1:])

    def _named(self, word: Word, text: str) -> None:
        name, equals, _ = text.partition("=")
        value = Word(word.text.partition("=")[2], word.literal, word.parts)
        if not _OPTION_NAME.fullmatch(name):
            self.use.problems.append("the name of an option contains a space or a non-ASCII character")
            return
        if not word.literal and not equals:
            self.use.problems.append(f"`{word.text}` expands inside the name of an option")
            return
        name = self._full_name(name)
        use = self.table.get(name)
        match use:
            case None:
                self._add_effect(name, "unknown")
            case "flag" | "pair" | "pair-read" if equals:
                self.use.problems.append(f"the option `{name}` takes no value")
            case "flag" | "change":
                self._note(name, use, value)
            case "optional" if not equals:
                self._note(name, "flag", Word(""))
            case "pair" | "pair-read":
                self._next(name)
                self._note(name, "read" if use == "pair-read" else "value", self._next(name))
            case _:
                self._note(name, use, value if equals else self._next(name))

    def _full_name(self, name: str) -> str:
        if self.use.model.style != "gnu":
            return name
        found = [one for one in self.table if one.startswith(name)]
        return found[0] if len(found) == 1 and len(name) > 2 else name

    def _bundle(self, letters: str) -> None:
        """`-lan5`: flags, then possibly one option whose value is glued on or in the next word."""
        for index, letter in enumerate(letters):
            name, rest = "-" + letter, letters[index + 1 :]
            match self.table.get(name):
                case None:
                    self._add_effect(name, "unknown")
                    return
                case "change" as use if rest.startswith("."):  # `sed -i.bak`
                    self._note(name, use, Word(rest))
                    return
                case "flag" | "change" as use:
                    self._note(name, use, Word(""))
                case "optional" as use:
                    self._note(name, use, Word(rest))
                    return
                case use:
                    self._note(name, use, Word(rest) if rest else self._next(name))
                    return

    def _next(self, name: str) -> Word:
        if self.at >= len(self.words):
            self.use.problems.append(f"the option `{name}` has no value")
            return Word("")
        word = self.words[self.at]
        self.at += 1
        if is_several(word) or (self.many and word.text == self.many):
            self.use.problems.append(f"`{word.text}` may expand to several words after `{name}`")
        is_text = self.use.model.style == "words" and " " in word.text  # no option name contains a space
        if word.text.startswith("-") and not _NEGATIVE.fullmatch(word.text) and not is_text:
            self.use.problems.append(f"`{word.text}` after `{name}` may be an option or a value")
        return word

    def _note(self, name: str, use: OptionUse, value: Word) -> None:
        found = self.use
        found.seen.append((name, value.text))
        found.wild |= is_several(value)
        match use:
            case "value" | "optional":
                found.values_at.append((name, self.at - 1))
            case "read":
                found.reads.append(value)
            case "write":
                found.writes.append(value)
                found.problems.append(option_writes(name, value.text))
            case "change" | "execute":
                self._add_effect(name, use)
                found.runs += [value.text] if use == "execute" else []
            case _:
                pass

    def _add_effect(self, name: str, effect: OptionEffect) -> None:
        self.use.effects.append((name, effect))
        self.use.problems.append(option_problem(name, effect))

    def _finish(self) -> None:
        use = self.use
        if not use.model.bare and not use.seen and not use.operands:
            use.problems.append(f"`{' '.join(use.names)}` needs a sub-command")
        if not use.unknown_sub:
            several = [is_several(word) or (bool(self.many) and word.text == self.many) for word in use.operands]
            _sort_operands(use, several, more=self.more)


def _ends_plainly(word: Word) -> bool:
    """`*.png` means files of one type. The runner puts `./` before a match that looks like an option."""
    return word.parts[-1].text.startswith(".")


def _sort_operands(use: Use, several: list[bool], *, more: bool) -> None:
    """Gives every operand its meaning, or all its possible meanings."""
    declared = use.model.operands.split()
    if any(name in use.model.unless.split() for name, _ in use.seen):
        declared = declared[1:]
    operands = [*use.operands, *([_MORE] if more else [])]
    found = meanings(declared, [*several, *([True] if more else [])])
    for operand, meant in zip(operands, found, strict=True):
        use.problems += _unclear(operand, meant)
        if operand is not _MORE:
            _take(use, operand, meant)


_MORE = Word("…")


def _unclear(operand: Word, meant: frozenset[str]) -> list[str]:
    """Why it must not be used in its position."""
    if meant == frozenset((UNKNOWN,)):
        return [f"the operand `{operand.text}` is not known to be harmless"]
    if UNKNOWN in meant or (operand is _MORE and "write" in meant):
        return [f"`{operand.text}` may expand to several words, one of which would not just be read"]
    if "script" in meant and not (operand.literal and operand is not _MORE and len(meant) == 1):
        return [f"`{operand.text}` may expand to a file name that would be read as a program"]
    return []


def _take(use: Use, operand: Word, meant: frozenset[str]) -> None:
    if meant & {"read", "runs"}:
        use.reads.append(operand)
    if "write" in meant:
        use.writes.append(operand)
    if meant & {"text", "script", "item"}:
        use.texts.append(operand)
    if meant & {"item", "runs"}:
        use.items.append(operand)
