"""The requests that were answered, for the metrics: by status, and how long each kind took."""

from collections import Counter

from assent.front.web.histograms import Histogram


class Traffic:
    def __init__(self) -> None:
        self.answered: Counter[int] = Counter()
        """Responses by status."""
        self.seconds: dict[str, Histogram] = {}
        """By route. There are few routes, whatever clients ask for."""
        self.decisions = 0
        self.decision_seconds: dict[str, Histogram] = {"taken": Histogram(), "recorded": Histogram()}

    def finished(self, route: str, status: int, seconds: float) -> None:
        self.answered[status] += 1
        histogram = self.seconds.get(route)
        if histogram is None:
            histogram = self.seconds[route] = Histogram()
        histogram.observe(seconds)

    def decided(self, state: str, seconds: float, *, fresh: bool) -> None:
        """An answer was taken, or recorded for later. A repeated request (not `fresh`) is not another decision."""
        self.decisions += fresh and state == "taken"
        self.decision_seconds[state].observe(seconds)
