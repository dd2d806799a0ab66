"""All secrets in a text: exact values, private keys, tokens, and values after a telling name.

Text that a terminal would not show (colours) is ignored, so a token whose first part is red is still a token.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from assent.secrets.assigned import find_assigned
from assent.secrets.outline import Outline
from assent.secrets.private_keys import BEGIN, find_private_keys
from assent.secrets.spans import Span, join
from assent.secrets.token_shapes import find_tokens

ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
Known = Sequence[tuple[str, str]]
"""Exact values with their labels."""


def find_secrets(text: str, known: Known = ()) -> list[Span]:
    """In order, without overlaps."""
    found = _find(text, known)
    if "\x1b" in text:  # the original text is searched, too: what looks like an escape may be the end of a secret
        found += _through_escapes(text, lambda plain: _find(plain, known))
    return join(found)


def _find(text: str, known: Known) -> list[Span]:
    outline = Outline(text)
    exact = (span for value, kind in known if outline.may_contain(value) for span in _places(text, value, kind))
    keys = find_private_keys(text) if outline.may_contain(BEGIN) else ()
    return [*exact, *keys, *find_tokens(text, outline), *find_assigned(text, outline)]


def _places(text: str, value: str, kind: str) -> Iterator[Span]:
    at = text.find(value)
    while at >= 0:
        yield Span(at, at + len(value), kind)
        at = text.find(value, at + len(value))


def _through_escapes(text: str, find: Callable[[str], list[Span]]) -> list[Span]:
    pieces, starts, plain_starts = list[str](), [0], [0]
    """The text between escapes, and where each piece begins: in the text, and without them."""
    for escape in ESCAPE.finditer(text):
        pieces.append(text[starts[-1] : escape.start()])
        plain_starts.append(plain_starts[-1] + len(pieces[-1]))
        starts.append(escape.end())

    def place(index: int) -> int:
        piece = bisect_right(plain_starts, index) - 1
        return starts[piece] + index - plain_starts[piece]

    spans = find("".join([*pieces, text[starts[-1] :]]))
    return [Span(place(span.start), place(span.end - 1) + 1, span.kind) for span in spans]
