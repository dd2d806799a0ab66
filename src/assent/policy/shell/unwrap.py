"""Finds the commands that a command runs: payloads of wrappers, `-c` strings, `find -exec`, options that execute.

Serves the question, the risk and the deny rules: it finds as much as it can and allows nothing.
"""

import re
from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.command_rules import loose, program
from assent.policy.shell.command_survey import Found, commands_in
from assent.policy.shell.options import Use, examine
from assent.policy.shell.synonyms import other_ways

MAX_DEPTH = 4
MAX_COMMANDS = 400
MAX_WORDS = 4_000  # each `-exec` of `fd -x fd -x …` adds all the words after it

_EXEC = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")


def unwrap(commands: Sequence[Found]) -> tuple[tuple[Found, ...], bool]:
    """The commands inside these commands, and whether they are complete: depth, number and length are limited."""
    found: list[Found] = []
    complete = len(commands) <= MAX_COMMANDS
    waiting = [(command, 0) for command in reversed(commands[:MAX_COMMANDS])]
    left = MAX_WORDS
    while waiting:
        command, depth = waiting.pop()
        inner: list[Found] = []
        for one in _direct(command):
            left -= len(one.words)
            if depth >= MAX_DEPTH or len(found) + len(inner) >= MAX_COMMANDS or left < 0:
                complete = False
                break
            inner.append(replace(one, other_name=True) if command.other_name else one)
        found += inner
        waiting += [(one, depth + 1) for one in reversed(inner)]
    return tuple(found), complete


def _direct(found: Found) -> Iterator[Found]:
    words = found.words
    for first, rest in other_ways(tuple(word.text for word in words)):
        yield replace(_command((*map(Word, first.split()), *(words[at] for at in rest))), other_name=True)
    name = program(words[0].text)
    use = examine(name, words) or examine(loose(name), words)
    if use is None:
        return
    if use.names[0] == "parallel":
        yield from _side_by_side([word.text for word in use.payload])
    if use.payload and use.option("-v", "-V") is None:
        yield replace(_command(use.payload), input=found.input, piped=found.piped, input_file=found.input_file)
    wrapper = use.model.wrapper
    if wrapper is not None and wrapper.payload in ("shell", "remote"):
        for text in _strings(use, remote=wrapper.payload == "remote"):
            yield from (_fed(one, found) for one in commands_in(text))
    if name in ("find", "fd", "fdfind"):
        yield from _exec_payloads(words)
    yield from _in_options(use, words)


def _in_options(use: Use, words: tuple[Word, ...]) -> Iterator[Found]:
    if use.names[0] == "env":
        yield from _split_by_env(words)
    for text in use.runs:
        if not text.startswith("-"):
            yield from commands_in(text)


def _split_by_env(words: tuple[Word, ...]) -> Iterator[Found]:
    """`env -S 'rm -r' -f x`: env splits the text, knows an escape for blanks, and goes on with the words behind it."""
    for at, word in enumerate(words[1:], start=1):
        if (option := _SPLIT.fullmatch(word.text)) is not None:
            glued = (Word(option[1]),) if option[1] else ()
            text, *rest = (*glued, *words[at + 1 :], Word(""))
            behind = (quote(one.text) if one.literal else one.text for one in rest[:-1])
            yield from commands_in(" ".join(("env", text.text.replace(r"\_", " "), *behind)))


def _fed(one: Found, outer: Found) -> Found:
    """A command in a shell also reads what the shell gets."""
    if one.input or one.input_file or not (outer.input or outer.input_file):
        return one
    return replace(one, input=outer.input, piped=outer.piped, input_file=outer.input_file)


def _strings(use: Use, *, remote: bool) -> Iterator[str]:
    """The command strings of `bash -c`, `eval`, `ssh host`."""
    rest = [word.text for word in use.operands[1 if remote else 0 :]]
    if remote and "--" in rest:  # `kubectl exec POD -c NAME -- …`
        rest = rest[rest.index("--") + 1 :]
    if given := use.option("-c", "--command", "--call"):  # without a value it means something else: `watch -c`
        yield given
    elif use.names[-1] in _SEVERAL:
        yield from rest
    elif use.names[-1] not in FILE_SHELLS:  # only `-c` makes these take a string; any other operand names a file
        yield " ".join(rest)


def _side_by_side(words: list[str]) -> Iterator[Found]:
    """`parallel 'rm {}' ::: a b`: the words before `:::` are shell text, run for each word after it. Without them, or
    if `{}` comes first, each word after it is itself a command.
    """
    at = next((index for index, word in enumerate(words) if word.startswith(":::")), len(words))
    text, given = " ".join(words[:at]), [word for word in words[at:] if not word.startswith(":::")]
    if text:
        yield from commands_in(text)
    if not text or text.startswith("{"):
        for one in given[:MAX_COMMANDS]:
            yield from commands_in(_MARK.sub(lambda _, one=one: one, text, count=1) if text else one)


_SPLIT = lazy_pattern(r"(?:-[a-zA-Z0]*S|--s[a-z-]*=?)(.*)", re.DOTALL)
_MARK = lazy_pattern(r"\{[^{}]*\}")
_SEVERAL = frozenset(("hyperfine", "concurrently"))  # every operand is a command


FILE_SHELLS = frozenset(
    ["bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "rbash", "su", "runuser", "script"]
)


def _exec_payloads(words: tuple[Word, ...]) -> Iterator[Found]:
    for index, word in enumerate(words):
        if word.text in _EXEC:
            rest = words[index + 1 :]
            stop = next((at for at, one in enumerate(rest) if one.text in (";", "+", "\\;")), len(rest))
            if stop:
                yield _command(rest[:stop])


def _command(words: tuple[Word, ...]) -> Found:
    return Found(words=words, text=" ".join(word.text for word in words), nested=True)
