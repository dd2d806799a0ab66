"""Sessions that people name or want to see listed."""

from collections.abc import Sequence

import pytest

from assent.app.lookup import NotFound, begun_sessions, find_by_start, find_session
from assent.commands import Submit
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


async def test_an_ambiguous_name_lists_the_newest_sessions_one_per_line():
    log = MemoryLog()
    ids = [await create_session(log, "/w", "scripted", "default", title=f"job {number}") for number in range(12)]
    newest = [info.id for info in await log.sessions()]
    assert sorted(newest) == sorted(ids)
    with pytest.raises(NotFound) as ambiguous:
        await find_session(log, ids[0][:4])
    first, *lines = str(ambiguous.value).split("\n")
    assert first == f"'{ids[0][:4]}' could be any of 12 sessions:"
    assert [line.split()[0] for line in lines[:-1]] == newest[:10]
    assert all("  job " in line for line in lines[:-1])
    assert lines[-1] == "  and 2 more: `assent sessions list` has all of them"


def test_ids_of_calls_and_grants_are_listed_one_per_line_too():
    with pytest.raises(NotFound, match=r"^'c' could be any of these:\n  c2\n  c1$"):
        find_by_start("c", {"c1": 1, "b": 2, "c2": 3}, "no calls")
    with pytest.raises(NotFound, match=r"^'x' is none of these:\n  c1$"):
        find_by_start("x", {"c1": 1}, "no calls")


async def test_latest_is_of_this_folder_and_never_of_another_unless_one_only_reads():
    log = MemoryLog()
    there = await begun(log, "/there")
    with pytest.raises(NoSuchSession, match=f"no session of this folder; the newest of all is {there}, of /there"):
        await find_session(log, "latest", "/here")
    assert (await find_session(log, "latest", "/here", only_reads=True)).id == there
    here = await begun(log, "/here")
    await begun(log, "/there")
    assert (await find_session(log, "latest", "/here")).id == here


async def begun(log: MemoryLog, folder: str) -> str:
    session = await create_session(log, folder, "scripted", "default")
    await log.put(session, "key", Submit("go"))
    return session
