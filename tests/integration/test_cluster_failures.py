"""A cluster of real processes loses parts of itself: sessions go on, nothing runs twice, and nothing recorded is lost.

Each test prints how long it took (`pytest -s`); docs/scaling.md has the figures.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.client import Api
from assent.events import CallFinished, CallStarted, Envelope, SessionOpened
from support.cluster import ClusterScene, WorkerNode
from support.program import Json, asks_for, says, shell
from support.served import until_event, until_waiting

pytestmark = [pytest.mark.needs("postgres", "temporal"), pytest.mark.spec("M2")]


class Scene(ClusterScene):
    """A session in the middle of a command, on the first of two workers."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        (self.program.folder / "run.sh").write_text("#!/bin/sh\necho ran >> runs\nexec sleep 1000\n")
        (self.program.folder / "run.sh").chmod(0o755)
        again: Json = says("Still here.")
        model = self.program.scenario(asks_for(shell("./run.sh")), says("It was cut off."), again, again)
        self.use(model)

    async def begin(self) -> tuple[WorkerNode, Api, str, int]:
        """The worker that runs the command, a server, the session, and the number of the event that says so."""
        first = self.cluster.worker()
        _, api = self.cluster.server()
        session = (await api.create(folder=str(self.program.folder), prompt="go"))["id"]
        (waiting,) = await until_waiting(api, session)
        await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
        started = (await until_event(api, session, "call.started"))[-1]
        async with asyncio.timeout(60):
            while not (self.program.folder / "runs").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return first, api, session, started.seq

    async def check(self, api: Api, session: str) -> list[Envelope]:
        """The history: no gap, the command ran once and its end is recorded once, and tokens only grow."""
        await api.say(session, "are you there?")
        events = [each for each in await until_event(api, session, "turn.finished", after=0) if each.seq]
        events += await self._rest(api, session, events[-1].seq)
        assert [each.seq for each in events] == list(range(1, len(events) + 1))
        kinds = [each.event for each in events]
        assert sum(isinstance(event, CallStarted) for event in kinds) == 1
        assert sum(isinstance(event, CallFinished) for event in kinds) == 1
        tokens = [event.fence for event in kinds if isinstance(event, SessionOpened)]
        assert tokens == sorted(set(tokens))
        assert (self.program.folder / "runs").read_text() == "ran\n"
        return events

    async def _rest(self, api: Api, session: str, after: int) -> list[Envelope]:
        return [each for each in await until_event(api, session, "turn.finished", after) if each.seq]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.end()


def report(what: str, seconds: float) -> None:
    sys.stderr.write(f"{what}: {seconds:.1f} s\n")


async def until_taken_over(api: Api, session: str, after: int) -> float:
    """The seconds until another worker has opened the session, from now."""
    began = time.monotonic()
    await until_event(api, session, "session.opened", after)
    return time.monotonic() - began


async def test_another_worker_goes_on_when_one_is_killed(scene: Scene):
    first, api, session, started = await scene.begin()
    scene.cluster.worker()
    async with api:
        first.kill()
        report("takeover after kill -9", await until_taken_over(api, session, started))
        await until_event(api, session, "turn.finished", started)
        await scene.check(api, session)


async def test_another_worker_goes_on_when_one_is_frozen_and_the_frozen_one_writes_nothing_when_it_wakes(scene: Scene):
    first, api, session, started = await scene.begin()
    scene.cluster.worker()
    async with api:
        first.signal(signal.SIGSTOP)
        report("takeover from a frozen worker", await until_taken_over(api, session, started))
        await until_event(api, session, "turn.finished", started)
        first.signal(signal.SIGCONT)
        await scene.check(api, session)
        assert first.running.process.poll() is None


async def test_sessions_go_on_after_the_database_was_restarted(scene: Scene):
    _, api, session, _ = await scene.begin()
    async with api:
        await asyncio.to_thread(scene.postgres.stop, "immediate")
        await asyncio.to_thread(scene.postgres.start)
        began = time.monotonic()
        await api.cancel(session)
        await until_event(api, session, "turn.finished")
        report("after a restart of PostgreSQL", time.monotonic() - began)
        await scene.check(api, session)


async def test_sessions_go_on_after_temporal_was_restarted(scene: Scene):
    _, api, session, started = await scene.begin()
    async with api:
        scene.temporal.stop()
        await asyncio.to_thread(scene.temporal.start)
        began = time.monotonic()
        await api.cancel(session)
        await until_event(api, session, "turn.finished", started)
        report("after a restart of Temporal", time.monotonic() - began)
        await scene.check(api, session)
