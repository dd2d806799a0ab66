"""Output of programs with its colours, line by line: all 16, 256 and true colours, in front and behind.

A program chooses colours for a screen it does not know, and a hostile one chooses them to hide text. So every colour is
allowed, and none may hide: text that can hardly be distinguished from its background gets another colour. Blinking
and concealed text is ordinary text here. The text must already be safe in the context `terminal`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace
from rich.color import Color
from rich.style import Style

from assent.front.tui.themes import Palette

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_WITH_COLONS = re.compile(r"([34]8):2:\d*:(\d+:\d+:\d+)")
"""The form of the standard has one more field, for a colour space."""
_CUBE = (0, 95, 135, 175, 215, 255)
READABLE = 3.0
"""The least contrast between text and what is behind it."""
Rgb = tuple[int, int, int]


class _Pen(Struct, frozen=True):
    """What the sequences so far have switched on. A colour is an index of the palette, or a true colour."""

    front: int | Rgb | None = None
    behind: int | Rgb | None = None
    attributes: frozenset[str] = frozenset()


_SET = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline"}
_UNSET = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"reverse"}, 29: {"strike"}}


Run = tuple[str, Style]


def ansi_lines(text: str, palette: Palette) -> Iterator[list[Run]]:
    """Each line as pieces in one style; a colour lasts until the program ends it, on whatever line."""
    pen = _Pen()
    for line in text.split("\n"):
        runs: list[Run] = []
        place = 0
        for found in _SGR.finditer(line):
            if found.start() > place:
                runs.append((line[place : found.start()], _style(pen, palette)))
            pen = _after(pen, found[1])
            place = found.end()
        if place < len(line):
            runs.append((line[place:], _style(pen, palette)))
        yield runs


# --- the sequences ---


@lru_cache(1024)
def _after(pen: _Pen, parameters: str) -> _Pen:
    codes = iter([int(code or "0") for code in re.split("[;:]", _WITH_COLONS.sub(r"\1;2;\2", parameters))])
    for code in codes:
        pen = _with_code(pen, code, codes)
    return pen


def _with_code(pen: _Pen, code: int, codes: Iterator[int]) -> _Pen:
    match code:
        case 0:
            return _Pen()
        case 38:
            return replace(pen, front=_extended(codes))
        case 48:
            return replace(pen, behind=_extended(codes))
        case 39:
            return replace(pen, front=None)
        case 49:
            return replace(pen, behind=None)
        case _ if code in _SET:
            return replace(pen, attributes=pen.attributes | {_SET[code]})
        case _ if code in _UNSET:
            return replace(pen, attributes=pen.attributes - _UNSET[code])
        case _:
            return _with_colour(pen, code)


def _with_colour(pen: _Pen, code: int) -> _Pen:
    """One of the 16; anything else has no effect."""
    tens, place = divmod(code, 10)
    bright = 8 * (tens >= 9)
    match tens:
        case 3 | 9 if place < 8:
            return replace(pen, front=place + bright)
        case 4 | 10 if place < 8:
            return replace(pen, behind=place + bright)
        case _:
            return pen


def _extended(codes: Iterator[int]) -> int | Rgb | None:
    match next(codes, None):
        case 5:
            return min(next(codes, 0), 255)
        case 2:
            red, green, blue = (min(next(codes, 0), 255) for _ in range(3))
            return red, green, blue
        case _:
            return None


# --- the colours ---


@lru_cache(4096)
def _style(pen: _Pen, palette: Palette) -> Style:
    attributes = Style.parse(" ".join(sorted(pen.attributes - {"reverse"})))
    if not palette.ansi:
        return attributes + Style(reverse="reverse" in pen.attributes or pen.behind is not None)
    front, behind = _rgb(pen.front, palette), _rgb(pen.behind, palette)
    if "reverse" in pen.attributes:
        front, behind = behind or _hex(palette.ground), front or _hex(palette.ink)
    under = behind or _hex(palette.ground)
    if front is not None or behind is not None:
        front = readable(front or _hex(palette.ink), under)
    return attributes + Style(color=_colour(front), bgcolor=_colour(behind))


def _colour(rgb: Rgb | None) -> Color | None:
    return Color.from_rgb(*rgb) if rgb is not None else None


def _rgb(colour: int | Rgb | None, palette: Palette) -> Rgb | None:
    match colour:
        case int() if colour < 16:
            return _hex(palette.ansi[colour])
        case int() if colour >= 232:
            grey = 8 + (colour - 232) * 10
            return grey, grey, grey
        case int():
            place = colour - 16
            return _CUBE[place // 36], _CUBE[place // 6 % 6], _CUBE[place % 6]
        case _:
            return colour


@lru_cache(64)
def _hex(colour: str) -> Rgb:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def readable(front: Rgb, behind: Rgb) -> Rgb:
    """The colour itself, or black or white if it could not be read on what is behind it."""
    if contrast(front, behind) >= READABLE:
        return front
    return max((0, 0, 0), (255, 255, 255), key=lambda colour: contrast(colour, behind))


def contrast(one: Rgb, other: Rgb) -> float:
    """As defined by WCAG: from 1 (none) to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Rgb) -> float:
    red, green, blue = (
        value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
