"""Which characters a command may contain, and how to show a suspicious one.

Looks at single characters only; knows no shell grammar.
"""

import unicodedata

from assent.lazy_pattern import lazy_pattern

_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_NOT_ASCII = lazy_pattern(r"[^\x00-\x7f]")
# Letters, marks, numbers, punctuation and symbols are visible; everything else is invisible or looks like a space.
_VISIBLE = frozenset("LMNPS")
# Visible by category, but drawn as nothing: fillers and variation selectors.
_BLANK_LETTERS = lazy_pattern("[\u115f\u1160\u3164\uffa0\u034f\ufe00-\ufe0f\u17b4\u17b5\u2800\U000e0100-\U000e01ef]")


def hidden(text: str) -> list[str]:
    """Names of the characters in `text` that are invisible or look like a space, each once."""
    found = _CONTROL.findall(text)
    if not text.isascii():
        found += [one for one in dict.fromkeys(_NOT_ASCII.findall(text)) if _invisible(one)]
    return list(map(name, dict.fromkeys(found)))


def _invisible(one: str) -> bool:
    return unicodedata.category(one)[0] not in _VISIBLE or _BLANK_LETTERS.match(one) is not None


def name(one: str) -> str:
    """The visible form of a character that must not be printed: `<U+00A0>`."""
    return f"<U+{ord(one):04X}>"
