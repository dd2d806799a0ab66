"""Bytes in, bounded text out: incremental decoding, keeping the beginning and the end of the text.

It knows neither processes nor screens.
"""

import codecs
import re
from collections import deque
from collections.abc import Callable

from msgspec import Struct

_PIECES = 512
"""This many small pieces are joined into one: a string object costs fifty bytes before its first character."""


_MAX_WORD_LENGTH = 500
_BLANK = re.compile(r"\s")
_LAST_WORD = re.compile(r"\s\S*\Z")


class Excerpt(Struct, frozen=True):
    """The beginning and the end of a text; if nothing is omitted, `head + tail` is all of it."""

    head: str = ""
    tail: str = ""
    omitted: int = 0

    def text(self, whole: str = "") -> str:
        """`whole`: the file that has all of it."""
        gap = omission(self.omitted, whole) if self.omitted else ""
        return self.head + gap + self.tail


class Kept:
    """Collects the head and the tail of an endless text, in at most twice `cap` characters of memory, and a piece."""

    def __init__(self, cap: int, head_share: float = 0.2) -> None:
        self._head_cap = int(cap * head_share)
        self._tail_cap = cap - self._head_cap
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self.total = 0
        """All characters so far."""

    def add(self, text: str) -> None:
        self.total += len(text)
        room = self._head_cap - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
            self._drop()

    def _drop(self) -> None:
        """Whole pieces that the tail does not reach: what is dropped is never copied."""
        while self._tail_length - len(self._tail[0]) >= self._tail_cap:
            self._tail_length -= len(self._tail.popleft())
            if not self._tail:
                return
        if len(self._tail) > _PIECES:
            self._tail = deque(["".join(self._tail)])

    def excerpt(self) -> Excerpt:
        head, tail = self._head, "".join(self._tail)
        tail = tail[max(len(tail) - self._tail_cap, 0) :]
        if len(head) + len(tail) < self.total:
            head, tail = until_word(head), from_word(tail)
        return Excerpt(head, tail, self.total - len(head) - len(tail))


def omission(count: int, whole: str = "") -> str:
    return f"\n... [{count:,} characters omitted{whole and f'; all of it is in {whole}'}] ...\n"


def cut_middle(text: str, cap: int, head_share: float = 0.2) -> str:
    """At most `cap` characters of the text; the middle is removed and counted."""
    if len(text) <= cap:
        return text
    head = int(cap * head_share)
    tail = cap - head
    first, last = until_word(text[:head]), from_word(text[len(text) - tail :])
    return first + omission(len(text) - len(first) - len(last)) + last


def until_word(text: str) -> str:
    """Without the word that a cut splits: half a secret would not be recognized."""
    found = _LAST_WORD.search(text, max(len(text) - _MAX_WORD_LENGTH - 1, 0))
    return text[: found.start() + 1] if found else text


def from_word(text: str) -> str:
    found = _BLANK.search(text, 0, _MAX_WORD_LENGTH)
    return text[found.start() :] if found else text


class Decoder:
    """Passes decoded text to `tell`; a character split by two reads stays whole. Binary output is only counted, with
    `count`.
    """

    _SNIFFED = 4096

    def __init__(
        self, tell: Callable[[str], None], count: Callable[[int], None] = lambda _: None, *, sniff: bool = True
    ) -> None:
        self._sniff = self._SNIFFED if sniff else 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._tell = tell
        self._count = count
        self.bytes = 0
        self.binary = False

    def feed(self, data: bytes) -> None:
        if self.bytes < self._sniff and not self.binary and b"\0" in data[: self._sniff - self.bytes]:
            self.binary = True
        self.bytes += len(data)
        if self.binary:
            self._count(self.bytes)
        elif text := self._decode(data):
            self._tell(text)

    def close(self) -> None:
        if not self.binary and (text := self._decode(b"", True)):
            self._tell(text)
