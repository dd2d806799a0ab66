"""How replies are read as Markdown. HTML is text: a model that writes `Promise<void>` means these letters, and a
renderer that drops tags would hide them.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@cache
def markdown_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
