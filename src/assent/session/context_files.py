"""The notes for the model: read when the session opens, and again when a call may have changed them."""

import os
from collections.abc import Callable, Sequence

from msgspec import Struct

from assent.agent.context_text import Context, Touched
from assent.events import CallRequest, ContextLoaded
from assent.files.context_reader import NAMES
from assent.scheduler.call import Success, Terminal
from assent.session.journal import SessionJournal
from assent.session.state import SessionState
from assent.tools.registry import Registry


class _Work(Struct, frozen=True):
    folders: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


class ContextFiles:
    def __init__(
        self,
        state: SessionState,
        journal: SessionJournal,
        registry: Registry,
        load: Callable[[Sequence[str]], Context],
    ) -> None:
        self._journal = journal
        self._registry = registry
        self._load = load
        self._touched = Touched(state.folder)
        for call in state.calls.values():
            if isinstance(call, Success):
                self._touched.observe(self._work_of(call.request).folders)
        self._context = load(self._touched.folders)

    @property
    def text(self) -> str:
        return self._context.text

    def loaded(self) -> ContextLoaded:
        """What to record about them."""
        return ContextLoaded(self._context.sources)

    async def reload(self) -> None:
        self._context = self._load(self._touched.folders)
        await self._journal.record(self.loaded())

    async def settled(self, calls: Sequence[Terminal]) -> None:
        """Called when a batch is over."""
        done = [self._work_of(call.request) for call in calls if isinstance(call, Success)]
        found = [self._touched.observe(work.folders) for work in done]
        if any(found) or any(self._is_told(path) for work in done for path in work.writes):
            await self.reload()

    def _is_told(self, path: str) -> bool:
        """Whether the model is shown this file, or would be if it existed."""
        return os.path.basename(path) in NAMES or any(path == source.path for source in self._context.sources)

    def _work_of(self, request: CallRequest) -> _Work:
        """What a finished call has done, according to its tool; nothing if the tool is gone or cannot tell."""
        tool = self._registry.get(request.tool)
        try:
            invocation = None if tool is None else tool.build(request.args)
            return _Work() if invocation is None else _Work(invocation.folders(), invocation.resources().writes)
        except Exception:  # whatever is wrong was reported when it was judged
            return _Work()
