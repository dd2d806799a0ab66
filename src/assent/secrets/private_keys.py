"""Private keys in PEM and PGP armour: from their first line to their last, or as far as they go."""

import re
from collections.abc import Iterator

from assent.secrets.spans import Span

KIND = "private key"
BEGIN, _END = "-----BEGIN ", "-----END "
_FIRST_LINE = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_LAST_LINE = re.compile(r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): .{0,200}"
_BODY = re.compile(rf"""[ \t>|+"'-]{{0,8}}(?:[A-Za-z0-9+/=\\]{{0,200}}|{_HEADER})["',]{{0,2}}[ \t\r]*""")
_MAX_LENGTH, _MAX_LINE_LENGTH = 20_000, 500


def find_private_keys(text: str) -> Iterator[Span]:
    at, closing = text.find(BEGIN), -1
    while at >= 0:
        end = at + len(BEGIN)
        if first := _FIRST_LINE.match(text, at):
            closing = closing if closing >= at else _next_end(text, at)  # searched for once, not for every beginning
            end = _closed(text, first.end(), closing) or _last_inside(text, _line_end(text, first.end()))
            yield Span(at, end, KIND)
        at = text.find(BEGIN, end)


def rest_of_key(text: str) -> int:
    """How many characters at the beginning belong to a key that began before this text."""
    return _closed(text, 0, _next_end(text, 0)) or _last_inside(text, 0)


def is_open(text: str, span: Span) -> bool:
    """Whether the text ended before the key did."""
    return span.kind == KIND and span.end == len(text) and not _LAST_LINE.search(text, max(span.start, span.end - 100))


def _next_end(text: str, start: int) -> int:
    found = text.find(_END, start)
    return len(text) if found < 0 else found


def _closed(text: str, start: int, closing: int) -> int:
    if closing - start > _MAX_LENGTH:
        return 0
    last = _LAST_LINE.match(text, closing)
    return last.end() if last else 0


def _last_inside(text: str, at: int) -> int:
    """The end of the lines that look like the inside of a key, from here on."""
    while at < len(text):
        end = _line_end(text, at)
        if end - at > _MAX_LINE_LENGTH or not _BODY.fullmatch(text, at, end - 1 if text[end - 1] == "\n" else end):
            return at
        at = end
    return at


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)
