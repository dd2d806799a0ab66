"""The engine on Temporal, with a real server: workers come and go, sessions go on, and what waits costs nothing."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from assent.app.opening import LocalClient
from assent.commands import Answer, Submit
from assent.events import CallFinished, CallStarted, Envelope, PromptSubmitted, SessionOpened, TurnFinished
from assent.models.model_protocol import AuthFailed
from assent.models.scripted.scenario import Scenario
from assent.models.scripted.scripted_model import ScriptedModel
from assent.session.log import LogUnavailable, SessionBusy, SessionInfo
from assent.session.memory_log import MemoryLog
from assent.session.runner import Runner, RunOptions, create_session
from assent.temporal import session_workflow
from assent.temporal.session_worker import SessionActivity, SessionWorker
from assent.temporal.sweeper import Sweeper
from assent.temporal.temporal_address import parse_address
from assent.temporal.temporal_engine import TemporalEngine, workflow_id
from assent.tools.registry import Registry
from support.doubles import World
from support.scheduler_harness import note_tools
from support.session_harness import call, calls, text
from support.temporal_server import TemporalServer
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("temporal"), pytest.mark.spec("M2")]

ASKS = (calls(call("run_note", "c1", text="make install")), text("Done."))
WORKS = (calls(call("read_note", "c1", text="long", door="open")), text("Done."))


class Cluster:
    """A log, an engine, scripted sessions, and as many workers as a test starts."""

    def __init__(self, server: TemporalServer, *replies: object) -> None:
        self.scenario = msgspec.convert({"replies": list(replies)}, Scenario)
        self.log = MemoryLog()
        self.world = World()
        self.address = parse_address(server.url)
        self.hosts: dict[str, str] = {}
        self.engine = TemporalEngine(self.log, self.address, lambda folder: self.hosts.get(folder, ""))
        self.sweeper = Sweeper(self.log, self.engine.wake, "serve")
        self.closed: list[str] = []
        self.failures: list[Exception] = []
        """Raised by the next attempts to open a session."""

    async def _open(self, info: SessionInfo, token: int) -> LocalClient:
        if self.failures:
            raise self.failures.pop(0)
        model = ScriptedModel(self.scenario)
        options = RunOptions(client="serve", token=token)
        runner = await Runner.open(self.log, info.id, model, Registry(note_tools(self.world)), options)
        return LocalClient(runner, "ann", model)

    @asynccontextmanager
    async def worker(
        self, *, linger: float = 0.0, beat: float = 0.01, drain: float = 0.0, host: str = ""
    ) -> AsyncGenerator[SessionActivity]:
        sessions = SessionActivity(self.log, self._open, linger=linger, beat=beat, closed=self.closed.append)
        worker = SessionWorker(sessions, self.sweeper, host, drain)
        stop = asyncio.Event()
        running = asyncio.create_task(worker.run(await self.address.connect(), stop))
        try:
            yield sessions
        finally:
            stop.set()
            await running

    async def session(self, folder: str = "/w") -> str:
        session = await create_session(self.log, folder, "scripted", "default")
        await self.log.put(session, "first", Submit("go"))
        return session

    async def answer(self, session: str) -> None:
        (waiting,) = [each for each in await self.log.waiting() if each.session == session]
        yes = Answer(call_id=waiting.call_id, outcome="proceed_once", digest=waiting.approval.digest)
        await self.log.put(session, "yes", yes)

    async def of_kind(self, session: str, kind: type[object]) -> int:
        return sum(isinstance(envelope.event, kind) for envelope in await self.log.read(session))

    async def until(self, condition: Callable[[], Awaitable[object]]) -> None:
        async with asyncio.timeout(WAIT_LIMIT):
            while not await condition():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def until_event(self, session: str, kind: type[object], count: int = 1) -> None:
        async def happened() -> bool:
            return await self.of_kind(session, kind) >= count

        await self.until(happened)

    async def until_workflow_is_over(self, session: str) -> None:
        handle = (await self.address.connect()).get_workflow_handle(workflow_id(session))

        async def over() -> bool:
            return (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING

        await self.until(over)


async def test_a_session_runs_on_a_worker_and_an_answer_goes_on_with_it(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, *ASKS)
    async with cluster.worker(linger=1e9):
        session = await cluster.session()
        await cluster.engine.ensure(session)
        await cluster.until(cluster.log.waiting)
        await cluster.answer(session)
        await cluster.until_event(session, TurnFinished)
        assert await cluster.of_kind(session, SessionOpened) == 1
    assert cluster.world.effects == ["make install"]
    assert not await cluster.log.is_open(session)
    assert cluster.closed == [session]


async def test_what_waits_for_a_person_has_no_workflow_and_no_slot_until_someone_answers(
    temporal_server: TemporalServer,
):
    cluster = Cluster(temporal_server, *ASKS)
    async with cluster.worker() as sessions:
        session = await cluster.session()
        cluster.engine.nudge(session)
        await cluster.until(cluster.log.waiting)
        await cluster.until_workflow_is_over(session)
        assert not sessions.open
        await cluster.answer(session)
        await cluster.engine.ensure(session)
        await cluster.until_event(session, TurnFinished)
    assert await cluster.of_kind(session, SessionOpened) == 2
    assert cluster.world.effects == ["make install"]


async def test_a_prompt_that_waits_for_the_turn_does_not_keep_the_session_open(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, *ASKS, text("Done."))
    async with cluster.worker():
        session = await cluster.session()
        cluster.engine.nudge(session)
        await cluster.until(cluster.log.waiting)
        await cluster.log.put(session, "second", Submit("and then"))
        await cluster.engine.ensure(session)
        await cluster.until_workflow_is_over(session)
        for _ in range(2):
            await cluster.sweeper.sweep()
        opened = await cluster.of_kind(session, SessionOpened)
        await cluster.until_workflow_is_over(session)
        assert await cluster.of_kind(session, SessionOpened) == opened


async def test_why_a_session_cannot_be_opened_is_told_and_it_is_tried_again_when_asked(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, *ASKS)
    cluster.failures = [AuthFailed("no key"), AuthFailed("still no key")]
    async with cluster.worker():
        session = await create_session(cluster.log, "/w", "scripted", "default")
        with pytest.raises(LogUnavailable, match="no key"):
            await cluster.engine.ensure(session)
        cluster.engine.nudge(session)

        async def told() -> bool:
            return cluster.engine.problem(session) == "still no key"

        await cluster.until(told)
        await cluster.engine.ensure(session)
        assert not cluster.engine.problem(session)


async def test_a_log_that_cannot_be_reached_for_a_moment_is_tried_again_in_new_runs_of_the_workflow(
    temporal_server: TemporalServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(session_workflow, "MAX_PAUSE", 0.01)
    monkeypatch.setattr(session_workflow, "ATTEMPTS_PER_RUN", 1)
    cluster = Cluster(temporal_server, *ASKS)
    cluster.failures = [LogUnavailable("away") for _ in range(2)]
    async with cluster.worker():
        session = await cluster.session()
        cluster.engine.nudge(session)
        await cluster.until(cluster.log.waiting)
        handle = (await cluster.address.connect()).get_workflow_handle(workflow_id(session))
        info = (await handle.describe()).raw_description.workflow_execution_info
        assert info.first_run_id != info.execution.run_id


async def test_a_session_that_an_older_attempt_is_about_to_close_is_tried_again(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, text("Done."))
    session = await create_session(cluster.log, "/w", "scripted", "default")
    fence = await cluster.log.acquire(session)
    await cluster.log.append(fence, [Envelope(2, 1.0, session, PromptSubmitted("p", "go", "ann"))])
    await cluster.log.release(fence)
    cluster.failures = [SessionBusy("an older attempt still has its lock")]
    async with cluster.worker():
        await cluster.engine.wake(session)
        await cluster.until_event(session, TurnFinished)


async def test_a_worker_that_stops_ends_what_takes_too_long_and_the_next_prompt_runs_elsewhere(
    temporal_server: TemporalServer,
):
    cluster = Cluster(temporal_server, *WORKS, text("Here I am."))
    session = await cluster.session()
    async with cluster.worker():
        await cluster.engine.ensure(session)
        await cluster.until_event(session, CallStarted)
    assert not await cluster.log.is_open(session)
    assert await cluster.of_kind(session, TurnFinished) == 1
    await cluster.log.put(session, "second", Submit("and now?"))
    async with cluster.worker():
        await cluster.engine.ensure(session)
        await cluster.until_event(session, TurnFinished, 2)
    assert await cluster.of_kind(session, CallStarted) == 1
    assert cluster.world.effects == ["long"]


async def test_a_worker_that_stops_lets_a_turn_finish_if_it_has_the_time(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, *WORKS)
    session = await cluster.session()
    async with cluster.worker(drain=WAIT_LIMIT, linger=1e9):
        await cluster.engine.ensure(session)
        await cluster.until_event(session, CallStarted)
        asyncio.get_running_loop().call_later(0.1, cluster.world.door("open").set)
    assert cluster.world.effects == ["long"]
    assert await cluster.of_kind(session, TurnFinished) == 1


async def test_a_worker_that_falls_silent_is_replaced_and_nothing_runs_twice(
    temporal_server: TemporalServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(session_workflow, "HEARTBEAT_TIMEOUT", session_workflow.timedelta(seconds=1))
    cluster = Cluster(temporal_server, *WORKS)
    session = await cluster.session()
    async with cluster.worker(beat=1e9):
        await cluster.engine.ensure(session)
        await cluster.until_event(session, SessionOpened, 2)
        await cluster.until_event(session, TurnFinished)
    assert await cluster.of_kind(session, CallStarted) == 1
    assert await cluster.of_kind(session, CallFinished) == 1
    tokens = [each.event.fence for each in await cluster.log.read(session) if isinstance(each.event, SessionOpened)]
    assert tokens == sorted(set(tokens))


async def test_a_command_whose_server_died_before_it_could_wake_anyone_is_found(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, *ASKS)
    session = await cluster.session()
    async with cluster.worker():
        await cluster.until(cluster.log.waiting)
    assert await cluster.of_kind(session, SessionOpened) == 1


async def test_a_session_is_stopped_when_asked_and_what_waits_keeps_waiting(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, *ASKS)
    async with cluster.worker(linger=1e9):
        session = await cluster.session()
        await cluster.engine.ensure(session)
        await cluster.until(cluster.log.waiting)
        await cluster.engine.cancel(session)
        assert not await cluster.log.is_open(session)
        await cluster.engine.cancel(session)
    assert len(await cluster.log.waiting()) == 1


async def test_a_session_is_run_by_a_worker_that_has_its_workspace(temporal_server: TemporalServer):
    cluster = Cluster(temporal_server, text("Done."))
    cluster.hosts = {"/a": "ada", "/b": "bob"}
    here, there = await cluster.session("/a"), await cluster.session("/b")
    async with cluster.worker(host="ada", linger=1e9) as ada, cluster.worker(host="bob", linger=1e9) as bob:
        await asyncio.gather(cluster.engine.ensure(here), cluster.engine.ensure(there))
        assert (set(ada.open), set(bob.open)) == ({here}, {there})


async def test_without_a_worker_the_caller_is_told_and_the_session_runs_when_there_is_one(
    temporal_server: TemporalServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("assent.temporal.temporal_engine.OPEN_SECONDS", 0.1)
    cluster = Cluster(temporal_server, text("Done."))
    session = await cluster.session()
    with pytest.raises(LogUnavailable, match="no worker has opened it yet"):
        await cluster.engine.ensure(session)
    async with cluster.worker():
        await cluster.until_event(session, TurnFinished)


async def test_a_session_whose_host_is_down_begins_new_runs_of_its_workflow_and_runs_when_the_host_is_back(
    temporal_server: TemporalServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(session_workflow, "UNCLAIMED_TIMEOUT", session_workflow.timedelta(seconds=0.2))
    monkeypatch.setattr(session_workflow, "ATTEMPTS_PER_RUN", 1)
    cluster = Cluster(temporal_server, text("Done."))
    cluster.hosts = {"/a": "ada"}
    session = await cluster.session("/a")
    handle = (await cluster.address.connect()).get_workflow_handle(workflow_id(session))

    async def another_run() -> bool:
        info = (await handle.describe()).raw_description.workflow_execution_info
        return info.first_run_id != info.execution.run_id

    async with cluster.worker(host="bob"):
        await cluster.engine.wake(session)
        await cluster.until(another_run)
        async with cluster.worker(host="ada"):
            await cluster.until_event(session, TurnFinished)


async def test_an_engine_that_cannot_be_reached_is_a_clear_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assent.temporal.temporal_engine.RPC_TIMEOUT", session_workflow.timedelta(seconds=0.2))
    log = MemoryLog()
    engine = TemporalEngine(log, parse_address("temporal://127.0.0.1:1/default"), lambda _: "")
    session = await create_session(log, "/w", "scripted", "default")
    with pytest.raises((LogUnavailable, RPCError), match="cannot be reached"):
        await engine.ensure(session)


@pytest.mark.parametrize("url", ["temporal://", "http://x:1/y", "temporal://x:y/z", "temporal://x:1/a/b"])
def test_an_address_that_is_none_is_a_clear_error(url: str):
    with pytest.raises(LogUnavailable, match="temporal://HOST:PORT/NAMESPACE"):
        parse_address(url)


def test_the_namespace_and_the_port_have_defaults():
    address = parse_address("temporal://db.example.org")
    assert (address.target, address.namespace, address.tls) == ("db.example.org:7233", "default", False)
    assert parse_address("temporal://[::1]:7/x?tls=true").target == "[::1]:7"
