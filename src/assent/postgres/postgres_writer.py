"""Writes for all sessions of this process through one connection: what is queued during a commit shares the next one.

Appends and commands are safe to repeat, because a fence and a key each work once. So a broken connection is replaced
and the batch is written again, even if nobody knows whether the first attempt was committed.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self, TypeVar

import asyncpg
from msgspec import Struct

from assent.events import Envelope
from assent.postgres.append_batch import APPEND, SessionAppend, append_arguments, plain
from assent.postgres.connection_protocol import Connection
from assent.postgres.postgres_audit import PostgresAudit
from assent.postgres.postgres_connections import LOST, Connections, close_quietly
from assent.session.audit_trail import AuditTrail
from assent.session.log import Fence, LogError, Stamp, key_reused, lost_fence, no_such_session

CHANNEL = "assent_log"
MAX_PAYLOAD = 7_900
"""PostgreSQL allows 8,000 bytes."""
RETRY_SECONDS = 30.0
"""How long a batch waits for the database to come back: longer than a restart or a fail-over takes."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0

PUT = """
WITH batch AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bytea[])
        WITH ORDINALITY AS b (session, key, data, stamp, digest, at)
), known AS (
    SELECT id FROM sessions WHERE id = ANY ($1) FOR KEY SHARE
), stamped AS (
    INSERT INTO stamps (key, digest, session)
    SELECT b.stamp, b.digest, b.session FROM batch b JOIN known ON known.id = b.session WHERE b.stamp IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET key = excluded.key
    RETURNING key, digest
), accepted AS (
    SELECT b.* FROM batch b JOIN known ON known.id = b.session LEFT JOIN stamped ON stamped.key = b.stamp
    WHERE b.stamp IS NULL OR stamped.digest = b.digest
), put AS (
    INSERT INTO inbox (session, key, data) SELECT session, key, data FROM accepted ORDER BY at
    ON CONFLICT DO NOTHING RETURNING session, key
)
SELECT b.at, known.id IS NOT NULL, accepted.at IS NOT NULL, put.key IS NOT NULL, pg_notify($6, $7)
FROM batch b LEFT JOIN known ON known.id = b.session LEFT JOIN accepted ON accepted.at = b.at
    LEFT JOIN put ON put.session = b.session AND put.key = b.key ORDER BY b.at"""
_PROGRESS = "SELECT id, epoch, next_seq FROM sessions WHERE id = ANY ($1)"


BatchT = TypeVar("BatchT", bound="_Batch | _Puts")


class _Append(Struct):
    fence: Fence
    envelopes: Sequence[Envelope]
    done: "asyncio.Future[None]"


class _Put(Struct):
    session: str
    key: str
    data: bytes
    stamp: Stamp | None
    done: "asyncio.Future[bool]"


class PostgresWriter:
    def __init__(self, connections: Connections, audit: PostgresAudit, trail: AuditTrail) -> None:
        self._connections = connections
        self._audit, self._trail = audit, trail
        self._connection: Connection | None = None
        self._appends: list[_Append] = []
        self._puts: list[_Put] = []
        self._running: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return len(self._appends) + len(self._puts)

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not envelopes:
            done.set_result(None)
            return done
        self._appends.append(_Append(fence, envelopes, done))
        self._start()
        return done

    def put(self, session: str, key: str, data: bytes, stamp: Stamp | None) -> "asyncio.Future[bool]":
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._puts.append(_Put(session, key, data, stamp, done))
        self._start()
        return done

    async def close(self) -> None:
        """Writes what is queued, and closes the connection."""
        if self._running is not None:
            await self._running
        connection, self._connection = self._connection, None
        await close_quietly(connection)

    @property
    def process(self) -> int:
        """The server process of this connection, which notifications name as their sender."""
        return 0 if self._connection is None else self._connection.get_server_pid()

    def _start(self) -> None:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        await asyncio.sleep(0)  # what is queued in the same turn of the loop shares the first commit
        while self._appends or self._puts:
            appends, self._appends = self._appends, []
            puts, self._puts = _first_of_each_stamp(self._puts)
            if appends:
                await self._settle(_Batch(appends, self._trail), self._write_appends)
            if puts:
                await self._settle(_Puts(puts), self._write_puts)

    async def _settle(self, batch: BatchT, write: Callable[[BatchT, bool], Awaitable[None]]) -> None:
        """Whatever happens, everyone who waits is told. What cannot be stored must not take others with it."""
        try:
            await self._with_retries(lambda again: write(batch, again))
        except (*LOST, asyncpg.PostgresError, LogError) as error:
            parts = [] if isinstance(error, (*LOST, LogError)) else batch.by_session()
            if len(parts) > 1:
                for part in parts:
                    await self._settle(part, write)
                return
            for one in batch.group:
                _refuse(one, self._connections.explained(error))

    async def _with_retries(self, write: Callable[[bool], Awaitable[None]]) -> None:
        deadline = asyncio.get_running_loop().time() + RETRY_SECONDS
        pause, again = FIRST_PAUSE, False
        while True:
            try:
                return await write(again)
            except LOST:
                self._drop()
                if self._connections.closed or asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(pause)
            pause, again = min(2 * pause, LONGEST_PAUSE), True

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connections.connect()
        return self._connection

    # --- appends ---

    async def _write_appends(self, batch: "_Batch", again: bool) -> None:
        connection = await self._connected()
        written = await self._append(connection, batch) if batch.appends else set[str]()
        if again and len(written) < len(batch.appends):
            written |= await self._written_before(connection, batch.appends)
        for one in batch.group:
            if id(one) in batch.included and one.fence.session in written:
                _resolve(one.done, None)
            else:
                _refuse(one, lost_fence(one.fence.session))

    async def _append(self, connection: Connection, batch: "_Batch") -> set[str]:
        """The sessions that were written. What the audit records about them is in the same transaction."""
        if not batch.entries:
            return await _execute(connection, batch)
        async with connection.transaction():
            written = await _execute(connection, batch)
            await self._audit.append(connection, [entry for entry in batch.entries if entry.session in written])
            return written

    async def _written_before(self, connection: Connection, appends: dict[str, SessionAppend]) -> set[str]:
        """The sessions whose events an earlier attempt committed: nobody else could have written them. They are on
        the synchronous standbys as well: the attempt that found them was a commit after them, for its notification."""
        rows = await connection.fetch(_PROGRESS, list(appends))
        return {
            id for id, epoch, next_seq in rows if epoch == appends[id].fence.token and next_seq == appends[id].next_seq
        }

    # --- commands ---

    async def _write_puts(self, puts: "_Puts", again: bool) -> None:
        connection, group = await self._connected(), puts.group
        columns = [
            [one.session for one in group],
            [plain(one.key) for one in group],
            [one.data for one in group],
            [None if one.stamp is None else plain(one.stamp.key) for one in group],
            [None if one.stamp is None else one.stamp.digest for one in group],
        ]
        rows = await connection.fetch(PUT, *columns, CHANNEL, payload_of(one.session for one in group))
        used: set[tuple[str, str]] = set()
        for one, (_, known, accepted, put, _told) in zip(group, rows, strict=True):
            if not known:
                _refuse(one, no_such_session(one.session))
            elif not accepted:
                _refuse(one, key_reused())
            else:
                _resolve(one.done, (put or again) and (one.session, one.key) not in used)
                used.add((one.session, one.key))


