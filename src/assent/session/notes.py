"""The notes that the model is told: read when the session opens, and again when a call may have changed them."""

from collections.abc import Callable, Sequence

from assent.agent.context import Context, Touched
from assent.events import ContextLoaded
from assent.scheduler.call import Success, Terminal
from assent.session.journal import SessionJournal
from assent.session.state import SessionState

CHANGES_CONTEXT = {"save_memory", "undo"}
"""Tools after whose success the context files are read again."""


class Notes:
    def __init__(self, state: SessionState, journal: SessionJournal, load: Callable[[Sequence[str]], Context]) -> None:
        self._journal = journal
        self._load = load
        self._touched = Touched(state.folder)
        for call in state.calls.values():
            if isinstance(call, Success):
                self._touched.saw(call.request.args)
        self._context = load(self._touched.folders)

    @property
    def text(self) -> str:
        return self._context.text

    def loaded(self) -> ContextLoaded:
        """What to record of them."""
        return ContextLoaded(self._context.sources)

    async def reload(self) -> None:
        self._context = self._load(self._touched.folders)
        await self._journal.record(self.loaded())

    async def settled(self, calls: Sequence[Terminal]) -> None:
        """A batch is over."""
        done = [call.request for call in calls if isinstance(call, Success)]
        found = [self._touched.saw(request.args) for request in done]
        if any(found) or any(request.tool in CHANGES_CONTEXT for request in done):
            await self.reload()
