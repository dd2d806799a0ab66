"""A unified diff as data: hunks with numbered lines, and the text that results if only some of them are accepted.

Pure text. Every client shows these hunks and may answer with their numbers. It may also split them further, and answer
with the text that results.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

LineKind = Literal[" ", "+", "-"]
_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_NEWLINE = "\\ No newline at end of file"


class Line(Struct, frozen=True, gc=False, omit_defaults=True):
    kind: LineKind
    text: str
    old: int | None = None
    """Its number in the old text, from 1; None for an added line."""
    new: int | None = None
    ends: bool = True
    """False for a last line without a newline."""


class Hunk(Struct, frozen=True, gc=False):
    number: int
    """From 0, as used in an answer."""
    header: str
    old_from: int
    """The first of its lines in the old text, from 0."""
    lines: tuple[Line, ...]

    @property
    def added(self) -> int:
        return sum(line.kind == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind == "-" for line in self.lines)


class BadHunks(ValueError):
    """The choice is invalid; the message says why."""


def hunks(diff: str) -> tuple[Hunk, ...]:
    """The hunks of a diff as our tools write it."""
    blocks: list[list[str]] = []
    for line in diff.split("\n"):
        if _HEADER.match(line):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    return tuple(_hunk(number, block) for number, block in enumerate(blocks))


def _hunk(number: int, block: list[str]) -> Hunk:
    found = _HEADER.match(block[0])
    assert found is not None
    old, old_length, new = int(found[1]), int(found[2] or 1), int(found[3])
    return Hunk(number, block[0], old - 1 if old_length else old, tuple(_numbered(block[1:], old, new)))


def _numbered(block: list[str], old: int, new: int) -> Iterator[Line]:
    for place, line in enumerate(block):
        ends = block[place + 1 : place + 2] != [_NO_NEWLINE]
        match line[:1]:
            case "+":
                yield Line("+", line[1:], None, new, ends)
                new += 1
            case "-":
                yield Line("-", line[1:], old, None, ends)
                old += 1
            case " ":
                yield Line(" ", line[1:], old, new, ends)
                old, new = old + 1, new + 1
            case _:
                continue  # the marker of a missing newline, or what follows the last hunk


def accept(old: str, new: str, diff: str, chosen: Iterable[int]) -> str:
    """The old text with only the chosen hunks applied. Line endings stay those of the old text."""
    return accept_parts(old, new, hunks(diff), chosen)


def accept_parts(old: str, new: str, parts: Sequence[Hunk], chosen: Iterable[int]) -> str:
    """The same for these hunks of the diff, some of which may have been split."""
    wanted = set(chosen)
    if unknown := wanted - set(range(len(parts))):
        raise BadHunks(f"there is no hunk {min(unknown)}: this change has hunks 0 to {len(parts) - 1}")
    if not wanted:
        raise BadHunks("no hunk is chosen; to reject the whole change, say no")
    if len(wanted) == len(parts):
        return new
    return "".join(_spliced(old, [part for part in parts if part.number in wanted]))


def can_split(hunk: Hunk) -> bool:
    return len(_cuts(hunk)) > 0


def split(parts: Sequence[Hunk], number: int) -> tuple[Hunk, ...]:
    """With this hunk in pieces, one for each run of changed lines; all are numbered anew."""
    pieces = (piece for part in parts for piece in (_pieces(part) if part.number == number else [part]))
    return tuple(replace(piece, number=place) for place, piece in enumerate(pieces))


def _cuts(hunk: Hunk) -> list[int]:
    """The lines at which a piece begins, except the first: in the middle of what is unchanged between two changes.

    It is an unchanged line, so it says where the piece is, and every line belongs to exactly one piece.
    """
    changed = [place for place, line in enumerate(hunk.lines) if line.kind != " "]
    return [(before + 1 + after) // 2 for before, after in pairwise(changed) if after > before + 1]


def _pieces(hunk: Hunk) -> Iterator[Hunk]:
    places = [0, *_cuts(hunk), len(hunk.lines)]
    for start, end in pairwise(places):
        lines = hunk.lines[start:end]
        old_from = hunk.old_from + sum(line.kind != "+" for line in hunk.lines[:start])
        yield Hunk(hunk.number, _header(lines, old_from), old_from, lines)


def _header(lines: Sequence[Line], old_from: int) -> str:
    olds = sum(line.kind != "+" for line in lines)
    news = [line.new for line in lines if line.new is not None]
    old_start = old_from + 1 if olds else old_from
    return f"@@ -{old_start},{olds} +{news[0] if news else 0},{len(news)} @@"


def _spliced(old: str, parts: list[Hunk]) -> Iterator[str]:
    ending = "\r\n" if "\r\n" in old else "\n"
    lines = old.split("\n")
    before = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    at = 0
    for part in parts:
        yield from before[at : part.old_from]
        at = part.old_from + sum(line.kind != "+" for line in part.lines)
        kept = iter(before[part.old_from : at])
        for line in part.lines:
            match line.kind:
                case "+":
                    yield line.text + (ending if line.ends else "")
                case "-":
                    next(kept)
                case " ":
                    yield next(kept)
    yield from before[at:]
