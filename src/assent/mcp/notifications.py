"""What the modules of this package tell each other: who listens to a connection, and why there is none."""

from typing import Literal, Protocol

Era = Literal["auto", "legacy", "sse"]
"""The handshake with a server: negotiated, or the one that every older server understands; for an address that is HTTP
with an event stream (`sse`).
"""


class NotConnected(Exception):
    """There is no connection; the message says why, for the person."""


class OlderTransport(NotConnected):
    """The address does not accept messages; it may be one of the older kind, which provides an event stream."""


class Undelivered(Exception):
    """The server never processed the request, which can be sent again over a new connection."""


class NotificationListener(Protocol):
    """Called when a server does something by itself. None of it may block."""

    def changed(self) -> None:
        """Its tools, prompts or resources have changed."""

    def lost(self, reason: str) -> None:
        """Nothing more will come from it."""

    def log_line(self, line: str) -> None:
        """A line for its log."""
