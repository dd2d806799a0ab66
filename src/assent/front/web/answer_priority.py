"""Answers come first: work started by earlier answers waits a moment while a new answer is being taken.

The person who clicks waits only until the answer is taken; the work it starts may begin a little later. Waiting work
continues one item at a time, and in between the loop checks for new answers.
"""

import asyncio
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress

MAX_WAIT = 0.5
"""Seconds after which work continues even if answers keep coming, and for which one answer takes priority: another
process, if it is stopped, may not take it for a long time."""


class AnswerPriority:
    def __init__(self, max_wait: float = MAX_WAIT) -> None:
        self.max_wait = max_wait
        self._taking: set[object] = set()
        self._line: deque[asyncio.Future[None]] = deque()

    @contextmanager
    def answering(self) -> Generator[None]:
        answer = object()
        self._taking.add(answer)
        overdue = asyncio.get_running_loop().call_later(self.max_wait, self._end_priority, answer)
        try:
            yield
        finally:
            overdue.cancel()
            self._end_priority(answer)

    def _end_priority(self, answer: object) -> None:
        self._taking.discard(answer)
        self._release_one()

    async def give_way(self) -> None:
        if not (self._taking or self._line):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        with suppress(TimeoutError):
            async with asyncio.timeout(self.max_wait):
                await turn

    def _release_one(self) -> None:
        """Skips those that timed out or were cancelled."""
        while self._line and not self._taking:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                turn.get_loop().call_soon(self._release_one)
                return
