"""What a text names after `@`: paths, in a prompt that a person sends and in the notes that they keep. Pure.

A path with blanks or quotes is written `@"a b.txt"` or `@a\\ b.txt`. What follows a letter is none (`ann@example.org`),
and neither is what stands in code. Whether there is such a file is not known here.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

QUOTED = r'(?:\\[^\n]|[^"\\\n])*'
BARE = r'(?:\\[^\n]|[^\s"\\])'
AT = r"(?<![^\s(\[{<])@"  # at the start, or after a blank or an opening bracket
_CODE = r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`"
_MENTION = rf'{_CODE}|{AT}(?:"(?P<quoted>{QUOTED})"|(?P<bare>{BARE}+))'
_PUNCTUATION = ",.;:!?)]}>'*`"
_MAX_LENGTH = 4_096
"""Characters: no path is longer."""
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}


class Mention(Struct, frozen=True):
    path: str
    start: int
    """Where in the text it stands, the sign included."""
    end: int


def mentions(text: str) -> Iterator[Mention]:
    """In their order, the same path as often as it is named."""
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
    """Punctuation at the end belongs to the sentence, unless it is part of a pattern or closes what the path opens."""
    end = len(bare)
    while end and bare[end - 1] in _PUNCTUATION and not _belongs(bare[:end]):
        end -= 1
    return bare[:end]


def _belongs(bare: str) -> bool:
    last = bare[-1]
    if last == "*":
        return bare.rstrip("*").endswith("/")
    return bare[-2:-1] == "\\" or (last in _OPENING and bare.count(_OPENING[last]) >= bare.count(last))
