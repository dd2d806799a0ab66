"""Turns anything Rich can render into lines for a Textual widget, in the colours of one palette.

All untrusted text goes through `safe`, here or earlier; nothing is ever read as markup.
"""

import re
from functools import cached_property
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from assent.app.wording import safe
from assent.front.tui.markdown_parser import markdown_parser
from assent.front.tui.themes import Palette

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.syntax import SyntaxTheme

    from assent.front.tui.ansi_style import Run
    from assent.screen import Context


_LANGUAGE = re.compile(r"(?<=```)[\w+#.-]{1,20}$", re.MULTILINE)
"""Of a block of code: it is not shown, and says nothing that one has to know."""
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")


def plain(text: str, context: "Context" = "prompt") -> str:
    """Safe text without the colours that output may have."""
    return _COLOURS.sub("", safe(text, context))


class TextStyler:
    def __init__(self, palette: Palette) -> None:
        self.palette = palette

    @cached_property
    def console(self) -> Console:
        from io import StringIO

        from rich.theme import Theme

        return Console(
            file=StringIO(),
            force_terminal=True,
            color_system="truecolor",
            theme=Theme(self.palette.styles()),
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )

    @cached_property
    def code_theme(self) -> "SyntaxTheme":
        """The syntax highlighting; without one, only the background marks code."""
        from rich.syntax import ANSISyntaxTheme, Syntax

        if self.palette.code_theme:
            return Syntax.get_theme(self.palette.code_theme)
        theme = ANSISyntaxTheme({})
        theme._background_style = Style.parse(self.palette.shade)  # pyright: ignore[reportPrivateUsage]
        return theme

    def lines(self, renderable: "RenderableType", width: int) -> list[Strip]:
        options = self.console.options.update(width=max(width, 1), height=None, highlight=False)
        rows = self.console.render_lines(renderable, options, pad=False)
        return [Strip(row) for row in rows]

    def text(
        self, content: str, style: str | Style = "", width: int = 80, *, context: "Context" = "prompt"
    ) -> list[Strip]:
        """Untrusted text, wrapped."""
        return self.lines(Text(plain(content, context), style=style, overflow="fold"), width)

    def terminal(self, content: str, width: int) -> list[Strip]:
        """Output of a program with its colours; no other terminal sequence has any effect."""
        from assent.front.tui.ansi_style import ansi_lines

        text = safe(content, "terminal").replace("\r\n", "\n")
        return [strip for runs in ansi_lines(text, self.palette) for strip in self._fitted(runs, width)]

    def _fitted(self, runs: "list[Run]", width: int) -> list[Strip]:
        """One line of output, wrapped if it must be. Most lines fit, and output has many: those are not measured."""
        plain = "".join(text for text, _ in runs)
        if plain.isascii() and len(plain) <= width and "\t" not in plain:
            return [Strip([Segment(*run) for run in runs], len(plain))]
        return self.lines(Text.assemble(*runs, overflow="fold"), width)

    def markdown(self, content: str, width: int) -> list[Strip]:
        from rich.markdown import Markdown

        block = Markdown("", hyperlinks=False)
        block.parsed = markdown_parser().parse(plain(content, "output"))
        block.code_theme = self.code_theme  # pyright: ignore[reportAttributeAccessIssue] (a theme works as well as a name)
        return _without_gaps(self.lines(block, width))

    def prose(self, content: str, width: int) -> list[Strip]:
        """Markdown that someone decides about: as it was written, if not every letter of it would be shown."""
        shown = plain(content)
        drawn = self.markdown(shown, width)
        complete = _letters("".join(strip.text for strip in drawn)) == _letters(_LANGUAGE.sub("", shown))
        return drawn if complete else self.text(content, "", width)

    def inline(self, content: str) -> Text:
        """The same on one line."""
        shown = " ".join(plain(content).split())
        drawn, styles = Text(overflow="fold"), list[str]()
        for token in markdown_parser().parseInline(shown)[0].children or ():
            if token.nesting > 0:
                styles.append(f"markdown.{token.tag}")
            elif token.nesting < 0:
                styles.pop()
            names = [*styles, *([f"markdown.{token.tag}"] if token.tag == "code" else [])]
            drawn.append(token.content, sum((self.console.get_style(name, default="") for name in names), Style()))
        return drawn if _letters(drawn.plain) == _letters(shown) else Text(shown, overflow="fold")


def _letters(text: str) -> list[str]:
    """What must not be lost; `_` is part of names, and `\\` and `~` are parts of paths."""
    return [character for character in text if character.isalnum() or character in "_\\~"]


def indented(strips: list[Strip], by: int, mark: str = "", style: str = "") -> list[Strip]:
    """All lines indented, the first one after `mark`."""
    first = Segment(mark.ljust(by), Style.parse(style) if style else None)
    rest = Segment(" " * by)
    return [Strip([rest if place else first, *strip]) for place, strip in enumerate(strips)]


def barred(strips: list[Strip], style: str, bar: str = "│ ") -> list[Strip]:
    """All lines behind a vertical bar: they belong to what is above."""
    segment = Segment(bar, Style.parse(style))
    return [Strip([segment, *strip]) for strip in strips]


def shaded(strips: list[Strip], width: int, style: str) -> list[Strip]:
    """On their own background, to the full width."""
    ground = Style.parse(style)
    return [strip.extend_cell_length(width).apply_style(ground) for strip in strips]


def ends(left: Text, right: Text, width: int, styler: TextStyler) -> Strip:
    """One line: `left` on the left, cut if necessary, and `right` at the right end."""
    room = max(width - right.cell_len - 1, 1)
    fitted = left.copy()
    fitted.truncate(room, overflow="ellipsis")
    gap = Text(" " * max(width - fitted.cell_len - right.cell_len, 1))
    whole = Text.assemble(fitted, gap, right, no_wrap=True, overflow="crop")
    return styler.lines(whole, width)[0]


def _without_gaps(strips: list[Strip]) -> list[Strip]:
    """At most one blank line between blocks, and none around them."""
    kept: list[Strip] = []
    for strip in strips:
        if not _is_blank(strip) or (kept and not _is_blank(kept[-1])):
            kept.append(strip)
    return kept[:-1] if kept and _is_blank(kept[-1]) else kept


def _is_blank(strip: Strip) -> bool:
    """Whether nothing is visible; a blank line of code has a background."""
    return not any(segment.text.strip() or (segment.style and segment.style.bgcolor) for segment in strip)
