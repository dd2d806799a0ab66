"""Says on a terminal that the model is at work, once it has been silent for a moment."""

import asyncio
from collections.abc import Callable

from assent.events import Event, TextDelta, ThoughtDelta
from assent.front.headless.console import Console

SILENCE = 2.0
"""Seconds before anything is said."""


class ThinkingLine:
    def __init__(self, console: Console, thinks: Callable[[], bool]) -> None:
        self._console = console
        self._thinks = thinks
        self._since = asyncio.get_running_loop().time()
        self._in_reply = False
        """The cursor may stand behind a part of the reply."""
        self._shown = False

    def heard(self, event: Event) -> None:
        """To be told before anything is written about the event."""
        if isinstance(event, ThoughtDelta):
            return
        self._since = asyncio.get_running_loop().time()
        self._in_reply = isinstance(event, TextDelta)
        self.clear()

    def clear(self) -> None:
        if self._shown:
            self._console.clear()
            self._shown = False

    async def run(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.tick(asyncio.get_running_loop().time())

    def tick(self, now: float) -> None:
        if now - self._since >= SILENCE and not self._in_reply and self._thinks():
            self._shown = True
            self._console.change(self._console.style.dim(f"… waiting for the model, {now - self._since:.0f} s"))
        else:
            self.clear()
