"""Renders the output of programs that move the cursor: the final screen, as text with colours only.

Most programs only overwrite the current line (a progress bar). Then only such lines are played; a program that moves up
and down is played as a whole.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyte.screens import Char

WIDTH = 120
HEIGHT = 2000
"""Rows that are kept of a program that moves up and down; what scrolled off before is left out."""
SCREEN_HEIGHT = 50
MOST_ROWS_CLEARED = 2_000_000
"""Each sequence may clear all rows; this keeps the time for all of them to a second or two."""
_NEW_LINE_MODE = 20
"""A line feed also returns to the first column."""
_IN_LINE = r"\r(?!\n)|\x08|\x1b\[[0-9;?]*[CDGKhl]"
_MOVES_IN_LINE = re.compile(_IN_LINE)
_MOVES_AWAY = re.compile(r"\x1b\[[0-9;?]*[ABEFHJSTdfr]|\x1b[78M]")
_HOME, _ERASE = r"\x1b\[(?:1;1)?[Hf]", r"\x1b\[[023]?J"
_CLEARS = re.compile(rf"(?:{_HOME}{_ERASE}|\x1b\[[23]J|\x1bc)(?:{_HOME}|{_ERASE})*")
"""Clears the screen, as `clear` does."""
MOST_SCREENS = 5
"""Of a program that clears the screen again and again, as `watch` does, only the last one is shown."""
MOST_OVERWRITTEN = 4
"""Lines that are shown; of a program that draws its progress again and again, they are only counted."""
MOST_SOUGHT = 100
"""Lines for which the whole screen is searched: to search it for every line would take too long."""
_UNSHOWN = re.compile(r"\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?")
"""Images and the like (DCS, SOS, PM, APC), which pyte would show as text."""
_USUAL_LETTERS = re.compile(r"\x1b\(B|\x0f")
"""Back to the usual letters: `tput sgr0` ends colours with it, and nothing would look different without it."""
_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_COLOURS = {
    **{name: 30 + place for place, name in enumerate(_NAMES)},
    **{f"bright{name}": 90 + place for place, name in enumerate(_NAMES)},
    "bfightmagenta": 95,  # pyte's spelling of a bright magenta background
}


def moves_in_line(text: str) -> bool:
    return _MOVES_IN_LINE.search(text) is not None


def moves_away(text: str) -> bool:
    """To another line than the next one."""
    return _MOVES_AWAY.search(text) is not None


def without_charsets(text: str) -> str:
    return _USUAL_LETTERS.sub("", text) if "\x1b(" in text or "\x0f" in text else text


def settled(text: str, *, running: bool = False) -> str:
    """The text after all overwriting and cursor movement; unchanged if there was none. What was cleared stays, and what
    was overwritten when the command has ended: a person should see what the model sees.
    """
    *cleared, last = _CLEARS.split(without_charsets(text))
    before = [screen for screen in cleared if screen.strip()]
    if len(before) >= MOST_SCREENS:
        return f"[{len(before):,} earlier screens, which the command cleared]\n{_settled(last, running)}"
    return "".join([*(_settled(screen, running).rstrip("\n") + "\n" for screen in before), _settled(last, running)])


def _settled(text: str, running: bool) -> str:
    if moves_away(text):
        final = _played(text, WIDTH, _height(text))
        return final if running else _with_overwritten(text, final)
    if not moves_in_line(text):
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_played(line, len(line) + 1, 1) if moves_in_line(line) else line for line in lines)


def _with_overwritten(text: str, final: str) -> str:
    """The final screen, below the lines that it no longer shows: they were overwritten, or scrolled away."""
    lost = _overwritten(text, final)
    if len(lost) > MOST_OVERWRITTEN:
        return f"[{len(lost):,} lines that the command overwrote, or that scrolled away]\n{final}"
    return "".join(f"[overwritten] {line}\n" for line in lost) + final


def _overwritten(text: str, final: str) -> list[str]:
    from assent.process.plain_text import plain

    rows = plain(final).split("\n")
    known = {_letters(row) for row in rows}
    lost = [line for line in plain(text).split("\n") if _letters(line) not in known]
    if len(lost) > MOST_SOUGHT:
        return lost
    whole = _letters("".join(rows))
    return [line for line in lost if _letters(line) not in whole]


def _letters(line: str) -> str:
    """A long line is wrapped, and a program may move the cursor instead of printing blanks."""
    return "".join(line.split())


def _height(text: str) -> int:
    """A program that clears the screen over and over, as `watch` does, needs no more than one screen."""
    affordable = MOST_ROWS_CLEARED // max(text.count("\x1b") + text.count("\x9b"), 1)
    return min(HEIGHT, text.count("\n") + SCREEN_HEIGHT, max(affordable, SCREEN_HEIGHT))


def _played(text: str, width: int, height: int) -> str:
    screen = Played(width, height)
    screen.feed(text)
    return "\n".join(screen.rows())


class Played:
    """A screen that a program writes on; what scrolls off is lost."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        from assent.app.output_screen import OutputScreen, OutputStream

        self._screen = OutputScreen(width, height)
        self._screen.set_mode(_NEW_LINE_MODE)
        self._stream = OutputStream(self._screen)

    def feed(self, text: str) -> None:
        self._stream.feed(_UNSHOWN.sub("", text))

    def rows(self) -> list[str]:
        """Without the empty ones at the end."""
        rows = [self._row(y) for y in range(max(self._screen.buffer, default=-1) + 1)]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def last_row(self) -> str:
        """The lowest one that is not empty."""
        rows = (self._row(y) for y in sorted(self._screen.buffer, reverse=True))
        return next(filter(None, rows), "")

    def _row(self, y: int) -> str:
        cells = self._screen.buffer[y]
        first = -1 if -1 in cells else 0
        return _row(cells[x] for x in range(first, max(cells, default=-1) + 1))


def _row(cells: "Iterable[Char]") -> str:
    whole = "".join(_pieces(cells))
    return whole.rstrip(" ")


def _pieces(cells: "Iterable[Char]") -> Iterator[str]:
    for codes, run in groupby(cells, key=_codes):
        text = "".join(cell.data for cell in run)
        yield f"\x1b[{codes}m{text}\x1b[0m" if codes else text


def _codes(cell: "Char") -> str:
    attributes = (
        (cell.bold, "1"),
        (cell.italics, "3"),
        (cell.underscore, "4"),
        (cell.reverse, "7"),
        (cell.strikethrough, "9"),
    )
    codes = [code for on, code in attributes if on and (cell.data != " " or code in "479")]
    return ";".join([*codes, *(_colour(cell.fg, 0) if cell.data != " " else ()), *_colour(cell.bg, 10)])


def _colour(name: str, offset: int) -> Iterator[str]:
    if name in _COLOURS:
        yield str(_COLOURS[name] + offset)
    elif re.fullmatch("[0-9a-f]{6}", name):
        yield f"{38 + offset};2;" + ";".join(str(int(name[place : place + 2], 16)) for place in (0, 2, 4))
