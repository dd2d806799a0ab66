"""Throttles live output for people and connections: the first piece at once, then at most one every 100 ms.

Output that comes faster than anyone could read is cut to its end and counted. An unfinished line waits one interval for
its end, so that readers, and the masking of secrets, seldom see half a word. For binary output only the number of bytes
is reported.
"""

import asyncio
from collections.abc import Callable

from assent.process.output_buffer import Kept

INTERVAL = 0.1
CAP = 100_000
_SHORT = 200
"""Up to this many characters of an unfinished line are passed on at once if nothing precedes them, such as progress
dots.
"""


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
        """Bytes of binary output not yet reported; 0 if there are none."""
        self._timer: asyncio.TimerHandle | None = None
        self._waited = False
        """An unfinished line is waiting, and has waited once."""

    def add(self, text: str) -> None:
        self._pending.add(text)
        self._soon()

    def received(self, total: int) -> None:
        """The number of bytes of binary output so far."""
        self._received = total
        self._soon()

    def _soon(self) -> None:
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._due)

    def close(self) -> None:
        """Pass on what is left."""
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
        """How much of it to pass on now."""
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
