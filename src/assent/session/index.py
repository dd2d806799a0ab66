"""What is known about all sessions without reading their events: updated in the transaction that writes them.

The list of sessions, and the waiting approvals. Everything here can be rebuilt from the events.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from assent.approval import Approval
from assent.events import Envelope
from assent.session.log import SessionInfo, SessionPage, no_such_session
from assent.session.projection import IndexChanges, WaitingRow, decode_waiting, encode_approval, project
from assent.session.spending_index import add_spending
from assent.session.stored_events import readable_or_not

_ONE = (
    "SELECT id, folder, model, title, created_at, updated_at, next_seq - 1, mode, owner, client, "
    "(SELECT COUNT(*) FROM approvals WHERE session = sessions.id), unfinished, held, archived FROM sessions "
)
_NEWEST_FIRST = "ORDER BY updated_at DESC, id DESC"
_WAITING = "session, call_id, asked_at, data"


class Index:
    """Used only by the writer's thread."""

    def __init__(self) -> None:
        self._asked: set[tuple[str, str]] = set()
        """Calls that may be waiting, so that the thousands that never were need no statement."""

    def opened(self, db: sqlite3.Connection, session: str) -> None:
        """This process is about to write the session: approvals requested elsewhere may be answered here."""
        found = db.execute("SELECT call_id FROM approvals WHERE session = ?", (session,))
        self._asked.update((session, call_id) for (call_id,) in found)

    def add(self, db: sqlite3.Connection, session: str, envelopes: Sequence[Envelope]) -> None:
        changes = project(envelopes)
        _set_columns(db, session, changes)
        for call_id in changes.settled:
            if (session, call_id) in self._asked:
                db.execute("DELETE FROM approvals WHERE session = ? AND call_id = ?", (session, call_id))
        for call_id, waiting in changes.asked.items():
            self._asked.add((session, call_id))
            approval = waiting.approval
            row = (session, call_id, waiting.asked_at, approval.expires_at, encode_approval(approval))
            db.execute("INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?)", row)
        for day, spent in changes.spent.items():
            add_spending(db, session, day, spent)


def _set_columns(db: sqlite3.Connection, session: str, changes: IndexChanges) -> None:
    if changes.first_title:
        titled = "UPDATE sessions SET title = ? WHERE id = ? AND title = ''"
        db.execute(titled, (changes.first_title, session))
    if changes.columns:
        settings = ", ".join(f"{column} = ?" for column in changes.columns)
        db.execute(f"UPDATE sessions SET {settings} WHERE id = ?", (*changes.columns.values(), session))


# --- queries ---


def sessions(owner: str | None) -> Callable[[sqlite3.Connection], list[SessionInfo]]:
    found = _ONE + f"WHERE ?1 IS NULL OR owner = ?1 {_NEWEST_FIRST}"
    return lambda db: [_info(row) for row in db.execute(found, (owner,))]


def page(owner: str, limit: int, offset: int, archived: bool | None) -> Callable[[sqlite3.Connection], SessionPage]:
    wanted = "owner = ?1 AND (?2 IS NULL OR archived = ?2)"
    found = f"{_ONE} WHERE {wanted} {_NEWEST_FIRST} LIMIT ?3 OFFSET ?4"
    counted = (
        f"SELECT COUNT(*) FILTER (WHERE {wanted}), COUNT(*) FILTER (WHERE archived) FROM sessions WHERE owner = ?1"
    )

    def job(db: sqlite3.Connection) -> SessionPage:
        infos = [_info(row) for row in db.execute(found, (owner, archived, limit, offset))]
        return SessionPage(infos, *db.execute(counted, (owner, archived)).fetchone())

    return job


def info(session: str) -> Callable[[sqlite3.Connection], SessionInfo]:
    def job(db: sqlite3.Connection) -> SessionInfo:
        row = db.execute(_ONE + "WHERE id = ?", (session,)).fetchone()
        if row is None:
            raise no_such_session(session)
        return _info(row)

    return job


