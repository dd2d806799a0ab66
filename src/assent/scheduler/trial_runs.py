"""Trials of waiting calls: runs one in the call's own task, ends it if the call is decided otherwise, and asks again.

Whatever happens to a trial, nothing has changed: a trial that fails or is interrupted only means that the question is
asked as before.
"""

import asyncio
from collections.abc import Callable

from assent.approval import Details
from assent.parts import Failure
from assent.scheduler.approvals import trial_of
from assent.scheduler.call import AwaitingApproval, Scheduled
from assent.scheduler.call_task import CallTask, LiveChannel
from assent.scheduler.transitions import Transitions
from assent.tools.tool import Permit, ToolFailed, Triable

SHOWN = "it was tried; decide about what it did"
STOPPED = "Assent stopped while it was being tried; nothing was changed"


async def drop_trial(task: CallTask) -> None:
    """Discard what a trial left, if there was one."""
    if task.invocation is None or task.action is None or trial_of(task.action.details) is None:
        return
    if (triable := task.invocation.triable()) is not None:
        await triable.discard()


class TrialRuns:
    def __init__(
        self,
        transitions: Transitions,
        live: Callable[[CallTask], LiveChannel],
        permit: Callable[[CallTask, AwaitingApproval], Permit],
    ) -> None:
        self._transitions = transitions
        self._live = live
        self._permit = permit

    async def run(self, task: CallTask) -> None:
        """Try it, and ask about what it did; ends early if someone decides otherwise."""
        assert task.invocation is not None and isinstance(task.call, AwaitingApproval)
        triable = task.invocation.triable()
        if triable is None:
            await self._ask_again(task, "it cannot be tried")
            return
        trying = asyncio.ensure_future(self._try(task, triable, task.call))
        try:
            await self._until_over(task, trying)
        finally:
            await _ended(trying)
        if not _is_tried(task):
            await triable.discard()
            return
        await self._finish(task, trying.result())

    async def _try(self, task: CallTask, triable: Triable, call: AwaitingApproval) -> Failure | None:
        live = self._live(task)
        try:
            await triable.try_out(self._permit(task, call), live)
        except ToolFailed as error:
            return error.failure
        except Exception as error:
            return Failure("unhandled_exception", f"{type(error).__name__}: {error}")
        finally:
            live.close()
        return None

    async def _until_over(self, task: CallTask, trying: "asyncio.Future[Failure | None]") -> None:
        while not trying.done() and _is_tried(task):
            task.changed = asyncio.Event()
            changed = asyncio.ensure_future(task.changed.wait())
            try:
                await asyncio.wait((trying, changed), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()

    async def _finish(self, task: CallTask, failure: Failure | None) -> None:
        if failure is not None:
            await self._ask_again(task, f"it could not be tried: {failure.message}")
            return
        assert task.invocation is not None
        verdict = await self._transitions.judge(task, task.invocation)
        if verdict.ruling == "ask":
            await self._ask_again(task, SHOWN)
        else:
            await self._transitions.apply(task, task.invocation, verdict)

    async def _ask_again(self, task: CallTask, why: str) -> None:
        assert task.invocation is not None
        await self._transitions.ask_or_fail(task, task.invocation, why)

    async def resume(self, task: CallTask, call: AwaitingApproval | Scheduled) -> None:
        """After a restart: take up a finished trial, and remove what an interrupted one left."""
        triable = None if task.invocation is None else task.invocation.triable()
        if triable is None:
            return
        shown = trial_of(_details(call))
        if isinstance(call, AwaitingApproval) and call.tried_by is not None:
            await self._transitions.end_leftovers(task)
            await triable.discard(self._transitions.mark(task))
        elif shown is not None:
            await triable.resume(shown)


def _details(call: AwaitingApproval | Scheduled) -> Details | None:
    return None if call.approval is None else call.approval.details


def _is_tried(task: CallTask) -> bool:
    return isinstance(task.call, AwaitingApproval) and task.call.tried_by is not None


async def _ended(trying: "asyncio.Future[Failure | None]") -> None:
    """Its process is gone when this returns, even if we are cancelled meanwhile."""
    trying.cancel()
    while not trying.done():
        try:
            await asyncio.wait([trying])
        except asyncio.CancelledError:
            continue
