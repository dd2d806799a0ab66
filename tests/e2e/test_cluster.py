"""Servers that run no session, and workers that do: `assent serve --engine` and `assent work`."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import aclosing

import pytest

from assent import exit_codes
from assent.client import Api
from assent.events import CallOutput, Envelope, ModelReplied, TextDelta
from support.cluster import Cluster
from support.program import Json, Program, asks_for, says, shell, write
from support.served import until_event, until_waiting
from support.temporal_server import TemporalServer
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("postgres", "temporal"), pytest.mark.spec("M2")]
MakeCluster = Callable[..., Cluster]


@pytest.fixture
def cluster(program: Program, database: str, temporal_server: TemporalServer) -> Iterator[MakeCluster]:
    """Makes one whose model plays the given replies."""
    made: list[Cluster] = []

    def make(*replies: Json) -> Cluster:
        made.append(Cluster(program, program.scenario(*replies), database, temporal_server))
        return made[-1]

    yield make
    for each in made:
        each.kill()


async def answer(api: Api, session: str) -> Json:
    (waiting,) = await until_waiting(api, session)
    return await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])


async def test_a_prompt_at_one_server_is_answered_at_another_and_runs_on_a_worker(
    program: Program, cluster: MakeCluster
):
    made = cluster(asks_for(write("a.txt", "hello\n")), says("Done."))
    made.worker()
    (_, here), (_, there) = made.server(), made.server()
    async with here, there:
        session = (await here.create(folder=str(program.folder), prompt="go"))["id"]
        (waiting,) = await until_waiting(there, session)
        assert waiting["session"]["status"] == "waiting"
        assert (await answer(there, session))["state"] == "taken"
        at_both = await asyncio.gather(*(until_event(api, session, "turn.finished") for api in (here, there)))
        for events in at_both:
            assert [envelope.seq for envelope in events if envelope.seq] == list(range(1, events[-1].seq + 1))
        assert (program.folder / "a.txt").read_text() == "hello\n"
        await here.delete(session)
        assert not (await there.sessions())["sessions"]


async def until_connected(api: Api) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while b"\nassent_workers 1\n" not in (await api.http.request("GET", "/metrics")).body:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


class Watcher:
    """Follows the stream of a session to its first output."""

    def __init__(self, api: Api, session: str) -> None:
        self.attached = asyncio.Event()
        self.seen: list[Envelope] = []
        self.task = asyncio.create_task(self._watch(api, session))

    async def _watch(self, api: Api, session: str) -> None:
        async with asyncio.timeout(WAIT_LIMIT), aclosing(api.events(session)) as events:
            async for envelope in events:
                self.seen.append(envelope)
                self.attached.set()
                if isinstance(envelope.event, CallOutput):
                    return


async def test_text_and_output_appear_at_every_server_as_they_come(program: Program, cluster: MakeCluster):
    made = cluster(asks_for(shell(program.waiting_script()), text="Let me look."), says("All is well."))
    made.worker()
    (_, here), (_, there) = made.server(), made.server()
    async with here, there:
        await asyncio.gather(until_connected(here), until_connected(there))
        session = (await here.create(folder=str(program.folder)))["id"]
        watchers = [Watcher(api, session) for api in (here, there)]
        await asyncio.gather(*(watcher.attached.wait() for watcher in watchers))
        await here.say(session, "go")
        await answer(there, session)
        await asyncio.to_thread((program.folder / "fifo").write_text, "so far\n")
        for watcher in watchers:
            await watcher.task
            events = [envelope.event for envelope in watcher.seen]
            texts = [event.text for event in events if isinstance(event, TextDelta | CallOutput)]
            assert "".join(texts) == "Let me look.so far\n"
            replied = next(place for place, event in enumerate(events) if isinstance(event, ModelReplied))
            assert not any(isinstance(event, TextDelta) for event in events[replied:])
        await until_event(there, session, "turn.finished")


async def test_a_worker_that_is_told_to_stop_finishes_the_turn_and_another_takes_the_next_prompt(
    program: Program, cluster: MakeCluster
):
    made = cluster(asks_for(shell(program.waiting_script())), says("Done."), says("Again."))
    first = made.worker()
    _, api = made.server()
    async with api:
        session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
        await answer(api, session)
        await until_event(api, session, "call.started")
        first.signal(signal.SIGTERM)
        await asyncio.to_thread(first.running.until_error, "stopping")
        await asyncio.to_thread((program.folder / "fifo").write_text, "out\n")
        events = await until_event(api, session, "turn.finished")
        assert (await asyncio.to_thread(first.running.process.wait, WAIT_LIMIT)) == exit_codes.OK
        made.worker()
        await api.say(session, "and now?")
        await until_event(api, session, "turn.finished", after=events[-1].seq)


async def test_a_session_outside_of_the_folders_of_a_worker_is_not_run(program: Program, cluster: MakeCluster):
    made = cluster(says("Done."))
    made.worker()
    (outside := program.folder.parent / "outside").mkdir()
    (program.folder / "link").symlink_to(outside)
    _, api = made.server()
    async with api:
        session = (await api.create(folder=str(program.folder / "link"), prompt="go"))["id"]
        async with asyncio.timeout(WAIT_LIMIT):
            while not (problem := (await api.snapshot(session))["session"].get("problem", "")):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "this worker may not use" in problem


@pytest.mark.parametrize("command", ["serve", "work"])
def test_an_engine_needs_a_log_that_is_shared(program: Program, command: str):
    ended = program.run(command, "--engine", "temporal://127.0.0.1:1/default")
    assert ended.code == exit_codes.INPUT
    assert "--engine needs a log that all machines share" in ended.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "name the engine to work for"),
        (("--engine", "temporal://x", "--workspaces", "srv=host"), "must be FOLDER=HOST"),
        (("--engine", "http://x"), "temporal://HOST:PORT/NAMESPACE"),
    ],
)
def test_wrong_options_of_a_worker_are_clear_errors(
    program: Program, database: str, args: tuple[str, ...], message: str
):
    ended = program.run("work", "--log", database, *args)
    assert ended.code in (exit_codes.INPUT, exit_codes.STORAGE)
    assert message in ended.err
