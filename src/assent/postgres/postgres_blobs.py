"""Outputs, contents for undo and files of prompts in PostgreSQL, in parts, so that a piece is read alone.

They are deleted in the same transaction as their session.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from assent.blob_store import BlobPiece, BlobUnavailable
from assent.postgres.append_batch import plain
from assent.postgres.connection_protocol import Connection
from assent.postgres.postgres_connections import Connections
from assent.session.log import LogError

PART = 256_000
"""Bytes of one row."""
_PUT = "INSERT INTO blobs (session, name, part, size, data) VALUES ($1, $2, $3, $4, $5)"
_DELETE = "DELETE FROM blobs WHERE session = $1 AND name = $2"
_PIECE = """
SELECT part, size, data FROM blobs WHERE session = $1 AND name = $2 AND (part = 0 OR part BETWEEN $3 AND $4)
ORDER BY part"""
_SIZES = "SELECT name, size FROM blobs WHERE session = $1 AND part = 0"
_COPY = """
INSERT INTO blobs (session, name, part, size, data)
SELECT $2, name, part, size, data FROM blobs WHERE session = $1 AND name = ANY ($3) ON CONFLICT DO NOTHING"""
FORGET = "DELETE FROM blobs WHERE session = $1"


class PostgresBlobs:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def put(self, session: str, name: str, data: bytes) -> None:
        parts = [data[at : at + PART] for at in range(0, len(data), PART)] or [b""]

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await connection.execute(_DELETE, session, plain(name))
                for number, part in enumerate(parts):
                    await connection.execute(_PUT, session, plain(name), number, len(data), part)

        async with _explaining():
            await self._connections.retried(work)

    async def piece(self, session: str, name: str, offset: int, limit: int) -> BlobPiece | None:
        first, last = offset // PART, max(offset, offset + limit - 1) // PART
        async with _explaining():
            rows = await self._connections.retried(lambda db: db.fetch(_PIECE, session, plain(name), first, last))
        if not rows:
            return None
        data = b"".join(row["data"] for row in rows if first <= row["part"] <= last)
        begin = offset - first * PART
        return BlobPiece(data[begin : begin + limit], rows[0]["size"])

    async def sizes(self, session: str) -> dict[str, int]:
        async with _explaining():
            return dict(await self._connections.retried(lambda db: db.fetch(_SIZES, session)))

    async def copy(self, session: str, to: str, names: Iterable[str]) -> None:
        wanted = [plain(name) for name in names]
        async with _explaining():
            await self._connections.retried(lambda db: db.execute(_COPY, session, to, wanted))

    async def remove(self, session: str) -> None:
        async with _explaining():
            await self._connections.retried(lambda db: db.execute(FORGET, session))


@asynccontextmanager
async def _explaining() -> AsyncGenerator[None]:
    try:
        yield
    except LogError as error:
        raise BlobUnavailable(str(error)) from error
