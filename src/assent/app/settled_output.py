"""Renders the output of programs that move the cursor: the final screen, as text with colours only.

Most programs only overwrite the current line (a progress bar). Then only such lines are played; a program that moves up
and down is played as a whole.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from pyte.screens import Char

    from assent.app.output_screen import Line

WIDTH = 120
HEIGHT = 2000
"""Rows to which a program can move; what scrolls off above them can no longer change."""
SCREEN_HEIGHT = 50
MOST_ROWS_CLEARED = 2_000_000
"""Each sequence may clear all rows; this keeps the time for all of them to a second or two."""
MOST_CELLS_CLEARED = 10_000_000
"""Each sequence may clear a whole line, however long: as above."""
MOST_SCROLLED_OFF = 10_000
"""Rows that are kept of a command that is still running, which may print for hours."""
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
FIRST_AND_LAST = 2
"""Overwritten lines that are shown at either end; those between, mostly states of a progress display, are counted."""
MOST_SEARCHED = 500_000_000
"""Characters: to search the whole screen for every one of very many lines would take too long."""
PERHAPS_MORE = "[some of this output may not be shown here]"
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_TO_THE_START = re.compile(r"\r|\x1b\[[01]?G")
_TO_THE_RIGHT = re.compile(r"\x1b\[(?![01]?G)[0-9]*[CG]")
_INSERTS = re.compile(r"(?:\x1b\[|\x9b)[0-9;]*4[0-9;]*h")
TAB = 8
_MANY_MARKS = re.compile("([\u0300-\u036f]{15})[\u0300-\u036f]+")
"""The screen keeps no more of them on one letter."""
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
    if not (moves_away(text) or moves_in_line(text)):
        return text
    costly = _cells_cleared(text) > MOST_CELLS_CLEARED
    shown = _screen(text, costly, compared=not (costly or running))
    return f"{PERHAPS_MORE}\n{shown}" if costly and not running else shown


def _screen(text: str, costly: bool, *, compared: bool) -> str:
    if moves_away(text):
        return _shown(text, WIDTH, _height(text), compared)
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(
        _shown(line, WIDTH if costly else _width(line), 1, compared) if moves_in_line(line) else line for line in lines
    )


def _shown(text: str, width: int, height: int, compared: bool) -> str:
    final = _played(text, width, height)
    return "\n".join([*_notes(_overwritten(text, final, width)), final]) if compared else final


def _notes(lost: list[str] | None) -> list[str]:
    """What to say above a screen that does not show these lines; without a list, it is not known which ones."""
    if lost is None:
        return [PERHAPS_MORE]
    notes = [f"[overwritten] {line}" for line in lost]
    left_out = len(lost) - 2 * FIRST_AND_LAST
    if left_out <= 0:
        return notes
    lines = "line that was" if left_out == 1 else "lines that were"
    between = f"[{left_out:,} more {lines} overwritten; not shown here, but the model may see them]"
    return [*notes[:FIRST_AND_LAST], between, *notes[-FIRST_AND_LAST:]]


def _overwritten(text: str, final: str, width: int) -> list[str] | None:
    """The lines that the model gets and the screen does not show, each once; None if it would take long to find out."""
    from assent.process.plain_text import plain

    lines = {_letters(line): line for line in plain(text).split("\n")}
    rows = [_letters(row) for row in plain(final).split("\n")]
    known, whole = set(rows), "".join(rows)
    lost = {key: line for key, line in lines.items() if key not in known and not _wrapped(line, known, width)}
    if len(lost) * len(whole) > MOST_SEARCHED:
        return None
    return [line for key, line in lost.items() if key not in whole]


def _wrapped(line: str, rows: set[str], width: int) -> bool:
    """Finds most long lines without a search."""
    return all(_letters(line[at : at + width]) in rows for at in range(0, len(line), width))


def _letters(line: str) -> str:
    """A long line is wrapped, a program may move the cursor instead of blanks, and the screen composes letters."""
    return normalize("NFC", _MANY_MARKS.sub(r"\1", "".join(line.split())))


def _height(text: str) -> int:
    """A program that clears the screen over and over, as `watch` does, needs no more than one screen."""
    affordable = MOST_ROWS_CLEARED // max(_sequences(text), 1)
    return min(HEIGHT, text.count("\n") + SCREEN_HEIGHT, max(affordable, SCREEN_HEIGHT))


def _cells_cleared(text: str) -> int:
    """At most, where lines are as wide as needed."""
    return sum(_reach(line) * _sequences(line) for line in text.split("\n") if moves_in_line(line))


def _width(line: str) -> int:
    """Enough for the whole line, where other characters than those of ASCII may take two columns."""
    return _reach(line) * (1 if line.isascii() else 2) + 1


def _reach(line: str) -> int:
    """No character of the line is farther to the right, if each takes one column."""
    from assent.process.plain_text import MAX_COLUMN

    longest = max(len(part) + TAB * part.count("\t") for part in _TO_THE_START.split(line))
    return longest + MAX_COLUMN if _TO_THE_RIGHT.search(line) else longest


def _sequences(text: str) -> int:
    """How often something may be cleared or moved: never by colours, with every character while text is inserted."""
    inserted = len(text) if _INSERTS.search(text) else 0
    return text.count("\x1b") + text.count("\x9b") - len(_COLOUR.findall(text)) + inserted


def _played(text: str, width: int, height: int) -> str:
    screen = Played(width, height, keep=None)
    screen.feed(text)
    return "\n".join(screen.rows())


class Played:
    """A screen that a program writes on; what scrolls off stays above it as it is."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT, keep: int | None = MOST_SCROLLED_OFF) -> None:
        from assent.app.output_screen import OutputScreen, OutputStream

        self._above = deque[str](maxlen=keep)
        self._screen = OutputScreen(width, height, self._scroll_off)
        self._screen.set_mode(_NEW_LINE_MODE)
        self._stream = OutputStream(self._screen)

    def feed(self, text: str) -> None:
        self._stream.feed(_UNSHOWN.sub("", text))

    def rows(self) -> list[str]:
        """Without the empty ones at the end."""
        rows = [*self._above, *(self._row(y) for y in range(max(self._screen.buffer, default=-1) + 1))]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def last_row(self) -> str:
        """The lowest one that is not empty."""
        rows = (self._row(y) for y in sorted(self._screen.buffer, reverse=True))
        return next(filter(None, rows), "")

    def _row(self, y: int) -> str:
        return _line(self._screen.buffer[y])

    def _scroll_off(self, row: "Line") -> None:
        """Rendered, it takes far less memory."""
        self._above.append(_line(row))


def _line(cells: "Line") -> str:
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
