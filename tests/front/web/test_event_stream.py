"""The stream: everyone sees the same, breaks leave no gap and no duplicate, a slow reader is told to start anew."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, MutableMapping
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assent.client import Api, RemoteClient, http_client
from assent.client.http_client import Reply
from assent.client.sse_frames import Frame, FrameDecoder
from assent.commands import Answer, Submit
from assent.events import Envelope, PromptsQueued, PromptSubmitted, TextDelta, TurnFinished, from_wire
from assent.front.web import event_stream, feeds
from assent.front.web.access_tokens import Principal
from assent.front.web.feeds import Feed
from assent.session.log import SessionLog
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session
from assent.session.sqlite_log import SqliteLog
from assent.session.state import fold
from support.program import asks_for, says, write
from support.served import Json, Served, until_event, until_waiting
from support.waiting import WAIT_LIMIT, until


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@pytest.fixture
def api(served: Served) -> Api:
    return served.api()


def busy_model(served: Served) -> str:
    """Many events of all sizes, with nobody to ask."""

    def round_of(n: int) -> Json:
        looks = [{"name": "glob", "args": {"pattern": f"*{n}-{m}"}} for m in range(8)]
        return asks_for(*looks, text="word " * 50 * n)

    return served.scenario(*map(round_of, range(6)), says("Done."), name="busy")


# --- in step ---


@pytest.mark.spec("H5")
async def test_two_clients_of_one_session_see_the_same_and_may_both_act(served: Served):
    session = (await served.api().create())["id"]
    ann, bob = [
        await RemoteClient.open(served.api(token), session) for token in (None, served.token("bob", "operator"))
    ]
    seen: dict[str, list[Envelope]] = {"ann": [], "bob": []}

    async def follow(name: str, client: RemoteClient) -> None:
        async for envelope in client.events():
            seen[name].append(envelope)
            if isinstance(envelope.event, TurnFinished):
                return

    following = [asyncio.create_task(follow("ann", ann)), asyncio.create_task(follow("bob", bob))]
    await ann.send(Submit("go"))
    await until(lambda: bob.state.waiting())
    (call,) = bob.state.waiting()
    await bob.send(Answer(call_id="write", outcome="proceed_once", digest=call.approval.digest))
    await asyncio.wait_for(asyncio.gather(*following), WAIT_LIMIT)
    durable = [[envelope for envelope in events if envelope.seq] for events in seen.values()]
    assert durable[0] == durable[1]
    assert ann.state.answered_by == bob.state.answered_by == {"write": "bob@127.0.0.1"}
    logged = fold(session, await served.log.read(session))
    assert ann.state.calls == bob.state.calls == logged.calls
    assert (ann.me, bob.me) == ("ann@127.0.0.1", "bob@127.0.0.1")


async def test_a_stream_without_a_sign_of_life_counts_as_broken_and_is_taken_up_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(http_client, "SILENCE_TIMEOUT", 0.05)  # the server breathes every 15 seconds
    client = await RemoteClient.open(served.api(), (await served.api().create())["id"])
    told: list[bool] = []
    client.on_link(told.append)

    async def follow() -> None:
        async for _ in client.events():
            pass

    following = asyncio.create_task(follow())
    await until(lambda: len(told) > 3)
    assert told[:4] == [True, False, True, False]
    await client.close()
    await asyncio.wait_for(following, WAIT_LIMIT)


@pytest.mark.spec("H5")
async def test_one_stream_brings_several_sessions_and_the_overview(served: Served, api: Api):
    sessions = [(await api.create())["id"] for _ in range(3)]
    heard: dict[str, list[int]] = {session: [] for session in sessions}
    waiting: list[bytes] = []
    async with asyncio.timeout(WAIT_LIMIT), aclosing(api.frames(dict.fromkeys(sessions, 0), overview=True)) as frames:
        async for frame in frames:
            if frame.kind == "overview":
                waiting += frame.data
                if len(waiting) == 1:
                    for session in sessions:
                        await api.say(session, "go")
            elif frame.kind == "events":
                for envelope in map(from_wire, frame.data):
                    if envelope.seq:
                        heard[envelope.session].append(envelope.seq)
            if any(b'"waiting":3' in line for line in waiting):
                break
    for seqs in heard.values():
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) > 4


async def test_text_that_comes_in_small_pieces_is_joined(served: Served, api: Api):
    pieces = {"chunks": [{"text": f"{n} "} for n in range(500)]}
    session = (await api.create(model=served.scenario(pieces, name="pieces")))["id"]
    following = asyncio.create_task(until_event(api, session, "turn.finished"))
    await until(lambda: len(served.server.app_state.streams))
    await api.say(session, "go")
    deltas = [e.event.text for e in await following if isinstance(e.event, TextDelta)]
    assert "".join(deltas) == "".join(f"{n} " for n in range(500))
    assert len(deltas) < 100


async def test_the_first_two_frames_go_at_once_and_what_follows_soon_goes_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_stream, "FRAME_INTERVAL", 1_000.0)
    pauses, go_on = list[float](), asyncio.Event()

    async def breath(seconds: float) -> None:
        pauses.append(seconds)
        await go_on.wait()

    theirs = SimpleNamespace(create_task=asyncio.create_task, Event=asyncio.Event, sleep=breath)
    monkeypatch.setattr(event_stream, "asyncio", theirs)
    feed = Feed("s", MemoryLog())
    feed.seq = 0
    one = event_stream.EventStream(None, Principal("ann", "viewer"), lambda _: True)
    await one.add(feed, 0)
    frames: list[int] = []
    """How many events each had, after the head and the greeting."""

    async def send(message: MutableMapping[str, Any]) -> None:
        if b"event: " in message.get("body", b""):
            frames.append(message["body"].count(b"turn.finished"))

    async def receive() -> Json:
        return await asyncio.Future[Json]()

    def push(seq: int) -> None:
        feed.push(Envelope(seq, 1.0, "s", TurnFinished("p", "completed")))

    running = asyncio.create_task(one.run(receive, send))
    for seq in (1, 2):
        push(seq)
        await until(lambda seq=seq: len(frames) == seq)
    await until(lambda: pauses)
    for seq in range(3, 7):
        push(seq)
    assert frames == [1, 1]
    go_on.set()
    one.stop(b"over")
    await running
    assert (frames, len(pauses)) == ([1, 1, 4], 1)


async def test_whoever_comes_later_is_told_what_waits_in_the_queue(api: Api):
    session = (await api.create(prompt="go"))["id"]
    await until_waiting(api, session)
    key = await api.say(session, "and then?")
    async with asyncio.timeout(WAIT_LIMIT):
        while not (snapshot := await api.snapshot(session))["queued"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    events = await until_event(api, session, "prompts.queued", snapshot["session"]["seq"])
    queued = events[-1].event
    assert isinstance(queued, PromptsQueued) and [item.key for item in queued.waiting] == [key]


# --- breaks ---


class Reader:
    """Reads the stream in pieces, and drops the connection after any number of bytes."""

    def __init__(self, api: Api, session: str, after: int = 0) -> None:
        self._api = api
        self._path = f"/api/v1/stream?session={session}:{after}"
        self.cursor = ""
        self.frames: list[Frame] = []

    @property
    def seqs(self) -> list[int]:
        events = [from_wire(line) for frame in self.frames if frame.kind == "events" for line in frame.data]
        return [envelope.seq for envelope in events if envelope.seq]

    @property
    def over(self) -> bool:
        return any(b'"turn.finished"' in line for frame in self.frames for line in frame.data)

    async def read(self, budget: int) -> None:
        decoder = FrameDecoder()
        headers = [("Last-Event-ID", self.cursor)] if self.cursor else []
        async with aclosing(self._api.http.stream(self._path, headers)) as blocks:
            async for block in blocks:
                if isinstance(block, Reply):
                    assert block.status == 200
                    continue
                for frame in decoder.feed(block[:budget]):
                    self.frames.append(frame)
                    self.cursor = frame.cursor or self.cursor
                budget -= len(block)
                if budget <= 0 or self.over:
                    return


@pytest.mark.spec("H1")
@pytest.mark.parametrize("seed", range(8))
async def test_whenever_the_connection_breaks_no_event_is_missing_or_comes_twice(served: Served, api: Api, seed: int):
    dice = random.Random(seed)
    session = (await api.create(model=busy_model(served)))["id"]
    await api.say(session, "go")
    reader = Reader(api, session)
    async with asyncio.timeout(WAIT_LIMIT):
        while not reader.over:
            await reader.read(dice.choice((0, 200, 1_000, 5_000, 20_000, 200_000)))
    assert reader.seqs == list(range(1, len(reader.seqs) + 1))
    assert len(reader.seqs) > 150


@pytest.mark.spec("H1")
@pytest.mark.parametrize("after", [0, 1, 17, 100])
async def test_a_stream_begins_at_any_number(served: Served, api: Api, after: int):
    session = (await api.create(model=busy_model(served)))["id"]
    await api.say(session, "go")
    await until_event(api, session, "turn.finished")
    reader = Reader(api, session, after)
    await asyncio.wait_for(reader.read(10_000_000), WAIT_LIMIT)
    assert reader.seqs == list(range(after + 1, after + 1 + len(reader.seqs)))


async def test_a_restart_of_the_server_is_survived_by_its_streams(tmp_path: Path):
    async with Served(tmp_path) as first:
        token = first.token("bob", "operator")
        session = (await first.api().create(prompt="go"))["id"]
        await until_waiting(first.api())
        reader = Reader(first.api(token), session)
        reading = asyncio.create_task(reader.read(1_000_000_000))
        await until(lambda: reader.seqs)
        first.server.stop()
        await asyncio.wait_for(reading, WAIT_LIMIT)
        assert [frame.kind for frame in reader.frames][-1] == "bye"
    async with Served(tmp_path) as second:
        again = Reader(second.api(token), session)
        again.cursor, again.frames = reader.cursor, reader.frames
        (waiting,) = await until_waiting(second.api(), session)
        await second.api().decide(session, "write", "proceed_once", waiting["approval"]["digest"])
        await asyncio.wait_for(again.read(1_000_000_000), WAIT_LIMIT)
        assert again.seqs == list(range(1, len(again.seqs) + 1))
        assert again.over


# --- slow readers, other writers ---


async def told(log: SessionLog, session: str, count: int, size: int) -> None:
    """Another process writes so many events of that size."""
    fence = await log.acquire(session)
    first = (await log.info(session)).events + 1
    for seq in range(first, first + count):
        event = PromptSubmitted(f"p{seq}", "x" * size, "ann")
        await log.append(fence, [Envelope(seq, time.time(), session, event)])
    await log.release(fence)


async def test_events_of_another_process_come_in_order(served: Served, api: Api):
    other = SqliteLog(served.home)
    session = await create_session(other, str(served.folder), "none", "default")
    reader = Reader(api, session)
    reading = asyncio.create_task(reader.read(1_000_000_000))
    await until(lambda: len(served.server.app_state.streams))
    await told(other, session, 50, 10)
    await until(lambda: len(reader.seqs) == 51)
    reading.cancel()
    assert reader.seqs == list(range(1, 52))
    await other.close()


@pytest.mark.spec("H5")
async def test_a_reader_that_is_too_slow_is_told_to_start_anew(
    served: Served, api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(feeds, "RING", 8)
    other = SqliteLog(served.home)
    session = await create_session(other, str(served.folder), "none", "default")
    port = int(served.address.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1_000)
    request = f"GET /api/v1/stream?session={session}:0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    writer.write(f"{request}Authorization: Bearer {served.server.token}\r\n\r\n".encode())
    await reader.readuntil(b"hello")  # and then it does not read on
    await told(other, session, 150, 100_000)
    feed = await served.server.app_state.feeds.open(session)
    await until(lambda: feed.seq == 151)
    received = b""
    async with asyncio.timeout(WAIT_LIMIT):
        while not received.rstrip().endswith(f"id: {session}:151".encode()):
            received += await reader.read(1_000_000)
    writer.close()
    assert b"event: resync" in received
    assert received.count(b'"seq":') < 151, "what it could not keep up with was not kept for it"
    everything = [envelope async for envelope in _first(api, session, 151)]
    assert [envelope.seq for envelope in everything] == list(range(1, 152))
    await other.close()


async def _first(api: Api, session: str, count: int) -> AsyncIterator[Envelope]:
    """The library's own way through a resync."""
    async with aclosing(api.events(session, 0)) as events:
        async for envelope in events:
            yield envelope
            if envelope.seq == count:
                return


