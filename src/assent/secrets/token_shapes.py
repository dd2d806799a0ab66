"""Secrets recognized by their shape: the tokens of providers, and passwords in addresses.

`providers` lists them. Each shape has a hint that is searched for first, as plain text, and a pattern that is tried
where the hint was found, and compiled only then. A token is one long word, so its hint is only searched for in those.
After the hint a pattern is little more than one run of one class of characters: text that was read in vain is not read
again for the next hint, so no text takes more than linear time.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from assent.secrets.providers import IN_ADDRESS, PROVIDERS, WRITTEN, Provider
from assent.secrets.spans import Span
from assent.secrets.values import is_placeholder

_SHORT = 2


class Shape(Struct, frozen=True):
    kind: str
    hint: str
    pattern: str
    """The whole match is the secret, or its group 1 if it has one."""
    before: int = 0
    """The pattern begins this many characters before the hint."""
    mixed: bool = False
    """Only with both digits and letters."""


def _shapes_of(provider: Provider) -> Iterator[Shape]:
    kind, beginnings, rest, left, before, mixed = provider
    for beginning in beginnings.split():
        yield Shape(kind, beginning, left + re.escape(beginning) + rest, before, mixed)


MIN_TOKEN_LENGTH = 15
"""Characters of a provider's token, including its prefix."""
_LONG_WORD = re.compile(rf"[\w%+/=.,~@$:?&-]{{{MIN_TOKEN_LENGTH},}}", re.ASCII)
"""Everything that can be in a token, and before it."""


@cache
def tokens() -> tuple[Shape, ...]:
    return tuple(shape for provider in PROVIDERS for shape in _shapes_of(provider))


@cache
def _written() -> tuple[Shape, ...]:
    """They may contain spaces."""
    return (*(Shape(*way) for way in WRITTEN), Shape(*IN_ADDRESS, mixed=True))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def hints() -> tuple[str, ...]:
    """Prefixes by which an unfinished word may be the beginning of a token. Shorter ones occur in too many words."""
    found = (
        shape.hint
        for shape in (*tokens(), *_written())
        if shape.hint == shape.hint.strip() and len(shape.hint) > _SHORT
    )
    return tuple(dict.fromkeys((*found, "Q~")))


def find_tokens(text: str) -> Iterator[Span]:
    words = "\n".join(_LONG_WORD.findall(text))
    for shape in tokens() if words else ():
        if shape.hint in words:
            yield from _find(shape, text)
    for shape in _written():
        if shape.hint in text:
            yield from _find(shape, text)


def _find(shape: Shape, text: str) -> Iterator[Span]:
    pattern, at = _compiled(shape.pattern), text.find(shape.hint)
    group = pattern.groups
    while at >= 0:
        end = at + len(shape.hint)
        if at >= shape.before and (found := pattern.match(text, at - shape.before)):
            end = max(end, found.end())
            if _counts(shape, found[group], is_part=group > 0):
                yield Span(found.start(group), found.end(group), shape.kind)
        at = text.find(shape.hint, end)


def _counts(shape: Shape, value: str, *, is_part: bool) -> bool:
    if shape.mixed and not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    return not (is_part and is_placeholder(value))
