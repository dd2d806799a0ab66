"""The only way into the log: numbers events, appends them under the fence, then folds and announces them.

Events are ordered from the moment `record` is called; they are durable, folded and announced once it has been awaited.
After the first failure, nothing more is written or announced: a session that cannot remember must not act.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager

from assent.events import DurableEvent, Envelope, TransientEvent
from assent.session.hub import Hub
from assent.session.log import Fence, LogError, SessionLog
from assent.session.state import SessionState


class SessionJournal:
    def __init__(
        self, log: SessionLog, fence: Fence, state: SessionState, hub: Hub, clock: Callable[[], float] = time.time
    ) -> None:
        self._log = log
        self._fence = fence
        self._state = state
        self._hub = hub
        self._clock = clock
        self._next_seq = state.seq + 1
        self.failure: BaseException | None = None

    def record(self, *events: DurableEvent) -> Awaitable[None]:
        envelopes = self._stamp(events)
        appended = self._log.append(self._fence, envelopes) if self.failure is None else self._refused()
        recorded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        appended.add_done_callback(lambda future: self._settle(future, envelopes, recorded))
        # Shielded: cancelling the wait must not cancel the record.
        return asyncio.shield(recorded)

    def announce(self, event: TransientEvent) -> None:
        envelope = Envelope(0, self._clock(), self._state.session, event)
        self._publish(envelope)

    def fail(self, error: BaseException) -> None:
        """The log cannot be used: what may have been missed there must not go unnoticed."""
        self.failure = self.failure or error
        self._hub.close()

    @contextmanager
    def guarding(self) -> Generator[None]:
        """For work that nobody awaits: if the log fails, the session has failed, whatever the log was asked for."""
        try:
            yield
        except LogError as error:
            self.fail(error)

    def _stamp(self, events: Sequence[DurableEvent]) -> list[Envelope]:
        now, first = self._clock(), self._next_seq
        self._next_seq += len(events)
        return [Envelope(first + place, now, self._state.session, event) for place, event in enumerate(events)]

    def _refused(self) -> "asyncio.Future[None]":
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        assert self.failure is not None
        refused.set_exception(self.failure)
        return refused

    def _settle(
        self, appended: "asyncio.Future[None]", envelopes: list[Envelope], recorded: "asyncio.Future[None]"
    ) -> None:
        error = appended.exception() or self._published(envelopes)
        if error is not None:
            self.fail(error)
            recorded.set_exception(error)
            recorded.exception()  # raised where it is awaited; `failure` reports what nobody awaits
            return
        recorded.set_result(None)

    def _published(self, envelopes: list[Envelope]) -> Exception | None:
        """A bug in the fold must end the session: whoever waits for the record would wait forever."""
        try:
            for envelope in envelopes:
                self._publish(envelope)
        except Exception as error:
            return error
        return None

    def _publish(self, envelope: Envelope) -> None:
        self._state.apply(envelope)
        self._hub.publish(envelope)
