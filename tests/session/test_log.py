"""The promises of the log, on every backend: order, fence, inbox, watching. Rows F11, J1, J2 rest on these."""

import asyncio
import errno
import os
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from assent.agent.spending import Spending, day_of
from assent.approval import Approval, Decision, InfoDetails
from assent.commands import Submit
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallScheduled,
    CommandTaken,
    DurableEvent,
    Envelope,
    ModeChanged,
    ModelReplied,
    PromptSubmitted,
    SessionArchived,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    TurnFinished,
)
from assent.files.locks import take_lock
from assent.parts import Result, Usage
from assent.postgres.postgres_log import PostgresLog
from assent.session.fork import fork_session
from assent.session.inline_reader import InlineReader
from assent.session.log import (
    Fence,
    KeyReused,
    LogDamaged,
    LogUnavailable,
    LostFence,
    NoSuchSession,
    Opening,
    SessionBusy,
    SessionLog,
    SessionPage,
    Stamp,
    Waiting,
    new_session_id,
)
from assent.session.memory_log import MemoryLog
from assent.session.sqlite_log import SqliteLog
from assent.session.writer import Job
from support.older_log import take_back_to
from support.postgres_server import PostgresServer
from support.waiting import WAIT_LIMIT

CREATED = SessionCreated(folder="/w", model="model", mode="default", version="0")


TOKEN = 1_794_983_366_843
"""As engines issue them: milliseconds."""
POSTGRES = pytest.param("postgres", marks=pytest.mark.needs("postgres"))


@pytest.fixture(params=["memory", "sqlite", "sqlite, reads apart", POSTGRES])
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionLog]:
    backend = _backend(request, tmp_path)
    yield backend
    await backend.close()


def _backend(request: pytest.FixtureRequest, tmp_path: Path) -> SessionLog:
    match request.param:
        case "memory":
            return MemoryLog()
        case "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            return PostgresLog(server.url, schema=f"test_{uuid4().hex}")
        case kind:
            return SqliteLog(tmp_path / "data", busy="apart" in kind)


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteLog]:
    backend = SqliteLog(tmp_path / "data")
    yield backend
    await backend.close()


def prompt(seq: int, text: str = "hi", session: str = "s") -> Envelope:
    return Envelope(seq, float(seq), session, PromptSubmitted(f"{session}########{seq}", text, "ann"))


