"""The folds of sessions that do not run here, cached for a while and updated from the log."""

import asyncio
from collections import OrderedDict
from weakref import WeakValueDictionary

from assent.app.engine_setup import SessionEngine
from assent.app.session_log import SessionLog
from assent.app.session_state import SessionState, fold

MAX_STATES = 32


class StateCache:
    def __init__(self, log: SessionLog, engine: SessionEngine) -> None:
        self._log = log
        self._engine = engine
        self._kept: OrderedDict[str, SessionState] = OrderedDict()
        self._gates: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def get(self, session: str) -> SessionState:
        """Read-only; it may keep changing while the session runs."""
        running = self._engine.state(session)
        if running is not None:
            return running
        gate = self._gates.get(session)
        if gate is None:
            gate = self._gates[session] = asyncio.Lock()
        async with gate:
            return await self._from_log(session)

    async def _from_log(self, session: str) -> SessionState:
        state = self._kept.get(session)
        if state is None:
            state = fold(session, await self._log.read(session))
        else:
            for envelope in await self._log.read(session, state.seq):
                state.apply(envelope)
        self._kept[session] = state
        self._kept.move_to_end(session)
        if len(self._kept) > MAX_STATES:
            self._kept.popitem(last=False)
        return state

    def forget(self, session: str) -> None:
        self._kept.pop(session, None)
