"""The log in PostgreSQL: the guarantees of the log on disk, for sessions that several machines share.

One writer per session is ensured twice: by an advisory lock that the server releases when its connection ends, and by a
fence token in every append, so that a writer that lost the session is refused even if it still believes in its lock.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from assent.agent.spending import Spending
from assent.commands import Command, decode_command, encode_command
from assent.events import Envelope, SessionCreated, SessionOpened
from assent.postgres import postgres_queries as sql
from assent.postgres.append_batch import APPEND, SessionAppend, append_arguments, plain
from assent.postgres.connection_protocol import Connection
from assent.postgres.postgres_audit import PostgresAudit
from assent.postgres.postgres_blobs import FORGET as FORGET_BLOBS
from assent.postgres.postgres_blobs import PostgresBlobs
from assent.postgres.postgres_connections import Connections
from assent.postgres.postgres_directory import PostgresDirectory
from assent.postgres.postgres_limits import FORGET_OLD, PostgresLimits
from assent.postgres.postgres_records import PostgresRecords
from assent.postgres.postgres_watch import IS_OPEN, PostgresWatch
from assent.postgres.postgres_writer import CHANNEL, PostgresWriter, payload_of
from assent.session.audit_trail import AuditTrail, creation, deletion, masked
from assent.session.log import (
    RECENT_SESSIONS,
    Fence,
    Inboxed,
    LogDamaged,
    LogError,
    Opening,
    SessionBusy,
    SessionInfo,
    SessionPage,
    Stamp,
    Unreadable,
    Waiting,
    key_reused,
    lost_fence,
    no_such_session,
    session_busy,
)
from assent.session.projection import decode_waiting
from assent.session.stored_events import decode_envelope, prompt_text, readable, readable_or_not

SWEEP_SECONDS = 60.0


class PostgresLog:
    """`url` is `postgresql://…`; several hosts may be named in it. All tables are in `schema`."""

    def __init__(self, url: str, schema: str = "assent", mask: Callable[[str], str] = str) -> None:
        """`mask` removes secrets from texts that the audit keeps."""
        self._connections = Connections(url, schema)
        self.directory = PostgresDirectory(self._connections)
        self._trail = AuditTrail()
        self.audit = PostgresAudit(self._connections, lambda entry: masked(entry, mask))
        self._writer = PostgresWriter(self._connections, self.audit, self._trail)
        self._watch = PostgresWatch(self._connections, lambda: self._writer.process)
        self.records = PostgresRecords(self._connections, self._watch)
        self.limits = PostgresLimits(self._connections)
        self.blobs = PostgresBlobs(self._connections)
        self._swept = time.monotonic()

    # --- sessions ---

    async def create(
        self,
        session: str,
        ts: float,
        first: SessionCreated,
        more: Sequence[Envelope] = (),
        stamp: Stamp | None = None,
    ) -> str:
        events = [Envelope(1, ts, session, first), *more]

        async def work(connection: Connection) -> str:
            async with connection.transaction():
                made = session if stamp is None else await _stamp(connection, stamp, session)
                if made == session and await _insert(connection, session, ts, first):
                    await _append(connection, Fence(session, 0), events)
                    # The rest, of a fork, is in the audit of the session it comes from.
                    await self.audit.append(connection, [creation(events[0], first)])
                else:
                    await connection.execute(sql.WRITES)  # a commit: what was there before is on the standbys after it
                return made

        return await self._connections.retried(work)

    async def stamped(self, stamp: Stamp) -> str | None:
        async with self._connections.reading() as connection:
            row = await connection.fetchrow(sql.STAMP, plain(stamp.key))
        if row is not None and row["digest"] != stamp.digest:
            raise key_reused()
        return None if row is None else row["session"]

    async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
        token = 0 if opening is None else opening.token
        await self._lock(session, opening)

        async def work(connection: Connection) -> Fence:
            async with connection.transaction():
                row = await connection.fetchrow(sql.ACQUIRE, session, token)
                if row is None:
                    raise lost_fence(session) if token else no_such_session(session)
                fence = Fence(session, row["epoch"])
                waiting = [decode_waiting(tuple(one)) for one in await connection.fetch(sql.WAITING_IN, session)]
                questions = ((one.call_id, one.approval) for one in waiting)
                recent = [readable_or_not(*tuple(one)) for one in await connection.fetch(sql.SINCE_LAST_TURN, session)]
                calls = (entry for entry in recent if isinstance(entry, Envelope))
                self._trail.opened(session, row["owner"], questions, calls)
                if opening is not None and not _is_recorded(fence, recent):
                    opened = SessionOpened(fence.token, opening.client)
                    await _append(connection, fence, [Envelope(row["next_seq"], opening.ts, session, opened)])
                return fence

        try:
            fence: Fence = await self._connections.retried(work)
        except BaseException:
            await self._unlock(session)
            raise
        self._watch.fenced(session, fence.token)
        return fence

    async def release(self, fence: Fence) -> None:
        self._trail.closed(fence.session)
        try:
            with suppress(LogError):  # the database is gone; release the lock anyway
                await self._connections.retried(lambda db: db.execute(sql.RELEASE, fence.session, fence.token))
        finally:
            await self._unlock(fence.session)

    async def is_open(self, session: str) -> bool:
        return session in self._watch.locked or bool(await self._value(IS_OPEN, plain(session)))

    async def sessions(self, owner: str | None = None) -> list[SessionInfo]:
        rows = await (self._rows(sql.SESSIONS) if owner is None else self._rows(sql.SESSIONS_OF, owner))
        return [sql.info_of(row) for row in rows]

    async def page(self, owner: str, limit: int, offset: int = 0, *, archived: bool | None = None) -> SessionPage:
        wanted = [False, True] if archived is None else [archived]
        rows = await self._rows(sql.PAGE, owner, wanted, limit, offset)
        counts: dict[bool, int] = dict(await self._rows(sql.COUNT_SESSIONS, owner))
        total = sum(counts.get(one, 0) for one in wanted)
        return SessionPage([sql.info_of(row) for row in rows], total, counts.get(True, 0))

    async def info(self, session: str) -> SessionInfo:
        found = await self.infos([session])
        if session not in found:
            raise no_such_session(session)
        return found[session]

    async def infos(self, sessions: Iterable[str]) -> dict[str, SessionInfo]:
        wanted = [one for one in sessions if "\0" not in one]
        rows = await self._rows(sql.INFOS, wanted) if wanted else []
        return {row["id"]: sql.info_of(row) for row in rows}

    async def finished(self, before: float, limit: int, offset: int = 0) -> list[SessionInfo]:
        return [sql.info_of(row) for row in await self._rows(sql.FINISHED, before, limit, offset)]

    async def heads(self, sessions: Iterable[str] | None = None) -> dict[str, int]:
        return dict(await self._rows(sql.HEADS, None if sessions is None else list(sessions)))

    async def waiting(self, owner: str | None = None, limit: int | None = None, offset: int = 0) -> list[Waiting]:
        if owner is None:
            return readable(decode_waiting, await self._rows(sql.WAITING, limit, offset))
        return readable(decode_waiting, await self._rows(sql.WAITING_OF, limit, offset, owner))

    async def waiting_call(self, session: str, call_id: str) -> Waiting | None:
        rows = await self._rows(sql.WAITING_CALL, session, plain(call_id))
        return decode_waiting(tuple(rows[0])) if rows else None

    async def count_waiting(self, owner: str | None = None) -> dict[str, int]:
        if owner is None:
            return dict(await self._rows(sql.COUNT_WAITING))
        return dict(await self._rows(sql.COUNT_WAITING_OF, owner))

    async def spent_on(self, day: str) -> Spending:
        return sql.spending_of_row((await self._rows(sql.SPENT_ON, day))[0])

    async def spent_by_session(self) -> dict[str, Spending]:
        return {row[0]: sql.spending_of_row(row[1:]) for row in await self._rows(sql.SPENT_BY_SESSION)}

    async def expired(self, now: float) -> list[str]:
        return [row[0] for row in await self._rows(sql.EXPIRED, now)]

    async def pending(self) -> list[str]:
        return [row[0] for row in await self._rows(sql.PENDING)]

    async def prompts(self, folder: str, limit: int) -> list[str]:
        rows = await self._rows(sql.PROMPTS, folder, RECENT_SESSIONS, limit)
        return [text for v, data in reversed(rows) if (text := prompt_text(v, data)) is not None]

    async def delete(self, session: str, seen: int | None = None, by: str = "") -> None:
        info = await self.info(session)
        await self._lock(session)

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                if seen is not None and await connection.fetchval(sql.IN_USE, session, seen):
                    raise session_busy(session)
                for statement in (*sql.FORGET, FORGET_BLOBS):
                    await connection.execute(statement, session)
                await self.audit.append(connection, [deletion(info, by)])
                await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, payload_of([session]))

        try:
            await self._connections.retried(work)
        finally:
            await self._unlock(session)

    @property
    def backlog(self) -> int:
        return self._writer.waiting

    async def try_writing(self) -> None:
        await self._connections.retried(lambda connection: connection.execute(sql.WRITES))

    # --- events ---

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        return self._writer.append(fence, envelopes)

    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        next_seq, rows = await self._events(session, after, limit)
        envelopes = [decode_envelope(session, *row) for row in rows]
        end = next_seq if limit is None else min(next_seq, after + 1 + limit)
        if [envelope.seq for envelope in envelopes] != list(range(after + 1, end)):
            raise LogDamaged(f"events of session {session} are missing from the log {self._connections.place}")
        return envelopes

    async def salvage(self, session: str) -> list[Envelope | Unreadable]:
        next_seq, rows = await self._events(session, 0, None)
        found = {row[0]: readable_or_not(session, *row) for row in rows}
        return [found.get(seq) or Unreadable(seq, "it is missing") for seq in range(1, next_seq)]

    async def _events(self, session: str, after: int, limit: int | None) -> tuple[int, list[Any]]:
        rows = await self._rows(sql.EVENTS, session, after, limit)
        if not rows:
            raise no_such_session(session)
        return rows[0]["next_seq"], [tuple(row)[1:] for row in rows if row["seq"] is not None]

    # --- commands ---

    async def put(self, session: str, key: str, command: Command, stamp: Stamp | None = None) -> bool:
        added = await self._writer.put(session, key, encode_command(command), stamp)
        self._watch.tell(session)
        await self._sweep_now_and_then()
        return added

    async def inbox(self, session: str) -> list[Inboxed]:
        rows = await self._rows(sql.INBOX, session)
        return readable(lambda row: Inboxed(row[0], decode_command(row[1])), rows)

    async def _sweep_now_and_then(self) -> None:
        if time.monotonic() - self._swept > SWEEP_SECONDS:
            self._swept = time.monotonic()
            async with self._connections.reading() as connection:
                for statement in (*sql.SWEEP, FORGET_OLD):
                    await connection.execute(statement)

    # --- watching ---

    def watch(self, session: str, changed: Callable[[], None]) -> Callable[[], None]:
        return self._watch.watch(session, changed)

    def watch_all(self, changed: Callable[[], None]) -> Callable[[], None]:
        return self._watch.watch("", changed)

    # --- closing ---

    async def close(self) -> None:
        await self._writer.close()
        await self.records.close()
        await self._connections.close()
        await self._watch.close()

    async def _lock(self, session: str, opening: Opening | None = None) -> None:
        async with self._connections.explaining():
            try:
                await self._watch.lock(session)
            except SessionBusy:
                if opening is None or not opening.token or session in self._watch.locked:
                    raise
                await self._replace(session, opening)

    async def _replace(self, session: str, opening: Opening) -> None:
        """Takes the session over from a process of the same engine that does not respond: first its fence, then its
        lock."""
        if not await self._value(sql.REPLACE, session, opening.token, opening.client):
            raise session_busy(session)
        await self._watch.take_lock(session)

    async def _unlock(self, session: str) -> None:
        with suppress(LogError):  # a connection that is gone holds no lock
            async with self._connections.explaining():
                await self._watch.unlock(session)

    async def _rows(self, query: str, *arguments: object) -> list[Any]:
        return await self._connections.retried(lambda connection: connection.fetch(query, *arguments))

    async def _value(self, query: str, *arguments: object) -> Any:
        return await self._connections.retried(lambda connection: connection.fetchval(query, *arguments))


def _is_recorded(fence: Fence, recent: Sequence[Envelope | Unreadable]) -> bool:
    """Whether an attempt whose answer was lost has already said that this writer has the session."""
    last = recent[-1] if recent else None
    match last:
        case Envelope(event=SessionOpened(fence=fence.token)):
            return True
        case _:
            return False


async def _stamp(connection: Connection, stamp: Stamp, session: str) -> str:
    """The session that this request created, now or before."""
    row = await connection.fetchrow(sql.KEEP_STAMP, plain(stamp.key), stamp.digest, session)
    assert row is not None, "an insert or update always returns the row"
    if row["digest"] != stamp.digest:
        raise key_reused()
    return row["session"]


async def _insert(connection: Connection, session: str, ts: float, first: SessionCreated) -> bool:
    """False if a repeated attempt finds the session of the first."""
    row = (session, plain(first.folder), plain(first.model), ts)
    return await connection.fetchval(sql.CREATE, *row) is not None


async def _append(connection: Connection, fence: Fence, envelopes: list[Envelope]) -> None:
    arguments = append_arguments([SessionAppend(fence, envelopes)])
    await connection.fetchrow(APPEND, *arguments, CHANNEL, payload_of([fence.session]))
