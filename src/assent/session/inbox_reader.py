"""Reads the inbox of an open session, even if the log is unavailable for a moment, as when a database restarts.

The session must not stop listening because of that: nobody else would take its commands.
"""

from collections.abc import Awaitable, Callable

from assent.session.log import Inboxed, LogUnavailable, SessionLog

PAUSES = (0.1, 0.2, 0.5, *(1.0,) * 30)
"""Seconds between attempts: together as long as an append waits for the log."""


async def read_inbox(
    log: SessionLog, session: str, sleep: Callable[[float], Awaitable[None]], over: Callable[[], bool]
) -> list[Inboxed]:
    """Raises LogUnavailable if the log stays away, or is away when the session is over anyway."""
    for pause in PAUSES:
        try:
            return await log.inbox(session)
        except LogUnavailable:
            if over():
                raise
            await sleep(pause)
    return await log.inbox(session)
