"""Live output at a pace that people and connections can follow: the first piece at once, then at most one in 100 ms.

What comes faster than anybody could read is cut to its end and counted. A line that has only begun waits one interval
for its end, so that who reads the pieces, and masks secrets in them, seldom sees half a word. Of output that is no text
only the number of bytes is told.
"""

import asyncio
from collections.abc import Callable

from assent.process.output_buffer import Kept

INTERVAL = 0.1
CAP = 100_000
_SHORT = 200
"""A beginning of so few characters is told at once, where nothing stands before it: dots of progress, for example."""


class Throttle:
    def __init__(
        self,
        tell: Callable[[str], None],
        received: Callable[[int], None] = lambda _: None,
        *,
        interval: float = INTERVAL,
        cap: int = CAP,
    ) -> None:
        self._tell = tell
        self._tell_received = received
        self._interval = interval
        self._cap = cap
        self._pending = Kept(cap, head_share=0)
        self._received = 0
        """Bytes of binary output that nobody was told of yet; 0 when there are none."""
        self._timer: asyncio.TimerHandle | None = None
        self._waited = False
        """The beginning of a line is among what waits, and has waited once."""

    def add(self, text: str) -> None:
        self._pending.add(text)
        self._soon()

    def received(self, total: int) -> None:
        """So many bytes of binary output came until now."""
        self._received = total
        self._soon()

    def _soon(self) -> None:
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._due)

    def close(self) -> None:
        """Tells what is left."""
        if self._timer is not None:
            self._timer.cancel()
        self._waited = True
        self._flush()

    def _due(self) -> None:
        self._timer = None
        if self._pending.total or self._received:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._due)

    def _told(self, text: str) -> int:
        """How much of it is told now."""
        lines = max(text.rfind("\n"), text.rfind("\r")) + 1
        return len(text) if self._waited or (not lines and len(text) <= _SHORT) else lines

    def _flush(self) -> None:
        if self._pending.total:
            text = self._pending.excerpt().text()
            self._pending = Kept(self._cap, head_share=0)
            told = self._told(text)
            self._waited = told < len(text)
            self._pending.add(text[told:])
            if told:
                self._tell(text[:told])
        if self._received:
            count, self._received = self._received, 0
            self._tell_received(count)
