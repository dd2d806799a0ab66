"""What changed in the lists: a number that grows with each change of the sessions, one for the approvals that wait."""

import asyncio
import time
from collections.abc import Callable

from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallScheduled,
    Envelope,
    ModeChanged,
    ModelChanged,
    PromptSubmitted,
    SessionRenamed,
    TurnFinished,
)
from assent.session.log import LogError, SessionLog

WAIT = 0.05
"""Changes that come this close together are told as one."""


class Overview:
    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self.approvals = self.sessions = int(time.time() * 1000)  # other numbers after each restart
        self.waiting: dict[str, int] = {}
        self.watchers: set[Callable[[], None]] = set()
        self._asked = False
        """Approvals are among what changed since the last count."""
        self._soon: asyncio.TimerHandle | None = None
        self._counting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self.waiting = await self._log.count_waiting()

    def heard(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        match envelope.event:
            case ApprovalRequested() | ApprovalAnswered():
                self.touch(approvals=True)
            case CallScheduled() | CallFinished() if self.waiting:
                self.touch(approvals=True)
            case PromptSubmitted() | TurnFinished() | SessionRenamed() | ModeChanged() | ModelChanged():
                self.touch()
            case _:
                pass

    def touch(self, *, approvals: bool = False) -> None:
        self._asked = self._asked or approvals
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(WAIT, self._tell)

    def _tell(self) -> None:
        self._soon = None
        self._counting = asyncio.create_task(self._count())

    async def _count(self) -> None:
        try:
            self.waiting = await self._log.count_waiting()
        except LogError:
            return
        self.sessions += 1
        self.approvals += self._asked
        self._asked = False
        for wake in list(self.watchers):
            wake()

    def line(self, owner: str) -> bytes:
        waiting = self.waiting.get(owner, 0)
        return b'{"approvals":%d,"waiting":%d,"sessions":%d}' % (self.approvals, waiting, self.sessions)
