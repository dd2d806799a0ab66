"""Shortens a long conversation: before a request that would be too long, after one that was, or for a person.

Old output is pruned first, which needs no request; if that is not enough, the older part becomes a summary.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING

from assent.agent.model_caller import ModelCaller
from assent.agent.pruning import plan_pruning
from assent.events import ChatCompressed, CommandTaken, OutputPruned
from assent.scheduler.refusals import Refused
from assent.session.journal import SessionJournal
from assent.session.state import SessionState

if TYPE_CHECKING:  # few conversations become that long
    from assent.agent.compression import Compressor

REGROWTH = 1.25
"""A conversation that could not be shortened is tried again once it has grown by this factor."""
MIN_SAVED = 0.2
"""Share of the conversation. Pruning changes what the provider has cached, so it must be worth it."""


class Compaction:
    def __init__(
        self,
        caller: ModelCaller,
        state: SessionState,
        journal: SessionJournal,
        limit: Callable[[str], int],
        may_prune: Callable[[str], bool],
        reached_limit: Callable[[], Awaitable[str]],
    ) -> None:
        """A conversation with more than `limit` tokens is too long for the model of this name; 0 means never.
        `may_prune` is asked by tool name; `reached_limit` returns what forbids another request, if anything.
        """
        self._caller = caller
        self._state = state
        self._journal = journal
        self._limit = limit
        self._may_prune = may_prune
        self._reached_limit = reached_limit

    @cached_property
    def _compressor(self) -> "Compressor":
        from assent.agent.compression import Compressor
        from assent.session.essentials import essentials

        state = self._state
        return Compressor(
            self._caller,
            state.history,
            lambda: state.latest_prompt if state.open_prompt else "",
            lambda kept: essentials(state, kept),
        )

    async def before_request(self, prompt_id: str) -> None:
        if not self._is_too_long:
            return
        await self._prune(prompt_id)
        if self._is_too_long and self._compressor.is_worth_it():
            await self._journal.record(await self._compressor.compress(prompt_id))

    async def after_refusal(self, prompt_id: str) -> bool:
        """The provider finds the conversation too long, whatever we think. Returns False if it cannot be shortened."""
        shorter = await self._prune(prompt_id)
        if self._compressor.is_worth_it():
            compressed = await self._compressor.compress(prompt_id)
            await self._journal.record(compressed)
            shorter = shorter or not compressed.problem
        return shorter

    @property
    def _is_too_long(self) -> bool:
        allowed = self._limit(self._caller.model)
        conversation = self._state.conversation
        return bool(allowed) and conversation.tokens > max(allowed, int(conversation.incompressible * REGROWTH))

    async def _prune(self, prompt_id: str) -> bool:
        window = self._caller.window
        plan = plan_pruning(self._state.history(), self._may_prune, window)
        if plan.saved <= plan.before * MIN_SAVED:
            return False
        await self._journal.record(
            OutputPruned(
                prompt_id=prompt_id,
                call_ids=plan.call_ids,
                tokens_before=plan.before,
                tokens_after=plan.after,
                window=window,
            )
        )
        return True

    def begin(self, by: str, key: str) -> "asyncio.Task[ChatCompressed]":
        """For a person. It may be cancelled, even before its first step; call `finish` in any case."""
        return asyncio.create_task(self._compress_for(by, key), name="compress")

    async def _compress_for(self, by: str, key: str) -> ChatCompressed:
        if limit := await self._reached_limit():
            raise Refused(limit)
        return await self._compressor.compress(by=by, key=key)

    async def finish(self, making: "asyncio.Task[ChatCompressed]", by: str, key: str) -> None:
        """Records the person's command as taken once it is done or cancelled."""
        try:
            done = await making
        except asyncio.CancelledError:
            await self._journal.record(CommandTaken(key, by, "cancelled"))
        except Refused as refusal:
            await self._journal.record(CommandTaken(key, by, str(refusal)))
        else:
            await self._journal.record(done, CommandTaken(key, by, done.problem))
