"""Whether the server is ready: this really writes to the log, because a full disk can still be read.

The result is cached for a moment, so that frequent checks cost nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from assent.app.session_log import LogError
from assent.front.web.problems import Problem

CACHE_SECONDS = 1.0
WRITE_TIMEOUT = 5.0
"""Seconds after which a disk that does not respond counts as failed."""


class Readiness:
    def __init__(
        self,
        try_writing: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
        write_timeout: float = WRITE_TIMEOUT,
    ) -> None:
        self._try_writing, self._clock, self._write_timeout = try_writing, clock, write_timeout
        self._one_at_a_time = asyncio.Lock()
        self._until = float("-inf")
        self._problem = ""

    async def check(self) -> None:
        """Raises Problem if it is not ready."""
        async with self._one_at_a_time:
            if self._clock() >= self._until:
                self._problem = await self._look()
                self._until = self._clock() + CACHE_SECONDS
        if self._problem:
            raise Problem("unavailable", self._problem)

    async def _look(self) -> str:
        try:
            async with asyncio.timeout(self._write_timeout):
                await self._try_writing()
        except TimeoutError:
            return f"the session log could not be written within {self._write_timeout:g} seconds"
        except LogError as error:
            return str(error)
        return ""
