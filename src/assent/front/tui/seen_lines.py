"""Which lines of a long text have been on the screen. Pure.

Scrolling past a line shows it; jumping over it does not.
"""


class SeenLines:
    def __init__(self, total: int = 0) -> None:
        self.total = total
        self._spans: list[tuple[int, int]] = []
        """First line and the one after the last, in order, apart from each other."""

    def look(self, top: int, height: int) -> None:
        """These lines are on the screen."""
        first, last = max(top, 0), min(top + height, self.total)
        if first >= last:
            return
        apart = [span for span in self._spans if span[1] < first or span[0] > last]
        touching = [span for span in self._spans if span not in apart]
        first = min([first, *(span[0] for span in touching)])
        last = max([last, *(span[1] for span in touching)])
        self._spans = sorted([*apart, (first, last)])

    @property
    def unseen(self) -> int:
        return self.total - sum(last - first for first, last in self._spans)

    @property
    def all(self) -> bool:
        return not self.unseen

    def next_unseen(self) -> int | None:
        """The first line that has not been on the screen."""
        if self.all:
            return None
        covered = self._spans and self._spans[0][0] == 0
        return self._spans[0][1] if covered else 0
