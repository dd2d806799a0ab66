"""What is looked for in each context of the screen, as compiled patterns.

It finds and does not replace. Every pattern is linear: possessive where it repeats, no two repeats in a row.
"""

import re
from functools import cache
from typing import Literal

import msgspec

from assent.screen.chars import COMBINING, HIDDEN, HIGH, LOW, SPELLING, TYPOGRAPHY

Context = Literal["prompt", "output", "label", "html"]

LABEL_LENGTH = 120
STACKED = 8  # more combining marks on one letter paint over its neighbours
_MIXTURE = 64  # a longer run of different hidden characters in a prompt or label is cut with a count
_LONGEST_COLOUR = 40

_LOW = re.compile(f"[{LOW}{COMBINING}]")
_HIGH = re.compile(f"[{HIGH}]")
_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")


class _Padding(msgspec.Struct, frozen=True):
    """Runs of at least this many blanks or newlines are folded; `chars` may all be part of one."""

    chars: str
    blanks: int
    newlines: int
    newline: str = r"\n"


# A question is strict, since blanks push its end out of sight. Where text is only read, tables need their
# blanks, and CR LF ends a line. A label has no second line to push anything to: it shows its newlines.
_PADDING: dict[Context, _Padding] = {
    "prompt": _Padding(" \t\n", 33, 5),
    "label": _Padding(" ", 9, 0),
    "html": _Padding(" \t\r\n", 81, 10, r"\r?\n"),
    "output": _Padding(" \t\r\n", 201, 40, r"\r?\n"),
}
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_UNSAFE: dict[Context, str] = {"prompt": "", "label": r"\n\t", "html": "&<>\"'", "output": ""}


class Rules:
    """The patterns of one context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.reading = context in ("output", "html")
        self._padding = _PADDING[context]
        self._blanks = re.compile(rf"[ \t]{{{self._padding.blanks},}}+" if context != "label" else " {9,}+")
        self._plain_lines = re.compile(_lines(self._padding.newlines, r"\n"))  # begins with a literal: faster
        self._unsafe = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f{_UNSAFE[context]}]")
        hidden = rf"(?:[\n\t]|{HIDDEN})" if context == "label" else HIDDEN
        self.scan = re.compile("|".join(self._alternatives(hidden)))
        self._hidden_run = re.compile(f"(?:{hidden}|[{COMBINING}])+")
        self._padding_run = re.compile(f"[{self._padding.chars}]+")
        self._half_colour = re.compile(rf"\x1b\[[0-9;]{{0,{_LONGEST_COLOUR}}}" if context == "output" else "(?!)")

    def plain(self, text: str) -> str:
        """Text in which nothing was found, as this context wants it."""
        return text.translate(_MARKUP) if self.context == "html" else text

    def is_plain(self, text: str) -> bool:
        """Whether nothing would be found: a few searches, each a few nanoseconds a character."""
        if self._unsafe.search(text) or (self.context == "label" and len(text) > LABEL_LENGTH):
            return False
        if not text.isascii() and (_LOW.search(text) or (_ASTRAL.search(text) and _HIGH.search(text))):
            return False
        padded = self._blanks.search(text) if "\t" in text else " " * self._padding.blanks in text
        return not padded and not self._plain_lines.search(text)

    def complete_until(self, buffer: str, start: int) -> int:
        """Where the part begins that the next chunk might still change."""
        end = len(buffer.rstrip(self._padding.chars))
        if end < len(buffer):
            return max(start, end)
        escape_at = buffer.rfind("\x1b", max(start, end - _LONGEST_COLOUR - 2))
        if escape_at >= 0 and self._half_colour.fullmatch(buffer, escape_at):
            end = escape_at
        while end > start and self._hidden_run.match(buffer, end - 1, end):
            end -= 1
        return end

    def run_of(self, char: str) -> re.Pattern[str]:
        """What a chunk must consist of to be nothing but more of a run that is held back."""
        return self._padding_run if char in self._padding.chars else self._hidden_run

    def _alternatives(self, hidden: str) -> list[str]:
        """In order: padding, then what is innocent at its place, then what is shown."""
        lines = _lines(self._padding.newlines, self._padding.newline)
        found = [f"(?P<blanks>{self._blanks.pattern})", f"(?P<lines>{lines})"]
        found.append(f"(?P<spelling>{SPELLING})")
        if self.reading:
            found.append(f"(?P<typography>{TYPOGRAPHY})")
        if self.context == "output":
            found.append(rf"(?P<colour>\x1b\[[0-9;]{{0,{_LONGEST_COLOUR}}}m)")
        found.append(rf"(?P<stack>[{COMBINING}]{{{STACKED + 1},}}+)")
        if not self.reading:  # there it would swallow colours and line ends
            found.append(rf"(?P<mixture>{hidden}{{{_MIXTURE + 1},}}+)")
        return [*found, rf"(?P<hidden>{hidden}|\A[{COMBINING}])(?P=hidden)*"]


def _lines(count: int, newline: str) -> str:
    return rf"{newline}(?:[ \t]*{newline}){{{count - 1},}}" if count else "(?!)"


@cache
def rules_of(context: Context) -> Rules:
    return Rules(context)
