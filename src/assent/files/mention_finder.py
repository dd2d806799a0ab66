"""Finds what a text names after `@`: paths, in a prompt that a person sends and in their notes. Pure.

A path with spaces or quotes is written `@"a b.txt"` or `@a\\ b.txt`. An `@` after a letter does not count
(`ann@example.org`), and neither does one in code. Whether the file exists is not known here.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

QUOTED = r'(?:\\[^\n]|[^"\\\n])*'
BARE = r'(?:\\[^\n]|[^\s"\\])'
AT = r"(?<![^\s(\[{<])@"  # at the start, or after whitespace or an opening bracket
_CODE = r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`"
_MENTION = rf'{_CODE}|{AT}(?:"(?P<quoted>{QUOTED})"|(?P<bare>{BARE}+))'
_PUNCTUATION = ",.;:!?)]}>'*`"
_MAX_LENGTH = 4_096
"""Characters: no path is longer."""
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}


class Mention(Struct, frozen=True):
    path: str
    start: int
    """Its position in the text, including the sign."""
    end: int


def mentions(text: str) -> Iterator[Mention]:
    """In order; a path appears as often as it is named."""
    for match in _pattern().finditer(text):
        if match.end() - match.start() > _MAX_LENGTH:
            continue
        if match["quoted"]:
            yield Mention(unescaped(match["quoted"]), match.start(), match.end())
        elif match["bare"] and (bare := _without_punctuation(match["bare"])):
            yield Mention(unescaped(bare), match.start(), match.start("bare") + len(bare))


@cache
def _pattern() -> "re.Pattern[str]":
    return re.compile(_MENTION, re.DOTALL)


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _without_punctuation(bare: str) -> str:
    """Trailing punctuation belongs to the sentence, unless it is part of a pattern or closes a bracket in the path."""
    end = len(bare)
    while end and bare[end - 1] in _PUNCTUATION and not _belongs(bare[:end]):
        end -= 1
    return bare[:end]


def _belongs(bare: str) -> bool:
    last = bare[-1]
    if last == "*":
        return bare.rstrip("*").endswith("/")
    return bare[-2:-1] == "\\" or (last in _OPENING and bare.count(_OPENING[last]) >= bare.count(last))