async def test_a_new_session_begins_with_its_creation(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    assert await log.read("s") == [Envelope(1, 1.0, "s", CREATED)]


async def test_appended_events_come_back_in_order_and_can_be_read_from_any_number(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [prompt(2), prompt(3)])
    await log.append(fence, [prompt(4)])
    assert [envelope.seq for envelope in await log.read("s")] == [1, 2, 3, 4]
    assert await log.read("s", after=2) == [prompt(3), prompt(4)]


@pytest.mark.parametrize("seqs", [[3], [1], [2, 4], [0]])
async def test_a_gap_in_the_numbers_is_refused_and_nothing_is_written(log: SessionLog, seqs: list[int]):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    with pytest.raises(LostFence):
        await log.append(fence, [prompt(seq) for seq in seqs])
    assert len(await log.read("s")) == 1
    await log.append(fence, [prompt(2)])


async def test_a_second_opener_is_refused_while_the_first_is_there(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    assert await log.is_open("s")
    with pytest.raises(SessionBusy, match="open in another process"):
        await log.acquire("s")
    await log.release(fence)
    assert not await log.is_open("s")
    assert (await log.acquire("s")).token > fence.token


async def test_a_writer_that_lost_the_session_is_refused(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    old = await log.acquire("s")
    await log.release(old)
    new = await log.acquire("s")
    with pytest.raises(LostFence):
        await log.append(old, [prompt(2)])
    await log.append(new, [prompt(2)])


@pytest.mark.spec("M2")
async def test_the_token_of_an_engine_is_the_fence_and_an_older_attempt_is_refused(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    first = await log.acquire("s", Opening(1.0, "serve", TOKEN))
    assert first.token == TOKEN
    await log.release(first)
    with pytest.raises(LostFence):
        await log.acquire("s", Opening(2.0, "serve", TOKEN - 1))
    assert not await log.is_open("s")
    assert (await log.acquire("s", Opening(3.0, "serve", TOKEN + 1))).token == TOKEN + 1
    opened = [envelope.event for envelope in await log.read("s", 1)]
    assert opened == [SessionOpened(TOKEN, "serve"), SessionOpened(TOKEN + 1, "serve")]


async def test_after_an_engine_the_log_issues_tokens_again(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    await log.release(await log.acquire("s", Opening(1.0, "serve", TOKEN)))
    assert (await log.acquire("s", Opening(2.0, "assent"))).token == TOKEN + 1


async def test_a_refused_append_leaves_others_in_the_same_commit_alone(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    await log.create("t", 1.0, CREATED)
    good = await log.acquire("s")
    results = await asyncio.gather(
        log.append(good, [prompt(2)]),
        log.append(Fence("t", 99), [prompt(2, session="t")]),
        log.append(good, [prompt(3)]),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), LostFence, type(None)]
    assert len(await log.read("s")) == 3
    assert len(await log.read("t")) == 1


async def test_many_writers_at_once_leave_gap_free_sessions(log: SessionLog):
    async def write(session: str) -> None:
        await log.create(session, 1.0, CREATED)
        fence = await log.acquire(session)
        await asyncio.gather(*(log.append(fence, [prompt(seq, session=session)]) for seq in range(2, 102)))

    await asyncio.gather(*(write(f"s{n}") for n in range(20)))
    for n in range(20):
        assert [envelope.seq for envelope in await log.read(f"s{n}")] == list(range(1, 102))


async def test_a_session_that_does_not_exist_is_named(log: SessionLog):
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: log.read("x"),
        lambda: log.acquire("x"),
        lambda: log.put("x", "k", Submit("hi")),
    ]
    for call in calls:
        with pytest.raises(NoSuchSession, match="'x'"):
            await call()


async def test_the_inbox_keeps_commands_in_order_and_takes_a_key_once(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    assert await log.put("s", "one", Submit("1"))
    assert await log.put("s", "two", Submit("2"))
    assert not await log.put("s", "one", Submit("other"))
    assert [(item.key, item.command) for item in await log.inbox("s")] == [("one", Submit("1")), ("two", Submit("2"))]


async def test_a_taken_command_leaves_the_inbox_with_its_events_and_its_key_stays_used(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    await log.put("s", "one", Submit("1"))
    fence = await log.acquire("s")
    await log.append(fence, [Envelope(2, 2.0, "s", CommandTaken("one", "ann"))])
    assert await log.inbox("s") == []
    assert not await log.put("s", "one", Submit("again"))
    assert await log.inbox("s") == []


async def test_a_refused_append_takes_no_command(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    await log.put("s", "one", Submit("1"))
    with pytest.raises(LostFence):
        await log.append(Fence("s", 9), [Envelope(2, 2.0, "s", CommandTaken("one", "ann"))])
    assert len(await log.inbox("s")) == 1


# --- stamps ---

ONE, OTHER = Stamp("key", b"one request"), Stamp("key", b"another")


async def test_a_request_that_comes_again_finds_what_it_made(log: SessionLog):
    assert await log.stamped(ONE) is None
    made = await asyncio.gather(*(log.create(session, 1.0, CREATED, stamp=ONE) for session in ("s", "t")))
    assert made[0] == made[1] == await log.stamped(ONE), "whichever came first"
    assert [info.id for info in await log.sessions()] == [made[0]]


async def test_another_request_may_not_use_its_key_and_does_nothing(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    assert await log.put("s", "k1", Submit("hi", by="ann"), ONE)
    assert not await log.put("s", "k1", Submit("hi", by="ann"), ONE)
    for work in (log.put("s", "k2", Submit("ho", by="ann"), OTHER), log.create("t", 2.0, CREATED, stamp=OTHER)):
        with pytest.raises(KeyReused, match="a new key"):
            await work
    with pytest.raises(KeyReused):
        await log.stamped(OTHER)
    assert [item.key for item in await log.inbox("s")] == ["k1"]
    assert [info.id for info in await log.sessions()] == ["s"]


async def test_the_keys_of_a_deleted_session_are_free_again(log: SessionLog):
    await log.create("s", 1.0, CREATED, stamp=ONE)
    await log.delete("s")
    assert await log.create("t", 2.0, CREATED, stamp=OTHER) == "t"


def aged(path: Path, days: float) -> None:
    """As if all of it had happened so many days before."""
    with sqlite3.connect(path / "data" / "assent.db") as db:
        db.execute("UPDATE stamps SET at = at - ?", (days * 86_400,))
        db.execute("UPDATE inbox SET taken = taken - ? WHERE taken", (days * 86_400,))
    db.close()


def left(path: Path) -> tuple[list[str], list[str]]:
    """The keys of the stamps and of the commands that are there."""
    db = sqlite3.connect(path / "data" / "assent.db")
    found = [[row[0] for row in db.execute(f"SELECT key FROM {table} ORDER BY key")] for table in ("stamps", "inbox")]
    db.close()
    return found[0], found[1]


async def commanded(log: SqliteLog, fence: Fence, *keys: str) -> None:
    """These came with stamps, and those with `t` were taken."""
    for key in keys:
        await log.put("s", key, Submit(key), Stamp(key, b"asked"))
    head = (await log.heads())["s"]
    taken = [key for key in keys if key.startswith("t")]
    events = [Envelope(head + 1 + n, 2.0, "s", CommandTaken(key, "ann")) for n, key in enumerate(taken)]
    await log.append(fence, events)


async def test_what_was_taken_a_week_ago_is_swept_by_the_next_command_and_what_waits_never(
    sqlite: SqliteLog, tmp_path: Path
):
    await sqlite.create("s", 1.0, CREATED)
    fence = await sqlite.acquire("s")
    await commanded(sqlite, fence, "t-old", "waits")
    aged(tmp_path, 3)
    await commanded(sqlite, fence, "t-young")
    aged(tmp_path, 4.5)
    assert left(tmp_path) == (["t-old", "t-young", "waits"],) * 2
    await sqlite.put("s", "next", Submit("next"))
    assert left(tmp_path) == (["t-young", "waits"], ["next", "t-young", "waits"])
    assert not await sqlite.put("s", "waits", Submit("waits"), Stamp("waits", b"asked"))


async def test_a_pile_of_old_keys_gets_smaller_with_every_command_by_a_few(sqlite: SqliteLog, tmp_path: Path):
    await sqlite.create("s", 1.0, CREATED)
    await commanded(sqlite, await sqlite.acquire("s"), *(f"t{n:02}" for n in range(50)))
    aged(tmp_path, 8)
    for remaining in (30, 10, 0):
        await sqlite.put("s", "next", Submit("next"))
        stamps, inbox = left(tmp_path)
        assert (len(stamps), len(inbox) - 1) == (remaining, remaining)


async def test_keys_from_before_times_were_kept_count_as_used_when_the_log_is_opened(tmp_path: Path):
    log = SqliteLog(tmp_path / "data")
    await log.create("s", 1.0, CREATED)
    await commanded(log, await log.acquire("s"), "t-old", "waits")
    await log.close()
    take_back_to(tmp_path / "data" / "assent.db", 3)
    log = SqliteLog(tmp_path / "data")
    assert not await log.put("s", "t-old", Submit("t-old"), Stamp("t-old", b"asked"))
    assert left(tmp_path) == (["t-old", "waits"],) * 2
    assert [item.key for item in await log.inbox("s")] == ["waits"]
    await log.close()


async def test_whoever_watches_hears_of_new_commands(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    heard = asyncio.Event()
    stop = log.watch("s", heard.set)
    await log.put("s", "one", Submit("1"))
    async with asyncio.timeout(WAIT_LIMIT):
        await heard.wait()
    stop()


@pytest.mark.spec("F11")
async def test_sessions_are_listed_newest_first_with_their_first_prompt(log: SessionLog):
    await log.create("a", 1.0, CREATED)
    await log.create("b", 2.0, CREATED)
    fence = await log.acquire("b")
    await log.append(fence, [prompt(2, "  fix the  bug\nplease\n \n@/files/bug.png", "b"), prompt(3, "and more", "b")])
    listed = await log.sessions()
    assert [(info.id, info.events) for info in listed] == [("b", 3), ("a", 1)]
    assert listed[0].title == "fix the bug please"


async def ask(log: SessionLog, session: str, *asked: tuple[float, str], folder: str = "/w") -> None:
    await log.create(session, 1.0, SessionCreated(folder=folder, model="model", mode="default", version="0"))
    fence = await log.acquire(session)
    events = [PromptSubmitted(f"{session}########{seq}", text, "ann") for seq, (_, text) in enumerate(asked, start=2)]
    await log.append(
        fence,
        [Envelope(seq, ts, session, e) for (seq, e), (ts, _) in zip(enumerate(events, start=2), asked, strict=True)],
    )


@pytest.mark.spec("G1")
async def test_the_prompts_of_a_folder_come_in_the_order_of_time_whatever_their_session(log: SessionLog):
    await ask(log, "a", (2.0, "one"), (5.0, "four"))
    await ask(log, "b", (3.0, "two"), (4.0, "three"))
    await ask(log, "c", (6.0, "elsewhere"), folder="/other")
    assert await log.prompts("/w", 10) == ["one", "two", "three", "four"]
    assert await log.prompts("/w", 2) == ["three", "four"]
    assert await log.prompts("/none", 10) == []


# --- SQLite only ---


async def test_a_prompt_that_cannot_be_read_is_left_out_of_the_history(sqlite: SqliteLog):
    await ask(sqlite, "a", (2.0, "one"), (4.0, "three"))
    row = ("a", 9, 3.0, "prompt.submitted", 99, b"{}")
    await sqlite._writer.submit(lambda db: db.execute("INSERT INTO events VALUES (?,?,?,?,?,?)", row))  # pyright: ignore
    assert await sqlite.prompts("/w", 10) == ["one", "three"]


async def test_another_process_is_heard_too(sqlite: SqliteLog, tmp_path: Path):
    await sqlite.create("s", 1.0, CREATED)
    heard = asyncio.Event()
    stop = sqlite.watch("s", heard.set)
    await sqlite.read("s")
    heard.clear()
    other = SqliteLog(tmp_path / "data")
    await other.put("s", "one", Submit("1"))
    async with asyncio.timeout(WAIT_LIMIT):
        await heard.wait()
    stop()
    await other.close()


@pytest.mark.spec("I5")
async def test_everything_on_disk_is_readable_by_its_owner_only(sqlite: SqliteLog, tmp_path: Path):
    await sqlite.create("s", 1.0, CREATED)
    await sqlite.acquire("s")
    folder = tmp_path / "data"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert {"assent.db", "assent.db-wal", "s.lock"} <= set(modes)
    assert set(modes.values()) == {0o600}


async def test_a_lock_file_goes_with_its_lock_and_those_of_the_killed_are_removed(tmp_path: Path):
    session = new_session_id()
    first = SqliteLog(tmp_path)
    await first.create(session, 1.0, CREATED)
    fence = await first.acquire(session)
    left, held = tmp_path / f"{new_session_id()}.lock", tmp_path / f"{session}.lock"
    left.touch()
    server = SqliteLog(tmp_path, busy=True)
    await server.try_writing()
    assert held.exists() and not left.exists(), "only what nobody holds is removed"
    assert await server.is_open(session)
    await first.release(fence)
    assert not held.exists()
    assert not await server.is_open(session) and not held.exists()
    await server.close()
    await first.close()
    assert [path.name for path in tmp_path.glob("*.lock")] == ["opening.lock"]


async def test_commits_are_synced_in_wal_mode(sqlite: SqliteLog):
    await sqlite.create("s", 1.0, CREATED)
    pragmas = await sqlite._writer.submit(  # pyright: ignore[reportPrivateUsage]
        lambda db: [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    )
    assert pragmas == ["wal", 2]


@pytest.mark.spec("J2")
async def test_a_full_disk_is_a_clear_error_and_nothing_acknowledged_is_lost(sqlite: SqliteLog):
    await sqlite.create("s", 1.0, CREATED)
    fence = await sqlite.acquire("s")
    await sqlite.append(fence, [prompt(2, "kept")])
    await _limit_pages(sqlite, extra=2)
    with pytest.raises(LogUnavailable, match=r"is full.*free some space"):
        await sqlite.append(fence, [prompt(3, "x" * 100_000)])
    assert await sqlite.read("s", after=1) == [prompt(2, "kept")]
    await _limit_pages(sqlite, extra=10_000)
    await sqlite.append(fence, [prompt(3, "x" * 100_000)])


async def test_a_fork_is_made_whole_or_not_at_all(sqlite: SqliteLog):
    await sqlite.create("s", 1.0, CREATED)
    fence = await sqlite.acquire("s")
    await sqlite.append(fence, [prompt(2, "x" * 100_000), asked(3, "c1")])
    await _limit_pages(sqlite, extra=2)
    with pytest.raises(LogUnavailable, match="is full"):
        await fork_session(sqlite, "s", ONE)
    assert [info.id for info in await sqlite.sessions()] == ["s"] and await sqlite.stamped(ONE) is None
    await _limit_pages(sqlite, extra=10_000)
    copy = await fork_session(sqlite, "s", ONE)
    assert [envelope.seq for envelope in await sqlite.read(copy)] == [1, 2, 3, 4], "the last one is its name"
    assert {item.session for item in await sqlite.waiting()} == {"s", copy}
    assert [info.id for info in await sqlite.sessions()] == [copy, "s"], "it is the newest, however old its events are"
    assert await fork_session(sqlite, "s", ONE) == copy


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EROFS, "cannot write the session log"), (errno.EACCES, "Check its permissions"), (errno.ENOSPC, "is full")],
)
async def test_the_error_decides_what_is_said_and_not_the_name_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
):
    folder = tmp_path / "full, locked and malformed"

    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(folder / "assent.db"))

    monkeypatch.setattr(sqlite3, "connect", refused)
    log = SqliteLog(folder)
    with pytest.raises(LogUnavailable, match=said):
        await log.sessions()
    await log.close()


async def _limit_pages(log: SqliteLog, extra: int) -> None:
    """SQLite then answers as it does on a full disk."""

    def job(db: sqlite3.Connection) -> None:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + extra}")

    await log._writer.submit(job, reads=True)  # pyright: ignore[reportPrivateUsage]


async def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path):
    (tmp_path / "assent.db").write_bytes(b"this is not a database at all, it is only some text" * 100)
    log = SqliteLog(tmp_path)
    with pytest.raises(LogDamaged, match="damaged"):
        await log.sessions()
    await log.close()


async def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    log = SqliteLog(tmp_path / "file" / "data")
    with pytest.raises(LogUnavailable):
        await log.sessions()
    await log.close()


async def test_a_read_only_database_can_be_read_but_not_written(sqlite: SqliteLog, tmp_path: Path):
    await sqlite.create("s", 1.0, CREATED)
    fence = await sqlite.acquire("s")
    await sqlite._writer.submit(lambda db: db.execute("PRAGMA query_only = 1"), reads=True)  # pyright: ignore
    with pytest.raises(LogUnavailable, match="Check its permissions"):
        await sqlite.append(fence, [prompt(2)])
    assert len(await sqlite.read("s")) == 1


async def test_an_event_of_a_newer_format_is_named_and_not_misread(sqlite: SqliteLog):
    await sqlite.create("s", 1.0, CREATED)
    row = ("s", 2, 2.0, "later", 99, b'{"type":"later"}')
    await sqlite._writer.submit(lambda db: db.execute("INSERT INTO events VALUES (?,?,?,?,?,?)", row))  # pyright: ignore
    with pytest.raises(LogDamaged, match=r"event 2 of session s.*newer Assent"):
        await sqlite.read("s")


async def test_a_damaged_event_is_named(sqlite: SqliteLog):
    await sqlite.create("s", 1.0, CREATED)
    row = ("s", 2, 2.0, "turn.finished", 1, b'{"type":"turn.fin')
    await sqlite._writer.submit(lambda db: db.execute("INSERT INTO events VALUES (?,?,?,?,?,?)", row))  # pyright: ignore
    with pytest.raises(LogDamaged, match="event 2 of session s"):
        await sqlite.read("s")


async def test_a_torn_journal_loses_at_most_what_was_not_acknowledged(tmp_path: Path):
    """Cuts the write-ahead log after every page, as a crash in the middle of a write does."""
    folder = tmp_path / "data"
    log = SqliteLog(folder)
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    for seq in range(2, 12):
        await log.append(fence, [prompt(seq)])
    wal = (folder / "assent.db-wal").read_bytes()
    database = (folder / "assent.db").read_bytes()
    seen: list[int] = []
    for cut in range(len(wal), 0, -2048):
        copy = tmp_path / f"cut{cut}"
        copy.mkdir()
        (copy / "assent.db").write_bytes(database)
        (copy / "assent.db-wal").write_bytes(wal[:cut])
        seen.append(await _readable_events(copy))
    await log.close()
    assert seen[0] == 11
    assert seen == sorted(seen, reverse=True)


async def _readable_events(folder: Path) -> int:
    log = SqliteLog(folder)
    try:
        envelopes = await log.read("s")
    except NoSuchSession:
        return 0
    finally:
        await log.close()
    assert [envelope.seq for envelope in envelopes] == list(range(1, len(envelopes) + 1))
    return len(envelopes)


async def test_a_closed_log_refuses_instead_of_hanging(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await log.create("s", 1.0, CREATED)
    await log.close()
    with pytest.raises(LogUnavailable, match="closed"):
        await log.read("s")


def test_session_ids_sort_by_time_and_are_safe_as_file_names():
    ids = [new_session_id() for _ in range(100)]
    assert len(set(ids)) == 100
    assert all(id.replace("-", "").isalnum() for id in ids)


async def test_a_session_with_a_hostile_id_makes_no_lock_file_elsewhere(sqlite: SqliteLog, tmp_path: Path):
    for name in ("../../evil", "/tmp/evil", "a/b"):
        with pytest.raises(NoSuchSession):
            await sqlite.acquire(name)
    assert sorted(os.listdir(tmp_path)) == ["data"]


async def test_a_look_of_someone_else_at_the_lock_does_not_keep_a_session_closed(
    sqlite: SqliteLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await sqlite.create("s", 1.0, CREATED)
    looking = [take_lock(tmp_path / "data" / "s.lock")]

    async def look_away(_: float) -> None:
        os.close(looking.pop())

    monkeypatch.setattr("assent.session.sqlite_log.asyncio.sleep", look_away)
    assert (await sqlite.acquire("s")).token == 1
    assert not looking


async def test_turns_and_prompts_survive_a_restart(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [prompt(2), Envelope(3, 3.0, "s", TurnFinished("s########2", "completed"))])
    await log.close()
    again = SqliteLog(tmp_path)
    assert [type(e.event) for e in await again.read("s")] == [SessionCreated, PromptSubmitted, TurnFinished]
    await again.close()


# --- what is known without reading the sessions ---

ASKED = Approval(
    id="a1",
    digest="d1",
    details=InfoDetails("May I?"),
    options=("proceed_once", "cancel"),
    why="because",
    tool="fetch",
    expires_at=50.0,
)


def asked(seq: int, call_id: str, session: str = "s", approval: Approval = ASKED) -> Envelope:
    return Envelope(seq, float(seq), session, ApprovalRequested(call_id, approval))


async def test_what_waits_is_known_over_all_sessions_the_oldest_first(log: SessionLog):
    for session, owner in (("s", ""), ("t", "bob")):
        await log.create(session, 1.0, msgspec.structs.replace(CREATED, owner=owner))
    fences = {session: await log.acquire(session) for session in ("s", "t")}
    await log.append(fences["t"], [asked(2, "c1", "t")])
    await log.append(fences["s"], [prompt(2), asked(3, "c1"), asked(4, "c2")])
    assert await log.waiting() == [
        Waiting("t", "c1", 2.0, ASKED),
        Waiting("s", "c1", 3.0, ASKED),
        Waiting("s", "c2", 4.0, ASKED),
    ]
    assert [w.call_id for w in await log.waiting("", limit=1, offset=1)] == ["c2"]
    assert await log.count_waiting() == {"": 2, "bob": 1}
    assert await log.count_waiting("bob") == {"bob": 1}
    assert await log.waiting_call("s", "c2") == Waiting("s", "c2", 4.0, ASKED)
    assert await log.waiting_call("s", "c3") is None
    assert (await log.expired(49.0), set(await log.expired(50.0))) == ([], {"s", "t"})


@pytest.mark.parametrize(
    "settling",
    [
        ApprovalAnswered(call_id="c1", approval_id="a1", outcome="proceed_once", by="ann"),
        CallScheduled("c1", Decision(source="mode", reason="allowed now")),
        CallFinished(call_id="c1", status="cancelled", result=Result("c1", "fetch", {})),
    ],
)
async def test_what_is_settled_waits_no_longer_whoever_settles_it(log: SessionLog, settling: DurableEvent):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [asked(2, "c1"), asked(3, "c2")])
    await log.release(fence)
    fence = await log.acquire("s")
    await log.append(fence, [Envelope(4, 4.0, "s", settling)])
    assert [waiting.call_id for waiting in await log.waiting()] == ["c2"]


async def test_a_question_that_is_asked_anew_replaces_the_old_one(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    new = msgspec.structs.replace(ASKED, id="a2", digest="d2", expires_at=None)
    await log.append(fence, [asked(2, "c1"), asked(3, "c1", approval=new)])
    assert await log.waiting() == [Waiting("s", "c1", 3.0, new)]
    assert await log.expired(1e12) == []


async def test_the_line_of_a_session_says_how_it_is(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    opened = Envelope(2, 2.0, "s", SessionOpened(fence.token, "serve"))
    await log.append(fence, [opened, prompt(3, "fix it"), Envelope(4, 4.0, "s", ModeChanged("auto_edit", "ann"))])
    info = await log.info("s")
    assert (info.client, info.title, info.mode, info.unfinished, info.held) == (
        "serve",
        "fix it",
        "auto_edit",
        True,
        True,
    )
    await log.append(fence, [Envelope(5, 5.0, "s", TurnFinished("s########3", "completed"))])
    await log.release(fence)
    info = await log.info("s")
    assert (info.unfinished, info.held, info.events) == (False, False, 5)
    assert await log.sessions() == [info]
    assert await log.infos(["s", "none"]) == {"s": info}
    assert await log.heads() == {"s": 5} == await log.heads(["s", "none"])
    assert await log.heads([]) == {}
    with pytest.raises(NoSuchSession):
        await log.info("t")


async def test_the_sessions_of_an_owner_come_in_pages(log: SessionLog):
    for number, owner in enumerate(["ann", "bob", "ann", "ann", "ann"]):
        await log.create(f"s{number}", float(number), msgspec.structs.replace(CREATED, owner=owner))
    fence = await log.acquire("s3")
    await log.append(fence, [Envelope(2, 3.0, "s3", SessionArchived(True, "ann"))])
    of_ann = await log.sessions("ann")
    assert [info.id for info in of_ann] == ["s4", "s3", "s2", "s0"]
    assert await log.page("ann", 2, 1) == SessionPage(of_ann[1:3], 4, 1)
    assert [info.id for info in (await log.page("ann", 2, 1, archived=False)).sessions] == ["s2", "s0"]
    assert await log.page("ann", 9, archived=True) == SessionPage([of_ann[1]], 1, 1)
    assert await log.page("eve", 9) == SessionPage([], 0, 0)


async def test_what_is_over_for_long_is_known_the_oldest_first(log: SessionLog):
    for number in range(5):
        await log.create(f"s{number}", float(number), CREATED)
    fence = await log.acquire("s1")
    await log.append(fence, [Envelope(2, 1.0, "s1", PromptSubmitted("p", "go", "ann"))])
    assert [info.id for info in await log.finished(3.5, 9)] == ["s0", "s2", "s3"], "s1 has an unfinished turn"
    assert [info.id for info in await log.finished(9.0, 2, 1)] == ["s2", "s3"]


async def test_sessions_with_commands_are_known(log: SessionLog):
    for session in ("s", "t"):
        await log.create(session, 1.0, CREATED)
    await log.put("t", "k", Submit("hi"))
    assert await log.pending() == ["t"]
    fence = await log.acquire("t")
    await log.append(fence, [Envelope(2, 2.0, "t", CommandTaken("k", "ann"))])
    assert await log.pending() == []


async def test_a_deleted_session_leaves_nothing_behind(log: SessionLog):
    for session in ("s", "t"):
        await log.create(session, 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [asked(2, "c1")])
    await log.put("s", "k", Submit("hi"))
    with pytest.raises(SessionBusy):
        await log.delete("s")
    await log.release(fence)
    await log.delete("s")
    assert (await log.waiting(), await log.pending(), await log.heads()) == ([], [], {"t": 1})
    with pytest.raises(NoSuchSession):
        await log.delete("s")


async def test_what_came_since_someone_looked_is_not_deleted(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    seen = (await log.info("s")).events
    await log.put("s", "k", Submit("hi"))
    with pytest.raises(SessionBusy):
        await log.delete("s", seen)
    fence = await log.acquire("s")
    await log.append(fence, [Envelope(2, 2.0, "s", CommandTaken("k", "ann"))])
    await log.release(fence)
    with pytest.raises(SessionBusy):
        await log.delete("s", seen)
    await log.delete("s", seen + 1)
    assert await log.sessions() == []


async def test_events_can_be_read_in_pages(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [prompt(seq) for seq in range(2, 8)])
    assert [envelope.seq for envelope in await log.read("s", 2, 3)] == [3, 4, 5]
    assert [envelope.seq for envelope in await log.read("s", 6, 3)] == [7]


@pytest.mark.parametrize("limit", [None, 99, 100, 101, 250, 1_000])
async def test_more_events_than_a_glance_takes_are_read_whole(log: SessionLog, limit: int | None):
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [prompt(seq) for seq in range(2, 251)])
    for after in (0, 1, 149, 150, 151, 250):
        found = [envelope.seq for envelope in await log.read("s", after, limit)]
        assert found == list(range(after + 1, 251))[:limit]


async def test_that_a_session_was_opened_is_written_as_it_is_taken(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    await log.acquire("s", Opening(5.0, "serve"))
    assert (await log.read("s"))[1:] == [Envelope(2, 5.0, "s", SessionOpened(1, "serve"))]
    info = await log.info("s")
    assert (info.client, info.held, info.events, info.updated_at) == ("serve", True, 2, 5.0)
    with pytest.raises(SessionBusy):
        await log.acquire("s", Opening(6.0, "terminal"))
    assert len(await log.read("s")) == 2


async def test_a_new_name_does_not_make_an_old_session_the_newest(log: SessionLog):
    for name, at in (("old", 1.0), ("new", 2.0)):
        await log.create(name, at, CREATED)
    fence = await log.acquire("old")
    await log.append(fence, [Envelope(2, 3.0, "old", SessionRenamed("A name", "ann"))])
    assert {info.id: info.updated_at for info in await log.sessions()} == {"new": 2.0, "old": 1.0}
    assert (await log.info("old")).title == "A name"
    await log.append(fence, [Envelope(3, 4.0, "old", UNPRICED), Envelope(4, 5.0, "old", SessionRenamed("B", "ann"))])
    assert {info.id: info.updated_at for info in await log.sessions()} == {"new": 2.0, "old": 4.0}


async def test_an_older_log_gets_its_index_when_it_is_opened(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await log.create("s", 1.0, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [prompt(2), asked(3, "c1"), asked(4, "c2")])
    await log.append(
        fence, [Envelope(5, 5.0, "s", ApprovalAnswered(call_id="c2", approval_id="a1", outcome="cancel", by="ann"))]
    )
    known = (await log.waiting(), msgspec.structs.replace(await log.info("s"), held=False))
    await log.close()
    take_back_to(tmp_path / "assent.db", 1)
    log = SqliteLog(tmp_path)
    assert (await log.waiting(), await log.info("s")) == known
    await log.close()


async def test_a_log_from_before_the_stamps_keeps_what_it_has_and_takes_them_from_now_on(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await log.create("s", 1.0, CREATED)
    await log.put("s", "k1", Submit("hi", by="ann"))
    await log.close()
    take_back_to(tmp_path / "assent.db", 2)
    log = SqliteLog(tmp_path)
    assert not await log.put("s", "k1", Submit("hi", by="ann"), ONE)
    assert await log.stamped(ONE) == "s"
    assert [item.key for item in await log.inbox("s")] == ["k1"]
    await log.close()


async def test_many_may_begin_a_new_log_at_the_same_moment(tmp_path: Path):
    for attempt in range(20):
        logs = [SqliteLog(tmp_path / str(attempt), busy=True) for _ in range(4)]
        await asyncio.gather(*(log.create(f"s{n}", 1.0, CREATED) for n, log in enumerate(logs)))
        assert len(await logs[0].sessions()) == 4
        await asyncio.gather(*(log.close() for log in logs))


async def test_an_answer_counts_also_where_no_second_connection_can_be_opened(tmp_path: Path):
    async def ask_thread(job: Job) -> str:
        return "the answer"

    inline_reader = InlineReader(tmp_path / "no such folder" / "assent.db", ask_thread)
    assert await inline_reader(lambda db: "never") == "the answer"
    assert await inline_reader(lambda db: "never") == "the answer"
    inline_reader.close()


async def test_opening_the_log_a_second_time_keeps_the_locks_of_the_first(sqlite: SqliteLog, tmp_path: Path):
    await sqlite.create("s", 1.0, CREATED)
    second = SqliteLog(tmp_path / "data")
    await second.sessions()

    # Another process that ends removes the journal when it believes to be the last: it must see that it is not.
    script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); print(*db.execute('SELECT id FROM sessions'))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(tmp_path / "data" / "assent.db"))
    assert await process.wait() == 0
    assert (tmp_path / "data" / "assent.db-wal").exists()
    await sqlite.create("t", 2.0, CREATED)
    assert {info.id for info in await second.sessions()} == {"s", "t"}
    await second.close()


async def test_what_is_read_at_a_glance_is_of_one_moment_though_others_write(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await log.create("s", 1.0, CREATED)
    others = sqlite3.connect(tmp_path / "assent.db", isolation_level=None)
    counted = "SELECT next_seq, (SELECT COUNT(*) FROM events) FROM sessions"

    async def ask_thread(job: Job) -> object:
        return None

    def look_twice(db: sqlite3.Connection) -> tuple[object, object]:
        before = db.execute(counted).fetchone()
        others.execute("UPDATE sessions SET next_seq = next_seq + 1")
        return before, db.execute(counted).fetchone()

    inline_reader = InlineReader(tmp_path / "assent.db", ask_thread)
    await inline_reader(look_twice)  # the first one goes to the thread
    before, after = await inline_reader(look_twice)
    assert before == after == (2, 1)
    assert await inline_reader(lambda db: db.execute(counted).fetchone()) == (3, 1)
    inline_reader.close()
    others.close()
    await log.close()


async def test_what_fails_at_a_glance_does_not_keep_the_next_from_what_is_new(tmp_path: Path):
    log = SqliteLog(tmp_path, busy=True)
    await log.create("s", 1.0, CREATED)
    await log.info("s")
    with pytest.raises(NoSuchSession):
        await log.read("t")
    await log.create("t", 1.0, CREATED)
    assert len(await log.read("t")) == 1
    await log.close()


async def test_a_command_that_cannot_be_read_hides_none_of_the_others(sqlite: SqliteLog, tmp_path: Path):
    await sqlite.create("s", 1.0, CREATED)
    for key in ("one", "two", "three"):
        await sqlite.put("s", key, Submit(key))
    db = sqlite3.connect(tmp_path / "data" / "assent.db")
    db.execute("UPDATE inbox SET data = '{\"type\":\"from the future\"}' WHERE key = 'two'")
    db.commit()
    db.close()
    assert [item.key for item in await sqlite.inbox("s")] == ["one", "three"]


async def test_a_session_that_is_whole_is_salvaged_as_it_is(log: SessionLog):
    await log.create("s", 1.0, CREATED)
    await log.append(await log.acquire("s"), [prompt(2), prompt(3)])
    assert await log.salvage("s") == await log.read("s")


REPLY = ModelReplied(prompt_id="p", model="m", parts=(), finish="stop", usage=Usage(input=70, output=30), cost=0.25)
UNPRICED = ModelReplied(prompt_id="p", model="m", parts=(), finish="stop", usage=Usage(input=10))
TITLE = SessionRenamed("A title", by="model", model="m", usage=Usage(input=5, output=5), cost=0.5)


@pytest.mark.spec("K5")
async def test_what_a_session_used_is_counted_by_day_and_outlives_it(log: SessionLog):
    noon, next_noon = 1_700_000_000.0, 1_700_086_400.0
    await log.create("s", noon, CREATED)
    fence = await log.acquire("s")
    await log.append(fence, [Envelope(2, noon, "s", REPLY), Envelope(3, noon, "s", UNPRICED)])
    await log.append(fence, [Envelope(4, next_noon, "s", REPLY), Envelope(5, next_noon, "s", TITLE)])
    assert await log.spent_by_session() == {"s": Spending(requests=4, tokens=220, dollars=1.0, unpriced=1)}
    await log.release(fence)
    await log.delete("s")
    assert await log.spent_on(day_of(noon)) == Spending(requests=2, tokens=110, dollars=0.25, unpriced=1)
    assert await log.spent_on(day_of(next_noon)) == Spending(requests=2, tokens=110, dollars=0.75)


@pytest.mark.spec("K5")
async def test_an_older_log_counts_what_was_used_when_it_is_opened(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await log.create("s", 1.0, CREATED)
    await log.append(await log.acquire("s"), [Envelope(2, 2.0, "s", REPLY)])
    await log.close()
    take_back_to(tmp_path / "assent.db", 4)
    log = SqliteLog(tmp_path)
    assert await log.spent_by_session() == {"s": Spending(requests=1, tokens=100, dollars=0.25)}
    await log.close()
