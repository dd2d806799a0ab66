"""What a text consists of: each of its lines once, and each of its words, with a 0 for every digit.

Floods repeat themselves: the same line a million times, or lines that differ in a number. What is not in the outline is
not in the text, so the many hints of secrets are looked for here, and only those that are found, in the text. An
outline says nothing about values, and lines that follow each other in it may be far apart in the text.
"""

_DIGITS = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_LONG = 1_000
"""Bytes. In a shorter text, looking for repetitions takes more time than it saves."""
_RUN = 8
"""Lines. Fewer repetitions in a row are left to be found one by one."""


class Outline:
    """Made of bytes, which are split and compared faster than characters."""

    def __init__(self, text: str) -> None:
        data = _encode(text)
        self.is_short = len(data) < _LONG
        lines = data.translate(_DIGITS) if self.is_short else _once(_once(_without_run(data)).translate(_DIGITS))
        self.text = _decode(lines)
        """The lines."""
        self.words = self.text if self.is_short else _decode(b"\n".join(dict.fromkeys(lines.split())))
        """Everything between blanks, one per line."""
        self.lower_words = lower(self.words)

    def may_contain(self, piece: str) -> bool:
        """Whether the text may contain it. What spans lines may be anywhere."""
        return "\n" in piece or outlined(piece) in (self.words if piece.split() == [piece] else self.text)


def outlined(text: str) -> str:
    """The text with a 0 for every digit."""
    return _decode(_encode(text).translate(_DIGITS))


def lower(text: str) -> str:
    """In lower case, but of the same length."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one.lower() if one.isascii() else one for one in text)  # a few letters grow when lower-cased


def _without_run(data: bytes) -> bytes:
    """If the second line is repeated many times in a row, most of that is left out: comparing takes a tenth of the time
    that splitting takes. The first line may be the rest of one.
    """
    start = data.find(b"\n") + 1
    line = data[start : data.find(b"\n", start) + 1]
    end = at = start
    while line and (end := _run_end(data, line, at)) > at:
        at = end
    return data[:start] + data[end - len(line) :] if end > start else data


def _run_end(data: bytes, line: bytes, at: int) -> int:
    """Where the line is no longer repeated, or somewhat earlier."""
    run = line * _RUN
    while data.startswith(run, at):
        at += len(run)
        run += run
    return at


def _once(data: bytes) -> bytes:
    return b"\n".join(dict.fromkeys(data.split(b"\n")))


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _decode(data: bytes) -> str:
    return data.decode(errors="surrogatepass")
