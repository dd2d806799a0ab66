"""The port `SessionLog`: where sessions are stored. Gap-free events, an inbox for commands, one writer per session.

What can go wrong:

    LogError
    ├── NoSuchSession    there is no session with that id
    ├── SessionBusy      another process has it open
    ├── LostFence        a newer writer has replaced this one, or it is out of step; nothing was written
    ├── KeyReused        the key was already used for another request; nothing was written
    ├── LogUnavailable   the disk is full, read-only, or failing; nothing was written
    │   └── WorkspaceUnavailable   the folder or the settings of the session cannot be used here
    └── LogDamaged       what is stored cannot be read
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from assent.agent.spending import Spending
from assent.approval import Approval, Mode
from assent.commands import Command
from assent.events import CommandTaken, Envelope, SessionCreated
from assent.session.audit_log import AuditLog


class LogError(Exception):
    """`str(error)` says what happened and what to do."""


class NoSuchSession(LogError):
    pass


class SessionBusy(LogError):
    pass


class LostFence(LogError):
    pass


class KeyReused(LogError):
    pass


class LogUnavailable(LogError):
    pass


class WorkspaceUnavailable(LogUnavailable):
    pass


class LogDamaged(LogError):
    pass


class Unreadable(Struct, frozen=True):
    """Takes the place of an event that is missing or cannot be read."""

    seq: int
    problem: str


class Fence(Struct, frozen=True):
    """The right to write one session. A newer token invalidates all older ones."""

    session: str
    token: int


class Stamp(Struct, frozen=True):
    """Marks the effect of a request, in the same transaction: if the request is repeated, it finds its effect."""

    key: str
    digest: bytes
    """Of the request. The same key with another digest is a mistake, not a repetition."""


class Inboxed(Struct, frozen=True):
    """A command waiting to be carried out."""

    key: str
    command: Command


TITLE_LENGTH = 120
RECENT_SESSIONS = 100
"""How many sessions of a folder are searched for its prompts."""


class SessionInfo(Struct, frozen=True, kw_only=True):
    """One line of the list of sessions."""

    id: str
    folder: str
    model: str
    title: str
    created_at: float
    updated_at: float
    events: int
    mode: Mode = "default"
    owner: str = ""
    client: str = ""
    """Who opened it last."""
    waiting: int = 0
    """How many approvals are waiting."""
    unfinished: bool = False
    """Its newest turn is not over."""
    held: bool = False
    """Whoever opened it last has not released it: it is open, or its process died."""
    archived: bool = False
    """It is not in the list of sessions."""


class Opening(Struct, frozen=True):
    """When a session is acquired, and by what kind of client."""

    ts: float
    client: str
    token: int = 0
    """Issued by an engine that runs sessions in several processes; 0: the log issues the next one. The engine knows
    which attempt is the newest, so an older one that wakes up late is refused, and the newest one replaces a process
    of the same client that no longer responds.
    """


class Waiting(Struct, frozen=True):
    """A waiting approval, found without reading its session."""

    session: str
    call_id: str
    asked_at: float
    approval: Approval


class SessionPage(Struct, frozen=True):
    sessions: list[SessionInfo]
    total: int
    """Of all pages."""
    archived: int
    """How many of the owner's sessions are archived, wanted or not."""


