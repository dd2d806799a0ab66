"""Access control: bearer tokens with a role, stored as hashes; login codes that work once; the file that tells our own
programs where the server is.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.app.private_files import save_private
from assent.safe_open import read_regular

Role = Literal["viewer", "approver", "operator"]
ROLES: tuple[Role, ...] = ("viewer", "approver", "operator")
"""Each role includes the ones before it."""

CODE_SECONDS = 60.0
BROWSER_SECONDS = 30 * 24 * 3600.0
DISCOVERY = "serve.json"
TOKENS = "tokens.json"


class Principal(Struct, frozen=True):
    """The holder of a valid token: a name for the audit trail, a role, and whose sessions they may use."""

    name: str
    role: Role
    owner: str = ""
    """Empty for the user who runs the server."""
    key: str = ""
    """Identifies the token without revealing it."""

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


class TokenRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    role: Role
    hash: str
    owner: str = ""
    expires_at: float | None = None
    kind: Literal["named", "browser", "local"] = "named"


class TokenStore:
    """A file that only its owner can read. It holds hashes, which cannot be used to log in."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._read_at = 0
        self._records: dict[str, TokenRecord] = {}
        self._refresh()

    def issue(
        self,
        name: str,
        role: Role,
        *,
        owner: str = "",
        seconds: float | None = None,
        kind: Literal["named", "browser", "local"] = "named",
    ) -> str:
        self._refresh()
        token = secrets.token_urlsafe(32)
        expires = None if seconds is None else self._clock() + seconds
        self._records[_hash(token)] = TokenRecord(
            name=name, role=role, hash=_hash(token), owner=owner, expires_at=expires, kind=kind
        )
        self._save()
        return token

    def check(self, token: str) -> Principal | None:
        """The lookup is by hash, so its timing reveals nothing about the token."""
        self._refresh()
        record = self._records.get(_hash(token))
        if record is None or (record.expires_at is not None and record.expires_at <= self._clock()):
            return None
        return Principal(record.name, record.role, record.owner, record.hash[:16])

    def holds(self, principal: Principal) -> bool:
        """Whether their token is still valid."""
        self._refresh()
        now = self._clock()
        return any(
            record.hash.startswith(principal.key) and (record.expires_at is None or record.expires_at > now)
            for record in self._records.values()
        )

    def records(self) -> list[TokenRecord]:
        return list(self._records.values())

    def revoke(self, matches: Callable[[TokenRecord], bool]) -> int:
        self._refresh()
        gone = [record.hash for record in self._records.values() if matches(record)]
        for hash in gone:
            del self._records[hash]
        if gone:
            self._save()
        return len(gone)

    def _refresh(self) -> None:
        """Another process may have added or removed tokens."""
        try:
            changed = self._path.stat().st_mtime_ns
            if changed != self._read_at:
                found = msgspec.json.decode(read_regular(self._path, limit=100_000_000), type=list[TokenRecord])
                self._records, self._read_at = {record.hash: record for record in found}, changed
        except FileNotFoundError:
            self._records = {}

    def _save(self) -> None:
        now = self._clock()
        live = [record for record in self._records.values() if record.expires_at is None or record.expires_at > now]
        save_private(self._path, msgspec.json.encode(live))
        self._read_at = self._path.stat().st_mtime_ns


class LoginCodes:
    """Codes for the printed address: each works once, and only for a short time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, seconds: float = CODE_SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds
        self._codes: dict[str, float] = {}

    def issue(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[_hash(code)] = self._clock() + self._seconds
        return code

    def redeem(self, code: str) -> bool:
        until = self._codes.pop(_hash(code), None)
        return until is not None and self._clock() < until


class Discovery(Struct, frozen=True):
    """Where this user's server is, for their other programs."""

    url: str
    token: str
    pid: int


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
