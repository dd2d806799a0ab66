"""The difference between two texts, for people (unified diff) and for the model (the changed lines).

The cost is bounded: common lines at the beginning and the end are removed first, and a middle that would take too long
to compare counts as replaced. A diff may therefore be longer than needed, but it is never wrong.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from assent.parts import DiffDisplay

CONTEXT = 3
_PAIRS = 500_000
"""Maximum number of pairs of equal lines to compare: their number dominates the cost,"""
_LINES = 40_000
"""followed by the number of lines."""


class Change(Struct, frozen=True):
    """Lines `old_from:old_to` became lines `new_from:new_to`, counting from 0."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


class Diff(Struct, frozen=True):
    text: str
    added: int
    removed: int
    changes: tuple[Change, ...]

    def display(self, path: str) -> DiffDisplay:
        return DiffDisplay(path, self.text, self.added, self.removed)


def diff(path: str, old: str | None, new: str) -> Diff:
    """`old` is None for a file that does not exist. Line endings are not compared: they are kept."""
    before, after = _lines(old or ""), _lines(new)
    changes = tuple(_changes(before, after))
    names = ("/dev/null" if old is None else f"a/{path}", f"b/{path}")
    hunks = [line for group in _groups(changes) for line in _hunk(group, before, after)]
    text = "\n".join((f"--- {names[0]}", f"+++ {names[1]}", *hunks, "")) if hunks else ""
    added = sum(change.new_to - change.new_from for change in changes)
    removed = sum(change.old_to - change.old_from for change in changes)
    return Diff(text, added, removed, changes)


def changed_lines(new: str, changes: Sequence[Change], context: int = 5, limit: int = 60) -> str:
    """The new text around the changes, as it is now in the file, with line numbers."""
    lines = _lines(new)
    pieces: list[str] = []
    for group in _groups(changes, context):
        first = max(group[0].new_from - context, 0)
        last = min(group[-1].new_to + context, len(lines))
        shown = [line.removesuffix(_NO_NEWLINE) for line in lines[first : min(last, first + limit)]]
        more = f"\n… ({last - first - limit} more lines)" if last - first > limit else ""
        pieces.append(f"Lines {first + 1}-{last} now read:\n" + "\n".join(shown) + more)
    rest = f"\n… and {len(pieces) - 5} more places" if len(pieces) > 5 else ""
    return "\n".join(pieces[:5]) + rest


_NO_NEWLINE = "\n\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    """A last line without a newline differs from one with it, and the diff says so."""
    if not text:
        return []
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1]:
        lines[-1] += _NO_NEWLINE
    else:
        lines.pop()
    return lines


def _changes(old: list[str], new: list[str]) -> Iterator[Change]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    before, after = old[head:old_end], new[head:new_end]
    if not before and not after:
        return
    if len(before) + len(after) > _LINES or _equal_pairs(before, after) > _PAIRS:
        yield Change(head, old_end, head, new_end)
    else:
        yield from _compared(before, after, head)


def _equal_pairs(old: list[str], new: list[str]) -> int:
    counts: dict[str, int] = {}
    for line in old:
        counts[line] = counts.get(line, 0) + 1
    return sum(counts.get(line, 0) for line in new)


def _compared(old: list[str], new: list[str], offset: int) -> Iterator[Change]:
    if not old or not new:
        yield Change(offset, offset + len(old), offset, offset + len(new))
        return
    from difflib import SequenceMatcher

    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Change(i1 + offset, i2 + offset, j1 + offset, j2 + offset)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _groups(changes: Sequence[Change], context: int = CONTEXT) -> list[list[Change]]:
    """Changes that are so close together that their contexts touch."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change.old_from - groups[-1][-1].old_to <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[Change], old: list[str], new: list[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first.old_from)
    trail = min(CONTEXT, len(old) - last.old_to)
    old_range = _range(first.old_from - lead, last.old_to + trail)
    new_range = _range(first.new_from - lead, last.new_to + trail)
    yield f"@@ -{old_range} +{new_range} @@"
    at = first.old_from - lead
    for change in group:
        yield from (f" {line}" for line in old[at : change.old_from])
        yield from (f"-{line}" for line in old[change.old_from : change.old_to])
        yield from (f"+{line}" for line in new[change.new_from : change.new_to])
        at = change.old_to
    yield from (f" {line}" for line in old[at : at + trail])


def _range(start: int, end: int) -> str:
    """The format of diff: from 1, the count only if it is not one, an empty range by the line before it."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"
