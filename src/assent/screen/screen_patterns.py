"""What to look for in each screen context, as compiled patterns.

It finds and does not replace. Every pattern is linear: what may be long is matched once, from its beginning, however it
ends. In `scan` an alternative begins with a class, because the engine then skips it without trying it, and for the same
reason the group that names it is an empty one at its end.
"""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Literal

import msgspec

from assent.screen.chars import COMBINING, HIGH, LOW, ORDINARY, SPELLING, STACKING, TYPOGRAPHY

Context = Literal["prompt", "output", "terminal", "label", "html"]

LABEL_LENGTH = 120
STACKED = 8  # more combining marks on one letter paint over its neighbours
_REPEATS = 8  # more repetitions of the same hidden character are counted instead of shown
_MIXTURE = 64  # a longer run of different hidden characters in a prompt or label is cut with a count
_MAX_COLOUR_LENGTH = 40
_COLOUR: dict[Context, str] = {
    "output": rf"\x1b\[[0-9;]{{0,{_MAX_COLOUR_LENGTH}}}m",
    "terminal": rf"\x1b\[[0-9;:]{{0,{_MAX_COLOUR_LENGTH}}}m",
}
_LINES_LOOKED_AT = 5  # the scan stops at this many; whether they are too many is counted then
_MAX_AT_ONCE = 500

_compiled = cache(re.compile)  # when they are first needed: compiling them takes longer than importing this module
_LOW = f"[{LOW}]"
_STACK = rf"\A[{COMBINING}]|[{STACKING}]{{{STACKED + 1},}}"
_STACKING = f"[{STACKING}]"
_HIGH = f"[{HIGH}]"
_ASTRAL = r"[\U00010000-\U0010ffff]"


class _Padding(msgspec.Struct, frozen=True):
    """Runs of at least this many spaces or newlines are folded; `chars` may all be part of one."""

    chars: str
    blanks: int
    newlines: int
    tabs: int | None = None
    """This many tabs are folded, too, although they are fewer characters: each is as wide as several spaces."""


# A question is strict, because spaces push its end out of sight. In text that is only read, tables need their spaces,
# and CR LF ends a line. A label has no second line: it shows its newlines.
_PADDING: dict[Context, _Padding] = {
    "prompt": _Padding(" \t\n", 33, 5, tabs=12),
    "label": _Padding(" ", 9, 0),
    "html": _Padding(" \t\r\n", 81, 10),
    "output": _Padding(" \t\r\n", 201, 40),
    "terminal": _Padding(" \t\r\n", 201, 40),
}
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}


