"""What wakes sessions that nobody else wakes, without an engine."""

import pytest

from assent.commands import Submit
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session
from assent.temporal.sweeper import Sweeper

pytestmark = pytest.mark.spec("M2")


async def test_a_command_is_forgotten_only_if_two_sweeps_in_a_row_find_it():
    """Whoever recorded it just now is about to wake the session."""
    log, woken = MemoryLog(), list[str]()

    async def wake(session: str) -> None:
        woken.append(session)

    sweeper = Sweeper(log, wake, "serve")
    session = await create_session(log, "/w", "scripted", "default")
    await log.put(session, "first", Submit("go"))
    await sweeper.sweep()
    assert woken == []
    await sweeper.sweep()
    assert woken == [session]
