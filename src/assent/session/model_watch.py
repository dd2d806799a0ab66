"""Inspects the model in use, in the background, and records what a person should know about it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from assent.events import ModelWarning
from assent.session.journal import SessionJournal
from assent.session.log import LogError
from assent.session.state import SessionState


class ModelWatch:
    def __init__(
        self, state: SessionState, journal: SessionJournal, inspect: Callable[[str], Awaitable[str]] | None
    ) -> None:
        self._state = state
        self._journal = journal
        self._inspect = inspect
        self._looking: asyncio.Task[None] | None = None

    def look(self, model: str) -> None:
        """Returns at once. Only the newest model counts."""
        self._cancel()
        if self._inspect is not None and model:
            self._looking = asyncio.create_task(self._warn(model, self._inspect), name="model watch")

    async def _warn(self, model: str, inspect: Callable[[str], Awaitable[str]]) -> None:
        text = await inspect(model)
        if text and self._state.model_warnings.get(model) != text:
            with suppress(LogError):
                await self._journal.record(ModelWarning(model, text))

    def _cancel(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def close(self) -> None:
        self._cancel()
        if self._looking is not None:
            await asyncio.gather(self._looking, return_exceptions=True)
