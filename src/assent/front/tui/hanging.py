"""Wraps indented lines so that what follows stays below its own line, not in the first column."""

from collections.abc import Iterator

from textual.content import Content

HANG = 2


def hanging(content: Content, width: int) -> list[Content]:
    return [part for line in content.split("\n", allow_blank=True) for part in _wrapped(line, width)]


def _wrapped(line: Content, width: int) -> Iterator[Content]:
    parts = line.wrap(width)
    indent = len(line.plain) - len(line.plain.lstrip(" "))
    if len(parts) < 2 or not indent:
        yield from parts
        return
    first, rest = _halves(line, parts[0], indent)
    hang = min(indent + HANG, width // 2)
    yield first
    yield from (part.pad_left(hang) for part in rest.wrap(width - hang))


def _halves(line: Content, first: Content, indent: int) -> tuple[Content, Content]:
    """The first row, and what is left without the blanks between them. A row of blanks alone would say nothing."""
    end = len(first.plain)
    if end <= indent:
        return line[:end], line[indent:]
    left = line.plain[end:]
    return first, line[end + len(left) - len(left.lstrip(" ")) :]
