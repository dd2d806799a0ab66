"""Wakes sessions that nobody else will wake.

They have expired questions, or commands that were recorded by a server that died before it could wake them, or while
the engine could not be reached. What a sweep finds for the first time is usually being woken at this moment, so only
the next sweep wakes it: waking a session twice would open it once more after it has been parked.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from assent.session.engine import CANNOT_OPEN
from assent.session.log import SessionInfo, SessionLog
from assent.session.parked_work import has_work

SWEEP_SECONDS = 2.5
FIRST_PAUSE = 5.0
MAX_PAUSE = 300.0


class Sweeper:
    """`client` is who opens the sessions of this engine; those of others are left alone."""

    def __init__(
        self,
        log: SessionLog,
        wake: Callable[[str], Awaitable[None]],
        client: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._wake, self._client, self._clock = log, wake, client, clock
        self._found: set[str] = set()
        """By the last sweep."""
        self._tried: dict[str, tuple[float, float]] = {}
        """When to wake a session again that does not open, and how long to wait after that."""

    async def run(self) -> None:
        while True:
            with suppress(*CANNOT_OPEN):  # what cannot be reached now, the next sweep finds again
                await self.sweep()
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        expired = set(await self._log.expired(time.time()))
        found = expired.union(await self._log.pending())
        self._tried = {session: tried for session, tried in self._tried.items() if session in found}
        again, self._found = found & self._found, found
        for session, info in (await self._log.infos(again)).items():
            if self._is_due(info) and await self._is_forgotten(session, expired):
                self._put_off(session)
                await self._wake(session)

    def _is_due(self, info: SessionInfo) -> bool:
        ours = info.client in (self._client, "")  # a new session has not been opened by anyone
        return ours and (info.id not in self._tried or self._clock() >= self._tried[info.id][0])

    async def _is_forgotten(self, session: str, expired: set[str]) -> bool:
        if await self._log.is_open(session):
            return False
        return session in expired or await has_work(self._log, session)

    def _put_off(self, session: str) -> None:
        _, pause = self._tried.get(session, (0.0, FIRST_PAUSE))
        self._tried[session] = (self._clock() + pause, min(2 * pause, MAX_PAUSE))
