"""A batch: the calls of one turn, and how they relate to each other."""

import asyncio
from collections.abc import Callable, Sequence

from assent.scheduler.barrier import Barrier
from assent.scheduler.call import Terminal
from assent.scheduler.call_task import CallTask
from assent.scheduler.execution_order import ExecutionOrder, InOrder
from assent.scheduler.overlay import Overlay
from assent.scheduler.refusals import Parked
from assent.tools.tool import Resources


class Batch:
    """All calls of one turn. `results` returns their final states in request order."""

    def __init__(self, tasks: Sequence[CallTask], touched: Callable[[CallTask], Resources], *, fresh: bool) -> None:
        """`touched` says what a call touches, as far as that is known now."""
        self.tasks = tasks
        self.fresh = fresh
        """False if the calls come from the log and are already recorded."""
        self.alone = len(tasks) == 1
        self.barrier = Barrier(len(tasks))
        self.judging = InOrder(len(tasks))
        self.overlay = Overlay(self.barrier)
        self.order = ExecutionOrder(tasks, touched)
        self._results: asyncio.Future[list[Terminal]] = asyncio.get_running_loop().create_future()
        for at, task in enumerate(tasks):
            task.at = at
            task.siblings = None if self.alone else self.overlay

    async def results(self) -> list[Terminal]:
        try:
            return await asyncio.shield(self._results)
        finally:
            del self  # an exception keeps this frame, and we keep the exception: that would be a reference cycle

    def leave(self, task: CallTask) -> None:
        """The call goes no further: nobody waits for it any longer, and calls that built on it look again."""
        self.overlay.leave(task)
        self.judging.passed(task.at)
        self.order.leave(task)
        self.barrier.leave()

    def settle(self) -> None:
        """Report how it ended to whoever waits, unless that has been done."""
        self.overlay.clear()
        if self._results.done():
            return
        finished = [task.call for task in self.tasks if isinstance(task.call, Terminal)]
        if len(finished) == len(self.tasks):
            self._results.set_result(finished)
        else:
            self.fail(Parked())

    def fail(self, error: BaseException) -> None:
        self._results.set_exception(error)
        self._results.exception()  # the waiter is told; if nobody waits, there is nothing to report
