"""Which lines of a long text have been on the screen. Pure, except for the clock.

Scrolling past a line shows it; jumping over it does not. Neither does a layout that is still being worked out: lines
that disappear again at once, because something below them needed the space, have not been seen.
"""

import time
from collections.abc import Callable, Sequence

Span = tuple[int, int]
"""The first line, and the one after the last."""
SETTLE_SECONDS = 1.0
"""What stays on the screen this long has been seen, even if the screen becomes smaller later."""


class SeenLines:
    def __init__(self, total: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self._clock = clock
        self._settled: list[Span] = []
        self._now: Span = (0, 0)
        """What is on the screen at this moment."""
        self._since = 0.0

    def look(self, top: int, height: int) -> None:
        """These lines are on the screen."""
        now = max(top, 0), min(top + height, self.total)
        corrected = now[0] == self._now[0] and self._clock() - self._since < SETTLE_SECONDS
        if not corrected:
            self._settled = self._spans
            self._since = self._clock()
        self._now = now

    @property
    def _spans(self) -> list[Span]:
        return _joined([*self._settled, self._now])

    @property
    def unseen(self) -> int:
        return self.total - sum(last - first for first, last in self._spans)

    def covers(self, span: Span) -> bool:
        """Whether all of these lines have been on the screen."""
        return any(first <= span[0] and span[1] <= last for first, last in self._spans)

    def first_unseen(self, span: Span) -> int:
        """The first of these lines that has not been on the screen, or the first of all."""
        ends = (last for first, last in self._spans if first <= span[0] < last < span[1])
        return next(ends, span[0])

    @property
    def all(self) -> bool:
        return not self.unseen

    @property
    def all_for_good(self) -> bool:
        """Whether all of them were there, and stayed."""
        return self.total > 0 and self.all and self._clock() - self._since >= SETTLE_SECONDS

    def next_unseen(self) -> int | None:
        """The first line that has not been on the screen."""
        if self.all:
            return None
        spans = self._spans
        return spans[0][1] if spans and spans[0][0] == 0 else 0


def _joined(spans: Sequence[Span]) -> list[Span]:
    """In order, apart from each other, without those that are empty."""
    joined: list[Span] = []
    for first, last in sorted(span for span in spans if span[0] < span[1]):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined
