"""What is known about all sessions without reading their events: updated in the transaction that writes them.

The list of sessions, and the waiting approvals. Everything here can be rebuilt from the events.
"""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from assent.approval import Approval
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallScheduled,
    ChatCompressed,
    Event,
    ModeChanged,
    ModelChanged,
    ModelReplied,
    PromptSubmitted,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    TurnFinished,
)
from assent.session.log import SessionInfo, Waiting, no_such_session, title_of
from assent.session.spending_index import SPENDING_KINDS, add_spending

_KINDS: tuple[Any, ...] = (
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    PromptSubmitted,
    TurnFinished,
    ModeChanged,
    ModelChanged,
    ApprovalRequested,
    ApprovalAnswered,
    CallScheduled,
    CallFinished,
    *SPENDING_KINDS,
)
INDEXED: tuple[str, ...] = tuple(kind.__struct_config__.tag for kind in _KINDS)
_ONE = (
    "SELECT id, folder, model, title, created_at, updated_at, next_seq - 1, mode, owner, client, "
    "(SELECT COUNT(*) FROM approvals WHERE session = sessions.id), unfinished, held FROM sessions "
)
_WAITING = "session, call_id, asked_at, data"
Row = tuple[str, str, float, bytes]
"""A waiting approval, as it is stored."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Approval).decode


class Index:
    """Used only by the writer's thread."""

    def __init__(self) -> None:
        self._asked: set[tuple[str, str]] = set()
        """Calls that may be waiting, so that the thousands that never were need no statement."""

    def opened(self, db: sqlite3.Connection, session: str) -> None:
        """This process is about to write the session: approvals requested elsewhere may be answered here."""
        found = db.execute("SELECT call_id FROM approvals WHERE session = ?", (session,))
        self._asked.update((session, call_id) for (call_id,) in found)

    def add(self, db: sqlite3.Connection, session: str, ts: float, event: Event) -> None:
        match event:
            case CallScheduled(call_id=call_id) | CallFinished(call_id=call_id) | ApprovalAnswered(call_id=call_id):
                if (session, call_id) in self._asked:
                    db.execute("DELETE FROM approvals WHERE session = ? AND call_id = ?", (session, call_id))
            case ApprovalRequested(call_id=call_id, approval=approval):
                self._asked.add((session, call_id))
                row = (session, call_id, ts, approval.expires_at, _encode(approval))
                db.execute("INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?)", row)
            case ModelReplied() | ChatCompressed():
                add_spending(db, session, ts, event)
            case _:
                for column, value in _changed(event).items():
                    db.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (value, session))
                if isinstance(event, PromptSubmitted):
                    named = "UPDATE sessions SET title = ? WHERE id = ? AND title = ''"
                    db.execute(named, (title_of(event.text), session))


def _changed(event: Event) -> dict[str, str | int]:
    """The columns of the session that an event sets."""
    match event:
        case SessionCreated():
            return {"mode": event.mode, "owner": event.owner}
        case SessionOpened(client=client):
            return {"client": client}
        case SessionRenamed(title=title):
            return {"title": title}
        case ModeChanged(mode=mode):
            return {"mode": mode}
        case ModelChanged(model=model):
            return {"model": model}
        case PromptSubmitted():
            return {"unfinished": 1}
        case TurnFinished():
            return {"unfinished": 0}
        case _:
            return {}


# --- queries ---


def sessions(db: sqlite3.Connection) -> list[SessionInfo]:
    return [_info(row) for row in db.execute(_ONE + "ORDER BY updated_at DESC, id DESC")]


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
    *plain, unfinished, held = row
    named = dict(zip(SessionInfo.__struct_fields__, plain, strict=False))  # the columns of _ONE are in this order
    return SessionInfo(**named, unfinished=bool(unfinished), held=bool(held))


def heads(db: sqlite3.Connection) -> dict[str, int]:
    return dict(db.execute("SELECT id, next_seq - 1 FROM sessions"))


def waiting(owner: str | None, limit: int | None, offset: int) -> Callable[[sqlite3.Connection], list[Row]]:
    found = (
        f"SELECT {_WAITING} FROM approvals JOIN sessions ON sessions.id = session WHERE ?1 IS NULL OR owner = ?1 "
        "ORDER BY asked_at, session, call_id LIMIT ?2 OFFSET ?3"
    )
    return lambda db: db.execute(found, (owner, -1 if limit is None else limit, offset)).fetchall()


def waiting_call(session: str, call_id: str) -> Callable[[sqlite3.Connection], Row | None]:
    found = f"SELECT {_WAITING} FROM approvals WHERE session = ? AND call_id = ?"
    return lambda db: db.execute(found, (session, call_id)).fetchone()


def owner_and_waiting(db: sqlite3.Connection, session: str) -> tuple[str, list[tuple[str, Approval]]]:
    row = db.execute("SELECT owner FROM sessions WHERE id = ?", (session,)).fetchone()
    found = db.execute("SELECT call_id, data FROM approvals WHERE session = ?", (session,))
    return "" if row is None else row[0], [(call_id, _decode(data)) for call_id, data in found]


def count_waiting(db: sqlite3.Connection) -> dict[str, int]:
    counted = "SELECT owner, COUNT(*) FROM approvals JOIN sessions ON sessions.id = session GROUP BY owner"
    return dict(db.execute(counted))


def expired(now: float) -> Callable[[sqlite3.Connection], list[str]]:
    found = "SELECT DISTINCT session FROM approvals WHERE expires_at <= ?"
    return lambda db: [row[0] for row in db.execute(found, (now,))]


def pending(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("SELECT DISTINCT session FROM inbox WHERE taken = 0")]


def decoded(row: Row) -> Waiting:
    session, call_id, asked_at, data = row
    return Waiting(session, call_id, asked_at, _decode(data))
