"""The verdict on one connection of a program, and how the connection ended. Plain data."""

from msgspec import Struct


class Access(Struct, frozen=True):
    allowed: bool
    reason: str
    entries: tuple[str, ...] = ()
    """The `domains` that were allowed: an address that is not public must be among them."""


class ConnectionEnd(Struct, frozen=True, kw_only=True):
    sent: int
    received: int
    """Bytes, as the program sees them."""
    address: str = ""
    """Where the connection really led; empty if there was none."""
    problem: str = ""
