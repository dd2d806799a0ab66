"""The port through which workers announce where servers can reach them."""

from typing import Protocol

from msgspec import Struct

ANNOUNCE_SECONDS = 3.0
FORGET_SECONDS = 10.0
"""After this silence, a worker counts as gone."""


class WorkerAddress(Struct, frozen=True):
    host: str
    port: int
    secret: str
    """A server must send it to receive anything; every start of a worker creates a new one."""


class WorkerDirectory(Protocol):
    async def announce(self, worker: WorkerAddress) -> None:
        """Again every few seconds."""
        ...

    async def withdraw(self, worker: WorkerAddress) -> None: ...

    async def workers(self) -> list[WorkerAddress]:
        """Those that were announced recently."""
        ...
