"""The audit on disk: a table that only grows at its end, written in the transaction of what it records.

So nothing is lost and nothing is recorded twice, whatever happens to the process. SQLite itself refuses to change a
record, and to delete one that is not pruned; `AUTOINCREMENT` makes it remember the last id apart from the records.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from assent.audit import AuditEntry, AuditRecord, Checkpoint, contradicts, head_text, labels_of, seal
from assent.session.audit_log import AuditQuery
from assent.session.writer import Writer

AUDIT_TABLE = """
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, previous TEXT NOT NULL, hash TEXT NOT NULL, ts REAL NOT NULL,
    kind TEXT NOT NULL, session TEXT NOT NULL, owner TEXT NOT NULL, by TEXT NOT NULL, data BLOB NOT NULL
);
CREATE INDEX audit_by_session ON audit (session);
CREATE TABLE audit_checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit cannot be changed'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
    WHEN OLD.id > COALESCE((SELECT id FROM audit_checkpoint), 0)
    BEGIN SELECT RAISE(ABORT, 'the audit can only be pruned'); END"""
_COLUMNS = "id, previous, hash, data"
_LABELS = "ts, kind, session, owner, by"
_IN_CHAIN = "id > COALESCE((SELECT id FROM audit_checkpoint), 0)"
PRUNE_SIZE = 1_000
"""Records deleted in one transaction, so that nobody waits for long."""


def append(db: sqlite3.Connection, entry: AuditEntry) -> AuditRecord:
    record = seal(_head(db), entry)
    row = (record.id, record.previous, record.hash, *labels_of(entry))
    db.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, bytes(record.data)))
    return record


def _head(db: sqlite3.Connection) -> Checkpoint:
    row = db.execute("SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()
    return _checkpoint(db) if row is None else Checkpoint(*row)


def _checkpoint(db: sqlite3.Connection) -> Checkpoint:
    row = db.execute("SELECT id, hash FROM audit_checkpoint").fetchone()
    return Checkpoint() if row is None else Checkpoint(*row)


def _last_id(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchone()
    return 0 if row is None else row[0]


def _record(row: tuple[Any, ...]) -> AuditRecord:
    """Whoever tampers with the file may leave any type in a column."""
    id, previous, hash, data = row
    return AuditRecord(id, str(previous), str(hash), msgspec.Raw(_bytes(data)))


def _bytes(data: object) -> bytes:
    return data if isinstance(data, bytes) else str(data).encode()


class SqliteAudit:
    def __init__(self, writer: Writer, reader: Writer, mask: Callable[[AuditEntry], AuditEntry]) -> None:
        self._writer, self._reader, self._mask = writer, reader, mask

    async def record(self, entry: AuditEntry) -> AuditRecord:
        return await self._writer.submit(lambda db: append(db, self._mask(entry)))

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        conditions: list[tuple[str, object]] = [
            ("id < ?", query.before),
            ("owner = ?", query.owner),
            ("session = ?", query.session or None),
            (f"substr(kind, 1, {len(query.kind)}) = ?", query.kind or None),
            (f"substr(by, 1, {len(query.by)}) = ?", query.by or None),
        ]
        given = [(text, value) for text, value in conditions if value is not None]
        where = " AND ".join([_IN_CHAIN, *(text for text, _ in given)])
        found = f"SELECT {_COLUMNS} FROM audit WHERE {where} ORDER BY id DESC LIMIT ?"
        return await self._rows(found, [*(value for _, value in given), query.limit])

    async def read(self, after: int, limit: int) -> list[AuditRecord]:
        found = f"SELECT {_COLUMNS} FROM audit WHERE {_IN_CHAIN} AND id > ? ORDER BY id LIMIT ?"
        return await self._rows(found, [after, limit])

    def _rows(self, found: str, values: list[object]) -> "asyncio.Future[list[AuditRecord]]":
        return self._reader.submit(lambda db: [_record(row) for row in db.execute(found, values)], reads=True)

    async def checkpoint(self) -> Checkpoint:
        return await self._reader.submit(_checkpoint, reads=True)

    async def last_id(self) -> int:
        return await self._reader.submit(_last_id, reads=True)

    async def mislabelled(self) -> list[int]:
        return await self._reader.submit(_mislabelled, reads=True)

    # --- pruning ---

    async def prune(self, before: float, by: str) -> int:
        """First the checkpoint, with its own record, then the deletion in small steps: it may stop anywhere."""
        pruned = AuditEntry(kind="audit.pruned", ts=time.time(), by=by)
        await self._writer.submit(lambda db: _move_checkpoint(db, before, pruned))
        gone = 0
        while deleted := await self._writer.submit(_delete_some):
            gone += deleted
        return gone


def _mislabelled(db: sqlite3.Connection) -> list[int]:
    rows = db.execute(f"SELECT id, data, {_LABELS} FROM audit WHERE {_IN_CHAIN} ORDER BY id")
    return [id for id, data, *labels in rows if contradicts(_bytes(data), labels)]


def _move_checkpoint(db: sqlite3.Connection, before: float, pruned: AuditEntry) -> None:
    start = _checkpoint(db)
    kept = "SELECT MIN(id) FROM audit WHERE ts >= ? AND id > ?"
    newest = "SELECT MAX(id) FROM audit"
    until = f"SELECT id, hash FROM audit WHERE id < COALESCE(({kept}), ({newest})) AND id > ? ORDER BY id DESC LIMIT 1"
    row = db.execute(until, (before, start.id, start.id)).fetchone()
    if row is None:
        return
    about = f"{row[0] - start.id} records, up to record {row[0]}"
    append(db, replace(pruned, about=about, reference=head_text(Checkpoint(*row))))
    db.execute("INSERT OR REPLACE INTO audit_checkpoint VALUES (1, ?, ?)", row)


def _delete_some(db: sqlite3.Connection) -> int:
    some = "SELECT id FROM audit WHERE id <= (SELECT id FROM audit_checkpoint) LIMIT ?"
    return db.execute(f"DELETE FROM audit WHERE id IN ({some})", (PRUNE_SIZE,)).rowcount