class SessionLog(Protocol):
    async def create(
        self,
        session: str,
        ts: float,
        first: SessionCreated,
        more: Sequence[Envelope] = (),
        stamp: Stamp | None = None,
    ) -> str:
        """Creates a session whose event 1 is `first`, then `more`, all or nothing. Returns its id, or that of the
        session that a request with this stamp created before."""
        ...

    async def stamped(self, stamp: Stamp) -> str | None:
        """The session in which a request with this stamp took effect; raises KeyReused if it was another request."""
        ...

    async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
        """Acquires the session for writing, or raises NoSuchSession, SessionBusy, or LostFence if the token that it
        brings is older than the newest one.

        With `opening`, its next event records that, in the same transaction.
        """
        ...

    async def release(self, fence: Fence) -> None: ...

    async def is_open(self, session: str) -> bool:
        """Whether some process has acquired it for writing."""
        ...

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        """Queues the events immediately, in this order; durable when the future resolves. All or nothing.

        Commands that they record as taken leave the inbox in the same transaction.
        """
        ...

    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """Raises LogDamaged if one of them cannot be read: nobody may act on a part of the history."""
        ...

    async def salvage(self, session: str) -> list[Envelope | Unreadable]:
        """Everything that can be read of a session, in order, for people to look at."""
        ...

    async def put(self, session: str, key: str, command: Command, stamp: Stamp | None = None) -> bool:
        """Adds a command to the inbox. If the key was used before, changes nothing and returns False."""
        ...

    async def inbox(self, session: str) -> list[Inboxed]: ...

    def watch(self, session: str, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` in this loop when the session may have new events or commands. Returns a function to stop."""
        ...

    def watch_all(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` in this loop when another process may have changed some session."""
        ...

    async def sessions(self, owner: str | None = None) -> list[SessionInfo]:
        """All sessions (of that owner), newest first."""
        ...

    async def page(self, owner: str, limit: int, offset: int = 0, *, archived: bool | None = None) -> SessionPage:
        """Some of the owner's sessions, newest first, without looking at the others."""
        ...

    async def prompts(self, folder: str, limit: int) -> list[str]:
        """The prompts of this folder's latest sessions, oldest first; unreadable ones are left out."""
        ...

    async def info(self, session: str) -> SessionInfo: ...

    async def infos(self, sessions: Iterable[str]) -> dict[str, SessionInfo]:
        """Those that exist, by id."""
        ...

    async def finished(self, before: float, limit: int, offset: int = 0) -> list[SessionInfo]:
        """Sessions that nothing was added to since then, and that wait for nothing, the oldest first."""
        ...

    async def heads(self, sessions: Iterable[str] | None = None) -> dict[str, int]:
        """The number of the newest event of every session, or of these."""
        ...

    async def waiting(self, owner: str | None = None, limit: int | None = None, offset: int = 0) -> list[Waiting]:
        """All waiting approvals of all sessions (of that owner), oldest first."""
        ...

    async def count_waiting(self, owner: str | None = None) -> dict[str, int]:
        """How many approvals are waiting, by session owner (of that one); owners with none may be missing."""
        ...

    async def spent_on(self, day: str) -> Spending:
        """What all sessions used on that day, including deleted ones; a day is written as `2026-11-17`."""
        ...

    async def spent_by_session(self) -> dict[str, Spending]:
        """What each session used; those that used nothing may be missing."""
        ...

    async def expired(self, now: float) -> list[str]:
        """The sessions with expired approvals."""
        ...

    async def waiting_call(self, session: str, call_id: str) -> Waiting | None: ...

    async def pending(self) -> list[str]:
        """The sessions with commands in their inbox."""
        ...

    @property
    def audit(self) -> AuditLog:
        """What was decided and by whom, in all sessions, including deleted ones."""
        ...

    async def delete(self, session: str, seen: int | None = None, by: str = "") -> None:
        """Deletes the session and everything that belongs to it, except its part of the audit, which records the
        deletion; raises SessionBusy while it is open.

        With `seen`, the number of events the caller has looked at, it is also busy if there are more events since, or
        if a command is waiting in its inbox.
        """
        ...

    @property
    def backlog(self) -> int:
        """How many changes and reads wait for the disk."""
        ...

    async def try_writing(self) -> None:
        """Writes to the disk without changing anything; raises the reason if that fails."""
        ...

    async def close(self) -> None: ...


def keys_taken(envelopes: Sequence[Envelope]) -> list[str]:
    """The keys of the commands that these events record as taken."""
    return [envelope.event.key for envelope in envelopes if isinstance(envelope.event, CommandTaken)]


_PARAGRAPH_END = re.compile(r"\n\s*\n")


def title_of(prompt: str) -> str:
    """A session's title until a person names it: the first paragraph of its first prompt, on one line. Attachments are
    in another one."""
    return " ".join(_PARAGRAPH_END.split(prompt.strip(), maxsplit=1)[0].split())[:TITLE_LENGTH]


def new_session_id() -> str:
    """An id that sorts by time, cannot be guessed, and is safe in a file name and a URL."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(8).hex()}"


def no_such_session(session: str) -> NoSuchSession:
    return NoSuchSession(f"there is no session {session!r}; `assent sessions list` shows all sessions")


def session_busy(session: str) -> SessionBusy:
    return SessionBusy(
        f"session {session} is open in another process. Answer its questions from here with `assent answer`, "
        f"view it with `assent sessions show {session}`, or close it there first"
    )


def lost_fence(session: str) -> LostFence:
    return LostFence(f"session {session} was taken over by another process; this one can no longer write to it")


def key_reused() -> KeyReused:
    return KeyReused("this key was already used for another request; use a new key for each request")
