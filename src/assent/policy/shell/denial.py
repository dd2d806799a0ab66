"""Which deny or ask rule applies to a command line, even where the command is hidden inside another.

Errs on the side of too much: a program that runs others may run any that its words name. If a word is only known at run
time, or a program is unknown, the answer is a doubt, which needs approval in every mode.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.checks import run_check
from assent.policy.shell.command_rules import Prefix, loose
from assent.policy.shell.command_survey import Found, commands_in
from assent.policy.shell.consoles import statements
from assent.policy.shell.doubts import (
    certain_name,
    feeds,
    names_in_variable,
    names_program,
    runs_written,
    unquoted,
    why_unknown,
    written_files,
)
from assent.policy.shell.options import Use, examine
from assent.policy.shell.phrases import Phrase, phrase, says
from assent.policy.shell.synonyms import renamed, same_program, settings

_MAX_TEXTS = 20
_MAX_STARTS = 8
_ALIAS = lazy_pattern(r"alias\.([^=]+)=(.*)", re.DOTALL)
_MAX_TEXT_LENGTH = 2_000
_PART = lazy_pattern(r"[^\s\"'=:;|&()`!]+")
_STRING_OPTION = lazy_pattern(r"[-+][A-Za-z]*c|--(?:command|run|call)")
_HOSTS = frozenset(("git", "docker", "podman", "cargo", "kubectl", "helm", "gh"))
_MAX_SUBS = 3  # the values of options before a sub-command look like one
_ANYTHING = Word("$…", literal=False)

Words = tuple[Word, ...]


class Spoken(Struct, frozen=True):
    """A rule that applies to a command. Not `sure`: it may apply, and `why` says what is unknown."""

    rule: Prefix
    words: tuple[str, ...]
    text: str
    sure: bool = True
    why: str = ""


class _Candidate(Struct, frozen=True):
    words: Words
    sure: bool = True


def spoken(
    commands: Sequence[Found],
    rules: Sequence[Prefix],
    *,
    complete: bool,
    written: Sequence[str] = (),
    assigned: Sequence[str] = (),
) -> Spoken | None:
    """The first rule that applies to one of the commands, or else a doubt. `complete`: these are all the commands.
    `written`: the files that they write. `assigned`: the variables that they set.
    """
    if not rules:
        return None
    phrases = [one for rule in rules for one in _phrases(rule)]
    programs = frozenset(one.program for one in phrases)
    found = [(command, list(_candidates(command, programs))) for command in commands]
    doubt: Spoken | None = None
    for one in phrases:
        for command, candidates in found:
            match = _match(one, command, candidates)
            if match is not None and match.sure:
                return match
            doubt = doubt or match
    return doubt or _doubt(commands, rules, written, assigned, complete=complete)


def _phrases(rule: Prefix) -> Iterator[Phrase]:
    """The rule as it is written, and by the name under which commands are known: `yarn deploy` is `npm run deploy`."""
    yield phrase(rule)
    for first, rest in renamed(rule):
        yield replace(phrase((*first.split(), *(rule[at] for at in rest))), rule=rule)


def _match(one: Phrase, command: Found, candidates: list[_Candidate]) -> Spoken | None:
    doubt: Spoken | None = None
    for candidate in candidates:
        if same_program(certain_name(candidate.words[0])) != one.program:
            continue
        answer = says(one, candidate.words)
        if answer == "yes" and candidate.sure:
            return _about(one.rule, command)
        if answer != "no":
            doubt = _about(one.rule, command, f"This may be `{' '.join(one.rule)}`")
    return doubt


def _about(rule: Prefix, command: Found, why: str = "") -> Spoken:
    return Spoken(rule, tuple(word.text for word in command.words), command.text, sure=not why, why=why)


# --- the ways to read a command ---


def _candidates(command: Found, programs: frozenset[str]) -> Iterator[_Candidate]:
    """The command, its other names, and whatever it may run."""
    words = command.words
    name = loose(words[0].text)
    yield _Candidate(words)
    yield from _plugged(name, words)
    yield from (_Candidate(one, sure=sure) for one, sure in statements(command))
    if name == "git":
        yield from _aliased(words)
        yield from _set_up(words)
    use = examine(name, words)
    if use is not None:
        run_check(use, words)
    if use is not None and _runs_others(use):
        last = _last_beginning(use, words)
        yield from _behind(words, range(1, last + 1), programs, sure=True, feeds=feeds(use))
        yield from _command_strings(words)
    elif use is None or use.problems:
        first = 1 if use is None else use.at + 1
        yield from _behind(words, range(first, len(words)), programs, sure=False, feeds=False)
    if use is None or use.problems or _runs_others(use):
        yield from _in_texts(words, programs)
    if use is None or use.problems:
        yield from _scattered(words[0 if use is None else use.at :], programs)


def _plugged(name: str, words: Words) -> Iterator[_Candidate]:
    """`git-lfs push` is `git lfs push`: sub-commands that are programs of their own."""
    host, dash, plugin = name.partition("-")
    if dash and host in _HOSTS:
        yield _Candidate((Word(host), Word(plugin), *words[1:]))
    if name in _HOSTS:
        subs = [at for at, word in enumerate(words) if at and word.literal and word.text[:1] not in "-+/."]
        yield from (_Candidate((Word(f"{name}-{words[at].text}"), *words[at + 1 :])) for at in subs[:_MAX_SUBS])


def _runs_others(use: Use) -> bool:
    return use.model.wrapper is not None or use.models[0].kind != "program"


def _last_beginning(use: Use, words: Words) -> int:
    """The last position where the wrapped command may begin; an option before it may or may not take a value."""
    if use.payload:
        return use.payload_at
    first = next(iter(use.operands), None)
    return next((at for at, word in enumerate(words) if at and word is first), len(words) - 1)


def _behind(words: Words, places: range, programs: frozenset[str], *, sure: bool, feeds: bool) -> Iterator[_Candidate]:
    """The wrapped command may begin at any word that names a rule's program."""
    named = [at for at in places if words[at].text[:1] != "-" and same_program(words[at].text) in programs]
    for at in named[:_MAX_STARTS]:
        yield _Candidate((*words[at:], _ANYTHING) if feeds else words[at:], sure=sure)
    for name in {words[at].text for at in named[_MAX_STARTS:]}:
        yield _Candidate((Word(name), _ANYTHING), sure=False)


