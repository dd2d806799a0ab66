"""Breaks prose between words, because a terminal breaks it anywhere."""

from unicodedata import combining, east_asian_width


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this many cells; the further ones are indented a little more. A word that is too long is left to
    the terminal, and so is everything if the width is 0.
    """
    if not width or cells(text) <= width:
        return [text]
    begin = text[: len(text) - len(text.lstrip())]
    first, *words = text.lstrip().split(" ")
    lines = [begin + first]
    for word in words:
        longer = f"{lines[-1]} {word}"
        if cells(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(f"{begin}  {word}")
    return lines


def cells(text: str) -> int:
    """How wide it is on a terminal. Colours take no space."""
    if "\x1b" in text:
        first, *rest = text.split("\x1b[")
        text = "".join((first, *(part.partition("m")[2] for part in rest)))
    return len(text) if text.isascii() else sum(map(cell, text))


def cell(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
