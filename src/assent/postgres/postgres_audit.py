"""The audit in PostgreSQL: written in the transaction of what it records, in one chain for all machines.

Adding a record locks the head of the chain until the commit. The database itself refuses to change a record, and
to delete one that is not pruned.
"""

import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from assent.audit import AuditEntry, AuditRecord, Checkpoint, contradicts, head_of, head_text, seal
from assent.postgres.append_batch import plain, transposed
from assent.postgres.connection_protocol import Connection, Record
from assent.postgres.postgres_connections import Connections
from assent.session.audit_log import PAGE_SIZE, AuditQuery

_END = "SELECT id, hash FROM audit_ends WHERE which = $1"
_HEAD = "SELECT id, hash FROM audit_ends WHERE which = 'head' FOR UPDATE"
_MOVE = "UPDATE audit_ends SET id = $2, hash = $3 WHERE which = $1"
_ADD = """
WITH moved AS (UPDATE audit_ends SET id = $1, hash = $2 WHERE which = 'head')
INSERT INTO audit SELECT * FROM unnest(
    $3::bigint[], $4::text[], $5::text[], $6::float8[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[]
)"""
"""One statement: the whole cluster waits for the head of the chain."""
_COLUMNS = "SELECT id, previous, hash, data FROM audit"
_IN_CHAIN = "id > (SELECT id FROM audit_ends WHERE which = 'start')"
_LABELLED = (
    f"SELECT id, data, ts, kind, session, owner, by FROM audit WHERE {_IN_CHAIN} AND id > $1 ORDER BY id LIMIT $2"
)
_FIND = f"""
{_COLUMNS} WHERE {_IN_CHAIN} AND ($1::bigint IS NULL OR id < $1)
    AND ($2::text IS NULL OR owner = $2) AND ($3 = '' OR session = $3)
    AND starts_with(kind, $4) AND starts_with(by, $5) ORDER BY id DESC LIMIT $6"""
_UNTIL = """
SELECT id, hash FROM audit WHERE id > $2 AND id < COALESCE(
    (SELECT min(id) FROM audit WHERE ts >= $1 AND id > $2), (SELECT max(id) FROM audit)
) ORDER BY id DESC LIMIT 1"""
_DELETE = "DELETE FROM audit WHERE id <= (SELECT id FROM audit_ends WHERE which = 'start')"


class PostgresAudit:
    def __init__(self, connections: Connections, mask: Callable[[AuditEntry], AuditEntry]) -> None:
        self._connections = connections
        self._mask = mask

    async def append(self, connection: Connection, entries: Sequence[AuditEntry]) -> list[AuditRecord]:
        """In the transaction of what they record."""
        if not entries:
            return []
        head = Checkpoint(*tuple(await connection.fetchrow(_HEAD) or ()))
        records: list[AuditRecord] = []
        rows: list[Sequence[object]] = []
        for entry in map(self._mask, entries):
            record = seal(head, entry)
            texts = (entry.kind, entry.session, entry.owner, entry.by)
            rows.append((record.id, record.previous, record.hash, entry.ts, *map(plain, texts), bytes(record.data)))
            head = head_of(record)
            records.append(record)
        await connection.execute(_ADD, head.id, head.hash, *transposed(9, rows))
        return records

    async def record(self, entry: AuditEntry) -> AuditRecord:
        async with self._connections.reading() as connection, connection.transaction():
            return (await self.append(connection, [entry]))[0]

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        given = (query.before, query.owner, plain(query.session), plain(query.kind), plain(query.by), query.limit)
        return await self._records(_FIND, *given)

    async def read(self, after: int, limit: int) -> list[AuditRecord]:
        return await self._records(f"{_COLUMNS} WHERE {_IN_CHAIN} AND id > $1 ORDER BY id LIMIT $2", after, limit)

    async def checkpoint(self) -> Checkpoint:
        return await self._end("start")

    async def last_id(self) -> int:
        return (await self._end("head")).id

    async def mislabelled(self) -> list[int]:
        found: list[int] = []
        at = (await self.checkpoint()).id
        while rows := await self._connections.retried(lambda connection: connection.fetch(_LABELLED, at, PAGE_SIZE)):  # noqa: B023
            found += [row["id"] for row in rows if contradicts(row["data"], tuple(row)[2:], plain)]
            at = rows[-1]["id"]
        return found

    async def prune(self, before: float, by: str) -> int:
        async with self._connections.reading() as connection, connection.transaction():
            start = await self._end("start", connection)
            row = await connection.fetchrow(_UNTIL, before, start.id)
            if row is None:
                return 0
            about = f"{row['id'] - start.id} records, up to record {row['id']}"
            pruned = AuditEntry(kind="audit.pruned", ts=time.time(), by=by)
            reference = head_text(Checkpoint(*tuple(row)))
            await self.append(connection, [replace(pruned, about=about, reference=reference)])
            await connection.execute(_MOVE, "start", *tuple(row))
            return int((await connection.execute(_DELETE)).removeprefix("DELETE "))

    async def _end(self, which: str, connection: Connection | None = None) -> Checkpoint:
        if connection is not None:
            return Checkpoint(*tuple(await connection.fetchrow(_END, which) or ()))
        async with self._connections.reading() as reading:
            return await self._end(which, reading)

    async def _records(self, query: str, *arguments: object) -> list[AuditRecord]:
        rows = await self._connections.retried(lambda connection: connection.fetch(query, *arguments))
        return [_record(row) for row in rows]


def _record(row: Record) -> AuditRecord:
    return AuditRecord(row["id"], row["previous"], row["hash"], msgspec.Raw(row["data"]))
