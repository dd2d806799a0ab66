"""Grants and trust that all nodes of a cluster share. What one worker is granted holds for all of them, until it is
revoked anywhere.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from assent.approval import Grant
from assent.policy.kept_grants import EVERYWHERE
from assent.policy.trust import Trust, TrustStore
from assent.shared_records import SharedRecords

GRANT, TRUST = "grant", "trust"
"""The kinds of records."""


class _Kept(Struct, frozen=True):
    place: str
    """A folder, or empty: everywhere."""
    grant: Grant


class SharedGrants:
    def __init__(self, shared: SharedRecords, folder: str) -> None:
        self._shared, self._folder = shared, folder

    @property
    def version(self) -> int:
        return self._shared.version

    def keep(self, grant: Grant) -> None:
        if grant.lasts != "session":
            place = EVERYWHERE if grant.lasts == "everywhere" else self._folder
            self._shared.put(GRANT, grant.id, encoded_grant(place, grant))

    def standing(self) -> list[Grant]:
        kept = (_decoded(data) for data in self._shared.all(GRANT).values())
        return [one.grant for one in kept if one is not None and one.place in (EVERYWHERE, self._folder)]

    def drop(self, grant_id: str) -> bool:
        there = grant_id in self._shared.all(GRANT)
        if there:
            self._shared.put(GRANT, grant_id, None)
        return there

    async def settled(self) -> None:
        await self._shared.settled()


def encoded_grant(place: str, grant: Grant) -> bytes:
    return msgspec.json.encode(_Kept(place, grant))


def _decoded(data: bytes) -> _Kept | None:
    try:
        return msgspec.json.decode(data, type=_Kept)
    except msgspec.MsgspecError:
        return None  # what cannot be read allows nothing


class SharedTrustStore(TrustStore):
    """Trust is bound to content, so it holds wherever a folder of that path has exactly that content."""

    def __init__(self, shared: SharedRecords, home: str = "") -> None:
        super().__init__(Path(), home)
        self._shared = shared

    def trust(self, folder: Path, seen: Trust) -> None:
        self._shared.put(TRUST, str(folder), msgspec.json.encode(seen.files))

    def forget(self, folder: Path) -> None:
        self._shared.put(TRUST, str(folder), None)

    def _of(self, folder: Path) -> dict[str, str] | None:
        data = self._shared.all(TRUST).get(str(folder))
        try:
            return None if data is None else msgspec.json.decode(data, type=dict[str, str])
        except msgspec.MsgspecError:
            return None
