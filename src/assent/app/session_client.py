"""What a front end needs of a session, wherever it runs: commands in, events out, and the fold of those events.

`opening.LocalClient` is one that runs in this process, `client.RemoteClient` one that a server runs.

A front end keeps no state of its own that the log does not have; it draws `state` and sends commands.
"""

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Protocol

from assent.commands import Command
from assent.events import Envelope

if TYPE_CHECKING:  # a module that only shows a session must not import what runs one
    from assent.session.state import SessionState


class SessionClient(Protocol):
    me: str
    """How others see us: `by` in our commands."""

    @property
    def state(self) -> "SessionState":
        """The fold of everything so far, at least up to the last event read."""
        ...

    async def history(self) -> list[Envelope]:
        """The durable events so far. Call it once, before `events`: together they have no gap."""
        ...

    def on_link(self, changed: Callable[[bool], None]) -> None:
        """While `events` are read, calls it when the session becomes unreachable (False) and when it is back (True)."""
        ...

    def events(self) -> AsyncIterator[Envelope]:
        """All events after those of `history`; ends when the session is closed. Raises the reason for a failure."""
        ...

    async def send(self, command: Command, key: str | None = None) -> str:
        """The command is durable when this returns; its outcome comes as `command.taken` with this key."""
        ...

    async def type_in(self, call_id: str, number: int, text: str | None) -> str:
        """Types a line for a prompt of a running command; None is the end of its input. It is recorded nowhere. Returns
        why it cannot be done; empty if it was.
        """
        ...

    async def close(self) -> None: ...
