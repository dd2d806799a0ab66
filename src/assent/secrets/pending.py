"""Where in a text the beginning of a secret may be whose end has not arrived yet.

Holds back too often rather than too seldom while a word is open, but never what a prompt ends with: the end of a word,
a question mark, a bracket. The first letters of a known value alone say nothing, and reveal nothing.
"""

import re

from assent.secrets.secret_search import ESCAPE, Known, find_secrets
from assent.secrets.token_shapes import hints

_LINE = 1_000
_TELLING = 4
"""This many letters of a known value may be its beginning; fewer may be anything, and reveal nothing."""
_LONG = 16
_OPEN_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b\n]{0,200})?\Z")
_OPEN_KEY = re.compile(r"-----(?:B(?:E(?:G(?:I(?:N(?: [A-Z ]{0,40}-{0,5})?)?)?)?)?)?\Z")
_WORD = re.compile(r"[\w+/=.~%:@$-]+\Z", re.ASCII)
_GOES_ON = "a1B2c3D4e5F6g7H8i9J0" * 3
"""A text that would turn what looks like the beginning of a secret into one."""


def pending(text: str, known: Known) -> int:
    """From where on the text should be held back; its length if nothing is pending."""
    start = max(text.rfind("\n") + 1, text.rfind("\r") + 1, len(text) - _LINE)
    line = text[start : start + _escape(text[start:])]  # what follows half a colour sequence is unknown, too
    return start + min(_key(line), _word(line), _named(line), _known(line, known)) if line else start


def _escape(line: str) -> int:
    found = _OPEN_ESCAPE.search(line)
    return found.start() if found else len(line)


def _key(line: str) -> int:
    found = _OPEN_KEY.search(ESCAPE.sub("", line))
    return line.find("-----") if found else len(line)


def _word(line: str) -> int:
    """The last word, if it contains a provider's prefix, or is long and looks random."""
    found = _WORD.search(ESCAPE.sub("", line))
    if found is None:
        return len(line)
    word = found[0]
    by_chance = len(word) >= _LONG and any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    if not by_chance and not any(hint in word for hint in hints()):
        return len(line)
    return max(line.rfind(" "), line.rfind("\t")) + 1


def _named(line: str) -> int:
    """The unfinished value after a name that indicates a secret."""
    return min(_going_on(line, _GOES_ON + quote) for quote in ("", '"', "'") if quote in line)


def _going_on(line: str, end: str) -> int:
    spans = find_secrets(line + end)
    return next((span.start for span in spans if span.start < len(line) < span.end), len(line))


def _known(line: str, known: Known) -> int:
    plain = ESCAPE.sub("", line)
    longest = max((_shared(plain, value) for value, _ in known), default=0)
    if not longest:
        return len(line)
    return len(line) - longest if plain == line else 0


def _shared(text: str, value: str) -> int:
    """How many letters of the value the text ends with, if they are enough to tell."""
    sizes = range(min(len(value) - 1, len(text)), _TELLING - 1, -1)
    return next((size for size in sizes if text.endswith(value[:size])), 0)
