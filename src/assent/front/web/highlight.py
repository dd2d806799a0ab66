"""A change for the page: its hunks, with every line split into pieces by colour.

The classes are few and our own (`tk` keyword, `ts` string, …), so that the look is the page's business. Hidden
characters are made visible first; such a line has no colours. It knows no request and no session.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from assent.app.wording import safe
from assent.hunks import Hunk, Line, LineKind, hunks

MAX_HIGHLIGHTED = 100_000
"""Characters; a longer hunk is not highlighted."""

MAX_CACHED = 8_000
"""Characters; a longer change is not cached."""

Piece = tuple[str, str]
"""The colour class ("" for none) and the text."""

TokenKind = tuple[str, ...]
"""Pygments' kinds are tuples: `("Keyword", "Type")` is a kind of `("Keyword",)`."""

_CLASSES: tuple[tuple[TokenKind, str], ...] = (
    (Comment, "tc"),
    (Keyword.Type, "tb"),
    (Keyword, "tk"),
    (Operator.Word, "tk"),
    (String, "ts"),
    (Number, "tm"),
    (Name.Function, "tf"),
    (Name.Class, "tf"),
    (Name.Decorator, "tf"),
    (Name.Tag, "tk"),
    (Name.Builtin, "tb"),
)


class ShownLine(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A line of a diff; `text` is exact, `pieces` are safe to show."""

    kind: LineKind
    text: str
    pieces: tuple[Piece, ...]
    old: int | None = None
    new: int | None = None
    ends: bool = True


class ShownHunk(Struct, frozen=True, gc=False):
    number: int
    header: str
    old_from: int
    lines: tuple[ShownLine, ...]


def shown_hunks(diff: str, path: str) -> tuple[ShownHunk, ...]:
    name = path.rpartition("/")[2]
    return _remembered(diff, name) if len(diff) <= MAX_CACHED else _shown(diff, name)


def highlighted(parts: Sequence[Hunk], path: str) -> tuple[ShownHunk, ...]:
    lexer = _lexer(path.rpartition("/")[2])
    return tuple(
        ShownHunk(hunk.number, safe(hunk.header, "label"), hunk.old_from, tuple(_lines(hunk, lexer))) for hunk in parts
    )


def _shown(diff: str, name: str) -> tuple[ShownHunk, ...]:
    return highlighted(hunks(diff), name)


_remembered = lru_cache(200)(_shown)
"""Waiting approvals are requested again and again, and stay the same."""


def _lines(hunk: Hunk, lexer: Lexer | None) -> Iterator[ShownLine]:
    """Both sides are highlighted as whole texts, so that a string over several lines keeps its colour."""
    before = iter(_coloured([line.text for line in hunk.lines if line.kind != "+"], lexer))
    after = iter(_coloured([line.text for line in hunk.lines if line.kind != "-"], lexer))
    for line in hunk.lines:
        match line.kind:
            case "-":
                pieces = next(before)
            case "+":
                pieces = next(after)
            case " ":
                pieces, _ = next(after), next(before)
        yield ShownLine(
            kind=line.kind, text=line.text, pieces=_safe(line, pieces), old=line.old, new=line.new, ends=line.ends
        )


def _safe(line: Line, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    shown = safe(line.text)
    same = shown == line.text and "".join(text for _, text in pieces) == line.text
    return pieces if same else (("", shown),)


def _coloured(lines: list[str], lexer: Lexer | None) -> list[tuple[Piece, ...]]:
    if lexer is None or sum(map(len, lines)) > MAX_HIGHLIGHTED:
        return [(("", line),) for line in lines]
    rows: list[list[Piece]] = [[]]
    for kind, text in lexer.get_tokens("\n".join(lines)):
        first, *others = text.split("\n")
        _add(rows[-1], _class_of(kind), first)
        for other in others:
            rows.append([])
            _add(rows[-1], _class_of(kind), other)
    rows += [[]] * (len(lines) - len(rows))
    return [tuple(row) for row in rows[: len(lines)]]


def _add(row: list[Piece], look: str, text: str) -> None:
    """Merges neighbours of the same colour."""
    if row and row[-1][0] == look:
        row[-1] = (look, row[-1][1] + text)
    elif text:
        row.append((look, text))


@lru_cache(1024)
def _class_of(kind: TokenKind) -> str:
    return next((look for parent, look in _CLASSES if kind[: len(parent)] == parent), "")


@lru_cache(64)
def _lexer(name: str) -> Lexer | None:
    """By the name of the file alone: the content must not choose the code that reads it."""
    found = find_lexer_class_for_filename(name)
    return found(stripnl=False, ensurenl=False) if found else None
