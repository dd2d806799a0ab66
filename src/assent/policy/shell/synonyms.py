"""Different words for the same thing (`-r` and `--recursive`, `npm i` and `npm install`), read from `synonyms.toml`.

Only deny and ask rules use it: they mean what is done, whatever it is called. The models say what is allowed; nothing
here grants permission.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.command_rules import loose

_FILE = Path(__file__).with_name("synonyms.toml")
_VERSION = lazy_pattern(r"(?<=[a-z])-?[0-9][0-9.]*")

_SIGNAL = lazy_pattern(r"-[sn]([A-Za-z0-9]+)?|--signal(?:=(\w+))?|-(hup|int|quit|kill|term|stop|abrt|sig\w+)")
_GIVEN_SIGNAL = lazy_pattern(r"-(?:\d+|[A-Z][A-Z0-9]+|l|L|0)|--(?:list|table|help|version)")
_FLAGS = lazy_pattern(r"-([adflnqruv46]{2,6})")  # letters that take no value
_MODULE = lazy_pattern(r"-[A-Za-ln-z]*m[A-Za-z_][\w.]*")

_EARLY = 2  # the value of an option may come first

Names = tuple[str, ...]


class Synonyms(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The synonyms of one program or sub-command; the file explains the keys."""

    programs: str = ""
    options: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    combined: dict[str, str] = {}
    marks: dict[str, str] = {}
    known: str = ""
    shortened: bool = False
    lists: bool = False
    letters: bool = False
    whole: bool = False  # an option is a word, not a set of letters: `kill -KILL`
    instead: dict[str, str] = {}
    also: dict[str, str] = {}
    variables: str = ""
    same: dict[str, str] = {}
    bare: str = ""
    scripts: bool = False
    settings: dict[str, str] = {}
    tasks: bool = False
    signals: bool = False
    modules: bool = False
    hands_on: str = ""
    skips: tuple[str, ...] = ()
    folded: bool = False  # case is ignored
    together: dict[str, str] = {}
    valued: dict[str, str] = {}
    from_files: str = ""
    files: bool = False
    operands: str = ""
    console: str = ""
    sub: dict[str, "Synonyms"] = {}


@cache
def _all() -> dict[str, Synonyms]:
    return msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, Synonyms])


@cache
def _names() -> dict[str, str]:
    return {other: name for name, one in _all().items() for other in (name, *one.programs.split())}


@cache
def same_program(word: str) -> str:
    """One name for all names of a program: `pip3`, `python3.12` and `/usr/bin/apt-get` are pip, python and apt."""
    name = loose(word)
    plain = _VERSION.sub("", name) or name
    return _names().get(name) or _names().get(plain, plain)


def synonyms(program: str) -> Synonyms:
    return _all().get(program, _NONE)


@cache
def same_option(program: str, sub: str, name: str) -> frozenset[str]:
    """All names of an option; only itself if it has no others."""
    own = synonyms(program)
    for place in (own.sub.get(sub, _NONE), own, _all()["*"]):
        for line in place.options:
            if name in line.split():
                return frozenset(line.split())
    return frozenset((name,))


@cache
def same_command(program: str, names: Names) -> tuple[Names, ...]:
    """All ways to write a sub-command: `docker rm` is also `docker container rm`."""
    found = [names]
    for line in synonyms(program).commands:
        ways = [tuple(way.split("/")) for way in line.split()]
        found += [(*other, *names[len(way) :]) for way in ways if names[: len(way)] == way for other in ways]
    return tuple(dict.fromkeys(found))


