"""Finds a piece of text in a file and replaces it, literally, whatever the line endings.

It does not access files; errors are return values, and the replace tool words them.
"""

from bisect import bisect_left

from assent.tools.support.textfile import Newline, with_newlines

_NEAR_ENOUGH = 60
_SHOWN_LINES = 20
_COMPARED_LINES = 20_000


def occurrences(text: str, wanted: str) -> int:
    return text.replace("\r\n", "\n").count(wanted.replace("\r\n", "\n"))


def substitute(text: str, wanted: str, new: str, newline: Newline | None) -> str:
    """Every occurrence replaced. New lines get `newline`; the text around them stays unchanged byte for byte."""
    wanted = wanted.replace("\r\n", "\n")
    new = with_newlines(new, newline)
    if "\r\n" not in text:
        return text.replace(wanted, new)
    return _substitute_mapped(text, wanted, new)


def _substitute_mapped(text: str, wanted: str, new: str) -> str:
    """Searches in the text with normalized line endings, cuts in the original text."""
    normal = text.replace("\r\n", "\n")
    returns = _carriage_returns(text)
    pieces: list[str] = []
    done = at = 0
    while (at := normal.find(wanted, at)) >= 0:
        end = at + len(wanted)
        pieces += [text[done : at + bisect_left(returns, at)], new]
        done = end + bisect_left(returns, end)
        at = end
    return "".join([*pieces, text[done:]])


def _carriage_returns(text: str) -> list[int]:
    """Where the two-character line endings are in the text with normalized line endings."""
    places: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        places.append(at - len(places))
        at = text.find("\r\n", at + 2)
    return places


def smallest_change(current: str, edited: str) -> tuple[str, str]:
    """An old and a new piece that turn one text into the other, where the old one occurs exactly once.

    Whole lines: common lines are left out, then context is added until the old piece is unique.
    """
    old, new = current.splitlines(keepends=True), edited.splitlines(keepends=True)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    context = 0
    while True:
        start, stop = max(head - context, 0), min(len(old) - tail + context, len(old))
        piece = "".join(old[start:stop])
        if (start, stop) == (0, len(old)) or _only_at(current, piece, sum(map(len, old[:start]))):
            return piece, "".join(new[start : len(new) - (len(old) - stop)])
        context = context * 2 + 1


def _only_at(text: str, piece: str, place: int) -> bool:
    """Overlapping occurrences count too: the first one would be replaced."""
    return bool(piece) and text.find(piece) == place and text.find(piece, place + 1) < 0


def _shared(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def nearest(text: str, wanted: str) -> str:
    """The lines of the text that look most like the missing one, with their numbers; empty if there are none."""
    lines = text.splitlines()[:_COMPARED_LINES]
    sought = [line for line in wanted.splitlines() if line.strip()]
    if not lines or not sought:
        return ""
    at = _best_line(lines, sought)
    if at < 0:
        return ""
    shown = lines[at : at + min(len(wanted.splitlines()), _SHOWN_LINES)]
    return "\n".join(f"{number}: {line}" for number, line in enumerate(shown, at + 1))


def _best_line(lines: list[str], sought: list[str]) -> int:
    """The position of the first sought line, ignoring whitespace; else the line most like it."""
    stripped = [line.strip() for line in lines]
    first = sought[0].strip()
    if first in stripped:
        return stripped.index(first)
    from rapidfuzz import fuzz, process

    best = process.extractOne(first, stripped, scorer=fuzz.ratio, score_cutoff=_NEAR_ENOUGH)
    return best[2] if best else -1
