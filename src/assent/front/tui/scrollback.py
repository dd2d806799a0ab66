"""What stays in the terminal after the UI is closed: the end of the conversation, as it was on the screen."""

import sys
from collections.abc import Sequence
from contextlib import suppress

from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from assent.front.tui.render import ItemRenderer
from assent.front.tui.transcript import are_close
from assent.front.tui.transcript_model import Item, NoteItem

MAX_LINES = 500
"""Of a longer conversation, the newest; all of it is in the log."""


def last_lines(items: Sequence[Item], renderer: ItemRenderer, width: int) -> list[Strip]:
    """The newest items, without our own quiet notes, as in the transcript."""
    lines: list[Strip] = []
    after: Item | None = None
    for item in reversed([item for item in items if not _is_quiet(item)]):
        strips = renderer.lines(item, width)
        if strips:
            gap = [] if after is None or are_close(item, after) else [Strip([])]
            lines = [*strips, *gap, *lines]
            after = item
        if len(lines) >= MAX_LINES:
            break
    return lines


def _is_quiet(item: Item) -> bool:
    return isinstance(item, NoteItem) and item.tone in ("quiet", "info")


def print_lines(strips: Sequence[Strip]) -> None:
    """In the colours that the terminal has; if it is gone, nothing is printed."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    with suppress(OSError):
        for strip in strips:
            pieces = [(segment.text, _on_any_ground(segment.style)) for segment in strip]
            line = Text.assemble(*pieces)
            line.rstrip()
            console.print(line, soft_wrap=True)
        sys.stdout.flush()


def _on_any_ground(style: Style | None) -> Style:
    """Without a background of ours: the terminal's text has the terminal's colour and might not be readable on it."""
    if style is None:
        return Style()
    return Style(
        color=style.color,
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse,
    )
