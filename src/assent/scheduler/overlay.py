"""Files as the calls of a batch would leave them, layered in request order.

A proposal counts until its call is over: then the file is on disk, or never will be. If a proposal is refused or
changes, later calls that write the same file are judged again: those without a proposal of their own, and the first one
that builds on it. If its proposal changes, the next one follows.
"""

from bisect import bisect_left
from collections import deque

from assent.scheduler.barrier import Barrier
from assent.scheduler.call import Success, Terminal
from assent.scheduler.call_task import CallTask
from assent.tools.tool import Proposal


class Overlay:
    def __init__(self, barrier: Barrier) -> None:
        self._barrier = barrier
        """Where calls wait that are already decided."""
        self._chains: dict[str, list[CallTask]] = {}
        """The calls that write a file, in request order. Those that cannot say yet what they would write have no
        proposal.
        """
        self._writers: deque[CallTask] = deque()
        """The calls that may write; finished ones are removed from the front."""
        self._unknown: deque[CallTask] = deque()
        """Those that may write anything."""

    def enter(self, task: CallTask) -> None:
        """Called in request order, once it is known what the call touches."""
        if task.touches.may_write:
            self._writers.append(task)
        if task.touches.anything == "write":
            self._unknown.append(task)

    def earlier(self, at: int, path: str) -> Proposal | None:
        chain = self._chains.get(path, ())
        for place in range(bisect_left(chain, at, key=_number) - 1, -1, -1):
            if chain[place].proposal is not None and not isinstance(chain[place].call, Terminal):
                return chain[place].proposal
        return None

    def may_change(self, task: CallTask) -> bool:
        """Whether an earlier command may write anything, or an earlier call what this one touches."""
        if _pending_before(task, self._unknown):
            return True
        if task.touches.anything:
            return _pending_before(task, self._writers)
        return any(self._is_written_before(task, path) for path in task.touches.writes)

    def note(self, task: CallTask) -> None:
        """Replace the call's previous proposal with its current one."""
        assert task.invocation is not None
        before, now = task.proposal, task.invocation.proposal()
        paths = task.touches.writes if now is None else (now.path,)
        for path in set(task.chained).difference(paths):
            self._remove(task, path)
        task.proposal, task.chained = now, tuple(paths)
        for path in paths:
            self._put(task, path, changed=now != before)

    def leave(self, task: CallTask) -> None:
        """The call is over. If it wrote, the file is what it proposed, and nothing changes for the others."""
        if not isinstance(task.call, Terminal):
            return
        for path in task.chained:
            self._remove(task, path, changed=not isinstance(task.call, Success))
        task.chained = ()

    def _is_written_before(self, task: CallTask, path: str) -> bool:
        chain = self._chains.get(path, ())
        before = chain[: bisect_left(chain, task.at, key=_number)]
        return any(not isinstance(other.call, Terminal) for other in before)

    def _put(self, task: CallTask, path: str, *, changed: bool) -> None:
        chain = self._chains.setdefault(path, [])
        place = bisect_left(chain, task.at, key=_number)
        if chain[place : place + 1] != [task]:
            chain.insert(place, task)
        if changed:
            self._disturb(chain[place + 1 :])

    def _remove(self, task: CallTask, path: str, *, changed: bool = True) -> None:
        chain = self._chains[path]
        place = bisect_left(chain, task.at, key=_number)
        del chain[place]
        if changed:
            self._disturb(chain[place:])

    def reconsider(self, task: CallTask) -> None:
        """The rules have changed for it, and not what it would do."""
        task.disturb()
        self._barrier.withdraw(task)

    def _disturb(self, following: list[CallTask]) -> None:
        for task in following:
            self.reconsider(task)
            if task.proposal is not None:
                return

    def clear(self) -> None:
        """Nobody asks any longer, so calls and their proposals need not keep each other alive."""
        self._chains.clear()
        self._writers.clear()
        self._unknown.clear()


def _pending_before(task: CallTask, tasks: deque[CallTask]) -> bool:
    while tasks and isinstance(tasks[0].call, Terminal):
        tasks.popleft()
    return bool(tasks) and tasks[0].at < task.at


def _number(task: CallTask) -> int:
    return task.at
