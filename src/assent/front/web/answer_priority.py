"""Answers come first: what earlier answers have set going waits a moment while somebody's answer is being taken.

The person who clicks waits for one thing, that the answer is taken; what it starts may begin a little later. What waits
goes on one by one, and between two of them the loop looks whether somebody has answered meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress

MAX_WAIT = 0.5
"""Seconds after which work goes on although answers keep coming, and for which an answer comes first: another process
that is stopped may not take it for long."""


class AnswerPriority:
    def __init__(self, max_wait: float = MAX_WAIT) -> None:
        self.max_wait = max_wait
        self._taking: set[object] = set()
        self._line: deque[asyncio.Future[None]] = deque()

    @contextmanager
    def answering(self) -> Generator[None]:
        answer = object()
        self._taking.add(answer)
        overdue = asyncio.get_running_loop().call_later(self.max_wait, self._comes_first_no_more, answer)
        try:
            yield
        finally:
            overdue.cancel()
            self._comes_first_no_more(answer)

    def _comes_first_no_more(self, answer: object) -> None:
        self._taking.discard(answer)
        self._let_one_go_on()

    async def give_way(self) -> None:
        if not (self._taking or self._line):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        with suppress(TimeoutError):
            async with asyncio.timeout(self.max_wait):
                await turn

    def _let_one_go_on(self) -> None:
        """Whoever has lost patience or was cancelled does not wait any more."""
        while self._line and not self._taking:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                turn.get_loop().call_soon(self._let_one_go_on)
                return
