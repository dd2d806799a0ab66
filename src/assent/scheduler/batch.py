"""A batch: the calls of one turn, and what they are to each other."""

import asyncio
from collections.abc import Callable, Sequence

from assent.scheduler.barrier import Barrier
from assent.scheduler.call import Terminal
from assent.scheduler.life import Life
from assent.scheduler.overlay import Overlay
from assent.scheduler.turns import InOrder, Turns
from assent.tools.base import Resources


class Parked(Exception):
    """The session was closed while calls of the batch still wait; they go on when it is opened again."""


class Batch:
    """All calls of one turn. `results` gives their final states in request order."""

    def __init__(self, lives: Sequence[Life], touched: Callable[[Life], Resources], *, fresh: bool) -> None:
        """`touched` says what a call touches, as far as that can be known now."""
        self.lives = lives
        self.fresh = fresh
        """False when the calls come from the log and are already recorded."""
        self.alone = len(lives) == 1
        self.barrier = Barrier(len(lives))
        self.judging = InOrder(len(lives))
        self.overlay = Overlay(self.barrier)
        self.turns = Turns(lives, touched)
        self._results: asyncio.Future[list[Terminal]] = asyncio.get_running_loop().create_future()
        for at, life in enumerate(lives):
            life.at = at
            life.siblings = None if self.alone else self.overlay

    async def results(self) -> list[Terminal]:
        try:
            return await asyncio.shield(self._results)
        finally:
            del self  # an error keeps this frame, and we keep the error: that would be garbage in a circle

    def leave(self, life: Life) -> None:
        """The call goes no further: nobody waits for it any more, and who built on it looks again."""
        self.overlay.leave(life)
        self.judging.passed(life.at)
        self.turns.leave(life)
        self.barrier.leave()

    def settle(self) -> None:
        """Tells whoever waits how it ended, unless that was told already."""
        self.overlay.clear()
        if self._results.done():
            return
        finished = [life.call for life in self.lives if isinstance(life.call, Terminal)]
        if len(finished) == len(self.lives):
            self._results.set_result(finished)
        else:
            self.fail(Parked())

    def fail(self, error: BaseException) -> None:
        self._results.set_exception(error)
        self._results.exception()  # the one who waits is told; nobody waiting is no news
