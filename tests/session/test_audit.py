"""The audit: it outlives the session, it is written with the event, and `check` finds every change."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from assent import failpoints
from assent.approval import Approval, Decision, ExecDetails, Grant, Outcome
from assent.audit import (
    AuditEntry,
    AuditRecord,
    ChainCheck,
    Checkpoint,
    Verified,
    encode_record,
    head_of,
    read_head,
    seal,
)
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    DurableEvent,
    Envelope,
    GrantAdded,
    GrantRevoked,
    ModeChanged,
    SessionCreated,
    TurnFinished,
)
from assent.postgres.postgres_log import PostgresLog
from assent.secrets.mask import Masker
from assent.session.audit_log import AuditQuery, check
from assent.session.fork import fork_session
from assent.session.log import LogUnavailable, SessionLog
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session
from assent.session.sqlite_log import SqliteLog
from support.older_log import take_back_to
from support.postgres_server import PostgresServer

pytestmark = pytest.mark.spec("N2")
CREATED = SessionCreated(folder="/w", model="model", mode="default", version="0", owner="ann", by="ann@pid1")
SECRET = "ghp_" + "a1B2c3D4e5" * 4


POSTGRES = pytest.param("postgres", marks=pytest.mark.needs("postgres"))


@pytest.fixture(params=["memory", "sqlite", "sqlite, reads apart", POSTGRES])
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SessionLog]:
    backend = _backend(request, tmp_path)
    yield backend
    await backend.close()


def _backend(request: pytest.FixtureRequest, tmp_path: Path) -> SessionLog:
    mask = Masker().text
    match request.param:
        case "memory":
            return MemoryLog()
        case "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            return PostgresLog(server.url, schema=f"test_{uuid4().hex}", mask=mask)
        case kind:
            return SqliteLog(tmp_path / "data", busy="apart" in kind, mask=mask)


def question(call: str, command: str = "make deploy") -> ApprovalRequested:
    details = ExecDetails(command=command, roots=("make",), directory="/w", risk="high", risk_reason="it deploys")
    approval = Approval(
        id=f"a-{call}", digest=f"digest-{call}", details=details, options=("cancel",), why="", tool="run_shell_command"
    )
    return ApprovalRequested(call, approval)


def answer(call: str, outcome: Outcome = "proceed_once", reason: str = "") -> ApprovalAnswered:
    return ApprovalAnswered(call_id=call, approval_id=f"a-{call}", outcome=outcome, by="bob@10.0.0.7", reason=reason)


async def happens(log: SessionLog, *events: DurableEvent, session: str = "s") -> None:
    """In a new session, or in one that exists."""
    if session not in await log.heads():
        await log.create(session, 1.0, CREATED)
    start = (await log.heads())[session]
    fence = await log.acquire(session)
    numbered = [Envelope(start + place, 5.0, session, event) for place, event in enumerate(events, start=1)]
    await log.append(fence, numbered)
    await log.release(fence)


async def entries(log: SessionLog, **query: str) -> list[AuditEntry]:
    """Oldest first."""
    return [record.entry for record in reversed(await log.audit.find(AuditQuery(**query)))]  # pyright: ignore[reportArgumentType]


# --- what is recorded ---


async def test_an_answer_says_who_decided_what_when_from_where_and_for_which_digest(log: SessionLog):
    await happens(log, question("c1"), answer("c1", "cancel", "not today"))
    (found,) = await entries(log, kind="approval")
    assert found == AuditEntry(
        kind="approval.answered",
        ts=5.0,
        by="bob@10.0.0.7",
        session="s",
        owner="ann",
        call_id="c1",
        tool="run_shell_command",
        outcome="cancel",
        digest="digest-c1",
        about="make deploy",
        reason="not today",
    )


async def test_a_question_asked_before_the_session_was_opened_again_is_known(log: SessionLog):
    await happens(log, question("c1"))
    await happens(log, answer("c1"))
    (found,) = await entries(log, kind="approval")
    assert (found.digest, found.about, found.owner) == ("digest-c1", "make deploy", "ann")


async def test_what_was_allowed_before_a_crash_and_starts_after_it_is_recorded(log: SessionLog):
    request = CallRequest(call_id="c1", tool="run_shell_command", args={}, prompt_id="p")
    allowed = CallScheduled("c1", Decision(source="mode", reason="yolo"), about="make test")
    await happens(log, TurnFinished("earlier", "completed"), CallRequested(request), allowed)
    await happens(log, CallStarted("c1", "d1"))
    (found,) = await entries(log, kind="call")
    assert (found.call_id, found.tool, found.outcome, found.about) == ("c1", "run_shell_command", "mode", "make test")


async def test_what_runs_without_a_question_is_recorded_with_what_allowed_it(log: SessionLog):
    def scheduled(call: str, decision: Decision) -> CallScheduled:
        return CallScheduled(call, decision, about="make test")

    request = CallRequest(call_id="c1", tool="run_shell_command", args={}, prompt_id="p")
    by_rule = Decision(source="rule", reason="allowed", rule="rules.toml:3")
    read_only = Decision(source="tool", reason="it only reads")
    answered = Decision(source="person", reason="", by="bob@10.0.0.7", outcome="proceed_once", digest="d3")
    calls = (("c1", by_rule), ("c2", read_only), ("c3", answered), ("never started", by_rule))
    started = [CallStarted("c1", "d1"), CallStarted("c2", "d2"), CallStarted("c3", "d3")]
    await happens(log, CallRequested(request), *(scheduled(*call) for call in calls), *started)
    (found,) = await entries(log, kind="call")
    assert (found.call_id, found.tool, found.outcome) == ("c1", "run_shell_command", "rule")
    assert (found.digest, found.reference, found.about) == ("d1", "rules.toml:3", "make test")


async def test_grants_and_modes_are_recorded(log: SessionLog):
    grant = Grant(
        id="g1", kind="exact", tool="run_shell_command", reach="`make test` here", by="ann@pid1", from_call="c1"
    )
    await happens(log, GrantAdded(grant), GrantRevoked("g1", "bob@10.0.0.7"), ModeChanged("yolo", "ann@pid1"))
    found = [(one.kind, one.by, one.about, one.outcome, one.reference) for one in await entries(log)][1:]
    assert found == [
        ("grant.added", "ann@pid1", "`make test` here", "", "g1"),
        ("grant.revoked", "bob@10.0.0.7", "", "", "g1"),
        ("mode.changed", "ann@pid1", "", "yolo", ""),
    ]


async def test_the_record_outlives_its_session_and_names_who_deleted_it(log: SessionLog):
    await happens(log, question("c1"), answer("c1"))
    await log.delete("s", by="eve@10.0.0.9")
    kinds = [(one.kind, one.by) for one in await entries(log, session="s")]
    assert kinds == [
        ("session.created", "ann@pid1"),
        ("approval.answered", "bob@10.0.0.7"),
        ("session.deleted", "eve@10.0.0.9"),
    ]
    assert (await check(log.audit)).problems == ()


async def test_a_fork_does_not_repeat_the_decisions_of_its_original(log: SessionLog):
    await happens(log, question("c1"), answer("c1"))
    copy = await fork_session(log, "s", by="bob@10.0.0.7")
    found = await entries(log, session=copy)
    assert [(one.kind, one.reference, one.by) for one in found] == [("session.created", "s", "bob@10.0.0.7")]


async def test_it_keeps_no_secret_of_a_command(tmp_path: Path):
    log = SqliteLog(tmp_path, mask=Masker().text)
    await happens(log, question("c1", f"curl -H 'Authorization: Bearer {SECRET}' x"), answer("c1", reason=SECRET))
    await log.delete("s")
    await log.close()
    assert SECRET not in str(await entries_of(tmp_path))


async def test_a_new_session_does_not_wait_for_the_search_for_secrets(tmp_path: Path):
    searched = list[str]()
    log = SqliteLog(tmp_path, mask=lambda text: searched.append(text) or text)
    await create_session(log, "/home/ann/shop", "m", "default")
    await log.close()
    assert searched == [] and [one.about for one in await entries_of(tmp_path)] == ["/home/ann/shop"]


async def entries_of(folder: Path) -> list[AuditEntry]:
    log = SqliteLog(folder)
    try:
        return await entries(log)
    finally:
        await log.close()


async def test_records_can_be_found_by_who_kind_session_and_owner(log: SessionLog):
    for name in ("ann@10.0.0.1", "bob@10.0.0.2"):
        await log.audit.record(AuditEntry(kind="login.succeeded", ts=1.0, by=name, owner=name[:3]))
    await happens(log, question("c1"), answer("c1"))
    assert [one.by for one in await entries(log, kind="login", by="bob")] == ["bob@10.0.0.2"]
    assert [one.by for one in await entries(log, owner="bob")] == ["bob@10.0.0.2"]
    newest, older = await log.audit.find(AuditQuery(limit=2))
    assert [record.id for record in await log.audit.find(AuditQuery(before=older.id))] == [2, 1]
    assert newest.entry.kind == "approval.answered"


# --- exactly once ---


async def test_a_decision_that_was_not_committed_leaves_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = SqliteLog(tmp_path)
    await happens(log, question("c1"))
    fence = await log.acquire("s")

    def fails(place: str) -> None:
        if place == "before commit":
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(failpoints, "hit", fails)
    with pytest.raises(LogUnavailable):
        await log.append(fence, [Envelope(3, 5.0, "s", answer("c1"))])
    monkeypatch.undo()
    assert await entries(log, kind="approval") == []
    await log.append(fence, [Envelope(3, 5.0, "s", answer("c1"))])
    assert len(await entries(log, kind="approval")) == 1
    assert (await check(log.audit)).problems == ()
    await log.close()


async def test_two_processes_continue_one_chain(tmp_path: Path):
    one, two = SqliteLog(tmp_path), SqliteLog(tmp_path)
    for turn in range(3):
        for log in (one, two):
            await log.audit.record(AuditEntry(kind="logout", ts=float(turn)))
    found = await check(one.audit)
    assert (found.records, found.problems) == (6, ())
    await one.close()
    await two.close()


# --- what a check finds ---

Tampering = Callable[[sqlite3.Connection], object]
TAMPERING: dict[str, Tampering] = {
    "flipped": lambda db: db.execute("UPDATE audit SET data = replace(data, 'bob', 'eve') WHERE id = 3"),
    "flipped last": lambda db: db.execute("UPDATE audit SET data = replace(data, 'bob', 'eve') WHERE id = 5"),
    "other hash": lambda db: db.execute("UPDATE audit SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE id = 3"),
    "missing first": lambda db: db.execute("DELETE FROM audit WHERE id = 1"),
    "missing": lambda db: db.execute("DELETE FROM audit WHERE id = 3"),
    "missing last": lambda db: db.execute("DELETE FROM audit WHERE id = 5"),
    "missing all": lambda db: db.execute("DELETE FROM audit"),
    "reordered": lambda db: db.executescript(
        "UPDATE audit SET id = 9 WHERE id = 2;"
        "UPDATE audit SET id = 2 WHERE id = 3; UPDATE audit SET id = 3 WHERE id = 9;"
    ),
    "listed as someone else's": lambda db: db.execute("UPDATE audit SET by = 'eve' WHERE id = 3"),
    "listed as another kind": lambda db: db.execute("UPDATE audit SET kind = 'token.revoked' WHERE id = 3"),
    "listed for another owner": lambda db: db.execute("UPDATE audit SET owner = 'eve' WHERE id = 3"),
    "listed for another session": lambda db: db.execute("UPDATE audit SET session = 'other' WHERE id = 3"),
    "made older, to be pruned": lambda db: db.execute("UPDATE audit SET ts = -1 WHERE id = 3"),
    "a number as hash": lambda db: db.execute("UPDATE audit SET hash = 5, previous = 6 WHERE id = 3"),
    "no JSON": lambda db: db.execute("UPDATE audit SET data = 'audit.pruned' WHERE id = 3"),
    "a number as record": lambda db: db.execute("UPDATE audit SET data = 7 WHERE id = 3"),
    "swapped contents": lambda db: db.executescript(
        "UPDATE audit SET data = (SELECT o.data FROM audit AS o WHERE o.id = 7 - audit.id) WHERE id IN (3, 4)"
    ),
    "a forged end": lambda db: db.execute(
        "INSERT INTO audit SELECT 6, previous, hash, ts, kind, session, owner, by, data FROM audit WHERE id = 5"
    ),
    "a checkpoint of nothing": lambda db: db.execute("INSERT INTO audit_checkpoint VALUES (1, 0, 'x')"),
    "a checkpoint in the middle": lambda db: db.execute(
        "INSERT INTO audit_checkpoint SELECT 1, id, hash FROM audit WHERE id = 2"
    ),
    "pruned in secret": lambda db: db.executescript(
        "INSERT INTO audit_checkpoint SELECT 1, id, hash FROM audit WHERE id = 2; DELETE FROM audit WHERE id <= 2;"
    ),
}


async def five_records(folder: Path) -> Checkpoint:
    log = SqliteLog(folder)
    records = [await log.audit.record(AuditEntry(kind="logout", ts=float(n), by=f"bob@{n}")) for n in range(5)]
    await log.close()
    return head_of(records[-1])


async def checked(folder: Path, *known: Checkpoint) -> tuple[str, ...]:
    log = SqliteLog(folder)
    try:
        return (await check(log.audit, known)).problems
    finally:
        await log.close()


@pytest.mark.parametrize("how", TAMPERING)
async def test_one_flipped_missing_or_reordered_record_is_found(tmp_path: Path, how: str):
    await five_records(tmp_path)
    assert await checked(tmp_path) == ()
    with closing(sqlite3.connect(tmp_path / "assent.db", isolation_level=None)) as db:
        db.executescript("DROP TRIGGER audit_unchanged; DROP TRIGGER audit_kept;")
        TAMPERING[how](db)
    assert await checked(tmp_path) != ()


@pytest.mark.parametrize("id", [0, -1, -(1 << 62)])
async def test_what_is_written_before_the_beginning_is_never_shown(tmp_path: Path, id: int):
    await five_records(tmp_path)
    with closing(sqlite3.connect(tmp_path / "assent.db", isolation_level=None)) as db:
        forged = "SELECT ?, previous, hash, ts, kind, session, owner, 'eve', data FROM audit WHERE id = 5"
        db.execute(f"INSERT INTO audit {forged}", [id])
    log = SqliteLog(tmp_path)
    assert [record.id for record in await log.audit.find(AuditQuery())] == [5, 4, 3, 2, 1]
    assert [record.id for record in await log.audit.read(id - 1, 9)] == [1, 2, 3, 4, 5]
    await log.close()
    assert await checked(tmp_path) == ()


async def test_a_rewritten_end_is_found_with_a_head_that_was_noted(tmp_path: Path):
    """Whoever can write the file can also compute hashes: only a head that is kept elsewhere shows that."""
    head = await five_records(tmp_path)
    with closing(sqlite3.connect(tmp_path / "assent.db", isolation_level=None)) as db:
        db.executescript("DROP TRIGGER audit_kept; DELETE FROM audit WHERE id = 5; UPDATE sqlite_sequence SET seq = 4;")
    assert await checked(tmp_path) == ()
    assert await checked(tmp_path, head) == ("record 5, whose head was noted, is missing",)
    log = SqliteLog(tmp_path)
    await log.audit.record(AuditEntry(kind="logout", ts=9.0, by="eve"))
    await log.close()
    assert await checked(tmp_path) == ()
    assert await checked(tmp_path, head) == ("record 5 is not the one whose head was noted",)


@pytest.mark.parametrize("statement", ["UPDATE audit SET ts = 0", "DELETE FROM audit WHERE id = 2"])
async def test_the_file_itself_refuses_changes(tmp_path: Path, statement: str):
    await five_records(tmp_path)
    with (
        closing(sqlite3.connect(tmp_path / "assent.db", isolation_level=None)) as db,
        pytest.raises(sqlite3.IntegrityError, match="the audit can"),
    ):
        db.execute(statement)


def test_an_exported_chain_can_be_checked_without_the_log():
    at, chain = Checkpoint(), ChainCheck()
    for number in range(3):
        record = seal(at, AuditEntry(kind="logout", ts=float(number), about="übung “quoted” \u202e"))
        chain.add(msgspec.json.decode(encode_record(record), type=AuditRecord))
        at = head_of(record)
    assert chain.result() == Verified(3, at, ())


@pytest.mark.parametrize("text", ["", "5", "5:", "x:" + "0" * 64, "5:" + "0" * 63, "-1:" + "0" * 64])
def test_a_head_is_a_number_and_a_hash(text: str):
    with pytest.raises(ValueError, match="a head is"):
        read_head(text)


# --- pruning ---


async def test_pruning_keeps_the_chain_verifiable_and_is_recorded(log: SessionLog):
    for number in range(5):
        await log.audit.record(AuditEntry(kind="logout", ts=float(number)))
    assert await log.audit.prune(3.0, "ann@pid1") == 3
    left = await log.audit.find(AuditQuery())
    assert [record.id for record in reversed(left)] == [4, 5, 6]
    assert (left[0].entry.kind, left[0].entry.by) == ("audit.pruned", "ann@pid1")
    assert (await check(log.audit)).problems == ()
    assert await log.audit.prune(3.0, "ann@pid1") == 0
    assert await log.audit.prune(4.0, "ann@pid1") == 1
    assert (await check(log.audit)).problems == ()


async def test_the_newest_record_is_never_pruned(log: SessionLog):
    await log.audit.record(AuditEntry(kind="logout", ts=1.0))
    assert await log.audit.prune(1e12, "ann") == 0
    await log.audit.record(AuditEntry(kind="logout", ts=2.0))
    assert await log.audit.prune(1e12, "ann") == 1
    assert (await check(log.audit)).problems == ()


async def test_what_was_pruned_is_still_covered_by_an_older_head(log: SessionLog):
    heads = [head_of(await log.audit.record(AuditEntry(kind="logout", ts=float(n)))) for n in range(4)]
    await log.audit.prune(2.0, "ann")
    assert (await check(log.audit, heads)).problems == ()


# --- upgrade ---


async def test_an_older_log_gets_an_audit_when_it_is_opened(tmp_path: Path):
    log = SqliteLog(tmp_path)
    await happens(log, question("c1"))
    await log.close()
    take_back_to(tmp_path / "assent.db", 5)
    again = SqliteLog(tmp_path)
    await happens(again, answer("c1"))
    (found,) = await entries(again)
    assert (found.kind, found.digest, found.owner) == ("approval.answered", "digest-c1", "ann")
    assert (await check(again.audit)).problems == ()
    await again.close()
