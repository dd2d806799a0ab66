"""Whether a command does what a rule says: the same program, sub-command and set of options, in any wording.

Used for deny and ask rules, so it matches generously: options may be anywhere, clustered, abbreviated or spelled
differently, and an unknown option may or may not take a value. Knows words; `denial` knows which commands there are and
what follows from a match.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from posixpath import normpath
from typing import Literal

from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.command_rules import Prefix
from assent.policy.shell.program_models import OptionUse, ProgramModel, model, options
from assent.policy.shell.synonyms import (
    Names,
    other_words,
    same_command,
    same_option,
    same_program,
    signalled,
    synonyms,
)

Answer = Literal["yes", "maybe", "no"]

_TAKES_VALUE: frozenset[OptionUse | None] = frozenset(("value", "read", "write", "pair", "pair-read"))
_MAY_TAKE_VALUE: frozenset[OptionUse | None] = _TAKES_VALUE.union(("execute", "optional", None))
_WILD_NAME = lazy_pattern(r"[*?\[][^./]*")
_FIXED = lazy_pattern(r"\"[^$`\"-][^\"]*\"|\$\{?(?:HOME|PWD)\b\}?.*")
_BRACES = lazy_pattern(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")


class Option(Struct, frozen=True):
    """One option of a rule. For a program without a model, `-xyz` may be one option or three."""

    names: frozenset[str]
    letters: tuple[frozenset[str], ...] = ()


class Phrase(Struct, frozen=True):
    """A parsed rule. `ways` are the ways to spell its sub-command and operands; one match is enough."""

    rule: Prefix
    program: str
    ways: tuple[Names, ...]
    options: tuple[Option, ...]
    values: tuple[str, ...]


class _Grammar(Struct, frozen=True, kw_only=True):
    """What is known about the options of a program and one of its sub-commands."""

    program: str
    sub: str
    top: dict[str, OptionUse]
    table: dict[str, OptionUse]
    whole: bool
    tree: bool
    modelled: bool

    @property
    def leaf(self) -> bool:
        """Whether its `--` ends the options."""
        return self.modelled and not self.tree and not self.whole


@cache
def _grammar(program: str, sub: str = "") -> _Grammar:
    found = model(program)
    if found is None:
        return _Grammar(
            program=program, sub=sub, top={}, table={}, whole=synonyms(program).whole, tree=False, modelled=False
        )
    tree = any(not name.startswith("-") for name in found.sub)
    top = options((program,), found)
    below = found.sub.get(sub)
    table = top | options((program, sub), below) if below is not None and not below.same else top
    words = (below or found).style == "words" and found.kind != "interpreter"  # their models have little detail
    whole = synonyms(program).whole or words
    return _Grammar(
        program=program, sub=sub, top=top, table=table, whole=whole, tree=tree, modelled=not _says_nothing(found)
    )


def _says_nothing(found: ProgramModel) -> bool:
    """Some models only say that the program runs others."""
    return found.kind == "wrapper" and not found.flags and not found.values


@cache
def phrase(rule: Prefix) -> Phrase:
    """The parts of a rule."""
    program = same_program(rule[0])
    words = signalled(rule)[1:]
    sub = next((word for word in words if not _is_option(word)), "")
    grammar = _grammar(program, sub)
    names, wanted, values = list[str](), list[Option](), list[str]()
    after: OptionUse | Literal["none"] | None = "none"
    for word in words:
        if _is_option(word):
            after = _rule_option(grammar, word, wanted, values)
        elif after in _MAY_TAKE_VALUE and after != "optional":
            values.append(word)
            after = "none"
        else:
            names.append(word)
    return Phrase(rule, program, same_command(program, tuple(names)), tuple(wanted), tuple(values))


def _rule_option(
    grammar: _Grammar, word: str, wanted: list[Option], values: list[str]
) -> OptionUse | Literal["none"] | None:
    """Adds what a rule's option requires; the result says whether the next word may be its value."""
    name, equals, value = word.partition("=")
    if equals:
        values.append(value)
    if word.startswith("--") or grammar.whole:
        wanted += _combined(grammar, name)
        return "none" if equals else grammar.table.get(name)
    if not grammar.modelled and len(word) > 2:
        letters = tuple(frozenset(("-" + letter,)) for letter in word[1:])
        wanted.append(Option(frozenset((name, "-" + name)), letters))
        return None
    for index, letter in enumerate(word[1:], 1):
        use = grammar.table.get("-" + letter)
        wanted += _combined(grammar, "-" + letter)
        if use in _TAKES_VALUE and word[index + 1 :]:
            values.append(word[index + 1 :])
            return "none"
    return grammar.table.get("-" + word[-1])