def _scattered(words: Words, programs: frozenset[str]) -> Iterator[_Candidate]:
    """A program that may run another one may take its name and its words from anywhere: `-x /bin/rm -- -rf d`."""
    named = [(at, name) for at, word in enumerate(words) if at for name in _programs_in(word.text, programs)]
    for at, name in named[:_MAX_STARTS]:
        rest = (*words[1:at], *words[at + 1 :])
        yield _Candidate((Word(name), *(word for word in rest if word.text != "--")), sure=False)
    for name in {name for _, name in named[_MAX_STARTS:]}:
        yield _Candidate((Word(name), _ANYTHING), sure=False)


def _programs_in(text: str, programs: frozenset[str]) -> set[str]:
    """The word itself, or a value glued to an option."""
    values = {text, text.partition("=")[2], text[2:] if text[:1] == "-" else ""}
    return {one for one in values if one and one[0] != "-" and same_program(one) in programs}


def _aliased(words: Words) -> Iterator[_Candidate]:
    """`git -c alias.x='reset --hard' x` is `git reset --hard`."""
    texts = [word.text for word in words]
    for text in texts:
        if (alias := _ALIAS.search(text)) is None:
            continue
        name, value = alias.groups()
        rest = words[texts.index(name) + 1 :] if name in texts else ()
        if value.startswith("!"):
            yield from (_Candidate((*one.words, *rest)) for one in commands_in(value[1:]))
        else:
            yield _Candidate((Word("git"), *map(Word, value.split()), *rest))


def _set_up(words: Words) -> Iterator[_Candidate]:
    """Settings that make git do what an option would: `git -c clean.requireForce=false clean`."""
    commands: set[str] = set()
    for word, following in pairwise((*words, Word(""))):
        key, equals, value = word.text.partition("=")
        commands.update(settings("git", key, value if equals else following.text))
    yield from (_Candidate((*map(Word, one.split()), *words[1:]), sure=False) for one in sorted(commands))


def _command_strings(words: Words) -> Iterator[_Candidate]:
    """`bash -o errexit -c TEXT`, `su root -c TEXT`: wherever the option is."""
    for option, word in pairwise(words):
        if word.literal and _STRING_OPTION.fullmatch(option.text):
            yield from (_Candidate(one.words) for one in commands_in(word.text))


def _in_texts(words: Words, programs: frozenset[str]) -> Iterator[_Candidate]:
    """A program not known to be harmless may run a text as a command."""
    spaced = [word.text for word in words[1:] if " " in word.text]
    spaced += [text[2:] for text in spaced if text[0] == "-"]  # `-e'rm x'`
    texts = [text for text in spaced if names_program(text, programs)]
    for text in texts[:_MAX_TEXTS]:
        cut = text[:_MAX_TEXT_LENGTH]
        for one in dict.fromkeys((cut, unquoted(cut))):
            parts = tuple(map(Word, _PART.findall(one)))
            yield from _behind(parts, range(len(parts)), programs, sure=False, feeds=False)


def _doubt(
    commands: Sequence[Found],
    rules: Sequence[Prefix],
    written: Sequence[str],
    assigned: Sequence[str],
    *,
    complete: bool,
) -> Spoken | None:
    programs = frozenset(same_program(rule[0]) for rule in rules)
    files = written_files(commands, written, programs)
    for command in commands:
        if why := why_unknown(command, programs) or runs_written(command, files):
            return _about(rules[0], command, why)
    if why := names_in_variable(assigned, programs):
        return Spoken(rules[0], (), "", sure=False, why=why)
    if not complete:
        return Spoken(rules[0], (), "", sure=False, why="It was not fully understood")
    return None
