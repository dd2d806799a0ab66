"""What the log in PostgreSQL does when its server falls silent, changes places, or waits for someone else."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from assent.commands import Submit
from assent.events import Envelope, SessionCreated, SessionOpened, SessionRenamed
from assent.postgres import postgres_connections, postgres_watch
from assent.postgres.connection_protocol import Connection
from assent.postgres.database_hosts import one_url_per_host
from assent.postgres.postgres_log import PostgresLog
from assent.session.log import LogError, Opening
from support.postgres_server import PostgresServer
from support.relay import Relay
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.spec("M1")]
CREATED = SessionCreated(folder="/w", model="model", mode="default", version="0")


@pytest.fixture
async def relay(postgres_server: PostgresServer) -> AsyncIterator[Relay]:
    """A way to the server that can be cut: then nothing comes, and nothing ends."""
    relay = Relay(lambda: asyncio.open_unix_connection(str(postgres_server.folder / ".s.PGSQL.5432")))
    await relay.start()
    yield relay
    await relay.close()


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database().split("?")[0].rpartition("/")[2]


@pytest.fixture
async def log(relay: Relay, database: str) -> AsyncIterator[PostgresLog]:
    log = PostgresLog(f"postgresql://assent@127.0.0.1:{relay.port}/{database}")
    yield log
    relay.heal()
    await log.close()


@pytest.fixture
async def beside(postgres_server: PostgresServer, database: str) -> AsyncIterator[PostgresLog]:
    """The same log on another machine, which is not cut off."""
    log = PostgresLog(postgres_server.url.replace("/postgres?", f"/{database}?"))
    yield log
    await log.close()


def renamed(seq: int, session: str = "s", title: str = "x") -> Envelope:
    return Envelope(seq, float(seq), session, SessionRenamed(title, "ann"))


async def until(heard: asyncio.Event) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        await heard.wait()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u@h/db", ["postgresql://u@h/db"]),
        (
            "postgresql://u:p@a,b:5433/db?sslmode=require",
            ["postgresql://u:p@a/db?sslmode=require", "postgresql://u:p@b:5433/db?sslmode=require"],
        ),
        (
            "postgresql://u@/db?host=a,b&port=1,2",
            ["postgresql://u@/db?host=a&port=1", "postgresql://u@/db?host=b&port=2"],
        ),
        ("postgresql://u@/db?host=a,b", ["postgresql://u@/db?host=a", "postgresql://u@/db?host=b"]),
    ],
)
def test_each_host_of_a_url_has_a_url_of_its_own(url: str, expected: list[str]):
    assert one_url_per_host(url) == expected


async def test_a_first_host_that_says_nothing_does_not_keep_us_from_the_second(
    relay: Relay, database: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_connections, "CONNECT_SECONDS_OF_SEVERAL", 0.5)
    silent = Relay(lambda: asyncio.open_unix_connection("nowhere"))
    await silent.start()
    silent.cut()
    log = PostgresLog(f"postgresql://assent@127.0.0.1:{silent.port},127.0.0.1:{relay.port}/{database}")
    try:
        await log.create("s", 1.0, CREATED)
        assert [one.id for one in await log.sessions()] == ["s"]
    finally:
        await log.close()
        await silent.close()


async def test_what_is_written_while_no_host_can_write_waits_for_one(
    log: PostgresLog, postgres_server: PostgresServer, database: str
):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    opened: Any = asyncpg.connect(postgres_server.url)  # pyright: ignore
    admin: Connection = await opened
    try:
        await admin.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        await admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", database)
        appended = log.append(fence, [renamed(2)])
        put = asyncio.ensure_future(log.put("s", "k", Submit("x", by="ann")))
        with pytest.raises(LogError, match="standby"):
            await log.sessions()
        assert not appended.done()
        await admin.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = off")
        async with asyncio.timeout(WAIT_LIMIT):
            await appended
            assert await put
    finally:
        await admin.close()


async def test_a_server_that_falls_silent_is_given_up_and_the_append_is_repeated(
    log: PostgresLog, relay: Relay, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_connections, "ANSWER_SECONDS", 0.5)
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [renamed(2)])
    before = log._writer.process  # pyright: ignore[reportPrivateUsage]
    relay.cut()
    appended = log.append(fence, [renamed(3)])
    async with asyncio.timeout(WAIT_LIMIT):
        while log._writer.process == before:  # noqa: ASYNC110  # pyright: ignore[reportPrivateUsage]
            await asyncio.sleep(0.01)
    relay.heal()
    await appended
    assert [one.seq for one in await log.read("s")] == [1, 2, 3]


async def test_a_connection_that_only_listens_notices_that_nobody_is_there(
    log: PostgresLog, beside: PostgresLog, relay: Relay, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_connections, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(postgres_watch, "BEAT_SECONDS", 0.1)
    await log.create("s", 1.0, CREATED)
    told = asyncio.Event()
    log.watch("s", told.set)
    await until(told)
    relay.lose()
    told.clear()
    await until(told)


async def test_whoever_watches_is_told_once_the_connection_listens(log: PostgresLog):
    await log.create("s", 1.0, CREATED)
    told = asyncio.Event()
    log.watch("s", told.set)
    await until(told)


async def test_a_process_that_is_frozen_within_a_transaction_does_not_stop_the_others(
    log: PostgresLog, beside: PostgresLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_connections, "IDLE_IN_TRANSACTION_SECONDS", 0.3)
    await log.create("s", 1.0, CREATED)
    frozen: Connection = await log._connections.connect()  # pyright: ignore[reportPrivateUsage]
    await frozen.execute("BEGIN")
    await frozen.execute("SELECT * FROM audit_ends FOR UPDATE")
    async with asyncio.timeout(WAIT_LIMIT):
        await beside.create("t", 1.0, CREATED)  # is in the audit, too
    frozen.terminate()


async def test_an_opening_whose_answer_was_lost_is_recorded_once(log: PostgresLog, monkeypatch: pytest.MonkeyPatch):
    await log.create("s", 1.0, CREATED)
    connections = log._connections  # pyright: ignore[reportPrivateUsage]

    async def twice(work: Any) -> Any:
        """The first attempt is committed, but its answer is lost."""
        async with connections.reading() as connection:
            await work(connection)
            return await work(connection)

    with monkeypatch.context() as patched:
        patched.setattr(connections, "retried", twice)
        fence = await log.acquire("s", Opening(2.0, "work", 70))
    await log.append(fence, [renamed(3)])
    opened = [one.event for one in await log.read("s") if isinstance(one.event, SessionOpened)]
    assert opened == [SessionOpened(70, "work")]


async def test_what_cannot_be_stored_does_not_take_other_sessions_with_it(log: PostgresLog):
    for session in ("s", "t"):
        await log.create(session, 1.0, CREATED)
    fences = [await log.acquire(session) for session in ("s", "t")]
    too_long = uuid4().hex * 100_000
    bad = log.put("s", too_long, Submit("x", by="ann"))
    put = asyncio.gather(bad, log.put("t", "k", Submit("x", by="ann")), return_exceptions=True)
    good = log.append(fences[1], [renamed(2, "t")])
    refused, added = await put
    assert isinstance(refused, LogError)
    assert added is True
    await good
