"""What a double or triple click selects in a line. Pure."""

import re

_WORD = re.compile(r"[^\s\"'`()\[\]{}<>|,;│┃▌]+")
"""Paths, options and addresses are words too, as in terminals."""
_ENDS = ".:!?…"
"""Belongs to the sentence, not to its last word."""

_BEGINNING = re.compile(r"\s*(?:[❯✦│▌┃]\s+)?")

Range = tuple[int, int]


def word_at(line: str, place: int) -> Range | None:
    """None between words."""
    for found in _WORD.finditer(line):
        if found.start() <= place < found.end():
            return found.start(), found.start() + len(found[0].rstrip(_ENDS) or found[0])
    return None


def line_in(line: str) -> Range | None:
    """Without the spaces around it and the mark before it; None if there is nothing else."""
    text = line.rstrip()
    start = _BEGINNING.match(text)
    first = start.end() if start is not None else 0
    return (first, len(text)) if first < len(text) else None