def infos(sessions: Iterable[str]) -> Callable[[sqlite3.Connection], dict[str, SessionInfo]]:
    wanted = msgspec.json.encode(list(sessions)).decode()
    found = _ONE + "WHERE id IN (SELECT value FROM json_each(?))"
    return lambda db: {row[0]: _info(row) for row in db.execute(found, (wanted,))}


def _info(row: tuple[Any, ...]) -> SessionInfo:
    *plain, unfinished, held, archived = row
    named = dict(zip(SessionInfo.__struct_fields__, plain, strict=False))  # the columns of _ONE are in this order
    return SessionInfo(**named, unfinished=bool(unfinished), held=bool(held), archived=bool(archived))


def finished(before: float, limit: int, offset: int) -> Callable[[sqlite3.Connection], list[SessionInfo]]:
    found = f"{_ONE} WHERE updated_at < ? AND NOT unfinished ORDER BY updated_at, id LIMIT ? OFFSET ?"
    return lambda db: [_info(row) for row in db.execute(found, (before, limit, offset))]


def heads(sessions: Iterable[str] | None) -> Callable[[sqlite3.Connection], dict[str, int]]:
    found = "SELECT id, next_seq - 1 FROM sessions"
    if sessions is None:
        return lambda db: dict(db.execute(found))
    wanted = msgspec.json.encode(list(sessions)).decode()
    return lambda db: dict(db.execute(f"{found} WHERE id IN (SELECT value FROM json_each(?))", (wanted,)))


def waiting(owner: str | None, limit: int | None, offset: int) -> Callable[[sqlite3.Connection], list[WaitingRow]]:
    found = (
        f"SELECT {_WAITING} FROM approvals JOIN sessions ON sessions.id = session WHERE ?1 IS NULL OR owner = ?1 "
        "ORDER BY asked_at, session, call_id LIMIT ?2 OFFSET ?3"
    )
    return lambda db: db.execute(found, (owner, -1 if limit is None else limit, offset)).fetchall()


def waiting_call(session: str, call_id: str) -> Callable[[sqlite3.Connection], WaitingRow | None]:
    found = f"SELECT {_WAITING} FROM approvals WHERE session = ? AND call_id = ?"
    return lambda db: db.execute(found, (session, call_id)).fetchone()


def owner_and_waiting(db: sqlite3.Connection, session: str) -> tuple[str, list[tuple[str, Approval]]]:
    row = db.execute("SELECT owner FROM sessions WHERE id = ?", (session,)).fetchone()
    found = db.execute(f"SELECT {_WAITING} FROM approvals WHERE session = ?", (session,))
    return "" if row is None else row[0], [(one.call_id, one.approval) for one in map(decode_waiting, found)]


def since_last_turn(db: sqlite3.Connection, session: str) -> list[Envelope]:
    """What can be read of it."""
    last = "SELECT seq FROM events WHERE session = :id AND type = 'turn.finished' ORDER BY seq DESC LIMIT 1"
    events = "SELECT session, seq, ts, v, data FROM events"
    found = f"{events} WHERE session = :id AND seq > COALESCE(({last}), 0) ORDER BY seq"
    entries = (readable_or_not(*row) for row in db.execute(found, {"id": session}))
    return [entry for entry in entries if isinstance(entry, Envelope)]


def count_waiting(owner: str | None) -> Callable[[sqlite3.Connection], dict[str, int]]:
    counted = (
        "SELECT owner, COUNT(*) FROM approvals JOIN sessions ON sessions.id = session "
        "WHERE ?1 IS NULL OR owner = ?1 GROUP BY owner"
    )
    return lambda db: dict(db.execute(counted, (owner,)))


def expired(now: float) -> Callable[[sqlite3.Connection], list[str]]:
    found = "SELECT DISTINCT session FROM approvals WHERE expires_at <= ?"
    return lambda db: [row[0] for row in db.execute(found, (now,))]


def pending(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("SELECT DISTINCT session FROM inbox WHERE taken = 0")]
