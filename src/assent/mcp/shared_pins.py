"""The pinned tools of MCP servers that all nodes of a cluster share: accepted once, accepted everywhere."""

from pathlib import Path

import msgspec

from assent.mcp.pins import Pinned, PinStore
from assent.shared_records import SharedRecords

PIN = "pin"
"""The kind of record; its key is the identity of the server."""


class SharedPins(PinStore):
    def __init__(self, shared: SharedRecords) -> None:
        super().__init__(Path())
        self._shared = shared

    def save(self, identity: str, pinned: Pinned) -> None:
        self._shared.put(PIN, identity, msgspec.json.encode(pinned))

    def _load(self) -> dict[str, Pinned]:
        found: dict[str, Pinned] = {}
        for identity, data in self._shared.all(PIN).items():
            try:
                found[identity] = msgspec.json.decode(data, type=Pinned)
            except msgspec.MsgspecError:
                continue  # as if it had never been seen
        return found
