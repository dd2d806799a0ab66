"""For NO_COLOR: the terminal's own colours only. What stands out by its background is reversed, what is grey is dim.

The looks paint backgrounds, and the terminal may be light: here, none of their colours reaches it.
"""

from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as Background
from textual.filter import LineFilter

STANDS_OUT = 75
"""From this brightness on, a background of the look without colours is no surface but a selection or a cursor."""
GREY = 200
"""The brightness below which its text is less important."""


class OwnColours(LineFilter):
    def apply(self, segments: list[Segment], background: Background) -> list[Segment]:
        return [Segment(text, style and _own(style), control) for text, style, control in segments]


@lru_cache(1024)
def _own(style: Style) -> Style:
    stands_out = _brightness(style.bgcolor, 0) >= STANDS_OUT
    return Style(
        bold=style.bold,
        dim=style.dim or (not stands_out and _brightness(style.color, 255) < GREY),
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=bool(style.reverse) != stands_out,
        link=style.link,
        meta=style.meta,
    )


def _brightness(colour: Color | None, default: int) -> int:
    return default if colour is None or colour.triplet is None else sum(colour.triplet) // 3
