"""The activity that runs a session, without a Temporal server: how it ends."""

import asyncio

import pytest
from temporalio.testing import ActivityEnvironment

from assent.app.opening import LocalClient
from assent.models.scripted.scenario import Scenario
from assent.models.scripted.scripted_model import ScriptedModel
from assent.session.log import SessionInfo
from assent.session.memory_log import MemoryLog
from assent.session.runner import Runner, RunOptions, create_session
from assent.temporal.session_worker import SessionActivity
from assent.temporal.session_workflow import Attempt
from assent.tools.registry import Registry

pytestmark = pytest.mark.spec("M2")


class SlowToClose(LocalClient):
    def __init__(self, runner: Runner, model: ScriptedModel) -> None:
        super().__init__(runner, "ann", model)
        self.closing, self.may_close = asyncio.Event(), asyncio.Event()

    async def close(self) -> None:
        self.closing.set()
        await self.may_close.wait()
        await super().close()


async def test_a_session_is_closed_to_the_end_although_its_attempt_is_cancelled_twice():
    """The engine may give up an attempt that is closing already, and a newer attempt stops an older one."""
    log, opened, closed = MemoryLog(), asyncio.Queue[SlowToClose](), list[str]()

    async def open_session(info: SessionInfo, token: int) -> LocalClient:
        model = ScriptedModel(Scenario(replies=()))
        client = SlowToClose(
            await Runner.open(log, info.id, model, Registry([]), RunOptions(client="serve", token=token)), model
        )
        opened.put_nowait(client)
        return client

    session = await create_session(log, "/w", "scripted", "default")
    sessions = SessionActivity(log, open_session, linger=1e9, beat=0.01, closed=closed.append)
    attempt = asyncio.create_task(ActivityEnvironment().run(sessions.run_session, Attempt(session, 1)))
    client = await opened.get()
    while session not in sessions.open:  # noqa: ASYNC110
        await asyncio.sleep(0)
    attempt.cancel()
    await client.closing.wait()
    attempt.cancel()
    await asyncio.sleep(0)
    client.may_close.set()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert not await log.is_open(session)
    assert closed == [session]


class SlowToOpen:
    """Opens a session when it is told to."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.opening, self.may_open = asyncio.Event(), asyncio.Event()

    async def __call__(self, info: SessionInfo, token: int) -> LocalClient:
        self.opening.set()
        await self.may_open.wait()
        model = ScriptedModel(Scenario(replies=()))
        options = RunOptions(client="serve", token=token)
        return LocalClient(await Runner.open(self._log, info.id, model, Registry([]), options), "ann", model)


@pytest.mark.parametrize(("beat", "beats"), [(1e9, False), (0.01, True)])
async def test_a_session_that_takes_long_to_open_sends_heartbeats_but_none_comes_before_the_opening(
    beat: float, beats: bool
):
    log, beaten, environment = MemoryLog(), asyncio.Event(), ActivityEnvironment()
    environment.on_heartbeat = lambda *_: beaten.set()
    opener = SlowToOpen(log)
    session = await create_session(log, "/w", "scripted", "default")
    sessions = SessionActivity(log, opener, linger=0.0, beat=beat)
    attempt = asyncio.create_task(environment.run(sessions.run_session, Attempt(session, 1)))
    await opener.opening.wait()
    assert not beaten.is_set()
    if beats:
        await beaten.wait()
    opener.may_open.set()
    while session not in sessions.open:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert beaten.is_set() is beats
    attempt.cancel()
    await asyncio.wait([attempt])
