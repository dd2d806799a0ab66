"""Breaks prose between words, because a terminal breaks it anywhere."""

from unicodedata import combining, east_asian_width


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this many cells; the further ones are indented a little more. A word that is too long is left to
    the terminal, and so is everything if the width is 0.
    """
    if not width or cells(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    lines, line = list[str](), ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line.strip() and cells(longer) > width:
            lines.append(line)
            line = indent + word
        else:
            line = longer if line else " " * (word == "") + word
    return [*lines, line]


def cells(text: str) -> int:
    """How wide it is on a terminal."""
    return len(text) if text.isascii() else sum(map(cell, text))


def cell(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
