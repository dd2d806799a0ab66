"""Very long text as rows: a row is drawn when it is on the screen, so that twenty megabytes cost little more than one.

Lines are broken after a fixed number of characters, not between words: then no row has to be measured.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import overload

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from assent.front.tui.text_style import plain

_NOT_LATIN = re.compile("[^\0-\u02ff]")
_BLOCK = 2_000
"""Lines that are made safe at once; other threads get their turn in between."""


class LongText:
    """Foreign text without colours, made safe. To make one takes a while: use a thread."""

    def __init__(self, text: str) -> None:
        lines = text.removesuffix("\n").split("\n")
        self.lines = [line for start in range(0, len(lines), _BLOCK) for line in _safe(lines[start : start + _BLOCK])]
        self._uneven = {n for n, line in enumerate(self.lines) if not line.isascii() and _is_uneven(line)}

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def drawn(self, above: Sequence[Strip], width: int) -> "LongRows":
        return LongRows(self, above, max(width, 2))

    def step(self, line: int, width: int) -> int:
        """How many characters of this line surely fit into a row."""
        return width // 2 if line in self._uneven else width


def _safe(lines: Sequence[str]) -> list[str]:
    return plain("\n".join(lines), "terminal").expandtabs().split("\n")


def _is_uneven(line: str) -> bool:
    """Whether some of its characters take no column, or two."""
    return _NOT_LATIN.search(line) is not None and any(cell_len(character) != 1 for character in set(line))


class LongRows(Sequence[Strip]):
    """The rows of a text at one width, with others above them."""

    def __init__(self, text: LongText, above: Sequence[Strip], width: int) -> None:
        self._text = text
        self._above = above
        self._width = width
        needed = (max(-(-len(line) // text.step(n, width)), 1) for n, line in enumerate(text.lines))
        self._tops = list(accumulate(needed, initial=len(above)))
        """The row at which each line begins, and the one after the last."""

    def __len__(self) -> int:
        return self._tops[-1]

    @overload
    def __getitem__(self, place: int) -> Strip: ...
    @overload
    def __getitem__(self, place: slice) -> list[Strip]: ...
    def __getitem__(self, place: int | slice) -> Strip | list[Strip]:
        places = range(len(self))[place]
        return self._row(places) if isinstance(places, int) else [self._row(one) for one in places]

    def _row(self, place: int) -> Strip:
        if place < len(self._above):
            return self._above[place]
        line = bisect_right(self._tops, place) - 1
        step = self._text.step(line, self._width)
        start = (place - self._tops[line]) * step
        return Strip([Segment(self._text.lines[line][start : start + step])])

    def rows_with(self, needle: str) -> list[int]:
        """The rows at which it begins, upper or lower case; it may go on in the next row."""
        rows = [n for n, strip in enumerate(self._above) if needle in strip.text.casefold()]
        for line, text in enumerate(self._text.lines):
            if needle in (folded := text.casefold()):
                rows += self._rows_in(line, folded, needle)
        return rows

    def _rows_in(self, line: int, folded: str, needle: str) -> list[int]:
        step, last, rows = self._text.step(line, self._width), self._tops[line + 1] - 1, list[int]()
        at = folded.find(needle)
        while at >= 0:
            rows.append(min(self._tops[line] + at // step, last))  # folded, a text may be longer
            at = folded.find(needle, (at // step + 1) * step)
        return rows
