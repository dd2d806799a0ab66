"""The user's rules for commands, as words: which rule speaks about a command.

Matching is by whole words (`git log` does not cover `git logout`). Whether an allow rule is enough is
decided in `verdict`; nothing here knows what a program does.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

_SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")

Prefix = tuple[str, ...]


class CommandRules(Struct, frozen=True):
    """Prefixes of words, and whole commands in `exact`. Deny beats ask, ask beats allow."""

    allow: tuple[Prefix, ...] = ()
    ask: tuple[Prefix, ...] = ()
    deny: tuple[Prefix, ...] = ()
    exact: tuple[Prefix, ...] = ()
    reading: tuple[Prefix, ...] = ()
    """These allow what only reads: `git branch` lists branches, and makes none."""


def rules(
    allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = (), exact: Iterable[Prefix] = ()
) -> CommandRules:
    """Rules from texts such as `git status`; a rule without words says nothing and is dropped."""
    return CommandRules(_prefixes(allow), _prefixes(ask), _prefixes(deny), tuple(exact))


def _prefixes(texts: Iterable[str]) -> tuple[Prefix, ...]:
    return tuple(words for text in texts if (words := tuple(text.split())))


def program(word: str) -> str:
    """The bare name of a program in a system folder; any other path stays as it is, for it may be
    anything."""
    for folder in _SYSTEM_FOLDERS:
        if word.startswith(folder) and "/" not in word[len(folder) :]:
            return word[len(folder) :]
    return word


def loose(word: str) -> str:
    """The name a deny rule is compared with: without folder, case and `.exe`, so that no spelling
    escapes it."""
    return word.rpartition("/")[2].casefold().removesuffix(".exe")


def covering(prefixes: Sequence[Prefix], *spellings: Sequence[str]) -> Prefix | None:
    """The longest rule that is a prefix of one of the spellings of a command."""
    found = [one for one in prefixes if any(tuple(words[: len(one)]) == one for words in spellings)]
    return max(found, key=len, default=None)
