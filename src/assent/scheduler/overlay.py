"""Files as the calls of a batch would leave them, one on top of the other, in the order of the request.

A proposal counts until its call is over: then the file is on disk, or it never will be. When one is refused or changed,
the next call that builds on it is disturbed, and if that one's proposal changes, the one after it.
"""

from bisect import bisect_left
from collections import deque

from assent.scheduler.barrier import Barrier
from assent.scheduler.call import Success, Terminal
from assent.scheduler.life import Life
from assent.tools.base import Proposal


class Overlay:
    def __init__(self, barrier: Barrier) -> None:
        self._barrier = barrier
        """Where calls wait that were decided already."""
        self._chains: dict[str, list[Life]] = {}
        """The lives that propose something for a file, in the order of the request."""
        self._writers: deque[Life] = deque()
        """Those that may write; the ones that are over leave at the front."""
        self._unknown: deque[Life] = deque()
        """Those of them that may write anything."""

    def enter(self, life: Life) -> None:
        """Called in the order of the request, when it is known what the call touches."""
        if life.touches.may_write:
            self._writers.append(life)
        if life.touches.anything == "write":
            self._unknown.append(life)

    def earlier(self, at: int, path: str) -> Proposal | None:
        chain = self._chains.get(path, ())
        for place in range(bisect_left(chain, at, key=_number) - 1, -1, -1):
            if not isinstance(chain[place].call, Terminal):
                return chain[place].proposal
        return None

    def may_change(self, life: Life) -> bool:
        """A command before it may write anything, or a call before it what it touches."""
        if _pending_before(life, self._unknown):
            return True
        if life.touches.anything:
            return _pending_before(life, self._writers)
        return any(self.earlier(life.at, path) for path in life.touches.writes)

    def note(self, life: Life) -> None:
        """Takes what the call proposes now in place of what it proposed before."""
        assert life.invocation is not None
        before, now = life.proposal, life.invocation.proposal()
        if now == before:
            return
        if before is not None and (now is None or now.path != before.path):
            self._remove(life, before.path)
        life.proposal = now
        if now is not None:
            self._put(life, now.path)

    def leave(self, life: Life) -> None:
        """The call is over. If it has written, the file is what it proposed, and nothing changes for the others."""
        if life.proposal is None:
            return
        if isinstance(life.call, Success):
            self._chains[life.proposal.path].remove(life)
        elif isinstance(life.call, Terminal):
            self._remove(life, life.proposal.path)

    def _put(self, life: Life, path: str) -> None:
        chain = self._chains.setdefault(path, [])
        place = bisect_left(chain, life.at, key=_number)
        if chain[place : place + 1] != [life]:
            chain.insert(place, life)
        self._disturb_after(chain, place + 1)

    def _remove(self, life: Life, path: str) -> None:
        chain = self._chains[path]
        place = bisect_left(chain, life.at, key=_number)
        del chain[place]
        self._disturb_after(chain, place)

    def _disturb_after(self, chain: list[Life], place: int) -> None:
        if place < len(chain):
            chain[place].disturb()
            self._barrier.withdraw(chain[place])

    def clear(self) -> None:
        """Nobody asks any more; calls and what they would do need not keep each other."""
        self._chains.clear()
        self._writers.clear()
        self._unknown.clear()


def _pending_before(life: Life, lives: deque[Life]) -> bool:
    while lives and isinstance(lives[0].call, Terminal):
        lives.popleft()
    return bool(lives) and lives[0].at < life.at


def _number(life: Life) -> int:
    return life.at
