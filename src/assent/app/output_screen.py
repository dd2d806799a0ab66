"""A screen for the output of programs, on which nothing is lost that a person should see, whatever they print.

pyte drops the rest of a text after a character without width, such as the one that makes ✔ an emoji, and it takes long
to put many marks on one letter. And it raises an error for sequences that it does not know completely, such as the
`ESC[?4m` of vim.
"""

from itertools import groupby
from unicodedata import normalize

import pyte
from pyte.screens import wcwidth

MOST_IN_A_CELL = 16
"""Characters; further marks on the same letter are dropped."""


class OutputScreen(pyte.Screen):
    """A character without width belongs to the cell before it; at the start of a row, to the cell with number -1."""

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


class OutputStream(pyte.Stream):
    """Skips a sequence that pyte cannot carry out, as a terminal does."""

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except Exception:  # of whatever kind: it depends on the sequence; pyte has begun anew
            return True


def _has_width(char: str) -> bool:
    return wcwidth(char) > 0
