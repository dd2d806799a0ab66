"""Sessions that people name or want to see listed."""

from collections.abc import Sequence

import pytest

from assent.app.lookup import begun_sessions, find_session
from assent.events import Envelope
from assent.session.log import LogDamaged, NoSuchSession, SessionInfo
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session


class OddLog(MemoryLog):
    """One of its sessions cannot be read."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.odd = ""
        self._problem = problem

    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        if session == self.odd:
            raise self._problem
        return await super().read(session, after, limit)


async def listed(log: OddLog) -> Sequence[SessionInfo]:
    log.odd = await create_session(log, "/w", "scripted", "default")
    await create_session(log, "/w", "scripted", "default")
    return await begun_sessions(log)


async def test_an_unreadable_session_is_listed_and_does_not_break_the_list():
    log = OddLog(LogDamaged("event 2 was written by a newer Assent"))
    assert [info.id for info in await listed(log)] == [log.odd]
    assert (await find_session(log, "latest", "/w")).id == log.odd


async def test_a_session_that_is_deleted_while_the_list_is_made_is_not_in_it():
    log = OddLog(NoSuchSession("there is no session any more"))
    assert await listed(log) == []
    with pytest.raises(NoSuchSession, match="no sessions yet"):
        await find_session(log, "latest", "/w")
