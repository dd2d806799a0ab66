"""Copies all sessions from one log to another, and compares them event by event.

A session that is there already, with the same events, is left alone, so that an interrupted copy can be continued.
Nothing is deleted. Not copied: last week's requests, by which a repeated one is recognized, and the usage of deleted
sessions.
"""

from collections.abc import Callable
from itertools import zip_longest

from msgspec import Struct

from assent.events import SessionCreated
from assent.session.log import NoSuchSession, SessionInfo, SessionLog


class Copied(Struct):
    sessions: int = 0
    events: int = 0
    commands: int = 0
    unchanged: int = 0
    """Sessions that were there already."""


class CopyProblem(Exception):
    """A session could not be copied; the message says which, and why. The ones before it are complete."""


async def copy_log(source: SessionLog, target: SessionLog, tell: Callable[[int, int], None]) -> Copied:
    """`tell` is called with how many sessions are done, and how many there are."""
    copied = Copied()
    found = await source.sessions()
    for done, info in enumerate(reversed(found)):
        tell(done, len(found))
        if await source.is_open(info.id):
            raise CopyProblem(f"session {info.id} is open; close it first, so that nothing is added while it is copied")
        await _copy(source, target, info, copied)
    tell(len(found), len(found))
    return copied


async def _copy(source: SessionLog, target: SessionLog, info: SessionInfo, copied: Copied) -> None:
    if await _exists(target, info.id):
        copied.unchanged += 1
    else:
        first, *more = await source.read(info.id)
        if not isinstance(first.event, SessionCreated):
            raise CopyProblem(f"session {info.id} does not begin with its creation")
        await target.create(info.id, first.ts, first.event, more)
        copied.sessions += 1
        copied.events += 1 + len(more)
    for waiting in await source.inbox(info.id):
        copied.commands += await target.put(info.id, waiting.key, waiting.command)
    await _verify(source, target, info.id)


async def _exists(log: SessionLog, session: str) -> bool:
    try:
        await log.info(session)
    except NoSuchSession:
        return False
    return True


async def _verify(source: SessionLog, target: SessionLog, session: str) -> None:
    """Reads both again."""
    for there, here in zip_longest(await source.read(session), await target.read(session)):
        if there != here:
            seq = (there or here).seq  # pyright: ignore[reportOptionalMemberAccess] (never both)
            raise CopyProblem(f"event {seq} of session {session} differs between the two logs")
    waiting = [one.key for one in await source.inbox(session)]
    missing = set(waiting) - {one.key for one in await target.inbox(session)}
    if missing:
        raise CopyProblem(f"a command of session {session} has been carried out in the target; use that log")
