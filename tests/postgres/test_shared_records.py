"""The small records that nodes share, on a real PostgreSQL: two processes, each with its copy."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from assent.postgres import postgres_records
from assent.postgres.postgres_log import PostgresLog
from assent.session.log import LogUnavailable
from support.postgres_server import PostgresServer
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.spec("M3")]


@pytest.fixture
async def log(database: str) -> AsyncIterator[PostgresLog]:
    log = PostgresLog(database)
    yield log
    await log.close()


@pytest.fixture
async def other(database: str) -> AsyncIterator[PostgresLog]:
    """The same on another machine."""
    other = PostgresLog(database)
    yield other
    await other.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_a_record_is_known_here_at_once_and_elsewhere_when_it_is_settled(log: PostgresLog, other: PostgresLog):
    log.records.put("grant", "a", b"1")
    assert log.records.all("grant") == {"a": b"1"}
    await log.records.settled()
    await other.records.refresh()
    assert other.records.all("grant") == {"a": b"1"}
    other.records.put("grant", "a", None)
    await other.records.settled()
    await log.records.refresh()
    assert log.records.all("grant") == {}


async def test_the_others_hear_of_a_change_by_themselves(
    log: PostgresLog, other: PostgresLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_records, "POLL_SECONDS", 1e9)  # by the notification alone
    await log.records.refresh()
    heard: list[str] = []
    log.records.watch("token", lambda: heard.append("token"))
    log.records.watch("grant", lambda: heard.append("grant"))
    await log.is_open("s")
    await until(lambda: log._watch._connection is not None)  # pyright: ignore[reportPrivateUsage]
    other.records.put("token", "t", b"x")
    await other.records.settled()
    await until(lambda: heard)
    assert heard == ["token"]
    assert log.records.all("token") == {"t": b"x"}


async def test_a_lost_notification_costs_seconds_and_no_change(
    log: PostgresLog, other: PostgresLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_records, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(postgres_records, "_TELL", "SELECT $1::text, $2::text")
    await log.records.refresh()
    other.records.put("token", "t", b"x")
    await other.records.settled()
    await until(lambda: log.records.all("token") == {"t": b"x"})


async def test_only_one_of_all_who_take_a_record_gets_it(log: PostgresLog, other: PostgresLog):
    log.records.put("code", "c", b"yes")
    taken = await asyncio.gather(*(each.records.take("code", "c", 60) for each in (log, other, log, other)))
    assert sorted(taken, key=str) == [None, None, None, b"yes"]


async def test_a_record_that_is_too_old_is_taken_by_nobody(log: PostgresLog):
    log.records.put("code", "c", b"yes")
    assert await log.records.take("code", "c", 0) is None
    assert await log.records.take("code", "c", 60) is None


async def test_the_first_of_two_that_both_create_a_record_wins(log: PostgresLog, other: PostgresLog):
    kept = await asyncio.gather(log.records.put_new("key", "", b"1"), other.records.put_new("key", "", b"2"))
    assert kept[0] == kept[1]
    assert log.records.all("key") == other.records.all("key") == {"": kept[0]}


async def test_changes_at_many_nodes_at_once_are_all_kept(log: PostgresLog, other: PostgresLog):
    for number in range(50):
        log.records.put("pin", f"a{number}", b"a")
        other.records.put("pin", f"b{number}", b"b")
    await asyncio.gather(log.records.settled(), other.records.settled())
    await asyncio.gather(log.records.refresh(), other.records.refresh())
    assert len(log.records.all("pin")) == 100
    assert log.records.all("pin") == other.records.all("pin")


async def test_a_key_may_be_any_text(log: PostgresLog, other: PostgresLog):
    keys = ["/w/\udcff", "/w/ü\0", "", "\ud800"]
    for key in keys:
        log.records.put("trust", key, b"")
    await log.records.settled()
    await other.records.refresh()
    assert set(other.records.all("trust")) == set(keys)


async def test_what_a_fail_over_or_a_restored_backup_has_lost_is_forgotten(log: PostgresLog, other: PostgresLog):
    log.records.put("grant", "old", b"")
    await log.records.settled()
    log.records.put("grant", "lost", b"")
    await log.records.settled()
    await log.records.refresh()
    async with other._connections.reading() as database:  # pyright: ignore[reportPrivateUsage]
        await database.execute("DELETE FROM records WHERE key = 'lost'::bytea")
        await database.execute("UPDATE records_version SET version = version - 1")
    await log.records.refresh()
    assert log.records.all("grant") == {"old": b""}


async def test_a_change_that_cannot_be_written_is_reported_and_not_believed(postgres_server: PostgresServer):
    log = PostgresLog(postgres_server.new_database())
    await log.records.refresh()
    async with log._connections.reading() as database:  # pyright: ignore[reportPrivateUsage]
        await database.execute("ALTER TABLE records ADD CONSTRAINT none CHECK (kind <> 'grant')")
    log.records.put("grant", "a", b"")
    with pytest.raises(LogUnavailable):
        await log.records.settled()
    await log.records.refresh()
    assert log.records.all("grant") == {}
    await log.close()


async def test_a_limit_holds_for_all_nodes_together(log: PostgresLog, other: PostgresLog):
    async def take(node: PostgresLog) -> int:
        return await node.limits.take("failed logins", "192.0.2.1", per_second=1e-9, burst=10)

    taken = await asyncio.gather(*(take(node) for node in (log, other) * 10))
    assert sum(taken) == 10
    assert await log.limits.take("failed logins", "192.0.2.2", per_second=1e-9, burst=10, wanted=20) == 10


async def test_a_limit_is_refilled_with_time(log: PostgresLog):
    assert await log.limits.take("requests", "t", per_second=1e9, burst=1) == 1
    assert await log.limits.take("requests", "t", per_second=1e9, burst=1) == 1