def other_ways(words: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Equivalent commands: the first words of each, and which of the given words follow them."""
    program = same_program(words[0])
    own = synonyms(program)
    for skipped in own.skips:
        if (at := _behind(words, skipped.split())) is not None:
            yield program, tuple(range(at, len(words)))
    if own.hands_on:
        yield from _handed_on(words, own.hands_on)
    yield from renamed(words)
    yield from _unsaid(words)
    yield from _as_python(words)
    for said, meant in own.also.items():
        if (rest := _without(words, said.split())) is not None:
            yield from ((one, rest) for one in meant.split("; "))
    if own.signals:
        yield from _with_signal(words)
    if own.modules and (at := next((at for at, word in enumerate(words) if _MODULE.fullmatch(word)), None)):
        yield f"{program} -m {words[at].partition('m')[2]}", tuple(range(at + 1, len(words)))
    for said, meant in own.instead.items():
        command, option = said.split()
        names = [word.partition("=")[0].replace("--", "-") for word in words]
        if command in words[1:] and option in names and f"{option}=false" not in words:
            left = (at for at in range(1, len(words)) if words[at] != command and names[at] != option)
            yield f"{program} {meant}", tuple(left)


def _as_python(words: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """`./manage.py flush` is `python manage.py flush`."""
    if words[0].endswith(".py"):
        yield f"python {words[0].rpartition('/')[2]}", tuple(range(1, len(words)))


def renamed(words: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The same command under the names that rules may use, in either direction: `yarn deploy` and `node --run
    deploy` are `npm run deploy`, `bun x` is `npx`, and `python -m pip` is `pip`.
    """
    own = synonyms(same_program(words[0]))
    for said, meant in own.same.items():
        if (rest := _without(words, said.split())) is not None and not _told_otherwise(words, said):
            glued = [word.partition("=")[2] for word in words if said and word.startswith(f"{said}=")]
            yield " ".join((meant, *glued)), tuple(at for at in rest if words[at] != "--")
    for said, meant in own.valued.items():
        if (value := _given_value(words, said)) is not None:
            yield f"{same_program(words[0])} {meant}", tuple(at for at in range(1, len(words)) if at not in value)
    if own.scripts:
        yield from _as_script(words)
    if own.modules and (at := _module(words)) is not None and at < len(words):
        yield words[at].removesuffix(".__main__"), tuple(range(at + 1, len(words)))


def _given_value(words: Names, said: str) -> tuple[int, ...] | None:
    """Where `-d recurse`, `-drecurse` or `--dir=rec` is; `said` has the names of the option, and its value."""
    names, _, wanted = said.partition("=")
    short, long = names.split()
    for at, word in enumerate(words[1:], start=1):
        name, equals, value = word.partition("=")
        if len(name) > 2 and long.startswith(name):
            glued = value if equals else ""
        elif word[:1] == "-" and word[:2] != "--" and short[1] in word:
            glued = word.partition(short[1])[2]
        else:
            continue
        text = glued or " ".join(words[at + 1 : at + 2])
        if len(text) >= _MIN_VALUE and wanted.startswith(text):
            return (at,) if glued else (at, at + 1)
    return None


_MIN_VALUE = 3  # GNU programs accept `rec` for `recurse`


def _unsaid(words: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What it does without arguments: `vercel` deploys, and `yarn vercel` runs a program that the project has
    installed.
    """
    own = synonyms(same_program(words[0]))
    if own.scripts and (at := next((at for at in range(1, len(words)) if words[at][:1] != "-"), 0)):
        yield words[at], tuple(range(at + 1, len(words)))
    if own.bare and not _names_command(words):
        yield own.bare, tuple(range(1, len(words)))


def _told_otherwise(words: Names, said: str) -> bool:
    """Whether another sub-command comes first: `npm install test` is not `npm test`."""
    before = words[1 : words.index(said)] if said in words else ()
    return not other_words(same_program(words[0])).isdisjoint(before)


def _as_script(words: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A script of package.json, which every package manager runs; `yarn add` is a command of its own."""
    plain = [at for at in range(1, len(words)) if not words[at].startswith("-")]
    told = next((at for at in plain[:_EARLY] if words[at] in _RUN), None)
    if told is not None:
        yield "npm run", tuple(at for at in range(1, len(words)) if at != told)
    elif plain and words[plain[0]] not in other_words(same_program(words[0])):
        yield "npm run", tuple(range(1, len(words)))


_RUN = ("run", "run-script", "task")


def _module(words: Names) -> int | None:
    """The position of the name of a module that is run as a program."""
    return words.index("-m") + 1 if "-m" in words else None


def _names_command(words: Names) -> bool:
    """Whether it says what to do; otherwise, some programs have a default."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    own = synonyms(same_program(words[0]))
    if own.scripts or not own.commands or not plain:
        return bool(plain) or any(word in _ONLY_TELLS for word in words[1:])
    return not other_words(same_program(words[0])).isdisjoint(plain[:_EARLY])


_ONLY_TELLS = ("--version", "-v", "-V", "--help", "-h")


def _without(words: Names, said: Sequence[str]) -> tuple[int, ...] | None:
    """The positions of the other words, if all of these are among them; an option may have a value. A sub-command is
    among the first words, unless the program has no other words like it.
    """
    own = synonyms(same_program(words[0]))
    marks = {mark: option for sub in said if sub in own.sub for mark, option in own.sub[sub].marks.items()}
    named = [word.partition("=")[0] if word.startswith("-") else marks.get(word[:1], word) for word in words]
    if own.files:  # `php ./composer.phar`
        named = [base if (base := word.rpartition("/")[2]) in said else word for word in named]
    whole = {option for text in (*own.also, *own.also.values()) for option in text.split()}
    named = [next((one for one in said if word not in whole and _abbreviates(word, one)), word) for word in named]
    plain = [word for word in named[1:] if not word.startswith("-")]
    early = plain if own.known else plain[:_EARLY]
    if any(one not in (named[1:] if one.startswith("-") else early) for one in said):
        return None
    return tuple(at for at in range(1, len(words)) if named[at] not in said)


def _abbreviates(word: str, option: str) -> bool:
    """`git push --del` and `-qd` are `git push --delete` and `-d`; but `--force` is not `--force-with-lease`."""
    if word.startswith("--"):
        return len(word) > 2 and option.startswith(word)
    letters = _FLAGS.fullmatch(word) if len(option) == 2 and option[0] == "-" else None
    return letters is not None and option[1] in letters[1]


def _with_signal(words: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """`kill -s KILL 5`, `-n9` and `--signal=9` are `kill -KILL 5`; without a signal it is TERM."""
    rest: list[int] = []
    signal = ""
    at = 1
    while at < len(words):
        found = _SIGNAL.fullmatch(words[at])
        if found is None:
            rest.append(at)
        elif any(found.groups()):
            signal = next(filter(None, found.groups()))
        elif at + 1 < len(words):
            at += 1
            signal = words[at]
        at += 1
    if signal or not any(_GIVEN_SIGNAL.fullmatch(words[one]) for one in rest):
        yield f"{words[0]} -{(signal or 'TERM').upper().removeprefix('SIG')}", tuple(rest)


def signalled(rule: Names) -> Names:
    """A rule about a signal in its short form: `kill -s KILL` is `kill -KILL`."""
    if not synonyms(same_program(rule[0])).signals or not any(map(_SIGNAL.fullmatch, rule)):
        return rule
    first, rest = next(_with_signal(rule), (rule[0], ()))
    return (*first.split(), *(rule[at] for at in rest))


def settings(program: str, key: str, value: str) -> list[str]:
    """The commands that a setting makes possible, or makes do more."""
    said = f"{key.casefold()}={value}"
    return [meant for pattern, meant in synonyms(program).settings.items() if re.fullmatch(pattern, said)]


def _handed_on(words: Names, program: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """`uv pip install` is pip's, and everything passed to terragrunt is for terraform."""
    if program in words[1:]:
        yield program, tuple(range(words.index(program, 1) + 1, len(words)))
    elif not synonyms(program).hands_on and synonyms(same_program(words[0])).skips:
        yield program, tuple(range(1, len(words)))


def _behind(words: Names, skipped: Sequence[str]) -> int | None:
    """Where the words after the skipped ones begin; options may be among them."""
    at = 1
    for wanted in skipped:
        while at < len(words) and words[at].startswith("-") and words[at] != wanted:
            at += 1
        if at >= len(words) or wanted not in ("*", words[at]):
            return None
        at += 1
    while at < len(words) and words[at].startswith("-"):
        at += 1
    return at if at < len(words) else None


@cache
def other_words(program: str) -> frozenset[str]:
    """Words that are sub-commands themselves, and so not abbreviations of longer ones."""
    own = synonyms(program)
    return frozenset([*own.known.split(), *(word for line in own.commands for word in line.replace("/", " ").split())])


_NONE = Synonyms()
