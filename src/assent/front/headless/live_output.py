"""What a running command prints, as lines for a person: overwritten text is replaced, as its terminal would show it.

Most lines are shown as they are. A line that its program overwrites (a progress bar) is played on a screen of one row.
Once a program moves to other lines, everything from there on is played, and shown when the command ends; until then,
one line shows the newest of it.
"""

import re

from assent.app.settled_output import Played, moves_away, moves_in_line, without_charsets
from assent.app.wording import safe

_HALF_SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*|\()?$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_RESETS = ("\x1b[m", "\x1b[0m")
_MOST_COLOURS = 8
_ROW = 1000
"""Columns of a line that is overwritten."""


class LiveOutput:
    """Pieces go in; finished lines come out, and `current` is the line that may still change."""

    def __init__(self) -> None:
        self.current = ""
        self._line = ""
        self._row: Played | None = None
        self._screen: Played | None = None

    def feed(self, text: str) -> list[str]:
        """The lines that this finishes, safe to show."""
        if self._screen is None and moves_away(text):
            self._screen = Played()
            text, self._line = self._line + text, ""
        if self._screen is not None:
            self._screen.feed(text)
            self.current = _shown(self._screen.last_row())
            return []
        *complete, rest = text.replace("\r\n", "\n").split("\n")
        lines = [self._finished(part) for part in complete]
        self._add(rest)
        self.current = self._now()
        return lines

    def close(self) -> list[str]:
        """What is left when the command has ended."""
        if self._screen is not None:
            rows = [_shown(row) for row in self._screen.rows()]
        else:
            rows = [current] if (current := self._now()) else []
        self.current, self._line, self._row, self._screen = "", "", None, None
        return rows

    def _finished(self, part: str) -> str:
        self._add(part)
        line = self._now()
        self._line, self._row = _left_on(self._line), None
        return line

    def _add(self, part: str) -> None:
        if self._row is None and moves_in_line(self._line + part):
            self._row = Played(_ROW, 1)
            part, self._line = self._line + part, ""
        if self._row is not None:
            self._row.feed(part)
        else:
            self._line += part

    def _now(self) -> str:
        whole = self._row.last_row() if self._row is not None else _HALF_SEQUENCE.sub("", self._line)
        return _shown(whole)


def _left_on(line: str) -> str:
    """The colours with which the next line begins."""
    if "\x1b" not in line:
        return ""
    codes = _COLOUR.findall(line)
    last_reset = max((place for place, code in enumerate(codes, start=1) if code in _RESETS), default=0)
    return "".join(codes[last_reset:][-_MOST_COLOURS:])


def _shown(line: str) -> str:
    return safe(without_charsets(line), "output")
