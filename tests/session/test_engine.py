"""The engine: opens what has something to do, parks what rests, picks up what a dead process left."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from assent.app.opening import LocalClient
from assent.commands import Answer, Submit
from assent.events import Envelope, PromptSubmitted, SessionOpened, TurnFinished
from assent.models.model_protocol import AuthFailed
from assent.models.scripted.scenario import Scenario
from assent.models.scripted.scripted_model import ScriptedModel
from assent.session import engine as module
from assent.session.engine import LocalEngine
from assent.session.log import SessionBusy, SessionInfo, SessionLog
from assent.session.memory_log import MemoryLog
from assent.session.runner import Runner, RunOptions, create_session
from assent.tools.registry import Registry
from support.doubles import World
from support.scheduler_harness import note_tools
from support.session_harness import call, calls, text
from support.waiting import WAIT_LIMIT


class EngineHarness:
    """A log, an engine, and scripted sessions in it."""

    def __init__(self, *replies: object, log: SessionLog | None = None, linger: float = 1e9, most: int = 64) -> None:
        self.scenario = msgspec.convert({"replies": list(replies)}, Scenario)
        self.log: SessionLog = log or MemoryLog()
        self.world = World()
        self.now = 0.0
        self.no_key = False
        self.engine = LocalEngine(
            self.log, self._open, "serve", linger=linger, max_resting=most, clock=lambda: self.now
        )

    async def _open(self, info: SessionInfo) -> LocalClient:
        if self.no_key:
            raise AuthFailed("no key")
        model = ScriptedModel(self.scenario)
        registry = Registry(note_tools(self.world))
        runner = await Runner.open(self.log, info.id, model, registry, RunOptions(client="serve"))
        return LocalClient(runner, "ann", model)

    async def session(self, prompt: str = "go") -> str:
        session = await create_session(self.log, "/w", "scripted", "default")
        await self.log.put(session, "first", Submit(prompt))
        self.engine.nudge(session)
        return session

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(WAIT_LIMIT):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.001)

    async def until_resting(self, session: str) -> None:
        await self.until(lambda: (runner := self.engine.runner(session)) is not None and runner.idle and runner.resting)

    def waiting(self, session: str) -> bool:
        runner = self.engine.runner(session)
        return runner is not None and runner.resting and bool(runner.waiting())

    async def of_kind(self, session: str, kind: type[object]) -> int:
        return sum(isinstance(envelope.event, kind) for envelope in await self.log.read(session))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SWEEP_INTERVAL", 0.001)


ASKS = (calls(call("run_note", "c1", text="make install")), text("Done."))


async def test_a_command_opens_the_session_and_an_answer_goes_on_with_it():
    harness = EngineHarness(*ASKS)
    await harness.engine.start()
    session = await harness.session()
    await harness.until(lambda: harness.waiting(session))
    (waiting,) = await harness.log.waiting()
    await harness.log.put(session, "yes", Answer(call_id="c1", outcome="proceed_once", digest=waiting.approval.digest))
    await harness.until(
        lambda: (runner := harness.engine.runner(session)) is not None and runner.idle and runner.resting
    )
    assert await harness.of_kind(session, TurnFinished) == 1
    await harness.engine.drain()


async def test_what_only_waits_is_parked_and_costs_no_runner_until_someone_answers():
    harness = EngineHarness(*ASKS, linger=5)
    await harness.engine.start()
    session = await harness.session()
    await harness.until(lambda: harness.waiting(session))
    await asyncio.sleep(0.01)
    assert harness.engine.open_sessions == 1, "it lingers"
    harness.now = 6
    await harness.until(lambda: not harness.engine.open_sessions)
    (waiting,) = await harness.log.waiting()
    await harness.log.put(session, "yes", Answer(call_id="c1", outcome="proceed_once", digest=waiting.approval.digest))
    await harness.engine.ensure(session)
    await harness.until(lambda: (runner := harness.engine.runner(session)) is None or runner.idle)
    assert await harness.of_kind(session, TurnFinished) == 1
    await harness.engine.drain()


async def test_of_many_that_rest_only_the_newest_linger_once_it_is_calm():
    harness = EngineHarness(*ASKS, most=3)
    await harness.engine.start()
    for _ in range(10):
        await harness.session()
    await harness.until(lambda: harness.engine.open_sessions == 10)
    harness.now += 1.0
    async with asyncio.timeout(WAIT_LIMIT):
        while len(await harness.log.waiting()) < 10 or harness.engine.open_sessions > 3:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await harness.engine.drain()
    assert len(await harness.log.waiting()) == 10


async def test_idle_sessions_above_the_bound_are_parked_without_a_pause(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PARK_PAUSE", 1e6)
    harness = EngineHarness(*ASKS, most=3)
    await harness.engine.start()
    sessions = [await harness.session() for _ in range(12)]  # three batches, and three that may stay
    await harness.until(lambda: all(harness.waiting(session) for session in sessions))
    harness.now += 1.0
    await harness.until(lambda: harness.engine.open_sessions == 3)
    await harness.engine.drain()


async def test_it_is_calm_when_what_is_open_rests_and_nobody_was_woken_lately():
    harness = EngineHarness(*ASKS)
    harness.now = 10.0
    await harness.engine.start()
    assert harness.engine.calm
    session = await harness.session()
    await harness.until(lambda: harness.waiting(session))
    assert not harness.engine.calm
    harness.now += module.CALM_SECONDS
    assert harness.engine.calm
    runner = harness.engine.runner(session)
    assert runner is not None
    await runner.send(Submit("and then"))
    assert not harness.engine.calm  # it has yet to look at what was sent
    await harness.engine.drain()


async def test_after_a_restart_only_the_unfinished_of_ours_are_opened():
    harness = EngineHarness(*ASKS)
    await harness.engine.start()
    waiting = await harness.session()
    await harness.until(lambda: harness.waiting(waiting))
    await harness.engine.drain()
    silent = await create_session(harness.log, "/w", "scripted", "default")
    foreign = await create_session(harness.log, "/w", "scripted", "default")
    await harness.log.put(foreign, "first", Submit("go"))
    again = EngineHarness(*ASKS, log=harness.log)
    await again.engine.start()
    await asyncio.sleep(0.02)
    assert again.engine.open_sessions == 0
    assert await again.of_kind(waiting, SessionOpened) == 1
    for session in (silent, foreign):
        assert await again.of_kind(session, SessionOpened) == 0
    await again.engine.drain()


async def test_a_session_that_was_cut_off_in_the_middle_of_its_turn_goes_on_after_a_restart():
    harness = EngineHarness(text("Done."))
    session = await create_session(harness.log, "/w", "scripted", "default")
    fence = await harness.log.acquire(session)
    opened = Envelope(2, 2.0, session, SessionOpened(fence.token, "serve"))
    await harness.log.append(
        fence, [opened, Envelope(3, 3.0, session, PromptSubmitted(f"{session}########0", "go", "ann"))]
    )
    await harness.log.close()  # as after a crash
    await harness.engine.start()
    await harness.until(
        lambda: (runner := harness.engine.runner(session)) is not None and runner.idle and runner.resting
    )
    assert await harness.of_kind(session, TurnFinished) == 1
    await harness.engine.drain()


async def test_why_a_session_cannot_be_opened_is_told_and_it_is_tried_again_when_asked():
    harness = EngineHarness(*ASKS)
    await harness.engine.start()
    harness.no_key = True
    session = await harness.session()
    await harness.until(lambda: harness.engine.problems)
    assert harness.engine.problems == {session: "no key"}
    harness.no_key = False
    await harness.engine.ensure(session)
    assert not harness.engine.problems
    await harness.engine.drain()


async def test_a_session_that_another_process_has_is_left_to_it():
    harness = EngineHarness(*ASKS)
    await harness.engine.start()
    session = await create_session(harness.log, "/w", "scripted", "default")
    await harness.log.acquire(session)
    with pytest.raises(SessionBusy):
        await harness.engine.ensure(session)
    assert not harness.engine.open_sessions
    await harness.engine.drain()
    with pytest.raises(SessionBusy, match="shutting down"):
        await harness.engine.ensure(await create_session(harness.log, "/w", "scripted", "default"))
