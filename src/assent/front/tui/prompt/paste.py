"""Pasted text: made harmless and, if it is long, replaced by a placeholder in the input. Pure.

Pasted text may come from anywhere. Line ends become newlines; terminal sequences and control characters are removed,
and so are characters that reverse text or hide letters: what is sent is what was seen.
"""

import re

from assent.screen.chars import CONTROLS, DIRECTION, HIGH_TAGS

MAX_LINES = 8
MAX_CHARACTERS = 1_000

STAND_IN = "\x1a"
"""Replaces an escape character in pasted text, on its way through a terminal driver that would obey it."""

_SEQUENCE = (
    rf"[\x1b{STAND_IN}](?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b{STAND_IN}\n]*(?:\x07|[\x1b{STAND_IN}]\\)?|[()][0-9A-Za-z])"
)
_DROPPED = re.compile(f"{_SEQUENCE}|[{CONTROLS}{DIRECTION}\ud800-\udfff]|[{HIGH_TAGS}]")
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029]")
_PLACEHOLDER = re.compile(r"\[Pasted text #(\d+): [\d,]+ (?:lines|characters)\]")


def clean(text: str) -> str:
    """Text as it may appear in the input: newlines, tabs and printable characters."""
    return _DROPPED.sub("", _LINE_END.sub("\n", text))


def is_long(text: str) -> bool:
    return line_count(text) > MAX_LINES or len(text) > MAX_CHARACTERS


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


class Pastes:
    """Long pastes by number, until the prompt with their placeholders is sent."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        """By placeholder."""

    def shown(self, text: str) -> str:
        """The text itself if it is short, otherwise a placeholder."""
        if not is_long(text):
            return text
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        placeholder = f"[Pasted text #{len(self._texts) + 1}: {size}]"
        self._texts[placeholder] = text
        return placeholder

    def expand(self, text: str) -> str:
        """Replaces each placeholder once: what looks like one inside a paste stays as it is."""
        return _PLACEHOLDER.sub(lambda found: self._texts.get(found.group(), found.group()), text)

    def ending(self, text: str) -> str:
        """The placeholder that the text ends with; empty if there is none."""
        return next((placeholder for placeholder in self._texts if text.endswith(placeholder)), "")

    def forget(self) -> None:
        self._texts.clear()
