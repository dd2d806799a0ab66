"""What was sent while a turn was running: in order, visible to everyone, and held back if a person wants that.

The queue itself is the session's inbox, so it survives a crash. This is what the runner last found there.
"""

from collections.abc import Sequence

from assent.commands import RunTool, Submit
from assent.events import PromptsQueued, QueueHeld
from assent.session.journal import SessionJournal
from assent.session.log import Inboxed
from assent.session.state import SessionState
from assent.transient_events import Queued


class PromptQueue:
    def __init__(self, state: SessionState, journal: SessionJournal) -> None:
        self._state = state
        self._journal = journal
        self._waiting: dict[str, Queued] = {}

    def clear(self) -> None:
        """Before the inbox is read again."""
        self._waiting.clear()

    def add(self, command: Submit | RunTool, key: str) -> None:
        self._waiting[key] = _queued(key, command, held=key in self._state.held)

    def pop(self, key: str) -> Queued | None:
        return self._waiting.pop(key, None)

    def show(self) -> None:
        """Tells everyone, if it has changed."""
        waiting = tuple(self._waiting.values())
        if waiting != self._state.queued:
            self._journal.announce(PromptsQueued(waiting))

    async def hold(self, by: str) -> None:
        """What is in it now waits until someone releases it; what is sent later does not."""
        if self._waiting:
            await self._journal.record(QueueHeld(tuple(self._waiting), by))

    async def hold_left(self, inbox: Sequence[Inboxed], by: str) -> None:
        """What an earlier process left in the inbox waits as well: whoever opens the session has not seen it yet."""
        left = {item.key for item in inbox if isinstance(item.command, Submit | RunTool)} - self._state.keys
        if left - self._state.held:
            await self._journal.record(QueueHeld(tuple(item.key for item in inbox if item.key in left), by))

    async def release(self, by: str) -> None:
        if self._state.held:
            await self._journal.record(QueueHeld((), by))


def _queued(key: str, command: Submit | RunTool, *, held: bool) -> Queued:
    match command:
        case Submit(text=text, by=by, steer=steer):
            return Queued(key=key, text=text, by=by, steer=steer, held=held)
        case RunTool(tool=tool, args=args, by=by):
            return Queued(key=key, text=str(args.get("command") or tool), by=by, tool=tool, held=held)
