"""Positions in a text."""

from msgspec import Struct


class Span(Struct, frozen=True):
    """There is a secret of this kind from `start` up to `end`."""

    start: int
    end: int
    kind: str


def join(spans: list[Span]) -> list[Span]:
    """In order and without overlaps: of two that overlap, the first gives the kind, and both are covered."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            joined.append(span)
    return joined
