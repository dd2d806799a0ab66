"""Masks a text that arrives in pieces, while a person watches it.

A secret may come in two pieces, neither of which looks like one. So the end of a piece that may be the beginning of a
secret is held back until it is known: until the word ends, or the text does. What a prompt ends with (`Password: `,
`[y/N]`) is no such beginning and is shown at once. The end of what was shown is remembered, so that a token whose first
letters were too few to tell is masked from there on. A private key is remembered to its end.
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from assent.secrets.mask import Masker
    from assent.secrets.spans import Span

_REMEMBERED = 200
_MAX_HELD = 4_000
"""Nothing longer is a secret, except a private key, each piece of which is masked."""


class MaskedStream:
    def __init__(self, masker: "Masker") -> None:
        self._masker = masker
        self._in_key = False
        self._shown = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown now."""
        return self._take(self._held + piece, final=False)

    def close(self) -> str:
        """What is left."""
        return self._take(self._held, final=True) if self._held else ""

    def _take(self, text: str, *, final: bool) -> str:
        from assent.secrets.mask import with_marks

        begin = len(self._shown)
        whole = self._shown + text
        spans = self._spans(whole, begin)
        end = len(whole) if final else self._held_from(whole, begin, spans)
        self._held = whole[end:]
        self._in_key = self._is_open(whole, end, spans)
        self._shown = whole[max(end - _REMEMBERED, 0) : end]
        now = [replace(span, start=max(span.start, begin) - begin, end=min(span.end, end) - begin) for span in spans]
        return with_marks(whole[begin:end], [span for span in now if span.start < span.end])

    def _spans(self, whole: str, begin: int) -> "list[Span]":
        from assent.secrets.private_keys import KIND, rest_of_key
        from assent.secrets.spans import Span, join

        spans = self._masker.find(whole)
        if self._in_key and (rest := rest_of_key(whole[begin:])):
            spans = join([Span(begin, begin + rest, KIND), *spans])
        return [span for span in spans if span.end > begin]

    def _held_from(self, whole: str, begin: int, spans: "list[Span]") -> int:
        end = self._masker.pending(whole)
        cut = next((span.start for span in spans if span.start < end < span.end), end)
        end = max(min(end, cut), begin)
        return len(whole) if len(whole) - end > _MAX_HELD else end

    def _is_open(self, whole: str, end: int, spans: "list[Span]") -> bool:
        """Whether what is shown ends within a private key."""
        from assent.secrets.private_keys import is_open

        reaching = [span for span in spans if span.end >= end > span.start]
        return any(is_open(whole[:end], replace(span, end=end)) for span in reaching)
