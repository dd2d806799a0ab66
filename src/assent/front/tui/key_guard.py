"""Keeps keys that were not meant as an answer from answering.

A question accepts keys only after a short pause in typing, measured from its appearance and from every key, except for
keys that act on the question itself. And an answer counts only if no other key follows immediately: a paste or fast
typing is never a single key.
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
        """A key was pressed, or a question appeared: the pause starts again."""
        self._last = self._clock()

    @property
    def now(self) -> float:
        return self._clock()

    @property
    def silence(self) -> float:
        """Seconds since the last key."""
        return self._clock() - self._last

    def is_quiet(self, at: float) -> bool:
        """Whether it was quiet when the key was pressed, even if the app was stalled and handles it late."""
        return at - self._last >= self.quiet

    def is_seen(self, since: float, at: float | None = None) -> bool:
        """Whether what appeared then has been there long enough for a click to be meant for it. `at`: when the mouse
        button went down.
        """
        return (self._clock() if at is None else at) - since >= self.quiet
