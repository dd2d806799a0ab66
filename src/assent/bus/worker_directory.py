"""The port to where workers say how servers reach them."""

from typing import Protocol

from msgspec import Struct

ANNOUNCE_SECONDS = 3.0
FORGET_SECONDS = 10.0
"""After this silence, a worker counts as gone."""


class WorkerAddress(Struct, frozen=True):
    host: str
    port: int
    secret: str
    """What a server must know to be told anything; new with every start of the worker."""


class WorkerDirectory(Protocol):
    async def announce(self, worker: WorkerAddress) -> None:
        """Again every few seconds."""
        ...

    async def withdraw(self, worker: WorkerAddress) -> None: ...

    async def workers(self) -> list[WorkerAddress]:
        """Those that have been announced lately."""
        ...
