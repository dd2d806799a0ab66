"""Finds sessions and calls by what people type: a whole id, the start of one, or `latest`."""

import time
from collections.abc import Mapping, Sequence
from typing import TypeVar

from assent.app.wording import safe
from assent.commands import Answer
from assent.session.log import LogDamaged, NoSuchSession, SessionInfo, SessionLog, no_such_session
from assent.session.state import fold

T = TypeVar("T")
MAX_NAMED = 10


class NotFound(LookupError):
    """Nothing, or more than one thing, has that name; the message lists the newest candidates, one per line."""


async def find_session(
    log: SessionLog, name: str, folder: str | None = None, *, only_reads: bool = False
) -> SessionInfo:
    """`latest` is the newest session of this folder, and never one of another folder: people would act on other files
    without noticing, perhaps in a mode that asks nothing. Only where one `only_reads`, it may be the newest of all.
    """
    sessions = await log.sessions()
    if name == "latest":
        return await _latest(log, sessions, folder, only_reads=only_reads)
    matching = [session for session in sessions if session.id.startswith(name)]
    exact = [session for session in matching if session.id == name]
    if len(exact or matching) != 1:
        raise _ambiguous_session(name, matching) if matching else no_such_session(name)
    return (exact or matching)[0]


async def _latest(log: SessionLog, sessions: list[SessionInfo], folder: str | None, *, only_reads: bool) -> SessionInfo:
    elsewhere: SessionInfo | None = None
    for session in (one for one in sessions if not one.archived):
        if (session.folder == folder or elsewhere is None) and await has_begun(log, session):
            if session.folder == folder:
                return session
            elsewhere = session
    if elsewhere is None:
        raise NoSuchSession("there are no sessions yet")
    if not only_reads:
        raise NoSuchSession(_only_elsewhere(elsewhere))
    return elsewhere


def _only_elsewhere(newest: SessionInfo) -> str:
    return f"there is no session of this folder; the newest of all is {newest.id}, of {safe(newest.folder, 'label')}"


async def begun_sessions(log: SessionLog) -> list[SessionInfo]:
    """Newest first, without those that were closed before the first prompt."""
    return [session for session in await log.sessions() if await has_begun(log, session)]


async def has_begun(log: SessionLog, session: SessionInfo) -> bool:
    """Only a session without a title has to be read; it has no prompt yet, so it is short."""
    if session.title:
        return True
    try:
        return fold(session.id, await log.read(session.id)).begun or bool(await log.inbox(session.id))
    except NoSuchSession:  # deleted just now
        return False
    except LogDamaged:  # its content is unknown
        return True


def find_by_start(name: str, things: Mapping[str, T], none: str) -> T:
    """`things` are listed newest last. `none` says what is missing if there is nothing at all."""
    if name in things:
        return things[name]
    if not things:
        raise NotFound(none)
    matching = [key for key in things if key.startswith(name)]
    if len(matching) == 1:
        return things[matching[0]]
    found = f"{name!r} could be any of these:" if matching else f"{name!r} is none of these:"
    raise NotFound(_listed(found, [*reversed(matching or list(things))]))


def _ambiguous_session(name: str, matching: Sequence[SessionInfo]) -> NotFound:
    more = "`assent sessions list` has all of them"
    found = f"{name!r} could be any of {len(matching):,} sessions:"
    return NotFound(_listed(found, [_session_line(session) for session in matching], more))


def _session_line(session: SessionInfo) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.updated_at))
    return f"{session.id}  {when}  {safe(session.title or '(no prompt)', 'label')}"


def _listed(found: str, lines: Sequence[str], more: str = "") -> str:
    hidden = len(lines) - MAX_NAMED
    rest = [f"and {hidden:,} more{more and f': {more}'}"] if hidden > 0 else []
    return "\n  ".join([found, *lines[:MAX_NAMED], *rest])


async def untaken_answer(log: SessionLog, session: str, call_id: str) -> Answer | None:
    """An answer in the inbox of a session that no process is running, or that has not taken it yet."""
    commands = (item.command for item in await log.inbox(session))
    return next((one for one in commands if isinstance(one, Answer) and one.call_id == call_id), None)