def _combined(grammar: _Grammar, name: str) -> list[Option]:
    """`git branch -D` requires what `-d -f` requires."""
    several = _combinations(grammar).get(name, name).split()
    return [Option(same_option(grammar.program, grammar.sub, one)) for one in several]


def _combinations(grammar: _Grammar) -> dict[str, str]:
    own = synonyms(grammar.program)
    return own.sub[grammar.sub].combined if grammar.sub in own.sub else own.combined


def _is_option(text: str) -> bool:
    return len(text) > 1 and text[0] == "-" and text != "--"


# --- a command ---


def says(one: Phrase, words: Sequence[Word]) -> Answer:
    """`words` begin with the program, whose name has been compared. "maybe": something in it expands."""
    tokens = [word.text for word in words[1:]]
    wild = [_expands(word) for word in words[1:]]
    heads = _heads(_grammar(one.program), tokens)
    grammar = _grammar(one.program, _sub(one.program, [tokens[at] for at in heads]))
    if _may_be_alias(one, grammar, tokens, heads):
        return "maybe"
    if _reads_options(grammar, tokens):
        wild = [True] * len(tokens)
    answers = (
        _names_answer(one, grammar, tokens, wild, heads),
        _options_answer(one.options, grammar, tokens, wild),
        _values_answer(one.values, grammar, tokens, wild),
    )
    return "no" if "no" in answers else "maybe" if "maybe" in answers else "yes"


def _reads_options(grammar: _Grammar, tokens: list[str]) -> bool:
    """`curl -K -`: more options are in a file."""
    names = synonyms(grammar.program).from_files.split()
    given = {sign for token in tokens if _is_option(token) for sign in _signs(grammar, token)} if names else set[str]()
    return any(_same_sign(name, grammar, one, alone=False) for name in names for one in given)


def _sub(program: str, heads: list[str]) -> str:
    """The sub-command: the first candidate that is known as one."""
    found = model(program)
    known = (*(found.sub if found else ()), *synonyms(program).sub)
    return next((head for head in heads if head in known), heads[0] if heads else "")


def _expands(word: Word) -> bool:
    """Whether it may become another word, an option or several words at run time."""
    if word.literal:
        return _BRACES.search(word.text) is not None
    text = word.text
    if "$" not in text and "`" not in text:
        return _WILD_NAME.fullmatch(text) is not None
    return _FIXED.fullmatch(text) is None


def _heads(grammar: _Grammar, tokens: list[str]) -> list[int]:
    """Where the first operand may be. The word after an unknown option may or may not be its value."""
    found, reached = list[int](), {0}
    for at, token in enumerate(tokens):
        if at not in reached:
            continue
        if not _is_option(token) and token != "--":
            found.append(at)
            if not token.startswith("+"):  # cargo's toolchain
                continue
        reached.update(_steps(grammar, token, at))
    return found


def _steps(grammar: _Grammar, token: str, at: int) -> list[int]:
    name = token if token.startswith("--") or grammar.whole else token[:2]
    glued = "=" in token if name == token else len(token) > 2
    use = grammar.top.get(name.partition("=")[0])
    if glued or not _is_option(token):
        return [at + 1] if not _is_option(token) or name == token or use in _TAKES_VALUE else [at + 1, at + 2]
    if use in _TAKES_VALUE:
        return [at + 2]
    return [at + 1, at + 2] if use in _MAY_TAKE_VALUE else [at + 1]


def _names_answer(one: Phrase, grammar: _Grammar, tokens: list[str], wild: list[bool], heads: list[int]) -> Answer:
    answers = [_way_answer(way, grammar, tokens, wild, heads) for way in one.ways]
    return "yes" if "yes" in answers else "maybe" if "maybe" in answers else "no"


def _may_be_alias(one: Phrase, grammar: _Grammar, tokens: list[str], heads: list[int]) -> bool:
    """`git x`: a word that is not a git command may be an alias for one."""
    known = synonyms(grammar.program).known.split()
    return bool(known) and one.ways != ((),) and bool(heads) and all(tokens[at] not in known for at in heads)


