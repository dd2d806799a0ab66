"""Files as the calls of a batch would leave them, one on top of the other, in the order of the request.

A proposal counts until its call is over: then the file is on disk, or it never will be. When one is refused or changed,
the next call that builds on it is disturbed, and if that one's proposal changes, the one after it.
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
        """Where calls wait that were decided already."""
        self._chains: dict[str, list[CallTask]] = {}
        """The lives that propose something for a file, in the order of the request."""
        self._writers: deque[CallTask] = deque()
        """Those that may write; the ones that are over leave at the front."""
        self._unknown: deque[CallTask] = deque()
        """Those of them that may write anything."""

    def enter(self, task: CallTask) -> None:
        """Called in the order of the request, when it is known what the call touches."""
        if task.touches.may_write:
            self._writers.append(task)
        if task.touches.anything == "write":
            self._unknown.append(task)

    def earlier(self, at: int, path: str) -> Proposal | None:
        chain = self._chains.get(path, ())
        for place in range(bisect_left(chain, at, key=_number) - 1, -1, -1):
            if not isinstance(chain[place].call, Terminal):
                return chain[place].proposal
        return None

    def may_change(self, task: CallTask) -> bool:
        """A command before it may write anything, or a call before it what it touches."""
        if _pending_before(task, self._unknown):
            return True
        if task.touches.anything:
            return _pending_before(task, self._writers)
        return any(self.earlier(task.at, path) for path in task.touches.writes)

    def note(self, task: CallTask) -> None:
        """Takes what the call proposes now in place of what it proposed before."""
        assert task.invocation is not None
        before, now = task.proposal, task.invocation.proposal()
        if now == before:
            return
        if before is not None and (now is None or now.path != before.path):
            self._remove(task, before.path)
        task.proposal = now
        if now is not None:
            self._put(task, now.path)

    def leave(self, task: CallTask) -> None:
        """The call is over. If it has written, the file is what it proposed, and nothing changes for the others."""
        if task.proposal is None:
            return
        if isinstance(task.call, Success):
            self._chains[task.proposal.path].remove(task)
        elif isinstance(task.call, Terminal):
            self._remove(task, task.proposal.path)

    def _put(self, task: CallTask, path: str) -> None:
        chain = self._chains.setdefault(path, [])
        place = bisect_left(chain, task.at, key=_number)
        if chain[place : place + 1] != [task]:
            chain.insert(place, task)
        self._disturb_after(chain, place + 1)

    def _remove(self, task: CallTask, path: str) -> None:
        chain = self._chains[path]
        place = bisect_left(chain, task.at, key=_number)
        del chain[place]
        self._disturb_after(chain, place)

    def _disturb_after(self, chain: list[CallTask], place: int) -> None:
        if place < len(chain):
            chain[place].disturb()
            self._barrier.withdraw(chain[place])

    def clear(self) -> None:
        """Nobody asks any more; calls and what they would do need not keep each other."""
        self._chains.clear()
        self._writers.clear()
        self._unknown.clear()


def _pending_before(task: CallTask, tasks: deque[CallTask]) -> bool:
    while tasks and isinstance(tasks[0].call, Terminal):
        tasks.popleft()
    return bool(tasks) and tasks[0].at < task.at


def _number(task: CallTask) -> int:
    return task.at
