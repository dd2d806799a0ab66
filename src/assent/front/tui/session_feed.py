"""What became of what we asked for: told every envelope of the session, it lets others wait for an outcome.

One for each session that is opened. Whoever reads the session gives it the history and then every event; commands wait
on it, lists listen to it, and the numbers of `/stats` are in its tally.
"""

from collections.abc import Callable

from assent.app.command_sender import Outcomes
from assent.app.pricing import Prices
from assent.events import Envelope, PromptsQueued
from assent.front.tui.stats import Tally

Listen = Callable[[Callable[[], None]], Callable[[], None]]
"""Takes what is to be called when something happened; gives the way to stop."""


class SessionFeed:
    def __init__(self, prices: Prices | None = None) -> None:
        self.tally = Tally(prices=prices or Prices())
        self.outcomes = Outcomes()
        self._listeners: list[Callable[[], None]] = []

    def recall(self, envelope: Envelope) -> None:
        """What happened before we looked: it counts, but nobody waits for it, so its outcome is not kept."""
        self.tally.apply(envelope)

    def tell(self, envelope: Envelope) -> None:
        """Deltas and live output are not worth a look at anything."""
        self.tally.apply(envelope)
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
