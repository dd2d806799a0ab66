"""What a front end needs of a session, wherever it runs: commands in, events out, and the fold of those events.

`opening.LocalClient` is one that runs in this process, `client.RemoteClient` one that a server runs.

A front end keeps no state of its own that the log does not have; it draws `state` and sends commands.
"""

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Protocol

from assent.commands import Command
from assent.events import Envelope

if TYPE_CHECKING:  # whoever only shows a session must not import what runs one
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
