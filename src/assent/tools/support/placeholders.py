"""Finds lines like `// rest of the code ...`, with which a model leaves out what it should have written.

Only whole lines count: in a string or after code the words may be intended. The mark of a masked secret counts
anywhere: written into a file, it would replace the secret.
"""

import re
from functools import cache

from assent.secrets.mask import OPENING

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
_WHOLE_LINE = rf"{_OPEN}(?:{_DOTS}\s*[(\[]?\s*{_PHRASE}\s*{_DOTS}?|{_PHRASE}\s*{_DOTS}){_CLOSE}"
_HINT = re.compile(r"\.\.\.|…")


@cache
def _placeholder() -> re.Pattern[str]:
    """Compiled when first needed: that takes longer than the rest of the module."""
    return re.compile(_WHOLE_LINE, re.IGNORECASE)


def placeholders(text: str, known: str = "") -> list[str]:
    """The lines of the text that stand for omitted text, except those that were already in `known`."""
    if not (OPENING in text or _HINT.search(text)):
        return []
    found = [line.strip() for line in text.splitlines() if _leaves_out(line.strip())]
    there = {line.strip() for line in known.splitlines()} if found else set[str]()
    return [line for line in found if line not in there]


def _leaves_out(line: str) -> bool:
    return OPENING in line or (_HINT.search(line) is not None and _placeholder().fullmatch(line) is not None)
