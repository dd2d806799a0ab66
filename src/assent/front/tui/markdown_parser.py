"""How replies are read as Markdown, in step with the page (`markdown.js`).

HTML is text: a model that writes `Promise<void>` means these letters, and a renderer that drops tags would hide them.
A line break stays one: models write addresses, steps and verses as lines. Only the entities of prose are read; a
numeric one could hide again what was made visible.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " "}
_ENTITY = re.compile("|".join(_ENTITIES))


@cache
def markdown_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
    parser.inline.ruler.at("entity", _entity)
    parser.core.ruler.push("lines", _keep_lines)
    return parser


def _entity(state: "StateInline", silent: bool) -> bool:
    found = _ENTITY.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("text_special", "", 0).content = _ENTITIES[found[0]]
    state.pos = found.end()
    return True


def _keep_lines(state: "StateCore") -> None:
    for block in state.tokens:
        for token in block.children or ():
            if token.type == "softbreak":
                token.type = "hardbreak"
