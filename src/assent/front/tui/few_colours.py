"""For terminals with 256 colours, which have only strong dark blues: a background that is nearly grey becomes grey.

Otherwise the nearest colour of a dark, slightly blue surface is navy, and what is not selected looks selected.
"""

from colorsys import rgb_to_hls
from functools import lru_cache

from rich.color import Color, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as Background
from textual.filter import LineFilter

NEARLY_GREY = 0.22
"""The saturation below which a colour is grey. The looks' surfaces are below it, the backgrounds of diffs above."""


class FewColours(LineFilter):
    def apply(self, segments: list[Segment], background: Background) -> list[Segment]:
        return [
            Segment(text, style and (style + _greys(style.color, style.bgcolor)), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _greys(ink: Color | None, ground: Color | None) -> Style:
    return Style.from_color(_grey(ink), _grey(ground))


def _grey(colour: Color | None) -> Color | None:
    """The grey that is as light; None if the colour stays as it is."""
    if colour is None or colour.type is not ColorType.TRUECOLOR or colour.triplet is None:
        return None
    _, lightness, saturation = rgb_to_hls(*colour.triplet.normalized)
    if saturation >= NEARLY_GREY:
        return None
    return Color.from_rgb(*[round(lightness * 255)] * 3)
