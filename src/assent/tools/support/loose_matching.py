"""Finds lines that differ from the wanted ones only in indentation or trailing whitespace, in exactly one place.

Models often remember a passage without its exact whitespace. The replacement gets the indentation of the file, and only
if that follows from the lines that were found; it is never guessed. It does not access files.
"""

from itertools import pairwise

from msgspec import Struct

from assent.tools.support.textfile import Newline, with_newlines

Indents = dict[str, str]
"""From the indentation that the model wrote to the one in the file."""


class _Place(Struct, frozen=True):
    first: int
    """The number of its first line, from 0."""
    indents: Indents


def substitute_loosely(text: str, wanted: str, new: str, newline: Newline | None) -> str | None:
    """The text with the one passage replaced; None if there is none, several, or its indentation does not fit."""
    lines, wanted_lines = text.split("\n"), _lines(wanted)
    found = [first for first in _candidates(lines, wanted_lines) if _is_same(lines, first, wanted_lines)]
    if len(found) != 1:
        return None
    place = _Place(found[0], _indents(lines, found[0], wanted_lines))
    written = _reindented(_lines(new), place.indents) if _is_consistent(lines, place, wanted_lines) else None
    if written is None:
        return None
    stop = place.first + len(wanted_lines)
    ending = "\r" if stop < len(lines) and lines[stop - 1].endswith("\r") else ""
    passage = [with_newlines("\n".join(written), newline) + ending] if written else []
    return "\n".join([*lines[: place.first], *passage, *lines[stop:]])


def _lines(text: str) -> list[str]:
    """A newline at the end ends the last line; it does not begin another one."""
    normal = text.replace("\r\n", "\n")
    return normal.removesuffix("\n").split("\n") if normal else []


def _candidates(lines: list[str], wanted: list[str]) -> list[int]:
    """Where the first line that says something stands; without one there is nothing to find."""
    said = next((at for at, line in enumerate(wanted) if line.strip()), None)
    if said is None:
        return []
    places = (at - said for at, line in enumerate(lines) if line.strip() == wanted[said].strip())
    return [first for first in places if 0 <= first <= len(lines) - len(wanted)]


def _is_same(lines: list[str], first: int, wanted: list[str]) -> bool:
    return all(lines[first + at].strip() == line.strip() for at, line in enumerate(wanted))


def _indents(lines: list[str], first: int, wanted: list[str]) -> Indents:
    return {_indent(line): _indent(lines[first + at]) for at, line in enumerate(wanted) if line.strip()}


def _is_consistent(lines: list[str], place: _Place, wanted: list[str]) -> bool:
    """The same indentation always means the same one in the file, and a deeper one never means a shallower one."""
    here = ((_indent(line), _indent(lines[place.first + at])) for at, line in enumerate(wanted) if line.strip())
    if any(place.indents[mine] != theirs for mine, theirs in here):
        return False
    ordered = [place.indents[mine] for mine in sorted(place.indents, key=len)]
    return all(one != other and other.startswith(one) for one, other in pairwise(ordered))


def _reindented(new: list[str], indents: Indents) -> list[str] | None:
    written: list[str] = []
    for line in new:
        indent = _translated(_indent(line), indents) if line.strip() else ""
        if indent is None:
            return None
        written.append(indent + line.lstrip() if line.strip() else "")
    return written


def _translated(indent: str, indents: Indents) -> str | None:
    """A deeper indentation continues the nearest known one, in the file's units where those are known."""
    if indent in indents:
        return indents[indent]
    known = [one for one in indents if indent.startswith(one)]
    if not known:
        return _less(indent, indents)
    nearest = max(known, key=len)
    return indents[nearest] + _in_units(indent[len(nearest) :], indents)


def _less(indent: str, indents: Indents) -> str | None:
    """Shallower than anything known: the file's indentation is longer or shorter by the same amount."""
    mine, theirs = min(indents.items(), key=lambda pair: len(pair[0]))
    cut = mine[len(indent) :]
    if not mine.startswith(indent) or not theirs.endswith(cut):
        return None
    return theirs[: len(theirs) - len(cut)]


def _in_units(more: str, indents: Indents) -> str:
    """One step deeper in the model's text is one step deeper in the file, where both show how long a step is."""
    steps = [(mine, theirs) for mine, theirs in _steps(indents) if more == mine * (len(more) // len(mine))]
    if not steps:
        return more
    mine, theirs = steps[0]
    return theirs * (len(more) // len(mine))


def _steps(indents: Indents) -> list[tuple[str, str]]:
    ordered = sorted(indents.items(), key=lambda pair: len(pair[0]))
    return [
        (deeper[len(mine) :], their_deeper[len(theirs) :])
        for (mine, theirs), (deeper, their_deeper) in pairwise(ordered)
        if deeper.startswith(mine) and their_deeper.startswith(theirs)
    ]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