class _Batch:
    """Appends that share a commit, and what the audit records of them: asked once, however often they are written."""

    def __init__(self, group: Sequence[_Append], trail: AuditTrail) -> None:
        self.group = group
        self.appends, self.included = _merged(group)
        envelopes = [envelope for one in self.appends.values() for envelope in one.envelopes]
        self.entries = [entry for envelope in envelopes if (entry := trail.entry(envelope)) is not None]

    def by_session(self) -> list[Self]:
        return [self._part(session) for session in dict.fromkeys(one.fence.session for one in self.group)]

    def _part(self, session: str) -> Self:
        part = copy.copy(self)
        part.group = [one for one in self.group if one.fence.session == session]
        part.appends = {id: one for id, one in self.appends.items() if id == session}
        part.entries = [entry for entry in self.entries if entry.session == session]
        return part


class _Puts:
    """Commands that share a commit."""

    def __init__(self, group: Sequence[_Put]) -> None:
        self.group = group

    def by_session(self) -> list[Self]:
        found: dict[str, list[_Put]] = {}
        for one in self.group:
            found.setdefault(one.session, []).append(one)
        return [type(self)(group) for group in found.values()]


async def _execute(connection: Connection, batch: _Batch) -> set[str]:
    appends = list(batch.appends.values())
    row = await connection.fetchrow(APPEND, *append_arguments(appends), CHANNEL, payload_of(batch.appends))
    return set((row and row[0]) or ())


def _merged(group: Sequence[_Append]) -> tuple[dict[str, SessionAppend], set[int]]:
    """One append per session, and which of the queued ones are in it. What does not follow is left out."""
    merged: dict[str, SessionAppend] = {}
    included: set[int] = set()
    for one in group:
        before = merged.get(one.fence.session)
        if not _is_consecutive(one.envelopes):
            continue
        if before is None:
            merged[one.fence.session] = SessionAppend(one.fence, list(one.envelopes))
        elif before.fence == one.fence and before.next_seq == one.envelopes[0].seq:
            before.envelopes += one.envelopes
        else:
            continue
        included.add(id(one))
    return merged, included


def _is_consecutive(envelopes: Sequence[Envelope]) -> bool:
    return envelopes[-1].seq - envelopes[0].seq == len(envelopes) - 1


def _first_of_each_stamp(puts: Sequence[_Put]) -> tuple[list[_Put], list[_Put]]:
    """One statement cannot handle the same key twice; the others wait for the next statement."""
    seen: set[str] = set()
    now: list[_Put] = []
    later: list[_Put] = []
    for one in puts:
        repeated = one.stamp is not None and one.stamp.key in seen
        (later if repeated else now).append(one)
        if one.stamp is not None:
            seen.add(one.stamp.key)
    return now, later


def payload_of(sessions: Any) -> str:
    """The sessions that changed; empty if there are too many to name."""
    text = "\n".join(dict.fromkeys(sessions))
    return text if len(text.encode()) <= MAX_PAYLOAD else ""


def _resolve(future: "asyncio.Future[Any]", value: object) -> None:
    if not future.done():
        future.set_result(value)


def _refuse(one: _Append | _Put, error: LogError) -> None:
    if not one.done.done():
        one.done.set_exception(error)