async def test_a_stream_ends_when_its_token_is_taken_back(served: Served):
    token = served.token("bob", "viewer")
    bob = served.api(token)
    async with asyncio.timeout(WAIT_LIMIT), aclosing(bob.http.stream("/api/v1/stream?overview=1")) as blocks:
        received = b""
        async for block in blocks:
            if isinstance(block, Reply):
                served.server.tokens.revoke(lambda record: record.name == "bob")
                served.server.app_state.streams.end_invalid()
            else:
                received += block
    assert b"event: bye" in received


@pytest.mark.parametrize(
    "query",
    [
        "session=x",
        "session=x:1",
        "session={s}",
        "session={s}:-1",
        "session={s}:0&session={s}:0",
        "overview=2",
        "nope=1",
    ],
)
async def test_a_wrong_request_for_a_stream_is_refused(api: Api, query: str):
    session = (await api.create())["id"]
    blocks = api.http.stream(f"/api/v1/stream?{query.format(s=session)}")
    reply = await anext(blocks)
    assert isinstance(reply, Reply) and reply.status in (400, 404)
    await blocks.aclose()


async def test_an_edit_in_the_middle_stays_one_turn(served: Served, api: Api):
    model = served.scenario(asks_for(write("b.txt", "one\n")), says("Done."), name="edit")
    session = (await api.create(model=model, prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, "write", "proceed_once", waiting["approval"]["digest"], content="two\n")
    await until_event(api, session, "turn.finished")
    assert (served.folder / "b.txt").read_text() == "two\n"
