"""Finds the word being typed, if it can be completed, and what to offer for it. Pure functions.

Three kinds: the name of a slash command at the very start, its argument, and a file after `@` anywhere, in the syntax
that `assent.files.mention_finder` reads.
"""

import re
from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from assent.app.mention_syntax import AT, BARE, QUOTED, unescaped

MAX_SHOWN = 8
_LONG_WORD = 5
_NEAR = 200
Kind = Literal["command", "argument", "file"]

_MENTION_BEGUN = re.compile(rf'{AT}(?:"(?P<quoted>{QUOTED}\\?)|(?P<bare>{BARE}*\\?))\Z')
_REST = {"quoted": re.compile(rf'{QUOTED}"?'), "bare": re.compile(rf"{BARE}*")}
_PLAIN_PATH = re.compile(r"[\w@%+=~/.:,#^-]*[\w@%+=~/#^-]")
_COMMAND = re.compile(r"/(?P<name>[^\s/@]*)\Z")
_ARGUMENT = re.compile(r"/(?P<name>[^\s/@]+)[ \t]+(?P<typed>[^\n]*)\Z")


class Candidate(Struct, frozen=True):
    """Something to offer: `name` is what would be typed, `help` says what it is."""

    name: str
    help: str = ""


class Completions(Protocol):
    """What the app can complete."""

    def commands(self) -> Sequence[Candidate]:
        """The known commands, without the slash."""
        ...

    async def learn_commands(self) -> bool:
        """Asks the host for more; returns whether anything has changed."""
        ...

    async def arguments(self, command: str, typed: str) -> Sequence[Candidate]:
        """Possible whole arguments; those that do not match what is typed are left out later."""
        ...

    async def files(self) -> Sequence[str]:
        """Relative paths; folders end with a slash."""
        ...


class Word(Struct, frozen=True):
    """The part of the text that a completion would replace."""

    kind: Kind
    start: int
    end: int
    typed: str
    """The text to match: up to the cursor, without `/`, `@`, quotes and backslashes."""
    command: str = ""
    """The command, if this is an argument."""


def word_at(text: str, cursor: int) -> Word | None:
    """The word at the cursor (an index into the text), if it can be completed."""
    before = text[:cursor]
    if file := _file_at(text, before):
        return file
    if found := _COMMAND.match(before):
        rest = re.compile(r"\S*").match(text, cursor)
        return Word("command", 0, rest.end() if rest else cursor, found["name"])
    if found := _ARGUMENT.match(before):
        end = text.find("\n", cursor)
        return Word("argument", found.start("typed"), len(text) if end < 0 else end, found["typed"], found["name"])
    return None


def _file_at(text: str, before: str) -> Word | None:
    found = _MENTION_BEGUN.search(before)
    if found is None:
        return None
    kind = "bare" if found["quoted"] is None else "quoted"
    rest = _REST[kind].match(text, len(before))
    return Word("file", found.start(), rest.end() if rest else len(before), unescaped(found[kind]))


def replacement(word: Word, name: str) -> str:
    """The text that replaces the word if this is chosen; ready for more typing."""
    match word.kind:
        case "command":
            return f"/{name} "
        case "argument":
            return name
        case "file" if name.endswith("/"):
            return mention(name).removesuffix('"')  # left open, so that typing continues in the folder
        case "file":
            return mention(name) + " "


def mention(path: str) -> str:
    """A path as it is written in a prompt."""
    if _PLAIN_PATH.fullmatch(path):
        return f"@{path}"
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'@"{escaped}"'


def ranked(typed: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Exact matches first, then prefixes, substrings and similar names; otherwise in the given order."""
    wanted = typed.casefold()
    names = [candidate.name.casefold() for candidate in candidates]
    same = [n for n, name in enumerate(names) if name == wanted]
    first = [n for n, name in enumerate(names) if name.startswith(wanted)]
    then = [n for n, name in enumerate(names) if wanted in name]
    best = dict.fromkeys([*same, *first, *then])
    if len(best) < MAX_SHOWN:
        best |= dict.fromkeys(like(wanted, names, MAX_SHOWN))
    return [candidates[n] for n in best]


def like(wanted: str, names: Sequence[str], most: int) -> list[int]:
    """The names that have all the letters in this order (a longer word may lack one), the closest first."""
    if not wanted:
        return []
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import LCSseq

    least = len(wanted) - (len(wanted) >= _LONG_WORD)
    found = process.extract(wanted, names, scorer=LCSseq.similarity, score_cutoff=least, limit=_NEAR)
    nearest = sorted(found, key=lambda each: (-each[1], -fuzz.ratio(wanted, each[0]), each[2]))
    return [index for _, _, index in nearest[:most]]
