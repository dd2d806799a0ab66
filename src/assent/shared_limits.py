"""The port to limits that hold for all nodes of a cluster together."""

from typing import Protocol


class SharedLimits(Protocol):
    async def take(self, kind: str, who: str, *, per_second: float, burst: float, wanted: int = 1) -> int:
        """Takes up to `wanted` of what `who` has left, and returns how much that is. At first they have `burst`, and
        get `per_second` more each second. Raises LogError."""
        ...
