"""What the modules of this room tell each other: who listens to a connection, and why there is none."""

from typing import Literal, Protocol

Era = Literal["auto", "legacy", "sse"]
"""How a server is greeted: asked what it speaks, or only in the way that every older one understands; for an address
that is over HTTP with an event stream (`sse`)."""


class NotConnected(Exception):
    """There is no connection; the message says why, for the person."""


class OlderTransport(NotConnected):
    """The address takes no messages; it may be one of the older kind, which hands out an event stream."""


class Undelivered(Exception):
    """The server never looked at the request, which can be sent again over a new connection."""


class NotificationListener(Protocol):
    """Told of what a server does by itself. None of it may wait."""

    def changed(self) -> None:
        """Its tools, prompts or resources are not what they were."""

    def lost(self, reason: str) -> None:
        """Nothing more will come from it."""

    def heard(self, line: str) -> None:
        """A line for its log."""
