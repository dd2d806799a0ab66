"""What became of what we asked for: told every envelope of the session, it lets others wait for an outcome.

One for each session that is opened. Whoever reads the session gives it the history and then every event; commands wait
on it, lists listen to it, and the numbers of `/stats` are in its tally.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from assent.events import CallFinished, CommandTaken, Envelope, PromptsQueued
from assent.front.tui.stats import Tally
from assent.models.prices import Prices

T = TypeVar("T")

Listen = Callable[[Callable[[], None]], Callable[[], None]]
"""Takes what is to be called when something happened; gives the way to stop."""


class Closed(Exception):
    """The session was closed before there was an outcome."""


class News:
    def __init__(self, prices: Prices | None = None) -> None:
        self.tally = Tally(prices or Prices())
        self._taken: dict[str, str] = {}
        self._finished: dict[str, CallFinished] = {}
        self._listeners: list[Callable[[], None]] = []
        self._happened = asyncio.Event()
        self._closed = False

    def recall(self, envelope: Envelope) -> None:
        """What happened before we looked: it counts, but nobody waits for it, so its outcome is not kept."""
        self.tally.apply(envelope)

    def tell(self, envelope: Envelope) -> None:
        """Deltas and live output are not worth a look at anything."""
        self.tally.apply(envelope)
        match envelope.event:
            case CommandTaken(key=key, problem=problem):
                self._taken[key] = problem
            case CallFinished(call_id=call_id) as finished:
                self._finished[call_id] = finished
            case PromptsQueued():
                pass
            case _ if not envelope.seq:
                return
            case _:
                pass
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    def listen(self, called: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(called)
        return lambda: self._listeners.remove(called)

    async def taken(self, key: str) -> str:
        """Waits until the command was taken; the problem, empty when there was none."""
        return await self._until(lambda: self._taken.get(key))

    async def finished(self, call_id: str) -> CallFinished:
        return await self._until(lambda: self._finished.get(call_id))

    async def _until(self, found: Callable[[], T | None]) -> T:
        while (outcome := found()) is None:
            if self._closed:
                raise Closed("The session was closed before this was done.")
            await self._happened.wait()
        return outcome

    def _wake(self) -> None:
        self._happened.set()
        self._happened = asyncio.Event()
        for called in tuple(self._listeners):
            called()
