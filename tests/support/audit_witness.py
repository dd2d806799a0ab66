"""Compares the audit with the events of a log on disk: no decision without a record, no record without a decision."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec

from assent.session.audit_log import check
from assent.session.sqlite_log import SqliteLog
from support.program import Json

Deed = tuple[str, str, str]
"""Kind, session and call."""
_ITSELF = ("session.created", "approval.answered", "grant.added", "grant.revoked", "mode.changed")


def compare(database: Path) -> int:
    """Raises AssertionError; returns how many records there are. None of the program's own code reads the database."""
    with closing(sqlite3.connect(database)) as db:
        rows = db.execute("SELECT session, data FROM events ORDER BY session, seq").fetchall()
        records = [msgspec.json.decode(data) for (data,) in db.execute("SELECT data FROM audit ORDER BY id")]
    done = Counter(_deeds([(session, msgspec.json.decode(data)) for session, data in rows]))
    recorded = Counter(_deed(record) for record in records if record["kind"] in (*_ITSELF, "call.allowed"))
    assert done == recorded, f"decided, but not recorded: {done - recorded}; only recorded: {recorded - done}"
    return len(records)


def _deed(record: Json) -> Deed:
    return record["kind"], record.get("session", ""), record.get("call_id", "")


def _deeds(events: list[tuple[str, Json]]) -> list[Deed]:
    decisions: dict[tuple[str, str], Json] = {}
    found: list[Deed] = []
    for session, event in events:
        call = event.get("call_id", "")
        match event["type"]:
            case "call.scheduled":
                decisions[session, call] = event["decision"]
            case "call.started" if _needs_record(decisions.get((session, call), {})):
                found.append(("call.allowed", session, call))
            case "grant.added":
                found.append(("grant.added", session, event["grant"].get("from_call", "")))
            case kind if kind in _ITSELF:
                found.append((kind, session, call))
            case _:
                pass
    return found


def _needs_record(decision: Json) -> bool:
    return decision.get("source", "tool") != "tool" and "outcome" not in decision


async def verify(folder: Path) -> tuple[str, ...]:
    log = SqliteLog(folder)
    try:
        return (await check(log.audit)).problems
    finally:
        await log.close()
