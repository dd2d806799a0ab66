"""Counts changes to an owner's lists: one number for their sessions, another for what waits for them. Nobody learns
anything about other owners' sessions, not even that something happened.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from assent.app.session_log import LogError, SessionLog
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallInput,
    CallScheduled,
    Envelope,
    ModeChanged,
    ModelChanged,
    PromptSubmitted,
    QueueHeld,
    SessionArchived,
    SessionRenamed,
    TurnFinished,
)
from assent.front.web.waiting_inputs import WaitingInputs

MERGE_SECONDS = 0.05
"""Changes this close together are reported as one."""
REST = 10
"""Counting takes at most this fraction of the time (1/N), however many questions wait."""

Wake = Callable[[], None]


class Lists(Struct):
    """How often the lists of one owner have changed, counted from a start value that differs after each restart."""

    sessions: int
    approvals: int


class _Changes(Struct):
    """What has changed since the last count, and whether that includes approvals: by session, by owner, or for all."""

    sessions: dict[str, bool] = {}
    owners: dict[str, bool] = {}
    all: bool = False


class Overview:
    def __init__(self, log: SessionLog, inputs: WaitingInputs) -> None:
        self._log, self._inputs = log, inputs
        self._first = int(time.time() * 1000)
        self._lists: dict[str, Lists] = {}
        self._waiting: dict[str, int] = {}
        self._watchers: dict[str, set[Wake]] = {}
        self._changes = _Changes()
        self._soon: asyncio.TimerHandle | None = None
        self._counting: asyncio.Task[None] | None = None
        self._took = 0.0

    async def start(self) -> None:
        self._waiting = await self._log.count_waiting()

    def watch(self, owner: str, wake: Wake) -> Callable[[], None]:
        """Calls `wake` when the lists of this owner have changed. Returns a function to stop."""
        self._watchers.setdefault(owner, set()).add(wake)
        return lambda: self._watchers[owner].discard(wake)

    def of(self, owner: str) -> Lists:
        return self._lists.setdefault(owner, Lists(self._first, self._first))

    def line(self, owner: str) -> bytes:
        lists, waiting = self.of(owner), self._waiting.get(owner, 0)
        return b'{"approvals":%d,"waiting":%d,"sessions":%d}' % (lists.approvals, waiting, lists.sessions)

    # --- changes ---

    def on_event(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        match envelope.event:
            case ApprovalRequested() | ApprovalAnswered() | CallInput():
                self._touch_session(envelope.session, approvals=True)
            case CallScheduled() | CallFinished() if self._waiting:
                self._touch_session(envelope.session, approvals=True)
            case (
                PromptSubmitted()
                | TurnFinished()
                | SessionArchived()
                | SessionRenamed()
                | QueueHeld()
                | ModeChanged()
                | ModelChanged()
            ):
                self._touch_session(envelope.session, approvals=False)
            case _:
                pass

    def touch(self, owner: str, *, approvals: bool = False) -> None:
        self._changes.owners[owner] = approvals or self._changes.owners.get(owner, False)
        self._tell_soon()

    def touch_all(self) -> None:
        """Another process changed something."""
        self._changes.all = True
        self._tell_soon()

    def _touch_session(self, session: str, *, approvals: bool) -> None:
        self._changes.sessions[session] = approvals or self._changes.sessions.get(session, False)
        self._tell_soon()

    # --- reporting ---

    def _tell_soon(self) -> None:
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(max(MERGE_SECONDS, REST * self._took), self._tell)

    def _tell(self) -> None:
        self._soon = None
        self._counting = asyncio.create_task(self._count())

    async def _count(self) -> None:
        changes, self._changes = self._changes, _Changes()
        try:
            began = time.monotonic()
            self._waiting = await self._count_waiting()
            self._took = time.monotonic() - began
            touched = await self._by_owner(changes)
        except LogError:
            self._changes.all = True  # reported with the next change
            return
        for owner, approvals in touched.items():
            lists = self.of(owner)
            lists.sessions += 1
            lists.approvals += approvals
            for wake in list(self._watchers.get(owner, ())):
                wake()

    async def _count_waiting(self) -> dict[str, int]:
        inputs = Counter(waiting.session.owner for waiting in await self._inputs.all())
        return inputs + Counter(await self._log.count_waiting())

    async def _by_owner(self, changes: _Changes) -> dict[str, bool]:
        if changes.all:
            return dict.fromkeys([*self._lists, *self._watchers], True)
        touched = changes.owners
        for session, info in (await self._log.infos(changes.sessions)).items():  # deletion notifies the owner itself
            touched[info.owner] = changes.sessions[session] or touched.get(info.owner, False)
        return touched
