"""The loop: ask the model, run its calls, send the results back under the same prompt id, until no call is left."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from assent.agent.ending import Ending
from assent.agent.failure_advice import NearestModels, explain
from assent.agent.model_caller import ModelCaller, Reply
from assent.events import CallRequest, TurnFinished, TurnStatus
from assent.models.model_protocol import ContextTooLong, ModelError, Request
from assent.parts import Failure, Usage
from assent.scheduler.call import Cancelled, Terminal
from assent.scheduler.refusals import Parked
from assent.secrets.mask import Masker

if TYPE_CHECKING:  # loaded with the first call
    from assent.agent.loop_guard import LoopGuard
    from assent.scheduler.batch import Batch
    from assent.scheduler.call_task import Journal
    from assent.scheduler.lazy_scheduler import LazyScheduler
    from assent.scheduler.scheduler import Scheduler

DEFAULT_MAX_TURNS = 100
PREPARE_DELAY = 0.1
"""Seconds after which a request has been sent, and hardly any model has answered."""


class LoopOptions(Struct, frozen=True, kw_only=True):
    """What the loop gets from the session around it."""

    request: Callable[[], Request]
    """Makes the next request."""
    usage: Callable[[], Usage]
    """The tokens that the session has used so far."""
    settled: Callable[[Sequence[Terminal]], Awaitable[None]]
    """Called with every finished batch, before the model gets the results."""
    make_room: Callable[[str], Awaitable[None]]
    """Called before each request."""
    shorten: Callable[[str], Awaitable[bool]]
    """Called after a request that was too long for the model; returns whether it helped."""
    reached_limit: Callable[[], Awaitable[str]]
    """Returns which limit forbids another request; empty if none does."""
    interject: Callable[[str], Awaitable[None]]
    """Adds what the person wants the model to read now."""
    max_turns: int = DEFAULT_MAX_TURNS
    masker: Masker = field(default_factory=Masker)
    nearest_models: NearestModels | None = None


class AgentLoop:
    def __init__(
        self, caller: ModelCaller, scheduler: "Scheduler | LazyScheduler", journal: "Journal", options: LoopOptions
    ) -> None:
        self._caller = caller
        self._scheduler = scheduler
        self._journal = journal
        self._options = options
        self._begun = False
        self._cancel_wanted = False
        self._ending = False
        """The turn's end is being recorded: there is nothing left to cancel."""
        self._cancel_reason = ""
        self.closing = False
        """Set while the session is closing: no further request is made."""

    async def run(self, prompt_id: str, unfinished: "Batch | None" = None, ended: Ending | None = None) -> TurnStatus:
        """Run a prompt to its end, which is always recorded.

        After a crash, `unfinished` are the calls that were left, and `ended` is set if only the record is missing.
        """
        before = self._options.usage()
        self._begun = True
        try:
            if self._cancel_wanted or self.closing:
                raise asyncio.CancelledError
            ending = ended or await self._until_done_or_failed(prompt_id, unfinished)
        except asyncio.CancelledError:
            ending = Ending("cancelled")
        except Parked:
            raise  # the turn is not over: it continues when the session is opened again
        except Exception as error:
            told = self._options.masker.text(f"{type(error).__name__}: {error}")
            ending = Ending("failed", Failure("internal_error", told))
        finally:
            self._begun = self._cancel_wanted = False
        used = _difference(self._options.usage(), before)
        self._ending = True
        try:
            await self._journal.record(TurnFinished(prompt_id, ending.status, ending.failure, used))
        finally:
            self._ending = False
        return ending.status

    def cancel(self, task: "asyncio.Task[None]", reason: str) -> None:
        """Cancel the turn that runs in `task`. A turn that has not started ends as soon as it does: a task cancelled
        that early would never run, and never record its end.
        """
        if self._ending:
            return  # it is over; the next prompt must not be cancelled instead
        self._cancel_wanted = True
        self._cancel_reason = reason or "The user cancelled the turn."
        if self._begun and not task.cancelling():
            task.cancel()

    def never_began(self) -> None:
        """The turn to cancel is over; the next one must not be cancelled instead."""
        self._cancel_wanted = False

    async def _until_done_or_failed(self, prompt_id: str, unfinished: "Batch | None") -> Ending:
        try:
            return await self._until_done(prompt_id, unfinished)
        except ModelError as error:
            told = await explain(error, self._caller.model, self._options.nearest_models)
            return Ending("failed", Failure(error.type, self._options.masker.text(told)))

    async def _until_done(self, prompt_id: str, unfinished: "Batch | None") -> Ending:
        guard: LoopGuard | None = None
        if unfinished is not None and (_nothing_to_tell(await self._results(unfinished)) or self.closing):
            return Ending("cancelled")
        for _ in range(self._options.max_turns):
            await self._options.interject(prompt_id)
            if limit := await self._options.reached_limit():
                return Ending("limit_reached", Failure("limit_reached", limit))
            await self._options.make_room(prompt_id)
            reply = await self._ask_or_shorten(prompt_id)
            if not reply.calls:
                return reply.ending
            results = await self._schedule(reply.calls)
            if _nothing_to_tell(results) or self.closing:
                return Ending("cancelled")
            guard = guard or _loop_guard()
            if guard.observe(results):
                return Ending("loop_detected")
        return Ending("max_turns")

    async def _ask_or_shorten(self, prompt_id: str) -> Reply:
        """A conversation that is too long for the model is made shorter and sent again, once."""
        try:
            return await self._ask(prompt_id)
        except ContextTooLong:
            if not await self._options.shorten(prompt_id):
                raise
            return await self._ask(prompt_id)

    async def _ask(self, prompt_id: str) -> Reply:
        """Prepare the tools while the model thinks, but not before the request has been sent."""
        preparing = asyncio.get_running_loop().call_later(PREPARE_DELAY, self._scheduler.prepare)
        try:
            return await self._caller.run(self._options.request(), prompt_id)
        finally:
            preparing.cancel()

    async def _schedule(self, calls: Sequence[CallRequest]) -> list[Terminal]:
        return await self._results(self._scheduler.schedule(calls))

    async def _results(self, batch: "Batch") -> list[Terminal]:
        try:
            results = await batch.results()
            await self._options.settled(results)
            return results
        except asyncio.CancelledError:
            self._scheduler.cancel(batch, self._cancel_reason or "Assent was closed.")
            await batch.results()
            raise
        finally:
            del batch  # in the order of its own `results`


def _loop_guard() -> "LoopGuard":
    from assent.agent.loop_guard import LoopGuard

    return LoopGuard()


def _nothing_to_tell(calls: Sequence[Terminal]) -> bool:
    """Everything was cancelled, and nobody gave a reason, which would be an answer to the model. The results stay in
    the history for the next prompt."""
    return bool(calls) and all(isinstance(call, Cancelled) and not call.refusal for call in calls)


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.input - before.input,
        after.output - before.output,
        after.thoughts - before.thoughts,
        after.cached - before.cached,
        after.cache_written - before.cache_written,
    )
