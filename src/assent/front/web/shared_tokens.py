"""Tokens, logins and login codes that all servers of a cluster share: valid at each, and revoked at all at once.

The token of a server's own programs is the exception: it stays in the data folder of that server, and ends with it.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from assent.front.web.access_tokens import (
    CODE_SECONDS,
    TOKENS,
    LoginCodes,
    TokenBook,
    TokenRecord,
    TokenStore,
    hash_of,
)
from assent.front.web.token_uses import USES, TokenUse, TokenUses
from assent.shared_records import SharedRecords

TOKEN, USE, CODE = "token", "token-use", "login-code"
"""The kinds of records."""
_FORGOTTEN = 86_400.0
"""Seconds after which the record of a code that nobody used is removed."""


class SharedTokens(TokenBook):
    def __init__(self, shared: SharedRecords, local: TokenStore, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self._shared, self._local = shared, local
        self._seen = -1
        self._records: dict[str, TokenRecord] = {}

    async def refresh(self) -> None:
        await self._shared.refresh()

    async def settled(self) -> None:
        await self._shared.settled()

    def watch(self, changed: Callable[[], None]) -> None:
        self._shared.watch(TOKEN, changed)

    def add(self, record: TokenRecord) -> None:
        if record.kind == "local":
            self._local.add(record)
            return
        self._check_name(record)
        self._shared.put(TOKEN, record.id, msgspec.json.encode(record))
        self._forget_expired()

    def revoke(self, matches: Callable[[TokenRecord], bool]) -> list[TokenRecord]:
        gone = [record for record in self._of_all().values() if matches(record)]
        for record in gone:
            self._remove(record)
        local = self._local.revoke(matches)
        for record in local:
            if record.id in self._shared.all(USE):
                self._shared.put(USE, record.id, None)
        return gone + local

    def _forget_expired(self) -> None:
        for record in [one for one in self._of_all().values() if not one.is_valid(self._clock())]:
            self._remove(record)

    def _remove(self, record: TokenRecord) -> None:
        self._shared.put(TOKEN, record.id, None)
        self._shared.put(USE, record.id, None)

    def _known(self) -> Mapping[str, TokenRecord]:
        local = {record.id: record for record in self._local.records() if record.kind == "local"}
        return self._of_all() | local

    def _of_all(self) -> dict[str, TokenRecord]:
        if self._seen != self._shared.version:
            found = self._shared.all(TOKEN)
            self._records = {key: msgspec.json.decode(data, type=TokenRecord) for key, data in found.items()}
            self._seen = self._shared.version
        return self._records


class SharedLoginCodes(LoginCodes):
    """A code works at whichever server the browser gets to."""

    def __init__(
        self, shared: SharedRecords, seconds: float = CODE_SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(clock, seconds)
        self._shared = shared

    def issue(self) -> str:
        """How long it is valid is up to the clock of the database; this one only removes codes that nobody used."""
        now = self._clock()
        for key in [key for key, issued in self._shared.all(CODE).items() if float(issued) < now - _FORGOTTEN]:
            self._shared.put(CODE, key, None)
        code = secrets.token_urlsafe(24)
        self._shared.put(CODE, hash_of(code), repr(now).encode())
        return code

    async def redeem(self, code: str) -> bool:
        await self._shared.refresh()
        key = hash_of(code)
        if key not in self._shared.all(CODE):
            return False  # guessing codes must not cause writes
        return await self._shared.take(CODE, key, self._seconds) is not None


class SharedTokenUses(TokenUses):
    """What this server has seen since it last saved, and what all servers have saved."""

    def __init__(self, shared: SharedRecords, clock: Callable[[], float] = time.time) -> None:
        super().__init__(None, clock)
        self._shared = shared

    def last(self, token_id: str) -> TokenUse | None:
        saved = self._shared.all(USE).get(token_id)
        known = [self._uses.get(token_id), None if saved is None else msgspec.json.decode(saved, type=TokenUse)]
        return max((use for use in known if use is not None), key=lambda use: use.at, default=None)

    async def save_aside(self, valid: Iterable[str]) -> None:
        self.save(valid)

    def _save(self) -> None:
        for token_id, use in self._uses.items():
            self._shared.put(USE, token_id, msgspec.json.encode(use))
        self._uses = {}


def open_tokens(data: Path, shared: SharedRecords | None) -> TokenBook:
    local = TokenStore(data / TOKENS)
    return local if shared is None else SharedTokens(shared, local)


def open_uses(data: Path, shared: SharedRecords | None) -> TokenUses:
    return TokenUses(data / USES) if shared is None else SharedTokenUses(shared)
