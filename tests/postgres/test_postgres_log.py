"""What only the log in PostgreSQL has to survive: other machines, broken connections, restarts of the server."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from assent.audit import AuditEntry
from assent.commands import Submit
from assent.events import Envelope, PromptSubmitted, SessionCreated
from assent.postgres import postgres_writer
from assent.postgres.append_batch import APPEND
from assent.postgres.connection_protocol import Connection
from assent.postgres.postgres_log import PostgresLog
from assent.postgres.postgres_queries import REPLACE
from assent.postgres.postgres_schema import CURRENT
from assent.postgres.postgres_watch import IS_OPEN
from assent.session.log import Fence, LogUnavailable, LostFence, NoSuchSession, Opening, SessionBusy, Stamp
from support.postgres_server import PostgresServer
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.spec("M1")]
CREATED = SessionCreated(folder="/w", model="model", mode="default", version="0")


@pytest.fixture
def schema() -> str:
    return f"test_{uuid4().hex}"


@pytest.fixture
async def log(postgres_server: PostgresServer, schema: str) -> AsyncIterator[PostgresLog]:
    log = PostgresLog(postgres_server.url, schema)
    yield log
    await log.close()


@pytest.fixture
async def other(postgres_server: PostgresServer, schema: str) -> AsyncIterator[PostgresLog]:
    """The same log on another machine."""
    other = PostgresLog(postgres_server.url, schema)
    yield other
    await other.close()


@pytest.fixture
async def admin(postgres_server: PostgresServer, schema: str) -> AsyncIterator[Connection]:
    opened: Any = asyncpg.connect(postgres_server.url, server_settings={"search_path": schema})  # pyright: ignore
    connection: Connection = await opened
    yield connection
    await connection.close()


def prompt(seq: int, session: str = "s", text: str = "hi") -> Envelope:
    return Envelope(seq, float(seq), session, PromptSubmitted(f"p{seq}", text, "ann"))


async def end_connections(admin: Connection) -> None:
    await admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'assent'")


async def until_free(log: PostgresLog) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while await log.is_open("s"):  # noqa: ASYNC110 (the server says when)
            await asyncio.sleep(0.01)


async def test_several_machines_may_create_the_tables_at_once(postgres_server: PostgresServer, schema: str):
    logs = [PostgresLog(postgres_server.url, schema) for _ in range(6)]
    try:
        opened = await asyncio.gather(*(log._connections.connect() for log in logs))  # pyright: ignore[reportPrivateUsage]
        for connection in opened:
            await connection.close()
    finally:
        for log in logs:
            await log.close()


async def test_another_machine_hears_of_new_events_and_commands(log: PostgresLog, other: PostgresLog):
    await log.create("s", 1.0, CREATED)
    heard, all_heard = asyncio.Event(), asyncio.Event()
    other.watch("s", heard.set)
    other.watch_all(all_heard.set)
    await other.is_open("s")
    fence = await log.acquire("s")
    for change in (lambda: log.append(fence, [prompt(2)]), lambda: log.put("s", "k", Submit("x", by="ann"))):
        await _until_listening(other)
        heard.clear()
        all_heard.clear()
        await change()
        async with asyncio.timeout(WAIT_LIMIT):
            await heard.wait()
            await all_heard.wait()
    assert [one.key for one in await other.inbox("s")] == ["k"]


async def _until_listening(log: PostgresLog) -> None:
    """A watch begins in the background; a lock uses the same connection, so it is there afterwards."""
    await log.create(session := uuid4().hex, 1.0, CREATED)
    await log.release(await log.acquire(session))


async def test_whoever_watches_is_told_after_a_break_of_the_connection(
    log: PostgresLog, other: PostgresLog, admin: Connection
):
    await log.create("s", 1.0, CREATED)
    heard = asyncio.Event()
    other.watch("s", heard.set)
    await _until_listening(other)
    heard.clear()
    await end_connections(admin)
    async with asyncio.timeout(WAIT_LIMIT):
        await heard.wait()


async def test_a_session_is_open_on_one_machine_only(log: PostgresLog, other: PostgresLog):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    assert await other.is_open("s")
    with pytest.raises(SessionBusy):
        await other.acquire("s")
    await log.release(fence)
    assert not await other.is_open("s")


async def test_nobody_looks_through_the_locks_of_the_server_for_a_parked_session(log: PostgresLog, admin: Connection):
    await log.create("s", 1.0, CREATED)
    looked = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + IS_OPEN.replace("$1", "'s'")

    async def locks() -> str:
        return next(line for (line,) in await admin.fetch(looked) if "pg_lock_status" in line)

    fence = await log.acquire("s")
    assert "never executed" not in await locks()
    await log.release(fence)
    assert "never executed" in await locks()


async def test_a_query_is_one_statement(log: PostgresLog, admin: Connection):
    await log.sessions()
    await _until_listening(log)
    last = await admin.fetch("SELECT query FROM pg_stat_activity WHERE application_name = 'assent'")
    assert not [query for (query,) in last if "RESET" in query]


async def test_a_session_whose_name_no_database_could_store_does_not_exist(log: PostgresLog):
    with pytest.raises(NoSuchSession):
        await log.acquire("a\0b")
    assert not await log.is_open("a\0b")


async def test_the_sessions_of_a_process_that_dies_are_free(
    postgres_server: PostgresServer, schema: str, log: PostgresLog
):
    await log.create("s", 1.0, CREATED)
    script = (
        "import asyncio, sys\n"
        "from assent.postgres.postgres_log import PostgresLog\n"
        "async def main():\n"
        "    await PostgresLog(sys.argv[1], sys.argv[2]).acquire('s')\n"
        "    print('taken', flush=True)\n"
        "    await asyncio.sleep(3600)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, postgres_server.url, schema]
    holder = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"taken\n"
    with pytest.raises(SessionBusy):
        await log.acquire("s")
    holder.kill()
    await holder.wait()
    await until_free(log)
    assert (await log.acquire("s")).token == 2


async def test_a_machine_that_lost_its_connection_and_its_session_can_write_no_more(
    log: PostgresLog, other: PostgresLog, admin: Connection
):
    await log.create("s", 1.0, CREATED)
    stale = await log.acquire("s")
    await log.append(stale, [prompt(2)])
    await log._watch.close()  # the server frees its locks  # pyright: ignore[reportPrivateUsage]
    await until_free(other)
    fresh = await other.acquire("s")
    with pytest.raises(LostFence):
        await log.append(stale, [prompt(3)])
    await other.append(fresh, [prompt(3, text="of the new one")])
    assert [one.seq for one in await log.read("s")] == [1, 2, 3]


async def test_appends_survive_a_restart_of_the_server(schema: str):
    server = PostgresServer()
    server.create()
    server.start()
    log = PostgresLog(server.url, schema)
    try:
        await log.create("s", 1.0, CREATED)
        fence = await log.acquire("s")
        await log.append(fence, [prompt(2)])
        await asyncio.to_thread(server.stop)
        during = log.append(fence, [prompt(3)])
        put = asyncio.ensure_future(log.put("s", "k", Submit("x", by="ann")))
        await asyncio.sleep(0)
        assert not during.done()
        await asyncio.to_thread(server.start)
        await during
        assert await put
        assert [one.seq for one in await log.read("s")] == [1, 2, 3]
        assert await log.is_open("s")
    finally:
        await log.close()
        server.remove()


async def test_a_commit_whose_answer_was_lost_is_neither_repeated_nor_reported_as_failed(
    log: PostgresLog,
):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [prompt(2)])
    writer = log._writer  # pyright: ignore[reportPrivateUsage]
    writer._connection = LosesOneAnswer(writer._connection)  # pyright: ignore
    await log.append(fence, [prompt(3), prompt(4)])
    await log.append(fence, [prompt(5)])
    assert [one.seq for one in await log.read("s")] == [1, 2, 3, 4, 5]


class LosesOneAnswer:
    """The statement is committed; then the connection breaks before its result arrives."""

    def __init__(self, connection: object) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    async def fetchrow(self, query: str, *args: object) -> None:
        assert query == APPEND
        await self._connection.fetchrow(query, *args)  # pyright: ignore
        raise ConnectionResetError("the connection was reset")


async def test_a_database_that_stays_away_is_a_clear_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_writer, "RETRY_SECONDS", 0.0)
    log = PostgresLog("postgresql://ann:hunter2@127.0.0.1:1/assent")
    with pytest.raises(LogUnavailable, match=r"postgresql://127\.0\.0\.1:1/assent cannot be reached") as failure:
        await log.sessions()
    assert "hunter2" not in str(failure.value)
    with pytest.raises(LogUnavailable, match="cannot be reached"):
        await log.put("s", "k", Submit("x", by="ann"))
    await log.close()


async def test_a_database_that_does_not_exist_is_named(postgres_server: PostgresServer):
    log = PostgresLog(postgres_server.url.replace("/postgres?", "/nowhere?"))
    with pytest.raises(LogUnavailable, match='no such database: database "nowhere" does not exist'):
        await log.sessions()
    await log.close()


async def test_a_schema_of_a_newer_version_is_refused(
    postgres_server: PostgresServer, schema: str, log: PostgresLog, admin: Connection
):
    await log.create("s", 1.0, CREATED)
    await admin.execute("UPDATE layout SET version = 99, oldest = 98")
    older = PostgresLog(postgres_server.url, schema)
    with pytest.raises(LogUnavailable, match="written by a newer Assent"):
        await older.sessions()
    await older.close()


async def test_a_newer_version_may_let_older_ones_continue_so_that_nodes_are_upgraded_one_by_one(
    postgres_server: PostgresServer, schema: str, log: PostgresLog, admin: Connection
):
    await log.create("s", 1.0, CREATED)
    await admin.execute("UPDATE layout SET version = 99, oldest = $1", CURRENT)
    older = PostgresLog(postgres_server.url, schema)
    assert [info.id for info in await older.sessions()] == ["s"]
    assert await admin.fetchval("SELECT version FROM layout") == 99
    await older.close()


async def test_many_machines_may_create_the_tables_at_once(postgres_server: PostgresServer, schema: str):
    logs = [PostgresLog(postgres_server.url, schema) for _ in range(5)]
    await asyncio.gather(*(log.create(f"s{at}", 1.0, CREATED) for at, log in enumerate(logs)))
    assert len(await logs[0].sessions()) == 5
    for log in logs:
        await log.close()


async def test_what_is_queued_together_is_committed_together(log: PostgresLog, admin: Connection):
    fences: list[Fence] = []
    for at in range(50):
        await log.create(f"s{at}", 1.0, CREATED)
        fences.append(await log.acquire(f"s{at}"))
    await asyncio.gather(*(log.append(fence, [prompt(seq, fence.session)]) for seq in (2, 3) for fence in fences))
    commits = await admin.fetchval("SELECT count(DISTINCT xmin::text) FROM events WHERE seq > 1")
    assert commits == 1


async def test_the_head_of_the_audit_is_locked_for_one_statement_however_much_a_commit_records(
    log: PostgresLog, admin: Connection
):
    """The whole cluster waits for it meanwhile."""
    await log.create("s", 1.0, CREATED)
    entry = AuditEntry(kind="mode.changed", ts=1.0, by="ann")
    async with admin.transaction():
        records = await log.audit.append(admin, [entry, entry, entry])
        added = await admin.fetch("SELECT id, cmin::text FROM audit WHERE kind = 'mode.changed' ORDER BY id")
    assert [id for id, _ in added] == [one.id for one in records] == [2, 3, 4]
    assert len({statement for _, statement in added}) == 1
    assert await log.audit.last_id() == 4


async def test_the_same_request_sent_to_two_machines_takes_effect_once(log: PostgresLog, other: PostgresLog):
    stamp = Stamp("key", b"digest")
    made = await asyncio.gather(
        *(each.create(uuid4().hex, 1.0, CREATED, stamp=stamp) for each in (log, other) for _ in range(5))
    )
    assert len(set(made)) == 1
    assert [one.id for one in await log.sessions()] == [made[0]]


async def test_a_nul_in_a_prompt_is_kept_in_its_event(log: PostgresLog):
    await log.create("s", 1.0, CREATED)
    await log.append(await log.acquire("s"), [prompt(2, text="a\0b")])
    assert await log.prompts("/w", 10) == ["a\0b"]
    assert (await log.info("s")).title == "a\ufffdb"


# --- taking over from a process that does not respond ---


@pytest.mark.spec("M2")
async def test_a_newer_attempt_of_the_same_engine_takes_the_session_from_a_process_that_keeps_it(
    log: PostgresLog, other: PostgresLog
):
    await log.create("s", 1.0, CREATED)
    await log.create("t", 1.0, CREATED)
    frozen = await log.acquire("s", Opening(1.0, "serve", token=10**12))
    kept = await log.acquire("t", Opening(1.0, "serve", token=10**12))
    taken = await other.acquire("s", Opening(2.0, "serve", token=2 * 10**12))
    with pytest.raises(LostFence):
        await log.append(frozen, [prompt(3)])
    await other.append(taken, [prompt(4)])
    await log.append(kept, [prompt(3, "t")])
    async with asyncio.timeout(WAIT_LIMIT):
        while not await other.is_open("t"):  # noqa: ASYNC110 (it connects again, and only the database knows when)
            await asyncio.sleep(0.01)
    with pytest.raises(SessionBusy):
        await other.acquire("t", Opening(3.0, "assent"))


async def test_a_process_that_was_replaced_does_not_take_the_lock_again_before_its_successor(
    log: PostgresLog, other: PostgresLog, admin: Connection
):
    for session in ("s", "t"):
        await log.create(session, 1.0, CREATED)
        await log.acquire(session, Opening(1.0, "serve", token=10**12))
    assert await admin.fetchval(REPLACE, "s", 2 * 10**12, "serve")
    await end_connections(admin)
    await _until_listening(log)
    assert await other.is_open("t")
    assert not await other.is_open("s")


async def test_an_older_attempt_takes_nothing_from_a_newer_one(log: PostgresLog, other: PostgresLog):
    await log.create("s", 1.0, CREATED)
    newest = await log.acquire("s", Opening(1.0, "serve", token=2 * 10**12))
    with pytest.raises(SessionBusy):
        await other.acquire("s", Opening(2.0, "serve", token=10**12))
    await log.append(newest, [prompt(3)])


async def test_an_engine_never_takes_a_session_from_a_person_at_a_terminal(log: PostgresLog, other: PostgresLog):
    await log.create("s", 1.0, CREATED)
    terminal = await log.acquire("s", Opening(1.0, "assent"))
    with pytest.raises(SessionBusy):
        await other.acquire("s", Opening(2.0, "serve", token=10**15))
    await log.append(terminal, [prompt(3)])
