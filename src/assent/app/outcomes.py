"""What became of what was asked for: told the events of a session, it lets others wait for an outcome."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from assent.events import CallFinished, CommandTaken, Event

T = TypeVar("T")


class Closed(Exception):
    """The session was closed before there was an outcome."""


class Outcomes:
    def __init__(self) -> None:
        self._taken: dict[str, str] = {}
        self._finished: dict[str, CallFinished] = {}
        self._happened = asyncio.Event()
        self._closed = False

    def tell(self, event: Event) -> None:
        match event:
            case CommandTaken(key=key, problem=problem):
                self._taken[key] = problem
            case CallFinished(call_id=call_id) as finished:
                self._finished[call_id] = finished
            case _:
                return
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

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
