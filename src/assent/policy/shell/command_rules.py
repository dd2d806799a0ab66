"""The user's command rules, as words: which rule applies to a command.

Rules match whole words (`git log` does not cover `git logout`). `simple_command` decides whether an allow rule is
enough; this module does not know what a program does.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

_SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")

Prefix = tuple[str, ...]


class CommandRules(Struct, frozen=True):
    """Prefixes of words, and whole commands in `exact`. Deny beats ask, and ask beats allow."""

    allow: tuple[Prefix, ...] = ()
    ask: tuple[Prefix, ...] = ()
    deny: tuple[Prefix, ...] = ()
    exact: tuple[Prefix, ...] = ()
    reading: tuple[Prefix, ...] = ()
    """Prefixes that allow only reading: `git branch` lists branches but creates none."""


def rules(
    allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = (), exact: Iterable[Prefix] = ()
) -> CommandRules:
    """Build rules from texts such as `git status`; a rule without words is dropped."""
    return CommandRules(_prefixes(allow), _prefixes(ask), _prefixes(deny), tuple(exact))


def _prefixes(texts: Iterable[str]) -> tuple[Prefix, ...]:
    return tuple(words for text in texts if (words := tuple(text.split())))


def program(word: str) -> str:
    """The bare name of a program in a system folder; any other path stays as it is, because it may be anything."""
    for folder in _SYSTEM_FOLDERS:
        if word.startswith(folder) and "/" not in word[len(folder) :]:
            return word[len(folder) :]
    return word


def loose(word: str) -> str:
    """The name that a deny rule is compared with: without folder, case and `.exe`, so that no spelling escapes it."""
    return word.rpartition("/")[2].casefold().removesuffix(".exe")


def covering(prefixes: Sequence[Prefix], *spellings: Sequence[str]) -> Prefix | None:
    """The longest rule that is a prefix of one of the command's spellings."""
    found = [one for one in prefixes if any(tuple(words[: len(one)]) == one for words in spellings)]
    return max(found, key=len, default=None)
