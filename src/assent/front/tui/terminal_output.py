"""Renders the output of programs that move the cursor: the final screen, as text with colours only."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyte.screens import Char

WIDTH = 120
HEIGHT = 2000
"""Rows that are kept; what scrolled off before is left out."""
_NEW_LINE_MODE = 20
"""A line feed also returns to the first column."""
_MOVES = re.compile(r"\r(?!\n)|\x08|\x1b\[[0-9;?]*[A-HJKSTdfhlr]|\x1b[78M]")
_COLOURS = {
    name: 30 + place
    for place, name in enumerate(("black", "red", "green", "brown", "blue", "magenta", "cyan", "white"))
}


def settled(text: str) -> str:
    """The text after all overwriting and cursor movement; unchanged if there was none."""
    if not _MOVES.search(text):
        return text
    import pyte

    screen = pyte.Screen(WIDTH, min(HEIGHT, text.count("\n") + 50))
    screen.set_mode(_NEW_LINE_MODE)
    pyte.Stream(screen).feed(text)
    rows = [_row(screen.buffer[y][x] for x in range(WIDTH)) for y in range(screen.lines)]
    return "\n".join(rows).rstrip("\n")


def _row(cells: "Iterable[Char]") -> str:
    whole = "".join(_pieces(cells))
    return whole.rstrip(" ")


def _pieces(cells: "Iterable[Char]") -> Iterator[str]:
    for codes, run in groupby(cells, key=_codes):
        text = "".join(cell.data for cell in run)
        yield f"\x1b[{codes}m{text}\x1b[0m" if codes and text.strip() else text


def _codes(cell: "Char") -> str:
    codes = [
        code for on, code in ((cell.bold, "1"), (cell.italics, "3"), (cell.underscore, "4"), (cell.reverse, "7")) if on
    ]
    if cell.fg in _COLOURS:
        codes.append(str(_COLOURS[cell.fg]))
    elif re.fullmatch("[0-9a-f]{6}", cell.fg):
        codes.append("38;2;" + ";".join(str(int(cell.fg[place : place + 2], 16)) for place in (0, 2, 4)))
    return ";".join(codes)
