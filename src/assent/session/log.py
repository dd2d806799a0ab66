"""The port `SessionLog`: where sessions live. Events in gap-free order, commands in an inbox, one writer a session.

What can go wrong:

    LogError
    ├── NoSuchSession    there is no session with that id
    ├── SessionBusy      another process has it open
    ├── LostFence        this writer was replaced by a newer one, or is out of step; nothing was written
    ├── KeyReused        that key was used before, for another request; nothing was written
    ├── LogUnavailable   the disk is full, read-only, or failing; nothing was written
    └── LogDamaged       what is stored cannot be read
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from assent.agent.spending import Spending
from assent.approval import Approval, Mode
from assent.commands import Command
from assent.events import CommandTaken, Envelope, SessionCreated


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


class LogDamaged(LogError):
    pass


class Unreadable(Struct, frozen=True):
    """Stands where an event should be that is missing or cannot be understood."""

    seq: int
    problem: str


class Fence(Struct, frozen=True):
    """The right to write one session. A newer token makes all older ones worthless."""

    session: str
    token: int


class Stamp(Struct, frozen=True):
    """Marks what a request has done, in the same transaction: the same request finds it again, whenever it comes."""

    key: str
    digest: bytes
    """Of the request. The same key with another one is a mistake, and not a repetition."""


class Inboxed(Struct, frozen=True):
    """A command that waits to be carried out."""

    key: str
    command: Command


TITLE_LENGTH = 120
RECENT_SESSIONS = 100
"""How many sessions of a folder are looked through for its prompts."""


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
    """How many approvals wait."""
    unfinished: bool = False
    """Its newest turn is not over."""
    held: bool = False
    """Whoever opened it last has not given it back: it is open, or its process died."""


class Opening(Struct, frozen=True):
    """When a session is taken for writing, and by what kind of client."""

    ts: float
    client: str


class Waiting(Struct, frozen=True):
    """An approval that waits, found without reading its session."""

    session: str
    call_id: str
    asked_at: float
    approval: Approval


class SessionLog(Protocol):
    async def create(
        self,
        session: str,
        ts: float,
        first: SessionCreated,
        more: Sequence[Envelope] = (),
        stamp: Stamp | None = None,
    ) -> str:
        """Makes a session whose event 1 is `first`, then `more`, all or nothing. Gives its id, or that of the session
        which a request with this stamp has made before."""
        ...

    async def stamped(self, stamp: Stamp) -> str | None:
        """The session in which a request with this stamp has done its work; KeyReused when it was another one."""
        ...

    async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
        """Takes the session for writing, or raises NoSuchSession or SessionBusy.

        With `opening` its next event says so, in the same transaction.
        """
        ...

    async def release(self, fence: Fence) -> None: ...

    async def is_open(self, session: str) -> bool:
        """Has some process taken it for writing?"""
        ...

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        """Queues the events at once, in this order; durable when the future resolves. All or nothing.

        Commands of which they say that they were taken leave the inbox in the same transaction.
        """
        ...

    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """Raises LogDamaged when one of them cannot be read: nobody may act on a part of the story."""
        ...

    async def salvage(self, session: str) -> list[Envelope | Unreadable]:
        """All that can be read of a session, in order, for people to look at."""
        ...

    async def put(self, session: str, key: str, command: Command, stamp: Stamp | None = None) -> bool:
        """Adds a command to the inbox. A key that was used before changes nothing and gives False."""
        ...

    async def inbox(self, session: str) -> list[Inboxed]: ...

    def watch(self, session: str, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` in this loop when the session may have new events or commands. Gives the way to stop."""
        ...

    def watch_all(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` in this loop when another process may have changed some session."""
        ...

    async def sessions(self) -> list[SessionInfo]:
        """All sessions, the newest first."""
        ...

    async def prompts(self, folder: str, limit: int) -> list[str]:
        """What was asked in the latest sessions of this folder, the oldest first; what cannot be read is left out."""
        ...

    async def info(self, session: str) -> SessionInfo: ...

    async def infos(self, sessions: Iterable[str]) -> dict[str, SessionInfo]:
        """Of those that there are, by their ids."""
        ...

    async def heads(self) -> dict[str, int]:
        """The number of the newest event of every session."""
        ...

    async def waiting(self, owner: str | None = None, limit: int | None = None, offset: int = 0) -> list[Waiting]:
        """Every approval that waits, over all sessions (of that owner), the oldest first."""
        ...

    async def count_waiting(self) -> dict[str, int]:
        """How many approvals wait, by the owner of their sessions; owners with none may be missing."""
        ...

    async def spent_on(self, day: str) -> Spending:
        """What all sessions used on that day, deleted ones included; the day is written `2026-11-17`."""
        ...

    async def spent_by_session(self) -> dict[str, Spending]:
        """What each session used; those that used nothing may be missing."""
        ...

    async def expired(self, now: float) -> list[str]:
        """The sessions with approvals whose time is over."""
        ...

    async def waiting_call(self, session: str, call_id: str) -> Waiting | None: ...

    async def pending(self) -> list[str]:
        """The sessions with commands in their inbox."""
        ...

    async def delete(self, session: str, seen: int | None = None) -> None:
        """Forgets the session and all that belongs to it; raises SessionBusy while somebody has it open.

        Whoever looked into it first gives the number of events as `seen`: it is busy, too, if more came since then, or
        a command that waits in its inbox.
        """
        ...

    async def try_writing(self) -> None:
        """Writes something that changes nothing, to the disk and back; raises what keeps it from that."""
        ...

    async def close(self) -> None: ...


def keys_taken(envelopes: Sequence[Envelope]) -> list[str]:
    """Of the commands that these events say were taken."""
    return [envelope.event.key for envelope in envelopes if isinstance(envelope.event, CommandTaken)]


def title_of(prompt: str) -> str:
    """What a session is called until a person names it: the beginning of its first prompt, on one line."""
    return " ".join(prompt.split())[:TITLE_LENGTH]


def new_session_id() -> str:
    """Sorts by time, cannot be guessed, is safe in a file name and a URL."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(8)}"


def no_such_session(session: str) -> NoSuchSession:
    return NoSuchSession(f"there is no session {session!r}; `assent sessions list` shows those there are")


def session_busy(session: str) -> SessionBusy:
    return SessionBusy(
        f"session {session} is open in another process. Answer its questions from here with `assent answer`, "
        f"look at it with `assent sessions show {session}`, or close the other one first"
    )


def lost_fence(session: str) -> LostFence:
    return LostFence(f"session {session} was taken over by another process; this one may not write to it any more")


def key_reused() -> KeyReused:
    return KeyReused("this key was used before for another request; take a new key for each request")
