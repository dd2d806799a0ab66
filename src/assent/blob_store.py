"""The port to what is too large for the log: whole outputs of commands, contents for undo, files that go with prompts.

The nodes of a cluster share it, so that whoever continues a session has them. Each belongs to a session and is deleted
with it. Without a cluster, there is none: files in the data folder are enough.
"""

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

MAX_SESSION_BYTES = 200_000_000
"""The most that is kept for one session, in bytes. Anything beyond that stays on the machine where it was made."""


class BlobUnavailable(OSError):
    """The store cannot be read or written now; the message says why."""


class BlobPiece(Struct, frozen=True):
    data: bytes
    total: int
    """The size of the whole in bytes."""


class BlobStore(Protocol):
    """Every method raises BlobUnavailable."""

    async def put(self, session: str, name: str, data: bytes) -> None:
        """Replaces one of the same name."""
        ...

    async def piece(self, session: str, name: str, offset: int, limit: int) -> BlobPiece | None:
        """Some bytes of it; None if there is none."""
        ...

    async def sizes(self, session: str) -> dict[str, int]:
        """Everything that belongs to the session, by name."""
        ...

    async def copy(self, session: str, to: str, names: Iterable[str]) -> None:
        """Those that exist."""
        ...

    async def remove(self, session: str) -> None: ...
