"""The bus: what a worker's sessions do is heard by every server, in order, and nobody else."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from assent.bus import event_publisher, event_subscriber
from assent.bus.event_publisher import EventPublisher
from assent.bus.event_subscriber import EventSubscriber
from assent.bus.worker_directory import WorkerAddress
from assent.events import Envelope, PromptSubmitted, TextDelta
from assent.postgres.postgres_log import PostgresLog
from assent.session.log import LogUnavailable
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("M2")


class MemoryDirectory:
    def __init__(self) -> None:
        self.found: dict[tuple[str, int], WorkerAddress] = {}
        self.away = False

    async def announce(self, worker: WorkerAddress) -> None:
        self.found[worker.host, worker.port] = worker

    async def withdraw(self, worker: WorkerAddress) -> None:
        self.found.pop((worker.host, worker.port), None)

    async def workers(self) -> list[WorkerAddress]:
        if self.away:
            raise LogUnavailable("away")
        return list(self.found.values())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_subscriber, "LOOK_SECONDS", 0.01)


@asynccontextmanager
async def published(directory: MemoryDirectory, port: int = 0) -> AsyncGenerator[EventPublisher]:
    publisher = EventPublisher(directory, "127.0.0.1", port)
    await publisher.start()
    try:
        yield publisher
    finally:
        await publisher.close()


class Server:
    def __init__(self, directory: MemoryDirectory) -> None:
        self.heard: list[tuple[Envelope, int]] = []
        self.subscriber = EventSubscriber(directory, lambda envelope, newest: self.heard.append((envelope, newest)))

    async def __aenter__(self) -> "Server":
        self.subscriber.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.subscriber.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


def prompt(seq: int) -> Envelope:
    return Envelope(seq, 1.0, "s", PromptSubmitted(f"p{seq}", "line one\nline two", "ann"))


def delta(text: str) -> Envelope:
    return Envelope(0, 1.0, "s", TextDelta("p1", text))


async def test_every_server_hears_every_event_in_order_with_the_newest_number():
    directory = MemoryDirectory()
    async with published(directory) as worker, Server(directory) as one, Server(directory) as other:
        await until(lambda: one.subscriber.connected and other.subscriber.connected)
        for envelope in (delta("before"), prompt(7), delta("a"), delta("b"), prompt(8), delta("c")):
            worker.on_event(envelope)
        await until(lambda: len(one.heard) == len(other.heard) == 6)
        expected = [
            (delta("before"), 0), (prompt(7), 7), (delta("a"), 7), (delta("b"), 7), (prompt(8), 8), (delta("c"), 8),
        ]  # fmt: skip
        assert one.heard == other.heard == expected


async def test_a_server_hears_workers_that_come_later_and_those_that_come_back():
    directory = MemoryDirectory()
    async with Server(directory) as server:
        async with published(directory) as worker:
            await until(lambda: server.subscriber.connected == 1)
            port = worker.address.port
        await until(lambda: server.subscriber.connected == 0)
        async with published(directory, port) as again, published(directory) as third:
            await until(lambda: server.subscriber.connected == 2)
            again.on_event(prompt(1))
            third.on_event(prompt(2))
            await until(lambda: len(server.heard) == 2)


async def test_workers_stay_connected_while_the_directory_is_away():
    directory = MemoryDirectory()
    async with published(directory) as worker, Server(directory) as server:
        await until(lambda: server.subscriber.connected)
        directory.away = True
        worker.on_event(prompt(1))
        await until(lambda: server.heard)


async def test_who_does_not_know_the_secret_hears_nothing():
    directory = MemoryDirectory()
    async with published(directory) as worker:
        reader, writer = await asyncio.open_connection(worker.address.host, worker.address.port)
        writer.write(b"guess\n")
        assert await reader.read() == b""
        writer.close()


async def test_a_server_that_does_not_read_is_disconnected_and_holds_nobody_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_publisher, "MAX_BEHIND", 1_000_000)
    directory = MemoryDirectory()
    async with published(directory) as worker:
        reader, writer = await asyncio.open_connection(worker.address.host, worker.address.port, limit=1)
        writer.write(worker.address.secret.encode() + b"\n")
        assert await reader.readexactly(1) == b"\n"  # and reads no more
        async with Server(directory) as server:
            await until(lambda: server.subscriber.connected)

            def flooded() -> bool:
                worker.on_event(delta("x" * 200_000))
                return worker.servers == 1

            await until(flooded)
            worker.on_event(prompt(9))
            await until(lambda: server.heard[-1] == (prompt(9), 9))
        writer.close()


@pytest.mark.needs("postgres")
async def test_workers_are_found_in_the_database_until_they_withdraw(database: str):
    log, other = PostgresLog(database), PostgresLog(database)
    try:
        worker = WorkerAddress("10.0.0.1", 7, "first")
        again = WorkerAddress("10.0.0.1", 7, "second")
        await log.directory.announce(worker)
        await log.directory.announce(again)
        assert await other.directory.workers() == [again]
        await log.directory.withdraw(worker)
        assert await other.directory.workers() == [again], "someone else has this address now"
        await log.directory.withdraw(again)
        assert await other.directory.workers() == []
    finally:
        await log.close()
        await other.close()
