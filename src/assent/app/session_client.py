"""What a front end needs of a session, wherever it runs: commands in, events out, and the fold of those events.

A front end keeps no state of its own that the log does not have; it draws `state` and sends commands.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from assent.commands import Command
from assent.events import Envelope

if TYPE_CHECKING:  # whoever only shows a session must not import what runs one
    from assent.app.session_environment import SessionEnvironment
    from assent.mcp.manager import McpManager
    from assent.models.base import Model
    from assent.session.hub import Subscription as Subscription
    from assent.session.running_session import RunningSession as RunningSession
    from assent.session.state import SessionState


class SessionClient(Protocol):
    me: str
    """How others see us: `by` in our commands."""

    @property
    def state(self) -> "SessionState":
        """The fold of all that happened, at least up to the event that was last read."""
        ...

    async def history(self) -> list[Envelope]:
        """The durable events so far. Call it once, before `events`: together they have no gap."""
        ...

    def on_link(self, changed: Callable[[bool], None]) -> None:
        """While `events` are read, calls it when whoever runs the session is away (False) and when it is back."""
        ...

    def events(self) -> AsyncIterator[Envelope]:
        """All events after those of `history`; ends when the session is closed. Raises why it cannot go on."""
        ...

    async def send(self, command: Command, key: str | None = None) -> str:
        """Durable when this returns; the outcome comes as `command.taken` with this key."""
        ...

    async def close(self) -> None: ...


class LocalClient:
    """A session that runs in this process, with the model and the environment that are closed with it."""

    def __init__(
        self,
        runner: "RunningSession",
        me: str,
        model: "Model | None" = None,
        past: Sequence[Envelope] = (),
        environment: "SessionEnvironment | None" = None,
    ) -> None:
        """`past`: the first events, when they were read already; they are kept until they were shown."""
        self.me = me
        self.runner = runner
        self._model = model
        self._environment = environment
        self._events: Subscription | None = None
        self._known = 0
        self._past = past

    @property
    def state(self) -> "SessionState":
        return self.runner.state

    @property
    def servers(self) -> "McpManager | None":
        return None if self._environment is None else self._environment.mcp

    async def history(self) -> list[Envelope]:
        self._unsubscribe()
        self._events = self.runner.subscribe()
        past, self._past = self._past, ()
        history = [*past, *await self.runner.read(past[-1].seq if past else 0)]
        self._known = history[-1].seq
        return history

    def on_link(self, changed: Callable[[bool], None]) -> None:
        """It is always there: it is us."""

    async def events(self) -> AsyncIterator[Envelope]:
        self._events = self._events or self.runner.subscribe()
        async for envelope in self._events:
            if not 0 < envelope.seq <= self._known:  # recorded while the history was read: it is in both
                yield envelope
        if self.runner.failure is not None:
            raise self.runner.failure

    async def send(self, command: Command, key: str | None = None) -> str:
        return await self.runner.send(command, key)

    def _unsubscribe(self) -> None:
        if self._events is not None:
            self._events.close()

    async def close(self) -> None:
        self._unsubscribe()
        try:
            await self.runner.close()
        finally:
            for each in (self._environment, self._model):
                if each is not None:
                    await each.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
