"""The first and the last lines of a long output, for a terminal: what scrolls by is of no use to anyone."""

from collections import deque
from collections.abc import Iterable

FIRST = 100
LAST = 40


class ShortenedOutput:
    """Lines go in; those to show at once come out. The last ones are kept until the output ends or stops for input."""

    def __init__(self) -> None:
        self.hidden = 0
        """How many lines between the first and the last are not shown."""
        self._shown = 0
        self._last = deque[str]()

    def feed(self, lines: Iterable[str]) -> list[str]:
        now = list[str]()
        for line in lines:
            if self._shown < FIRST:
                self._shown += 1
                now.append(line)
            else:
                self._last.append(line)
                if len(self._last) > LAST:
                    self._last.popleft()
                    self.hidden += 1
        return now

    @property
    def held(self) -> int:
        """How many lines have not been shown so far."""
        return self.hidden + len(self._last)

    def close(self) -> list[str]:
        """The last lines; the next ones count as the first again."""
        last = list(self._last)
        self._last.clear()
        self._shown = self.hidden = 0
        return last