def _way_answer(way: Names, grammar: _Grammar, tokens: list[str], wild: list[bool], heads: list[int]) -> Answer:
    if not way:
        return "yes"
    if not grammar.tree:
        return _in_order(way, grammar, tokens, wild)
    answers = list[Answer]()
    for at in heads:
        if wild[at]:
            answers.append("maybe")
        elif _same_word(grammar.program, way[0], tokens[at]):
            answers.append(_in_order(way[1:], grammar, tokens[at + 1 :], wild[at + 1 :]))
    return "yes" if "yes" in answers else "maybe" if "maybe" in answers else "no"


def _in_order(way: Names, grammar: _Grammar, tokens: list[str], wild: list[bool]) -> Answer:
    left = list(way)
    for token in tokens:
        if left and not _is_option(token) and _same_operand(grammar, left[0], token):
            left.pop(0)
    if left and (any(wild) or _leaves_open(grammar, tokens, len(way) - len(left))):
        return "maybe"
    return "no" if left else "yes"


def _same_operand(grammar: _Grammar, name: str, token: str) -> bool:
    if _same_word(grammar.program, name, token):
        return True
    match _operands(grammar):
        case "branches":
            return _branch(name) == _branch(token)
        case "hosts":
            return name == _HOST.sub("", token).partition(":")[0]
        case _:
            return False


def _operands(grammar: _Grammar) -> str:
    own = synonyms(grammar.program)
    return own.sub[grammar.sub].operands if grammar.sub in own.sub else own.operands


def _branch(text: str) -> str:
    """What `git push` changes there: `HEAD:refs/heads/main` is main."""
    return text.rpartition(":")[2].removeprefix("+").removeprefix("refs/").removeprefix("heads/").removeprefix("tags/")


def _leaves_open(grammar: _Grammar, tokens: list[str], said: int) -> bool:
    """`git push` and `git push origin HEAD` push the current branch or more: it is not known which."""
    if _operands(grammar) != "branches":
        return False
    given = [
        token
        for before, token in pairwise(("", *tokens))
        if not _is_option(token) and not (_is_option(before) and grammar.table.get(before) in _MAY_TAKE_VALUE)
    ]
    return len([one for one in given if one.lstrip("+") not in ("HEAD", "@", ":") and "*" not in one]) <= said


_HOST = lazy_pattern(r"(?:ssh://)?(?:[^@]*@)?")


def _same_word(program: str, name: str, token: str) -> bool:
    own = synonyms(program)
    if own.folded:
        name, token = name.casefold(), token.casefold()
    if token.endswith("]"):  # a task with arguments: `deploy[prod]`
        token = token.partition("[")[0] or token
    if token == name or ("/" in token + name and _same_path(name, token)):
        return True
    if program == "chmod" and _same_rights(name, token):
        return True
    if own.tasks and name in _TASK.split(token):  # `:app:publish`, `core/publish`
        return True
    if own.lists and any(_same_thing(program, name, part) for part in re.split(r"[,/]", token)):
        return True
    return own.shortened and bool(token) and _shortened(name, token) and token not in other_words(program)


def _same_path(name: str, token: str) -> bool:
    """The folder is not known here, so a path that leads elsewhere first may come back to it: `/w/d/x` for `x`."""
    place = normpath(token)
    elsewhere = token[:1] in "/$~." and name[:1] != "/"
    return place == normpath(name) or (elsewhere and place.endswith(f"/{normpath(name)}"))


_TASK = lazy_pattern(r"[:/;@\s]+")
_CLAUSE = lazy_pattern(r"([ugoa]*)((?:[+=-](?:[rwxXst]*|[ugo]))+)")
_RIGHTS = lazy_pattern(r"[+=]([rwxXstugo]*)")
_OCTAL = lazy_pattern(r"0*([0-7]{3})")


def _same_rights(rule: str, mode: str) -> bool:
    """Whether a chmod mode gives the rights that a rule names: `0777`, `a+rwx` and `u+rwx,go=rwx` are `777`. A rule
    that names nobody (`+x`) covers everyone.
    """
    wanted, given = _rights(rule), _rights(mode)
    if not wanted or not given:
        return False
    if rule.startswith("+"):
        return any({who + right for right in rule[1:]} <= given for who in "ugo")
    return wanted == given or (len(wanted) == 9 and wanted <= given)


def _rights(mode: str) -> frozenset[str]:
    """What a mode gives to whom: `ur` is reading for the owner."""
    if (octal := _OCTAL.fullmatch(mode)) is not None:
        bits = zip("ugo", map(int, octal[1]), strict=True)
        return frozenset(who + right for who, bit in bits for right, value in _BITS if bit & value)
    given = set[str]()
    for clause in filter(None, map(_CLAUSE.fullmatch, mode.split(","))):
        for right in "".join(_RIGHTS.findall(clause[2])).lower():
            same = _BITS if right not in "ugo" else [one for one in _BITS if right + one[0] in given]  # `go=u`
            rights = [one for one, _ in same] if right in "ugo" else [right]
            given |= {who + one for who in clause[1].replace("a", "ugo") or "ugo" for one in rights}
    return frozenset(given)