class ScreenPatterns:
    """The patterns of one context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.reading = context in ("output", "terminal", "html")
        self._padding = _PADDING[context]
        self._hidden = LOW + HIGH + (r"\n\t" if context == "label" else "")
        self.blanks = re.compile(self._many_blanks())
        self._lines = re.compile(self._several_lines())
        self._unsafe = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]" if context != "label" else r"[\x00-\x1f\x7f]")
        self._padding_run = re.compile(f"[{self._padding.chars}]+")
        self._open_colour = re.compile(f"{_COLOUR[context]}?" if context in _COLOUR else "(?!)")

    @cached_property
    def scan(self) -> re.Pattern[str]:
        """Everything that is not shown as it is, or not character by character. Plain text never needs it."""
        return re.compile("|".join(self._alternatives()), re.DOTALL)

    @cached_property
    def hidden(self) -> re.Pattern[str]:
        return re.compile(f"[{self._hidden}]")

    @cached_property
    def _hidden_run(self) -> re.Pattern[str]:
        return re.compile(f"[{self._hidden}{STACKING}]+")

    def escaped(self, text: str) -> str:
        """Text in which nothing is hidden any longer, in the form of this context."""
        if self.context == "html":
            for char, entity in _MARKUP.items():
                text = text.replace(char, entity)
        return text

    def is_plain(self, text: str) -> bool:
        """Whether nothing would be found: a few searches, each a few nanoseconds per character."""
        if self._unsafe.search(text):
            return False
        if not text.isascii() and _is_odd(text):
            return False
        padded = self.blanks.search(text) if "\t" in text else " " * self._padding.blanks in text
        return not padded and not self._lines.search(text)

    def stacks(self, char: str) -> bool:
        """Whether it joins the marks on the preceding letter, whatever colour comes between."""
        return _compiled(_STACKING).match(char) is not None

    def folds_lines(self, newlines: int) -> bool:
        return newlines >= self._padding.newlines

    def complete_until(self, buffer: str, start: int) -> int:
        """Where the part begins that the next chunk might still change."""
        end = len(buffer.rstrip(self._padding.chars))
        if end < len(buffer):
            return max(start, end)
        escape_at = buffer.rfind("\x1b", max(start, end - _MAX_COLOUR_LENGTH - 3))
        if escape_at >= 0 and self._open_colour.fullmatch(buffer, escape_at):
            end = escape_at
        if " " <= buffer[end - 1 : end] <= "~":
            return end
        run = self._hidden_run.match(buffer[start:end][::-1])
        return end - run.end() if run else end

    def run_of(self, char: str) -> re.Pattern[str]:
        """What a chunk must consist of to only extend a run that is held back."""
        return self._padding_run if char in self._padding.chars else self._hidden_run

    def _alternatives(self) -> Iterator[str]:
        """In order: padding, then what is innocent at its position, then what is not shown character by character."""
        hidden = f"[{self._hidden}]"
        yield f"{self.blanks.pattern}(?P<blanks>)"
        yield f"{self._lines.pattern}(?P<lines>)"
        if not self.reading:  # there it would swallow colours and line endings
            yield rf"{hidden}{hidden}(?<!{hidden}..){hidden}{{{_MIXTURE - 1},}}(?P<mixture>)"
        else:
            yield r"\r(?=\n)(?P<line_end>)"
        yield f"{self._innocent()}(?P<innocent>)"
        if self.context in _COLOUR:
            yield f"{_COLOUR[self.context]}(?P<colour>)"
        yield rf"\A[{COMBINING}]+(?P<bare>)"
        yield rf"[{STACKING}]{{{STACKED + 1},}}(?P<stack>)"
        # In steps of several, because the engine is slow at repeating a back-reference.
        same, steps = "(?P=char)", rf"(?P<step>(?P=char){{{_REPEATS - 1}}})(?P=step)*"
        yield rf"{hidden}{hidden}(?<=(?P<char>.))(?<={same}{same}){steps}{same}*(?P<repeated>)"

    def _many_blanks(self) -> str:
        """From where they begin, so that a run that is too short is not tried again at each of its spaces."""
        blank = "[ ]" if self.context == "label" else r"[ \t]"
        first, rest = rf"{blank}(?<!{blank}{blank})", rf"{blank}{{{self._padding.blanks - 1},}}"
        return first + (rf"(?:{rest}|(?: *\t){{{tabs - 1},}} *)" if (tabs := self._padding.tabs) else rest)

    def _several_lines(self) -> str:
        if not self._padding.newlines:
            return "(?!)"
        newline = (r"[\r\n](?:(?<=\n)|(?<=\r)\n)", r"\r?\n") if self.reading else (r"\n", r"\n")
        return rf"{newline[0]}(?:[ \t]*{newline[1]}){{{_LINES_LOOKED_AT - 1},}}"

    def _innocent(self) -> str:
        """Several at once, with plain text between them: one by one they would take longer than hostile text. Only the
        first may begin a long run, which is searched for at its beginning.
        """
        places = f"{SPELLING}|{TYPOGRAPHY}" if self.reading else SPELLING
        one = f"[{ORDINARY}](?:{places})"
        alone = f"{one}(?![{self._hidden}]{{2}})"
        return rf"{one}(?:[ \u20e3]?[^ \t\n{self._hidden}{STACKING}]*{alone}){{0,{_MAX_AT_ONCE}}}"


def _is_odd(text: str) -> bool:
    """The classes one after the other: together they would take ten times as long."""
    if _compiled(_LOW).search(text) or _compiled(_STACK).search(text):
        return True
    return _compiled(_ASTRAL).search(text) is not None and _compiled(_HIGH).search(text) is not None


@cache
def rules_of(context: Context) -> ScreenPatterns:
    return ScreenPatterns(context)
