"""Where the subscriptions to web push are: in a file of this server, or shared by all servers of a cluster.

Servers that share them all hear of each question, so each message is claimed by the one that sends it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from assent.app.private_files import save_private
from assent.app.push_messages import PushTarget, new_key
from assent.app.storage import Shared
from assent.safe_open import read_regular

PUSH = "push.json"
SUBSCRIPTION, KEY = "push-subscription", "push-key"
"""The kinds of shared records."""
_PER_DAY = 1 / 86_400


class Subscribed(Struct, frozen=True):
    token_id: str
    owner: str
    target: PushTarget


class PushStore(Protocol):
    async def key(self) -> str:
        """The private key. Browsers are subscribed to it, so it stays the same."""
        ...

    def subscriptions(self) -> Mapping[str, Subscribed]:
        """By token."""
        ...

    def put(self, token_id: str, subscribed: Subscribed | None) -> None:
        """None removes it."""
        ...

    async def settled(self) -> None: ...

    async def claims(self, message: str) -> bool:
        """Whether this server is to send the message: nobody else will."""
        ...


class _Stored(Struct):
    key: str = ""
    subscriptions: dict[str, Subscribed] = {}


class PushFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._stored = _read(path)

    async def key(self) -> str:
        if not self._stored.key:
            self._stored.key = new_key()
            self._save()
        return self._stored.key

    def subscriptions(self) -> Mapping[str, Subscribed]:
        return self._stored.subscriptions

    def put(self, token_id: str, subscribed: Subscribed | None) -> None:
        if subscribed is None:
            self._stored.subscriptions.pop(token_id, None)
        else:
            self._stored.subscriptions[token_id] = subscribed
        self._save()

    async def settled(self) -> None:
        """The file is written at once."""

    async def claims(self, message: str) -> bool:
        return True

    def _save(self) -> None:
        save_private(self._path, msgspec.json.encode(self._stored))


class SharedPush:
    def __init__(self, shared: Shared) -> None:
        self._records, self._limits = shared.records, shared.limits

    async def key(self) -> str:
        known = self._records.all(KEY).get("") or await self._records.put_new(KEY, "", new_key().encode())
        return known.decode()

    def subscriptions(self) -> Mapping[str, Subscribed]:
        found = self._records.all(SUBSCRIPTION)
        return {key: msgspec.json.decode(data, type=Subscribed) for key, data in found.items()}

    def put(self, token_id: str, subscribed: Subscribed | None) -> None:
        self._records.put(SUBSCRIPTION, token_id, None if subscribed is None else msgspec.json.encode(subscribed))

    async def settled(self) -> None:
        await self._records.settled()

    async def claims(self, message: str) -> bool:
        return await self._limits.take("push", message, per_second=_PER_DAY, burst=1) == 1


def _read(path: Path) -> _Stored:
    """A file that cannot be read counts as missing: browsers subscribe again when they open the page."""
    try:
        return msgspec.json.decode(read_regular(path, limit=100_000_000), type=_Stored)
    except (OSError, msgspec.MsgspecError):
        return _Stored()
