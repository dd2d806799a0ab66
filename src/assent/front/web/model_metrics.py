"""How the models behave, counted from the events of the sessions that run here: replies, retries and failures."""

from collections import Counter

from assent.events import Envelope, ModelFallback, ModelReplied, ModelRetry, TurnFinished
from assent.front.web.metrics import Metric, counter, counters


class ModelMetrics:
    def __init__(self) -> None:
        self._replies = self._retries = self._fallbacks = 0
        self._failures: Counter[str] = Counter()

    def on_event(self, envelope: Envelope) -> None:
        match envelope.event:
            case ModelReplied():
                self._replies += 1
            case ModelRetry():
                self._retries += 1
            case ModelFallback():
                self._fallbacks += 1
            case TurnFinished(status="failed", failure=failure):
                self._failures["other" if failure is None else failure.type] += 1
            case _:
                pass

    def metrics(self) -> list[Metric]:
        return [
            counter("assent_model_replies_total", "Complete replies of models.", self._replies),
            counter("assent_model_retries_total", "Requests to models that were repeated.", self._retries),
            counter("assent_model_fallbacks_total", "Times another model took over.", self._fallbacks),
            counters("assent_model_errors_total", "Turns that failed, by reason.", "type", self._failures),
        ]
