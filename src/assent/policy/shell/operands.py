"""What each operand of a command means by its position, even if one word may become several.

A model declares the meaning of every position (`read* write`: all are read, except that the last is written). A
wildcard, and the names that find or xargs pass on, may become any number of words and so shift all the words after
them: such a word has every meaning that one of its words could get. Knows positions, not programs.
"""

from collections.abc import Sequence

from assent.plan import Word

UNKNOWN = "unknown"


def is_several(word: Word) -> bool:
    """Whether the word may become more than one."""
    return any(part.kind == "glob" for part in word.parts)


def meanings(declared: Sequence[str], several: Sequence[bool]) -> list[frozenset[str]]:
    """For each operand, its possible meanings; `several` says which operands may become more than one word."""
    star = next((at for at, one in enumerate(declared) if one.endswith("*")), None)
    head = declared if star is None else declared[:star]
    tail = () if star is None else declared[star + 1 :]
    middle = UNKNOWN if star is None else declared[star][:-1]
    return [
        frozenset(
            _meaning(before, behind, head, middle, tail)
            for before in _counts(at, several[: at + 1], len(declared))
            for behind in _counts(len(several) - 1 - at, several[at:], len(declared))
        )
        for at in range(len(several))
    ]


def _counts(least: int, several: Sequence[bool], enough: int) -> range:
    """How many words may be on one side; beyond the number of declared positions, more make no difference."""
    return range(least, least + (enough if any(several) else 0) + 1)


def _meaning(before: int, behind: int, head: Sequence[str], middle: str, tail: Sequence[str]) -> str:
    if before < len(head):
        return head[before]
    return tail[len(tail) - 1 - behind] if behind < len(tail) else middle
