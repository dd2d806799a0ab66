"""When each call of a batch may run: calls line up in request order, however long each took to be decided, and then
wait for the earlier calls they conflict with.

After a call that may write anything, it is uncertain what the others touch until it has finished: a link may then lead
elsewhere. So a call that touches any file lines up after it, and is looked at again.
"""

import asyncio
from collections.abc import Callable, Sequence

from assent.scheduler.call_task import CallTask
from assent.scheduler.resources import Done, ResourceLine, finish
from assent.tools.tool import Resources


class InOrder:
    """A point that the calls of a batch pass one by one, in order."""

    def __init__(self, number: int) -> None:
        self._passed = [False] * number
        self._next = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}

    async def reach(self, at: int) -> None:
        """Wait until all earlier ones have passed."""
        if self._next < at:
            self._waiting[at] = asyncio.get_running_loop().create_future()
            await self._waiting[at]

    def passed(self, at: int) -> None:
        self._passed[at] = True
        while self._next < len(self._passed) and self._passed[self._next]:
            self._next += 1
            waiting = self._waiting.pop(self._next, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)


class _Place:
    """One call's place in line."""

    __slots__ = ("coming", "declared", "done", "earlier", "over", "waited")

    def __init__(self) -> None:
        self.declared = False
        self.over = False
        self.done: Done | None = None
        """Set when the place is taken, and with it what follows."""
        self.earlier: set[Done] = set()
        self.waited = False
        self.coming: asyncio.Future[None] | None = None
        """Created by a call that waits for its place."""


class ExecutionOrder:
    def __init__(self, tasks: Sequence[CallTask], touched: Callable[[CallTask], Resources]) -> None:
        self._tasks = tasks
        self._touched = touched
        self._places = [_Place() for _ in tasks]
        self._next = 0
        self._line = ResourceLine()
        self._unknown: Done | None = None
        """The newest call in line that may write anything."""

    def declare(self, task: CallTask) -> None:
        """From now on it is known what it touches."""
        self._places[task.at].declared = True
        self._advance()

    async def come(self, task: CallTask) -> bool:
        """Wait for its turn. True if it had to wait for others, which may have changed what it does."""
        place = self._places[task.at]
        if place.done is None:
            place.coming = asyncio.get_running_loop().create_future()
            await place.coming
        if place.earlier:
            await asyncio.wait(place.earlier)
        return place.waited

    def leave(self, task: CallTask) -> None:
        place = self._places[task.at]
        place.over = True
        if place.done is not None:
            finish(place.done, place.earlier)
        self._advance()

    def _advance(self) -> None:
        while self._next < len(self._tasks) and self._can_be_placed(self._tasks[self._next]):
            self._next += 1
            self._place(self._tasks[self._next - 1])

    def _can_be_placed(self, task: CallTask) -> bool:
        place = self._places[task.at]
        held = self._unknown is not None and not self._unknown.done() and not task.touches.nothing
        return place.over or (place.declared and not held)

    def _place(self, task: CallTask) -> None:
        place = self._places[task.at]
        if place.over:
            return
        touches = task.touches if self._unknown is None else self._touched(task)
        place.earlier, place.done = self._line.join(touches)
        place.waited = bool(place.earlier) or (self._unknown is not None and not touches.nothing)
        if touches.anything == "write":
            self._unknown = place.done
            self._unknown.add_done_callback(lambda _: self._advance())
        if place.coming is not None and not place.coming.done():
            place.coming.set_result(None)
