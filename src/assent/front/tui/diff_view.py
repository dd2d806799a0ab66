"""A diff as lines: numbered, coloured like code, unified or side by side, hunk after hunk."""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from assent.app.wording import safe
from assent.front.tui.text_style import TextStyler
from assent.hunks import Hunk, Line

View = Literal["unified", "split"]
SPLIT_WIDTH = 110
"""Narrower screens have no room for two columns."""
HIGHLIGHT_LIMIT = 60_000
"""Characters; a longer diff is shown without syntax highlighting."""


class DrawnHunk:
    """One hunk's lines, and where they start in the whole."""

    def __init__(self, hunk: Hunk, top: int, strips: list[Strip]) -> None:
        self.hunk = hunk
        self.top = top
        self.strips = strips


def draw_hunks(
    styler: TextStyler, parts: Sequence[Hunk], path: str, width: int, view: View, header: Callable[[Hunk], Text]
) -> list[DrawnHunk]:
    """`header` returns the line above each hunk."""
    coloured = sum(len(line.text) for hunk in parts for line in hunk.lines) <= HIGHLIGHT_LIMIT
    draw = _split if view == "split" and width >= SPLIT_WIDTH else _unified
    drawn: list[DrawnHunk] = []
    top = 0
    for hunk in parts:
        texts = _texts(hunk, path if coloured else "", styler)
        strips = [*styler.lines(header(hunk), width), *draw(styler, hunk, texts, width)]
        drawn.append(DrawnHunk(hunk, top, strips))
        top += len(strips)
    return drawn


def plain_header(styler: TextStyler) -> Callable[[Hunk], Text]:
    return lambda hunk: Text(hunk.header, style=styler.palette.dim)


# --- the lines of a hunk ---


def _texts(hunk: Hunk, path: str, styler: TextStyler) -> list[Text]:
    """Each line's text, highlighted as part of the old or the new file."""
    old = iter(_coloured([line for line in hunk.lines if line.kind != "+"], path, styler))
    new = iter(_coloured([line for line in hunk.lines if line.kind != "-"], path, styler))
    texts: list[Text] = []
    for line in hunk.lines:
        match line.kind:
            case " ":
                next(old)
                texts.append(next(new))
            case "+":
                texts.append(next(new))
            case "-":
                texts.append(next(old))
    return texts


def _coloured(lines: list[Line], path: str, styler: TextStyler) -> list[Text]:
    shown = [safe(line.text).replace("\n", "⏎") for line in lines]
    lexer = _lexer(path) if path else ""
    if not lexer or not shown:
        return [Text(line) for line in shown]
    from rich.syntax import Syntax

    whole = Syntax("", lexer, theme=styler.code_theme).highlight("\n".join(shown))
    split = whole.split("\n", allow_blank=True)
    plain = [Text(line) for line in shown]
    return [
        _without_background(text) if text.plain == own.plain else own
        for text, own in zip(list(split)[: len(plain)], plain, strict=True)
    ]


def _lexer(path: str) -> str:
    from rich.syntax import Syntax

    name = Syntax.guess_lexer(path)
    return "" if name == "default" else name


def _without_background(text: Text) -> Text:
    """The background shows whether a line is added or removed; code keeps only its text colours."""
    clean = Text(text.plain)
    for span in text.spans:
        style = Style.parse(span.style) if isinstance(span.style, str) else span.style
        clean.stylize(Style(color=style.color, bold=style.bold, italic=style.italic), span.start, span.end)
    return clean


# --- one column ---


def _unified(styler: TextStyler, hunk: Hunk, texts: list[Text], width: int) -> Iterator[Strip]:
    digits = max(len(str(max(line.old or 0, line.new or 0))) for line in hunk.lines)
    for line, text in zip(hunk.lines, texts, strict=True):
        number = str(line.old if line.kind == "-" else line.new).rjust(digits)
        yield from _row(styler, line, number, text, width)


def _row(styler: TextStyler, line: Line, number: str, text: Text, width: int) -> list[Strip]:
    """The gutter, then the text; long text wraps below itself."""
    palette = styler.palette
    colour = {"+": palette.good, "-": palette.bad, " ": palette.dim}[line.kind]
    ground = {"+": palette.added, "-": palette.removed, " ": ""}[line.kind]
    gutter = Text.assemble((f"{number} ", palette.dim), (f"{line.kind} ", colour))
    room = max(width - gutter.cell_len, 8)
    pieces = text.wrap(styler.console, room, overflow="fold", tab_size=4) if text.plain else [Text("")]
    rows: list[Strip] = []
    for place, piece in enumerate(pieces):
        start = gutter if place == 0 else Text(" " * gutter.cell_len)
        whole = Text.assemble(start, piece)
        strip = styler.lines(whole, width)[0]
        rows.append(strip.extend_cell_length(width).apply_style(Style.parse(ground)) if ground else strip)
    return rows


# --- two columns ---


def _split(styler: TextStyler, hunk: Hunk, texts: list[Text], width: int) -> Iterator[Strip]:
    half = (width - 1) // 2
    divider = styler.lines(Text("│", style=styler.palette.dim), 1)[0]
    digits = max(len(str(max(line.old or 0, line.new or 0))) for line in hunk.lines)

    def side(cell: tuple[Line, Text] | None, number: int | None) -> list[Strip]:
        if cell is None:
            return [Strip.blank(half)]
        return [
            strip.extend_cell_length(half) for strip in _row(styler, cell[0], str(number).rjust(digits), cell[1], half)
        ]

    for left, right in _pairs(hunk, texts):
        old = side(left, left[0].old if left else None)
        new = side(right, right[0].new if right else None)
        for one, other in zip_longest(old, new, fillvalue=Strip.blank(half)):
            yield Strip.join([one, divider, other])


Cell = tuple[Line, Text] | None


def _pairs(hunk: Hunk, texts: list[Text]) -> Iterator[tuple[Cell, Cell]]:
    """Removed lines next to the added lines that replace them."""
    removed: list[tuple[Line, Text]] = []
    added: list[tuple[Line, Text]] = []
    for line, text in zip(hunk.lines, texts, strict=True):
        match line.kind:
            case "-":
                removed.append((line, text))
            case "+":
                added.append((line, text))
            case " ":
                yield from zip_longest(removed, added)
                removed, added = [], []
                yield (line, text), (line, text)
    yield from zip_longest(removed, added)
