"""The log on disk: one SQLite file for all sessions, WAL, every commit synced, readable only by its owner.

One writer per session is ensured twice: by a lock file that the system frees when its process dies, and by a fence
token in every append, so that a writer that lost the session is refused whatever the lock says.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from assent.agent.spending import Spending
from assent.commands import Command, decode_command, encode_command
from assent.events import (
    VERSION,
    Envelope,
    SessionCreated,
    SessionOpened,
    encode_event,
    type_of,
)
from assent.files.locks import remove_lock, remove_unused_locks, take_lock, take_removable_lock
from assent.session import idempotency, index
from assent.session.audit_table import SqliteAudit
from assent.session.audit_table import append as append_audit
from assent.session.audit_trail import AuditTrail, deletion, masked
from assent.session.inline_reader import InlineReader
from assent.session.log import (
    RECENT_SESSIONS,
    Fence,
    Inboxed,
    LogDamaged,
    LogError,
    LogUnavailable,
    Opening,
    SessionBusy,
    SessionInfo,
    SessionPage,
    Stamp,
    Unreadable,
    Waiting,
    keys_taken,
    lost_fence,
    no_such_session,
    session_busy,
)
from assent.session.migrations import CURRENT_VERSION, migrate
from assent.session.projection import changed_at, decode_waiting
from assent.session.spending_index import forget_session, spent_by_session, spent_on
from assent.session.stored_events import decode_envelope, prompt_text, readable, readable_or_not
from assent.session.writer import Job, Writer

LOCK_RETRY = 0.02
"""Seconds, many times as long as checking a lock takes."""
GATHER_SECONDS = 0.001
"""About as long as a commit takes, most of which is spent waiting for the disk."""
LOCK_FILES = "[0-9]*-[0-9]*-*.lock"
"""Of sessions; there are other locks in the same folder."""
INLINE_LIMIT = 100
"""At most this many events are read on the event loop."""

_Row = tuple[int, float, int, bytes]
"""A stored event: sequence number, time, version, data."""


class SqliteLog:
    """`folder` is created if it is missing; it holds the database, its journal and the lock files.

    `busy` is for servers, where many sessions write at once: reads need not wait for commits in progress, at the price
    of a thread, and commits wait a moment for others to share them. `read_only` writes nothing at all, not even a
    missing folder, and needs no disk space.
    """

    def __init__(
        self,
        folder: Path,
        *,
        busy: bool = False,
        read_only: bool = False,
        mask: Callable[[str], str] = str,
    ) -> None:
        """`mask` removes secrets from texts that the audit keeps."""
        self._folder = folder
        self._busy = busy
        self._trail = AuditTrail()
        self._mask = mask
        self._path = folder / "assent.db"
        self._locks: dict[str, int] = {}
        self._watchers: dict[str, list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]]] = {}
        self._index = index.Index()
        self._read_only = read_only
        self._writer = Writer(str(self._path), self._connect, self._tell_all, GATHER_SECONDS if busy else 0.0)
        self._reader = Writer(str(self._path), self._connect, lambda: None) if busy else self._writer
        self._inline = InlineReader(self._path, self._read) if busy else self._read
        self.audit = SqliteAudit(self._writer, self._reader, lambda entry: masked(entry, mask))

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
        row = (session, len(events) + 1, first.folder, first.model, ts, max(ts, events[-1].ts))

        def job(db: sqlite3.Connection) -> str:
            if stamp is not None and (made := idempotency.find(db, stamp)) is not None:
                return made
            columns = "id, epoch, next_seq, folder, model, title, created_at, updated_at"
            db.execute(f"INSERT INTO sessions ({columns}) VALUES (?, 0, ?, ?, ?, '', ?, ?)", row)
            self._insert(db, events)
            self._audit(db, events[:1])  # the rest, of a fork, is in the audit of the session it comes from
            if stamp is not None:
                idempotency.keep(db, stamp, session)
            return session

        return await self._writer.submit(job)

    async def stamped(self, stamp: Stamp) -> str | None:
        return await self._inline(lambda db: idempotency.find(db, stamp))

    async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
        await self.info(session)  # raises NoSuchSession before a lock file is created
        await self._lock_for_long(session)

        def job(db: sqlite3.Connection) -> Fence:
            self._index.opened(db, session)
            self._trail.opened(session, *index.owner_and_waiting(db, session), index.since_last_turn(db, session))
            row = db.execute("SELECT epoch, next_seq FROM sessions WHERE id = ?", (session,)).fetchone()
            if row is None:  # deleted just now
                raise no_such_session(session)
            fence = Fence(session, (opening and opening.token) or row[0] + 1)
            if fence.token < row[0]:
                raise lost_fence(session)
            db.execute("UPDATE sessions SET epoch = ?, held = 1 WHERE id = ?", (fence.token, session))
            if opening is not None:
                opened = SessionOpened(fence.token, opening.client)
                self._write(db, fence, [Envelope(row[1], opening.ts, session, opened)])
            return fence

        try:
            return await self._writer.submit(job)
        except BaseException:
            self._unlock(session)
            raise

    async def release(self, fence: Fence) -> None:
        def job(db: sqlite3.Connection) -> None:
            self._trail.closed(fence.session)
            db.execute("UPDATE sessions SET held = 0 WHERE id = ? AND epoch = ?", (fence.session, fence.token))

        try:
            with suppress(LogError):  # the log can no longer be written; release the lock anyway
                await self._writer.submit(job)
        finally:
            self._unlock(fence.session)

    async def is_open(self, session: str) -> bool:
        if session in self._locks:
            return True
        try:
            self._lock(session)
        except SessionBusy:
            return True
        self._unlock(session)
        return False

    async def sessions(self, owner: str | None = None) -> list[SessionInfo]:
        return await self._read(index.sessions(owner))

    async def page(self, owner: str, limit: int, offset: int = 0, *, archived: bool | None = None) -> SessionPage:
        return await self._read(index.page(owner, limit, offset, archived))

    async def info(self, session: str) -> SessionInfo:
        return await self._inline(index.info(session))

    async def infos(self, sessions: Iterable[str]) -> dict[str, SessionInfo]:
        return await self._inline(index.infos(sessions))

    async def finished(self, before: float, limit: int, offset: int = 0) -> list[SessionInfo]:
        return await self._read(index.finished(before, limit, offset))

    async def heads(self, sessions: Iterable[str] | None = None) -> dict[str, int]:
        return await self._read(index.heads(sessions))

    async def waiting(self, owner: str | None = None, limit: int | None = None, offset: int = 0) -> list[Waiting]:
        rows = await self._read(index.waiting(owner, limit, offset))
        return readable(decode_waiting, rows)

    async def count_waiting(self, owner: str | None = None) -> dict[str, int]:
        return await self._read(index.count_waiting(owner))

    async def spent_on(self, day: str) -> Spending:
        return await self._inline(spent_on(day))

    async def spent_by_session(self) -> dict[str, Spending]:
        return await self._read(spent_by_session)

    async def expired(self, now: float) -> list[str]:
        return await self._read(index.expired(now))

    async def waiting_call(self, session: str, call_id: str) -> Waiting | None:
        row = await self._inline(index.waiting_call(session, call_id))
        return None if row is None else decode_waiting(row)

    async def pending(self) -> list[str]:
        return await self._read(index.pending)

    async def delete(self, session: str, seen: int | None = None, by: str = "") -> None:
        info = await self.info(session)  # raises NoSuchSession before a lock file is created
        await self._lock_for_long(session)

        def job(db: sqlite3.Connection) -> None:
            if seen is not None and _in_use(db, session, seen):
                raise session_busy(session)
            for table in ("events", "inbox", "approvals", "stamps"):
                db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
            forget_session(db, session)
            db.execute("DELETE FROM sessions WHERE id = ?", (session,))
            append_audit(db, masked(deletion(info, by), self._mask))

        try:
            await self._writer.submit(job)
        finally:
            self._unlock(session)

    @property
    def backlog(self) -> int:
        return self._writer.waiting

    async def try_writing(self) -> None:
        await self._writer.submit(lambda db: db.execute(f"PRAGMA user_version = {CURRENT_VERSION}"))

    async def prompts(self, folder: str, limit: int) -> list[str]:
        def job(db: sqlite3.Connection) -> list[tuple[int, bytes]]:
            latest = "SELECT id FROM sessions WHERE folder = ? ORDER BY updated_at DESC LIMIT ?"
            asked = f"type = 'prompt.submitted' AND session IN ({latest})"
            found = f"SELECT v, data FROM events WHERE {asked} ORDER BY ts DESC, seq DESC LIMIT ?"
            return db.execute(found, (folder, RECENT_SESSIONS, limit)).fetchall()

        rows = await self._read(job)
        return [text for v, data in reversed(rows) if (text := prompt_text(v, data)) is not None]

    # --- events ---

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        return self._writer.submit(lambda db: self._write(db, fence, envelopes))

    def _write(self, db: sqlite3.Connection, fence: Fence, envelopes: Sequence[Envelope]) -> None:
        self._check_fence(db, fence, envelopes)
        self._insert(db, envelopes)
        self._audit(db, envelopes)
        rows = [(int(time.time()), fence.session, key) for key in keys_taken(envelopes)]
        db.executemany("UPDATE inbox SET taken = ? WHERE session = ? AND key = ?", rows)

    def _insert(self, db: sqlite3.Connection, envelopes: Sequence[Envelope]) -> None:
        rows = [(e.session, e.seq, e.ts, type_of(e.event), VERSION, encode_event(e.event)) for e in envelopes]
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
        if envelopes:
            self._index.add(db, envelopes[0].session, envelopes)

    def _audit(self, db: sqlite3.Connection, envelopes: Sequence[Envelope]) -> None:
        """In the same transaction: neither exists without the other."""
        for envelope in envelopes:
            if (entry := self._trail.entry(envelope)) is not None:
                append_audit(db, masked(entry, self._mask))

    def _check_fence(self, db: sqlite3.Connection, fence: Fence, envelopes: Sequence[Envelope]) -> None:
        """Advances the session's counter, but only for the newest fence and only without a gap."""
        if not envelopes:
            return
        first, last = envelopes[0].seq, envelopes[-1]
        if last.seq - first != len(envelopes) - 1:
            raise lost_fence(fence.session)
        moved = db.execute(
            "UPDATE sessions SET next_seq = ?, updated_at = COALESCE(?, updated_at) "
            "WHERE id = ? AND epoch = ? AND next_seq = ?",
            (last.seq + 1, changed_at(envelopes), fence.session, fence.token, first),
        )
        if moved.rowcount != 1:
            raise lost_fence(fence.session)

    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        next_seq, rows = await self._inline(
            _events(session, after, INLINE_LIMIT if limit is None else min(limit, INLINE_LIMIT))
        )
        if len(rows) == INLINE_LIMIT and limit != INLINE_LIMIT:
            next_seq, rows = await self._read(_events(session, after, -1 if limit is None else limit))
        envelopes = [decode_envelope(session, *row) for row in rows]
        end = next_seq if limit is None else min(next_seq, after + 1 + limit)
        if [envelope.seq for envelope in envelopes] != list(range(after + 1, end)):
            raise LogDamaged(f"events of session {session} are missing from the log {self._path}")
        return envelopes

    async def salvage(self, session: str) -> list[Envelope | Unreadable]:
        def job(db: sqlite3.Connection) -> tuple[int, list[_Row], str]:
            next_seq, _ = _events(session, 0, 0)(db)
            rows, problem = _readable_rows(db, session)
            return next_seq, rows, problem

        next_seq, rows, problem = await self._read(job)
        found = {row[0]: readable_or_not(session, *row) for row in rows}
        last = max(next_seq, *(seq + 1 for seq in found), 1)
        return [found.get(seq) or Unreadable(seq, problem or "it is missing") for seq in range(1, last)]

    # --- commands ---

    async def put(self, session: str, key: str, command: Command, stamp: Stamp | None = None) -> bool:
        data = encode_command(command)

        def job(db: sqlite3.Connection) -> bool:
            if db.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone() is None:
                raise no_such_session(session)
            if stamp is not None and idempotency.find(db, stamp) is None:
                idempotency.keep(db, stamp, session)
            idempotency.sweep(db)
            insert = "INSERT OR IGNORE INTO inbox (session, key, data) VALUES (?, ?, ?)"
            return db.execute(insert, (session, key, data)).rowcount == 1

        added = await self._writer.submit(job)
        self._tell(session)
        return added

    async def inbox(self, session: str) -> list[Inboxed]:
        def job(db: sqlite3.Connection) -> list[tuple[str, bytes]]:
            found = "SELECT key, data FROM inbox WHERE session = ? AND taken = 0 ORDER BY id"
            return db.execute(found, (session,)).fetchall()

        return readable(lambda row: Inboxed(row[0], decode_command(row[1])), await self._inline(job))

    # --- watching ---

    def watch(self, session: str, changed: Callable[[], None]) -> Callable[[], None]:
        entry = (asyncio.get_running_loop(), changed)
        self._watchers.setdefault(session, []).append(entry)
        self._writer.watch(True)

        def stop() -> None:
            self._watchers[session].remove(entry)
            if not self._watchers[session]:
                del self._watchers[session]
            self._writer.watch(bool(self._watchers))

        return stop

    def watch_all(self, changed: Callable[[], None]) -> Callable[[], None]:
        return self.watch("", changed)

    def _tell(self, session: str) -> None:
        for loop, changed in list(self._watchers.get(session, ())):
            loop.call_soon_threadsafe(changed)

    def _tell_all(self) -> None:
        for session in list(self._watchers):
            try:
                self._tell(session)
            except RuntimeError:  # the loop is closed
                continue

    # --- opening and closing ---

    async def close(self) -> None:
        for session in list(self._locks):
            self._unlock(session)
        if isinstance(self._inline, InlineReader):
            self._inline.close()
        await self._reader.close()
        await self._writer.close()

    def _read(self, job: Job) -> "asyncio.Future[Any]":
        return self._reader.submit(job, reads=True)

    def _connect(self) -> sqlite3.Connection:
        if self._read_only:
            from assent.session.read_only import open_for_reading

            return open_for_reading(self._path)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(self._folder / "opening.lock"):
            self._make_private()
            db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            migrate(db, str(self._path))
        remove_unused_locks(self._folder.glob(LOCK_FILES) if self._busy else ())
        return db

    def _make_private(self) -> None:
        """Creates the file with private permissions, which SQLite copies to its journal. We never open it again:
        closing any handle on a file drops all of the process's locks on it, even those of another connection."""
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))

    async def _lock_for_long(self, session: str) -> None:
        """Retries: a process that only checks whether the session is open holds the lock for a moment."""
        try:
            self._lock(session)
        except SessionBusy:
            await asyncio.sleep(LOCK_RETRY)
            self._lock(session)

    def _lock(self, session: str) -> None:
        path = self._lock_file(session)
        try:
            self._locks[session] = take_removable_lock(path)
        except BlockingIOError:
            raise session_busy(session) from None
        except OSError as error:
            raise LogUnavailable(f"cannot lock session {session} with {path}: {error.strerror}") from error

    def _lock_file(self, session: str) -> Path:
        return self._folder / f"{session}.lock"

    def _unlock(self, session: str) -> None:
        handle = self._locks.pop(session, None)
        if handle is not None:
            remove_lock(self._lock_file(session), handle)


