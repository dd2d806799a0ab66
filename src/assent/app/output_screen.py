"""A screen for the output of programs, on which nothing is lost that a person should see, whatever they print.

pyte drops the rest of a text after a character without width, such as the one that makes ✔ an emoji, and it takes long
to put many marks on one letter. And it raises an error for sequences that it does not know completely, such as the
`ESC[?4m` of vim.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from itertools import groupby
from unicodedata import normalize

import pyte
from pyte.screens import Char, StaticDefaultDict, wcwidth

from assent.app.settled_output import TAB

Line = StaticDefaultDict[int, Char]

MOST_IN_A_CELL = 16
"""Characters; further marks on the same letter are dropped."""


class Rows(MutableMapping[int, Line]):
    """The rows of a screen by number. To scroll takes one step, however many rows there are: output scrolls with every
    line.
    """

    def __init__(self, blank: Callable[[], Line]) -> None:
        self._rows = defaultdict[int, Line](blank)
        self._top = 0

    def __getitem__(self, y: int) -> Line:
        return self._rows[y + self._top]

    def __setitem__(self, y: int, row: Line) -> None:
        self._rows[y + self._top] = row

    def __delitem__(self, y: int) -> None:
        del self._rows[y + self._top]

    def __contains__(self, y: object) -> bool:
        return isinstance(y, int) and y + self._top in self._rows

    def pop(self, y: int, default: Line | None = None) -> Line | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._rows.pop(y + self._top, default)

    def __iter__(self) -> Iterator[int]:
        return (y - self._top for y in self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def clear(self) -> None:
        self._rows.clear()

    def scroll(self) -> Line:
        """The row that is no longer on the screen."""
        row = self._rows[self._top]
        del self._rows[self._top]
        self._top += 1
        return row


class OutputScreen(pyte.Screen):
    """A character without width belongs to the cell before it; at the start of a row, to the cell with number -1."""

    def __init__(self, columns: int, lines: int, scrolled_off: Callable[[Line], None]) -> None:
        super().__init__(columns, lines)
        self._scrolled_off = scrolled_off
        self._scrolled = Rows(lambda: StaticDefaultDict(self.default_char))
        self.buffer = self._scrolled  # pyright: ignore[reportAttributeAccessIssue] (it is used like a dictionary)

    def index(self) -> None:
        if self.margins is None and self.cursor.y == self.lines - 1:
            self._scrolled_off(self._scrolled.scroll())
        else:
            super().index()

    def tab(self) -> None:
        """Beyond the last stop, it goes on in the next row: at the edge, every word would replace the one before."""
        if self.cursor.x < self.columns - TAB:
            super().tab()
        else:
            self.carriage_return()
            self.index()

    def draw(self, data: str) -> None:
        if data.isascii() and data.isprintable():
            super().draw(data)
            return
        for has_width, run in groupby(data, key=_has_width):
            if has_width:
                super().draw("".join(run))
            else:
                self._attach("".join(run))

    def _attach(self, marks: str) -> None:
        row, x = self.buffer[self.cursor.y], self.cursor.x - 1
        cell = row[x] if x >= 0 or x in row else self.default_char._replace(data="")
        row[x] = cell._replace(data=normalize("NFC", (cell.data + marks)[:MOST_IN_A_CELL]))

    def alignment_display(self) -> None:
        """Fills the screen with E to adjust a tube: each time, millions of cells."""


class OutputStream(pyte.Stream):
    """Skips a sequence that pyte cannot carry out, as a terminal does."""

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except Exception:  # of whatever kind: it depends on the sequence; pyte has begun anew
            return True


def _has_width(char: str) -> bool:
    return wcwidth(char) > 0
