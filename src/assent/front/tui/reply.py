"""A growing reply: finished blocks of Markdown are drawn once, only the last one is redrawn.

Drawing costs as much as the last block, however long the reply is.
"""

from textual.strip import Strip

from assent.front.tui.markdown_parser import markdown_parser
from assent.front.tui.text_style import TextStyler, indented


def last_block(text: str) -> int:
    """Where the last block starts. Everything before it stays the same, whatever is added at the end.

    Only whole lines count: an incomplete one may look like a block of its own, as a `*` does before it becomes bold.
    """
    whole = text[: text.rfind("\n") + 1]
    tokens = markdown_parser().parse(whole)
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    if len(starts) < 2:
        return 0
    lines = whole.split("\n")
    return sum(len(line) + 1 for line in lines[: starts[-1]])


class GrowingReply:
    """The lines of one reply at one width, after a mark."""

    def __init__(self, styler: TextStyler, width: int, mark: str = "✦") -> None:
        self._styler = styler
        self._width = width
        self._mark = mark
        self._settled: list[Strip] = []
        self._settled_until = 0

    def lines(self, text: str) -> list[Strip]:
        tail = text[self._settled_until :]
        cut = last_block(tail)
        if cut:
            self._settled += self._block(tail[:cut])
            self._settled_until += cut
        return [*self._settled, *self._block(tail[cut:])]

    def _block(self, text: str) -> list[Strip]:
        """With a blank line above it, unless it is the first."""
        strips = self._styler.markdown(text, self._width - 2)
        if not self._settled:
            return indented(strips, 2, self._mark, self._styler.palette.accent)
        return [Strip([]), *indented(strips, 2)] if strips else []
