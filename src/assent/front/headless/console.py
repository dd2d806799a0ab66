"""Standard error as people see it: finished lines, one line that is still changing, and questions.

Nothing is written into an open question; it appears once the question is closed.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator

from assent.app.style import Style
from assent.app.wrapping import cell, wrapped
from assent.terminal_width import columns

STDERR = 2
HELD_LINES = 2_000
"""What is kept while a question is open: the newest lines. All output is in the log anyway."""


class Console:
    def __init__(self, style: Style, *, redraws: bool = False) -> None:
        """`redraws`: a line can be replaced; otherwise only finished lines are written."""
        self.style = style
        self.redraws = redraws
        self._asking = False
        self._column_open = False
        """The cursor follows text: an unfinished line, or a prompt."""
        self._changing = ""
        self._held: deque[str] = deque(maxlen=HELD_LINES)

    @classmethod
    def for_stderr(cls) -> "Console":
        redraws = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        return cls(Style.for_stream(sys.stderr), redraws=redraws)

    # --- messages ---

    def lines(self, *texts: str) -> None:
        """Finished lines; they replace the line that was changing."""
        self._changing = ""
        if self._asking:
            self._held.extend(texts)
        elif texts:
            self._write(self._start() + "".join(f"{text}\n" for text in texts))
            self._column_open = False

    def prose(self, text: str, colour: Callable[[str], str] = str) -> None:
        """The same for our own sentences, which are broken between words."""
        self.lines(*map(colour, self._broken(text)))

    def change(self, text: str) -> None:
        """Shows a line that is not finished, in place of its earlier state."""
        self._changing = text
        if self.redraws and not self._asking and text:
            self._write(self._start() + clipped(text, columns(STDERR) - 1))
            self._column_open = True

    def clear(self) -> None:
        """Takes back the line that was changing."""
        self._changing = ""
        if self._column_open and not self._asking:
            self._write(self._start())
            self._column_open = False

    def finish_line(self) -> None:
        """What was changing stays as it is now."""
        if self._changing:
            self.lines(self._changing)

    def _start(self) -> str:
        return "\r\x1b[K" if self._column_open else ""

    # --- questions ---

    def open_question(self) -> None:
        self.finish_line()
        self._asking = True

    def close_question(self) -> None:
        if not self._asking:
            return
        self._end_prompt()
        self._asking = False
        changing, held = self._changing, tuple(self._held)
        self._held.clear()
        self.lines(*held)
        self.change(changing)

    def say(self, line: str) -> None:
        """A line of the question, or about it."""
        self._end_prompt()
        self._write(f"{line}\n")

    def tell(self, text: str, colour: Callable[[str], str] = str) -> None:
        """The same for prose, which is broken between words."""
        for line in self._broken(text):
            self.say(colour(line))

    def _broken(self, text: str) -> Iterator[str]:
        for line in text.split("\n"):
            yield from wrapped(line, self.width)

    @property
    def width(self) -> int:
        """For prose; 0 if lines are not broken, because nobody reads them here."""
        return columns(STDERR) - 1 if self.redraws else 0

    def prompt(self, text: str) -> None:
        self._end_prompt()
        self._write(text)
        self._column_open = True

    def entered(self) -> None:
        """The person pressed Enter: the terminal itself has ended the line."""
        self._column_open = False

    def _end_prompt(self) -> None:
        if self._column_open:
            self._write("\n")
            self._column_open = False

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def clipped(text: str, width: int) -> str:
    """The part that fits on one line, with its colours: a line that wraps could not be replaced."""
    cells, place, coloured = 0, 0, False
    while place < len(text):
        if text[place] == "\x1b" and (end := text.find("m", place)) > 0:
            place, coloured = end + 1, True
            continue
        cells += cell(text[place])
        if cells > width:
            return text[:place] + ("\x1b[0m" if coloured else "")
        place += 1
    return text