def _events(session: str, after: int, limit: int) -> Callable[[sqlite3.Connection], tuple[int, list[_Row]]]:
    """The session's counter, and its next events."""

    def job(db: sqlite3.Connection) -> tuple[int, list[_Row]]:
        counter = db.execute("SELECT next_seq FROM sessions WHERE id = ?", (session,)).fetchone()
        if counter is None:
            raise no_such_session(session)
        found = "SELECT seq, ts, v, data FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?"
        return counter[0], db.execute(found, (session, after, limit)).fetchall()

    return job


def _readable_rows(db: sqlite3.Connection, session: str) -> tuple[list[_Row], str]:
    """The events before and after a damaged part of the file, and what SQLite says about that part."""
    rows: list[_Row] = []
    problem = ""
    for order in ("ASC", "DESC"):
        found = f"SELECT seq, ts, v, data FROM events WHERE session = ? ORDER BY seq {order}"
        try:
            cursor = db.execute(found, (session,))
            while row := cursor.fetchone():
                rows.append(row)
            return rows, problem
        except sqlite3.DatabaseError as error:
            problem = str(error)
    return rows, problem


@contextmanager
def _alone(path: Path) -> Generator[None, None, None]:
    """SQLite does not wait to change the journal mode of a new file: a second process would get an error."""
    handle = take_lock(path, wait=True)
    try:
        yield
    finally:
        os.close(handle)


def _in_use(db: sqlite3.Connection, session: str, seen: int) -> bool:
    waits = "SELECT 1 FROM inbox WHERE session = :id AND taken = 0"
    more = "SELECT 1 FROM sessions WHERE id = :id AND next_seq - 1 != :seen"
    return db.execute(f"{waits} UNION {more}", {"id": session, "seen": seen}).fetchone() is not None
