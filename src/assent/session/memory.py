"""The in-memory twin of the log: same promises, nothing on disk. For tests and for runs that want no trace."""

import asyncio
from collections.abc import Callable, Sequence

from assent.commands import Command
from assent.events import Envelope, ModelChanged, PromptSubmitted, SessionCreated, SessionRenamed
from assent.session.log import (
    RECENT_SESSIONS,
    Fence,
    Inboxed,
    SessionInfo,
    lost_fence,
    no_such_session,
    session_busy,
    title_of,
)


class _Stored:
    def __init__(self, first: Envelope) -> None:
        self.events = [first]
        self.commands: dict[str, Command | None] = {}
        """By key, in order; None once carried out."""
        self.token = 0
        self.open = False
        self.watchers: list[Callable[[], None]] = []


class MemoryLog:
    def __init__(self) -> None:
        self._sessions: dict[str, _Stored] = {}

    async def create(self, session: str, ts: float, first: SessionCreated) -> None:
        self._sessions[session] = _Stored(Envelope(1, ts, session, first))

    async def acquire(self, session: str) -> Fence:
        stored = self._stored(session)
        if stored.open:
            raise session_busy(session)
        stored.open = True
        stored.token += 1
        return Fence(session, stored.token)

    async def release(self, fence: Fence) -> None:
        stored = self._stored(fence.session)
        if stored.token == fence.token:
            stored.open = False

    async def is_open(self, session: str) -> bool:
        return self._stored(session).open

    def append(self, fence: Fence, envelopes: Sequence[Envelope], taken: Sequence[str] = ()) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        stored = self._stored(fence.session)
        numbers = [envelope.seq for envelope in envelopes]
        following = list(range(len(stored.events) + 1, len(stored.events) + 1 + len(envelopes)))
        if stored.token != fence.token or numbers != following:
            done.set_exception(lost_fence(fence.session))
            return done
        stored.events.extend(envelopes)
        stored.commands.update(dict.fromkeys(taken))
        done.set_result(None)
        self._tell(stored)
        return done

    async def read(self, session: str, after: int = 0) -> list[Envelope]:
        return self._stored(session).events[after:]

    async def put(self, session: str, key: str, command: Command) -> bool:
        stored = self._stored(session)
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

    async def sessions(self) -> list[SessionInfo]:
        return [_info(id, stored) for id, stored in reversed(self._sessions.items())]

    async def prompts(self, folder: str, limit: int) -> list[str]:
        there = [stored.events for stored in self._sessions.values() if _created(stored).folder == folder]
        latest = sorted(there, key=lambda events: events[-1].ts)[-RECENT_SESSIONS:]
        found = [
            (e.ts, e.seq, e.event.text) for events in latest for e in events if isinstance(e.event, PromptSubmitted)
        ]
        return [text for _, _, text in sorted(found)[-limit:]]

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
        for watcher in stored.watchers:
            loop.call_soon(watcher)


def _created(stored: _Stored) -> SessionCreated:
    first = stored.events[0].event
    assert isinstance(first, SessionCreated)
    return first


def _info(session: str, stored: _Stored) -> SessionInfo:
    first, created = stored.events[0], _created(stored)
    title, model = "", created.model
    for envelope in stored.events:
        match envelope.event:
            case PromptSubmitted(text=text):
                title = title or title_of(text)
            case SessionRenamed(title=title):
                pass
            case ModelChanged(model=model):
                pass
            case _:
                continue
    return SessionInfo(session, created.folder, model, title, first.ts, stored.events[-1].ts, len(stored.events))
