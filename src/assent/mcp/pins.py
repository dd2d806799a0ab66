"""The tools of each server as they were when the person first used it, kept as digests in a file of Assent's own.

No standing permission covers a new or changed tool until a person has approved it once. The first look pins everything:
before it, nothing could have changed.
"""

from pathlib import Path

import msgspec

from assent.files.private_folder import save_private
from assent.mcp.definitions import Definition
from assent.safe_open import read_regular

Pinned = dict[str, str]
"""Tool → digest of its definition."""


class PinStore:
    """A file; see also `SharedPins`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, identity: str, who: str = "the server") -> "Pins":
        return Pins(self, identity, self._load().get(identity), who)

    def save(self, identity: str, pinned: Pinned) -> None:
        save_private(self._path, msgspec.json.encode(self._load() | {identity: pinned}))

    def _load(self) -> dict[str, Pinned]:
        try:
            return msgspec.json.decode(read_regular(self._path, limit=100_000_000), type=dict[str, Pinned])
        except (OSError, msgspec.MsgspecError):
            return {}


class Pins:
    """The pins of one server, or of a project's command."""

    def __init__(self, store: PinStore, identity: str, pinned: Pinned | None, who: str) -> None:
        self._who = who
        self._store = store
        self._identity = identity
        self._pinned = pinned

    def look(self, definitions: list[Definition]) -> None:
        if self._pinned is None and definitions:
            self._pin({definition.tool: definition.digest for definition in definitions})

    def unseen(self, definition: Definition) -> str:
        """Why no earlier permission covers this tool; empty if it is unchanged."""
        match (self._pinned or {}).get(definition.tool):
            case None:
                return f"{self._who} did not have this tool when you first used it"
            case digest if digest != definition.digest:
                return f"{self._who} has changed its description of this tool since you last approved it"
            case _:
                return ""

    def accept(self, *definitions: Definition) -> None:
        news = {definition.tool: definition.digest for definition in definitions}
        if not news.items() <= (self._pinned or {}).items():
            self._pin((self._pinned or {}) | news)

    def _pin(self, pinned: Pinned) -> None:
        self._pinned = pinned
        self._store.save(self._identity, pinned)
