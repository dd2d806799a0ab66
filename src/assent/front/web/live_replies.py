"""The reply that a model is writing right now, for clients that attach in the middle of it.

Deltas are not in the log; the complete reply will be. Until then, only this module has all of it.
"""

from msgspec import Struct

from assent.events import (
    Envelope,
    ModelFallback,
    ModelReplied,
    ModelRetry,
    PromptSubmitted,
    TextDelta,
    ThoughtDelta,
    TurnFinished,
)


class SoFar(Struct, frozen=True):
    text: str
    thoughts: tuple[ThoughtDelta, ...]


class Replies:
    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._thoughts: dict[str, list[ThoughtDelta]] = {}

    def on_event(self, envelope: Envelope) -> None:
        match envelope.event:
            case TextDelta(text=text):
                self._texts.setdefault(envelope.session, []).append(text)
            case ThoughtDelta() as thought:
                self._thoughts.setdefault(envelope.session, []).append(thought)
            case ModelReplied() | ModelRetry() | ModelFallback() | TurnFinished() | PromptSubmitted():
                self._texts.pop(envelope.session, None)
                self._thoughts.pop(envelope.session, None)
            case _:
                pass

    def so_far(self, session: str) -> SoFar:
        return SoFar("".join(self._texts.get(session, ())), tuple(self._thoughts.get(session, ())))
