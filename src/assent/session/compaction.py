"""Compresses the conversation: before a request when it has grown too long, and whenever a person asks for it."""

import asyncio
from collections.abc import Callable

from assent.agent.compression import Compressor
from assent.agent.model_caller import ModelCaller
from assent.events import ChatCompressed, CommandTaken
from assent.session.journal import SessionJournal
from assent.session.state import SessionState

RETRY_GROWTH = 1.25
"""A conversation that could not be compressed is tried again once it has grown by this factor."""


class Compaction:
    def __init__(
        self, caller: ModelCaller, state: SessionState, journal: SessionJournal, limit: Callable[[str], int]
    ) -> None:
        """A conversation with more than `limit` tokens is too long for the model of this name; 0 means never."""
        self._caller = caller
        self._state = state
        self._journal = journal
        self._limit = limit
        self._compressor = Compressor(caller, state.history, lambda: state.latest_prompt if state.open_prompt else "")

    async def before_request(self, prompt_id: str) -> None:
        allowed = self._limit(self._caller.model)
        limit = max(allowed, int(self._state.incompressible * RETRY_GROWTH))
        if allowed and self._state.tokens > limit and self._compressor.is_worth_it():
            await self._journal.record(await self._compressor.compress(prompt_id))

    def begin(self, by: str, key: str) -> "asyncio.Task[ChatCompressed]":
        """For a person. It may be cancelled, even before its first step; call `finish` in any case."""
        return asyncio.create_task(self._compressor.compress(by=by, key=key), name="compress")

    async def finish(self, making: "asyncio.Task[ChatCompressed]", by: str, key: str) -> None:
        """Records the person's command as taken once it is done or cancelled."""
        try:
            done = await making
        except asyncio.CancelledError:
            await self._journal.record(CommandTaken(key, by, "cancelled"))
        else:
            await self._journal.record(done, CommandTaken(key, by, done.problem))
