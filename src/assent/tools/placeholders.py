"""Finds lines like `// rest of the code ...`, by which a model leaves out what it should have written.

Only whole lines count: inside a string or behind code the words are somebody's own.
"""

import re
from functools import cache

_OPEN = r"(?://+|#+|/\*+|\*|<!--|--|;+|%+|\{/\*)?\s*[(\[]?\s*"
_CLOSE = r"\s*[)\]]?\s*(?:\*/\}?|-->)?\s*"
_DOTS = r"(?:\.\.\.|…)"
_THINGS = (
    r"(?:code|file|files|class|classes|methods?|functions?|implementations?|content|contents|lines?|imports?|logic"
    r"|body|section|sections|tests?|cases?|fields?|properties|definitions?|parts?)"
)
_PHRASE = (
    rf"(?:the\s+)?(?:rest\s+of(?:\s+[\w']+){{1,5}}"
    rf"|(?:remaining|unchanged|existing|previous|other|same)(?:\s+[\w']+){{0,3}}?\s+{_THINGS}(?:\s+[\w']+){{0,4}}"
    rf"|{_THINGS}(?:\s+[\w']+){{0,3}}?\s+(?:unchanged|omitted|remains?(?:\s+the\s+same)?|stays?(?:\s+the\s+same)?))"
)
_PLACEHOLDER = rf"^{_OPEN}(?:{_DOTS}\s*[(\[]?\s*{_PHRASE}\s*{_DOTS}?|{_PHRASE}\s*{_DOTS}){_CLOSE}$"
_HINT = re.compile(r"\.\.\.|…")


@cache
def _placeholder() -> re.Pattern[str]:
    """Compiled at its first use: it takes 3 ms, and every start of Assent would pay them."""
    return re.compile(_PLACEHOLDER, re.IGNORECASE)


def placeholders(text: str, known: str = "") -> list[str]:
    """The lines of the text that stand for something left out, except those that were in `known` already."""
    if not _HINT.search(text):
        return []
    found = [line.strip() for line in text.splitlines() if _HINT.search(line) and _placeholder().match(line.strip())]
    there = {line.strip() for line in known.splitlines()} if found else set[str]()
    return [line for line in found if line not in there]
