"""Grants that outlive their session: in one folder, or everywhere. They belong to the user, outside every workspace.

They are kept as they were given, so that they cover exactly what was shown.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from assent.approval import Grant
from assent.files.private_folder import save_private
from assent.safe_open import NotRegular, read_regular

MAX_BYTES = 10_000_000
EVERYWHERE = ""


class GrantKeeper(Protocol):
    """The policy's port to them: the policy opens no file."""

    def keep(self, grant: Grant) -> None:
        """Raises OSError, and then has changed nothing."""
        ...

    def standing(self) -> Sequence[Grant]:
        """The grants of earlier sessions that hold here."""
        ...

    def drop(self, grant_id: str) -> bool:
        """Whether there was such a grant."""
        ...

    @property
    def version(self) -> int:
        """Another one when someone else may have changed them."""
        ...

    async def settled(self) -> None:
        """Waits until what was kept and dropped is durable. Raises LogError."""
        ...


class KeptGrants:
    version = 0
    """Sessions that are open are not told what others change in the file."""

    def __init__(self, path: Path, folder: str) -> None:
        self._path = path
        self._folder = folder

    def keep(self, grant: Grant) -> None:
        """Raises OSError, and then has changed nothing."""
        if grant.lasts != "session":
            place = EVERYWHERE if grant.lasts == "everywhere" else self._folder
            kept = self._load()
            self._save(kept | {place: [*kept.get(place, []), grant]})

    def standing(self) -> list[Grant]:
        """Those that hold in this folder."""
        kept = self._load()
        return [*kept.get(EVERYWHERE, []), *kept.get(self._folder, [])]

    def drop(self, grant_id: str) -> bool:
        """Whether there was such a grant here."""
        kept = self._load()
        left = {place: [grant for grant in grants if grant.id != grant_id] for place, grants in kept.items()}
        if left == kept:
            return False
        self._save({place: grants for place, grants in left.items() if grants})
        return True

    async def settled(self) -> None:
        """The file is written at once."""

    def _load(self) -> dict[str, list[Grant]]:
        try:
            return msgspec.json.decode(read_regular(self._path, limit=MAX_BYTES), type=dict[str, list[Grant]])
        except (FileNotFoundError, NotRegular, msgspec.MsgspecError):
            return {}  # what cannot be read allows nothing

    def _save(self, kept: dict[str, list[Grant]]) -> None:
        save_private(self._path, msgspec.json.format(msgspec.json.encode(kept)))
