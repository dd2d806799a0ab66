"""Answers come first: what earlier answers have set going waits a moment while somebody's answer is being taken.

The person who clicks waits for one thing, that the answer is taken; what it starts may begin a little later.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress

PATIENCE = 0.1
"""Seconds after which work goes on although answers keep coming."""


class Precedence:
    def __init__(self) -> None:
        self._taking = 0
        self._free = asyncio.Event()

    @contextmanager
    def answering(self) -> Generator[None]:
        self._taking += 1
        self._free.clear()
        try:
            yield
        finally:
            self._taking -= 1
            if not self._taking:
                self._free.set()

    async def give_way(self) -> None:
        if self._taking:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._free.wait()
