"""The in-memory implementation of the log: the same guarantees, nothing on disk. For tests and runs without a trace."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from assent.agent.spending import Spending, day_of, spending_of
from assent.commands import Command
from assent.events import Envelope, PromptSubmitted, SessionCreated, SessionOpened
from assent.session.audit_trail import AuditTrail, deletion
from assent.session.log import (
    RECENT_SESSIONS,
    Fence,
    Inboxed,
    Opening,
    SessionInfo,
    SessionPage,
    Stamp,
    Unreadable,
    Waiting,
    key_reused,
    keys_taken,
    lost_fence,
    no_such_session,
    session_busy,
)
from assent.session.memory_audit import MemoryAudit
from assent.session.projection import changed_at, project


class _Stored:
    def __init__(self, events: list[Envelope]) -> None:
        self.events = events
        self.commands: dict[str, Command | None] = {}
        """By key, in order; None once taken."""
        self.token = 0
        self.open = False
        self.watchers: list[Callable[[], None]] = []

    @property
    def owner(self) -> str:
        first = self.events[0].event
        assert isinstance(first, SessionCreated)
        return first.owner


class MemoryLog:
    def __init__(self) -> None:
        self._sessions: dict[str, _Stored] = {}
        self._watchers: list[Callable[[], None]] = []
        self._stamps: dict[str, tuple[bytes, str]] = {}
        self._spent_by_deleted: dict[str, Spending] = {}
        self._trail = AuditTrail()
        self.audit = MemoryAudit()

    async def create(
        self,
        session: str,
        ts: float,
        first: SessionCreated,
        more: Sequence[Envelope] = (),
        stamp: Stamp | None = None,
    ) -> str:
        made = None if stamp is None else await self.stamped(stamp)
        if made is None:
            self._sessions[session] = _Stored([Envelope(1, ts, session, first), *more])
            self._audit(self._sessions[session].events[:1])
            self._stamp(stamp, session)
        return made or session

    async def stamped(self, stamp: Stamp) -> str | None:
        digest, session = self._stamps.get(stamp.key, (stamp.digest, None))
        if digest != stamp.digest:
            raise key_reused()
        return session

    def _stamp(self, stamp: Stamp | None, session: str) -> None:
        if stamp is not None:
            self._stamps.setdefault(stamp.key, (stamp.digest, session))

    async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
        stored = self._stored(session)
        if stored.open:
            raise session_busy(session)
        token = (opening and opening.token) or stored.token + 1
        if token < stored.token:
            raise lost_fence(session)
        stored.open, stored.token = True, token
        waiting = ((call_id, found.approval) for call_id, found in _waiting(stored).items())
        self._trail.opened(session, stored.owner, waiting, stored.events)
        if opening is not None:
            opened = SessionOpened(stored.token, opening.client)
            stored.events.append(Envelope(len(stored.events) + 1, opening.ts, session, opened))
        return Fence(session, stored.token)

    async def release(self, fence: Fence) -> None:
        stored = self._stored(fence.session)
        if stored.token == fence.token:
            stored.open = False
            self._trail.closed(fence.session)

    async def is_open(self, session: str) -> bool:
        return self._stored(session).open

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        stored = self._stored(fence.session)
        numbers = [envelope.seq for envelope in envelopes]
        following = list(range(len(stored.events) + 1, len(stored.events) + 1 + len(envelopes)))
        if stored.token != fence.token or numbers != following:
            done.set_exception(lost_fence(fence.session))
            return done
        stored.events.extend(envelopes)
        self._audit(envelopes)
        stored.commands.update(dict.fromkeys(keys_taken(envelopes)))
        done.set_result(None)
        self._tell(stored)
        return done

    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        return self._stored(session).events[after : None if limit is None else after + limit]

    async def salvage(self, session: str) -> list[Envelope | Unreadable]:
        return list(self._stored(session).events)

    async def put(self, session: str, key: str, command: Command, stamp: Stamp | None = None) -> bool:
        stored = self._stored(session)
        if stamp is not None and await self.stamped(stamp) is None:
            self._stamp(stamp, session)
        if key in stored.commands:
            return False
        stored.commands[key] = command
        self._tell(stored)
        return True

    async def inbox(self, session: str) -> list[Inboxed]:
        waiting = self._stored(session).commands.items()
        return [Inboxed(key, command) for key, command in waiting if command is not None]

    def watch(self, session: str, changed: Callable[[], None]) -> Callable[[], None]:
        watchers = self._stored(session).watchers
        watchers.append(changed)
        return lambda: watchers.remove(changed)

    def watch_all(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    async def sessions(self, owner: str | None = None) -> list[SessionInfo]:
        of_owner = [(id, one) for id, one in self._sessions.items() if owner is None or one.owner == owner]
        return [_info(id, stored) for id, stored in reversed(of_owner)]

    async def page(self, owner: str, limit: int, offset: int = 0, *, archived: bool | None = None) -> SessionPage:
        found = await self.sessions(owner)
        wanted = [info for info in found if archived is None or info.archived == archived]
        return SessionPage(wanted[offset : offset + limit], len(wanted), sum(info.archived for info in found))

    async def prompts(self, folder: str, limit: int) -> list[str]:
        there = [stored.events for stored in self._sessions.values() if _created(stored).folder == folder]
        latest = sorted(there, key=lambda events: events[-1].ts)[-RECENT_SESSIONS:]
        found = [
            (e.ts, e.seq, e.event.text) for events in latest for e in events if isinstance(e.event, PromptSubmitted)
        ]
        return [text for _, _, text in sorted(found)[-limit:]]

    async def info(self, session: str) -> SessionInfo:
        return _info(session, self._stored(session))

    async def infos(self, sessions: Iterable[str]) -> dict[str, SessionInfo]:
        return {id: _info(id, self._sessions[id]) for id in sessions if id in self._sessions}

    async def finished(self, before: float, limit: int, offset: int = 0) -> list[SessionInfo]:
        found = [info for info in await self.sessions() if info.updated_at < before and not info.unfinished]
        return sorted(found, key=lambda info: (info.updated_at, info.id))[offset : offset + limit]

    async def heads(self, sessions: Iterable[str] | None = None) -> dict[str, int]:
        wanted = self._sessions if sessions is None else set(sessions)
        return {id: len(stored.events) for id, stored in self._sessions.items() if id in wanted}

    async def waiting(self, owner: str | None = None, limit: int | None = None, offset: int = 0) -> list[Waiting]:
        of_owner = [stored for stored in self._sessions.values() if owner is None or stored.owner == owner]
        found = [waiting for stored in of_owner for waiting in _waiting(stored).values()]
        ordered = sorted(found, key=lambda waiting: (waiting.asked_at, waiting.session, waiting.call_id))
        return ordered[offset : None if limit is None else offset + limit]

    async def count_waiting(self, owner: str | None = None) -> dict[str, int]:
        counted = Counter(stored.owner for stored in self._sessions.values() for _ in _waiting(stored))
        return {each: count for each, count in counted.items() if owner in (None, each)}

    async def spent_on(self, day: str) -> Spending:
        of_day = [_spent(e) for stored in self._sessions.values() for e in stored.events if day_of(e.ts) == day]
        return sum(of_day, self._spent_by_deleted.get(day, Spending()))

    async def spent_by_session(self) -> dict[str, Spending]:
        return {id: sum(map(_spent, stored.events), Spending()) for id, stored in self._sessions.items()}

    async def expired(self, now: float) -> list[str]:
        found = await self.waiting()
        return list({w.session for w in found if w.approval.expires_at is not None and w.approval.expires_at <= now})

    async def waiting_call(self, session: str, call_id: str) -> Waiting | None:
        return _waiting(self._stored(session)).get(call_id)

    async def pending(self) -> list[str]:
        return [id for id, stored in self._sessions.items() if any(c is not None for c in stored.commands.values())]

    def _audit(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            if (entry := self._trail.entry(envelope)) is not None:
                self.audit.add(entry)

    async def delete(self, session: str, seen: int | None = None, by: str = "") -> None:
        stored = self._stored(session)
        in_use = seen is not None and (len(stored.events) != seen or any(stored.commands.values()))
        if stored.open or in_use:
            raise session_busy(session)
        for envelope in stored.events:
            day = day_of(envelope.ts)
            self._spent_by_deleted[day] = self._spent_by_deleted.get(day, Spending()) + _spent(envelope)
        self.audit.add(deletion(_info(session, stored), by))
        del self._sessions[session]
        self._stamps = {key: value for key, value in self._stamps.items() if value[1] != session}

    @property
    def backlog(self) -> int:
        return 0

    async def try_writing(self) -> None:
        """Memory is always writable."""

    async def close(self) -> None:
        """Nothing to close: what was stored can still be read and opened again, as after a restart."""
        for stored in self._sessions.values():
            stored.open = False

    def _stored(self, session: str) -> _Stored:
        if session not in self._sessions:
            raise no_such_session(session)
        return self._sessions[session]

    def _tell(self, stored: _Stored) -> None:
        loop = asyncio.get_running_loop()
        for watcher in (*stored.watchers, *self._watchers):
            loop.call_soon(watcher)


def _spent(envelope: Envelope) -> Spending:
    return spending_of(envelope.event)


def _created(stored: _Stored) -> SessionCreated:
    first = stored.events[0].event
    assert isinstance(first, SessionCreated)
    return first


def _info(session: str, stored: _Stored) -> SessionInfo:
    first, created, changes = stored.events[0], _created(stored), project(stored.events)
    known: dict[str, Any] = {"title": changes.first_title, "model": created.model} | changes.columns
    return SessionInfo(
        id=session,
        folder=created.folder,
        created_at=first.ts,
        updated_at=max(first.ts, changed_at(stored.events) or 0.0),
        events=len(stored.events),
        waiting=len(changes.asked),
        held=stored.open,
        **known,
    )


def _waiting(stored: _Stored) -> dict[str, Waiting]:
    return project(stored.events).asked