_BITS = (("r", 4), ("w", 2), ("x", 1))


def _same_thing(program: str, name: str, part: str) -> bool:
    kind = part.partition(".")[0]
    return any(way == (kind,) for way in same_command(program, (name,)))


def _shortened(name: str, token: str) -> bool:
    """`pub` for `publish`, `db:mig` for `db:migrate`."""
    longs, shorts = name.split(":"), token.split(":")
    return len(longs) == len(shorts) and all(long.startswith(short) for long, short in zip(longs, shorts, strict=True))


# --- its options and values ---


def _options_answer(wanted: Iterable[Option], grammar: _Grammar, tokens: list[str], wild: list[bool]) -> Answer:
    given, open_end = _given(grammar, tokens, wild)
    answers = [_has(option, grammar, given) for option in wanted]
    return "yes" if all(answers) else "maybe" if open_end else "no"


def _given(grammar: _Grammar, tokens: list[str], wild: list[bool]) -> tuple[set[str], bool]:
    """All option names in the words, and whether a word before `--` may become another option."""
    given, ends = set[str](), False
    for at, (token, expands) in enumerate(zip(tokens, wild, strict=True)):
        if token == "--" and grammar.leaf:
            break
        ends |= expands
        if _is_option(token):
            given |= _signs(grammar, token)
        elif at == 0 and synonyms(grammar.program).letters:
            given |= {"-" + letter for letter in token}  # `tar vfx a.tar`: values come in the words behind it
        for mark, option in _marks(grammar).items():
            if token.startswith(mark):
                given.add(option)
    several = _combinations(grammar)
    given |= {one for name in given if name in several for one in several[name].split()}
    return given | _meant_together(grammar, given), ends


def _meant_together(grammar: _Grammar, given: set[str]) -> set[str]:
    """`cp -dpR` is `cp -a`."""
    own = synonyms(grammar.program).together
    parts = {
        meant: [Option(same_option(grammar.program, grammar.sub, one)) for one in many.split()]
        for many, meant in own.items()
    }
    return {meant for meant, wanted in parts.items() if all(_has(one, grammar, given) for one in wanted)}


def _marks(grammar: _Grammar) -> dict[str, str]:
    own = synonyms(grammar.program)
    return own.sub[grammar.sub].marks if grammar.sub in own.sub else own.marks


def _signs(grammar: _Grammar, token: str) -> set[str]:
    name = token.partition("=")[0]
    if token.startswith("--"):
        return {name, name[1:]} if grammar.whole else {name}
    if grammar.whole:
        return {name, "-" + name}
    signs = set[str]() if grammar.modelled or len(name) == 2 else {name, "-" + name}
    for letter in token[1:]:
        signs.add("-" + letter)
        if grammar.table.get("-" + letter) in _TAKES_VALUE:
            break
    return signs


def _has(option: Option, grammar: _Grammar, given: set[str]) -> bool:
    if option.letters and all(letter & given for letter in option.letters):
        return True
    alone = len(option.names) == 1 and not option.letters
    return any(_same_sign(name, grammar, one, alone=alone) for one in given for name in option.names)


def _same_sign(name: str, grammar: _Grammar, given: str, *, alone: bool) -> bool:
    if given == name:
        return True
    if given.startswith("--") and name.startswith(given):  # an abbreviation, unless it is an option itself
        return given not in grammar.table
    if grammar.modelled or not alone:
        return False
    return given.lstrip("-")[:1] == name.lstrip("-")[:1] and (len(given) == 2) != (len(name) == 2)


def _values_answer(wanted: Sequence[str], grammar: _Grammar, tokens: list[str], wild: list[bool]) -> Answer:
    if not wanted:
        return "yes"
    given = {value for token in tokens for value in _values(token)}
    if all(value in given or any(_same_word(grammar.program, value, one) for one in given) for value in wanted):
        return "yes"
    return "maybe" if any(wild) else "no"


def _values(token: str) -> list[str]:
    """The possible operands and option values in a word, including values glued to an option."""
    if not _is_option(token):
        return [token]
    equals = token.partition("=")[2]
    return [equals, *(token[at:] for at in range(2, min(len(token), 6)))]
