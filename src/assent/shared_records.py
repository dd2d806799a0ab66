"""The port to small records that the nodes of a cluster share: tokens, logins, grants, trust, pins.

Each process has a copy of all of them in memory, so that reading one never waits. A change is visible here at once, and
durable when `settled` returns. Without a cluster, there are no shared records: each store has a file of its own.
"""

from collections.abc import Callable, Mapping
from typing import Protocol


class SharedRecords(Protocol):
    def all(self, kind: str) -> Mapping[str, bytes]:
        """By key, as this process knows them. Do not change it."""
        ...

    def put(self, kind: str, key: str, data: bytes | None) -> None:
        """None removes it. The other nodes hear of it as soon as it is durable."""
        ...

    async def settled(self) -> None:
        """Waits until everything that was put is durable; raises LogError, and then it is not known here either."""
        ...

    async def refresh(self) -> None:
        """Afterwards this process knows every change that was durable when it was called. Raises LogError."""
        ...

    async def put_new(self, kind: str, key: str, data: bytes) -> bytes:
        """Puts it unless there is one; returns what is there now."""
        ...

    async def take(self, kind: str, key: str, max_age: float) -> bytes | None:
        """Removes it, and returns it if it is at most `max_age` seconds old. Only one caller on all nodes gets it."""
        ...

    def watch(self, kind: str, changed: Callable[[], None]) -> None:
        """Calls `changed` in this loop when another process has changed one of this kind."""
        ...

    @property
    def closed(self) -> bool: ...

    @property
    def version(self) -> int:
        """Another one after every change that this process knows of."""
        ...
