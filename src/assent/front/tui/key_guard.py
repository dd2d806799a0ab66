"""Keeps keys that were not meant as an answer from becoming one.

A question listens only after a short silence of the keyboard, measured from the moment it appeared and from every key.
And an answer counts only if no other key follows at once: a paste or fast typing is never a single key.
"""

import time
from collections.abc import Callable

QUIET_SECONDS = 0.6
SETTLE_SECONDS = 0.15


class KeyGuard:
    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        quiet: float = QUIET_SECONDS,
        settle: float = SETTLE_SECONDS,
    ) -> None:
        self._clock = clock
        self.quiet = quiet
        self.settle = settle
        self._last = clock()

    def disturb(self) -> None:
        """A key was pressed, or a question appeared: silence begins anew."""
        self._last = self._clock()

    def is_quiet(self, at: float) -> bool:
        """Was it quiet when the key was pressed? What was typed before a stall of the app is not younger for it."""
        return at - self._last >= self.quiet
