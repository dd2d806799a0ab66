"""Receives every envelope of a session and lets others wait for the outcome of their commands.

There is one for each opened session. The reader of the session passes it the history and then every event; commands
wait on it, lists listen to it, and `/stats` uses its tally.
"""

from collections.abc import Callable

from assent.app.command_sender import Outcomes
from assent.app.pricing import Prices
from assent.events import Envelope, PromptsQueued
from assent.front.tui.stats import Tally
from assent.front.tui.steps_in_work import StepsInWork

Listen = Callable[[Callable[[], None]], Callable[[], None]]
"""Takes a function to call when something happens; returns a function to stop."""


class SessionFeed:
    def __init__(self, prices: Prices | None = None) -> None:
        self.tally = Tally(prices=prices or Prices())
        self.outcomes = Outcomes()
        self.steps = StepsInWork()
        self._listeners: list[Callable[[], None]] = []

    def recall(self, envelope: Envelope) -> None:
        """An event from before we attached: it counts, but nobody waits for it, so its outcome is not kept."""
        self.tally.apply(envelope)
        self.steps.apply(envelope.event)

    def tell(self, envelope: Envelope) -> None:
        """Deltas and live output do not notify the listeners."""
        self.tally.apply(envelope)
        self.steps.apply(envelope.event)
        if envelope.seq or isinstance(envelope.event, PromptsQueued):
            self.outcomes.tell(envelope)
            self._call_all()

    def close(self) -> None:
        self.outcomes.close()
        self._call_all()

    def listen(self, called: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(called)
        return lambda: self._listeners.remove(called)

    def _call_all(self) -> None:
        for called in tuple(self._listeners):
            called()
