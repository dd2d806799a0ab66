"""Access control: bearer tokens with a role, stored as hashes; login codes that work once; the file that tells our own
programs where the server is.
"""

import hashlib
import math
import os
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.app.private_files import make_private, save_private, take_lock
from assent.safe_open import read_regular

Role = Literal["viewer", "approver", "operator"]
ROLES: tuple[Role, ...] = ("viewer", "approver", "operator")
"""Each role includes the ones before it."""
TokenKind = Literal["named", "browser", "local"]
"""`named`: for a person or program; `browser`: from a login; `local`: for this user's own programs, until the server
stops."""

CODE_SECONDS = 60.0
BROWSER_SECONDS = 30 * 24 * 3600.0
MAX_SECONDS = 100 * 365 * 86_400.0
DISCOVERY = "serve.json"
TOKENS = "tokens.json"
LOCK = "tokens.lock"
ID_LENGTH = 12
_NAME = re.compile(r"[^\s@\x00-\x1f\x7f-\x9f]{1,64}")


class BadToken(ValueError):
    """A token that cannot be created; the message says why."""


class Principal(Struct, frozen=True):
    """The holder of a valid token: a name for the audit trail, a role, and whose sessions they may use."""

    name: str
    role: Role
    owner: str = ""
    """Empty for the user who runs the server."""
    token_id: str = ""
    """Identifies the token without revealing it."""

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def is_administrator(self) -> bool:
        """An operator of the user who runs the server; they may see what concerns all owners."""
        return self.owner == "" and self.may("operator")


class TokenRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    role: Role
    hash: str
    owner: str = ""
    expires_at: float | None = None
    kind: TokenKind = "named"
    created_at: float | None = None
    """None for tokens of older versions, which did not record it."""

    @property
    def id(self) -> str:
        """The beginning of the hash of a long random token: nobody can derive the token from it."""
        return self.hash[:ID_LENGTH]

    @property
    def principal(self) -> Principal:
        return Principal(self.name, self.role, self.owner, self.id)

    def is_valid(self, now: float) -> bool:
        return self.expires_at is None or self.expires_at > now


class NewToken(Struct, frozen=True):
    token: str
    record: TokenRecord


class TokenBook(ABC):
    """Who may use the server. It knows hashes, which cannot be used to log in."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    # --- where the records are ---

    @abstractmethod
    def _known(self) -> Mapping[str, TokenRecord]:
        """All records by id, including expired ones."""

    @abstractmethod
    def add(self, record: TokenRecord) -> None:
        """Raises BadToken."""

    @abstractmethod
    def revoke(self, matches: Callable[[TokenRecord], bool]) -> list[TokenRecord]:
        """Those that were revoked."""

    @abstractmethod
    async def refresh(self) -> None:
        """Afterwards, `check` knows what all servers have issued and revoked. Raises LogError."""

    @abstractmethod
    async def settled(self) -> None:
        """Waits until what was added and revoked holds at all servers. Raises LogError."""

    @abstractmethod
    def watch(self, changed: Callable[[], None]) -> None:
        """Calls `changed` when another server has issued or revoked something."""

    # --- what they mean ---

    def prepare(
        self,
        name: str,
        role: Role,
        *,
        owner: str = "",
        seconds: float | None = None,
        kind: TokenKind = "named",
    ) -> "NewToken":
        """A token that is not valid until its record is added. Raises BadToken."""
        token, now = secrets.token_urlsafe(32), self._clock()
        if seconds is not None and not 0 < seconds <= MAX_SECONDS:
            raise BadToken("a token must be valid for more than 0 and at most 36,500 days")
        if kind == "named" and not _NAME.fullmatch(name):
            raise BadToken(f"a token's name has at most 64 characters, without spaces and without @: not {name!r}")
        expires = None if seconds is None else now + seconds
        record = TokenRecord(
            name=name, role=role, hash=hash_of(token), owner=owner, expires_at=expires, kind=kind, created_at=now
        )
        self._check_name(record)
        return NewToken(token, record)

    def _check_name(self, record: TokenRecord) -> None:
        """With two tokens of one name, nobody could tell who did what, or which one to revoke."""
        same = (
            one for one in self.records() if (one.name, one.owner, one.kind) == (record.name, record.owner, "named")
        )
        if record.kind == "named" and (found := next(same, None)):
            raise BadToken(f"there is already a token named {record.name}; revoke it first: {found.id}")

    def check(self, token: str) -> Principal | None:
        """The lookup is by hash, so its timing reveals nothing about the token."""
        digest = hash_of(token)
        record = self._known().get(digest[:ID_LENGTH])
        if record is None or not secrets.compare_digest(record.hash, digest) or not record.is_valid(self._clock()):
            return None
        return record.principal

    def holds(self, principal: Principal) -> bool:
        """Whether their token is still valid."""
        record = self._known().get(principal.token_id)
        return record is not None and record.is_valid(self._clock())

    def records(self) -> list[TokenRecord]:
        """Those that are valid, oldest first."""
        now = self._clock()
        return sorted(
            (record for record in self._known().values() if record.is_valid(now)),
            key=lambda record: record.created_at or -math.inf,
        )


class TokenStore(TokenBook):
    """A file that only its owner can read."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self._path = str(path)
        self._seen: tuple[int, int] | None = None
        self._records: dict[str, TokenRecord] = {}
        """By id."""
        self._reload()

    def add(self, record: TokenRecord) -> None:
        with self._changing():
            self._check_name(record)
            self._records[record.id] = record

    def revoke(self, matches: Callable[[TokenRecord], bool]) -> list[TokenRecord]:
        with self._changing():
            gone = [record for record in self._records.values() if matches(record)]
            for record in gone:
                del self._records[record.id]
        return gone

    async def refresh(self) -> None:
        """The file is looked at whenever someone asks."""

    async def settled(self) -> None:
        """It is written at once."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Nobody else uses it, except for `assent serve token`, whose changes the next look finds."""

    def _known(self) -> dict[str, TokenRecord]:
        self._reload()
        return self._records

    def _reload(self) -> None:
        """Another process may have added or removed tokens. It replaces the file, so the inode changes as well: the
        time alone is too coarse for two changes in a row."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            self._records, self._seen = {}, None
            return
        seen = (found.st_mtime_ns, found.st_ino)
        if seen != self._seen:
            read = msgspec.json.decode(read_regular(Path(self._path), limit=100_000_000), type=list[TokenRecord])
            self._records, self._seen = _by_id(read), seen

    @contextmanager
    def _changing(self) -> Generator[None]:
        """Read, change and write, alone: otherwise another process could bring a revoked token back."""
        folder = os.path.dirname(self._path)
        make_private(folder)
        lock = take_lock(os.path.join(folder, LOCK), wait=True)
        try:
            self._reload()
            before = dict(self._records)
            yield
            if self._records != before:
                self._save()
        finally:
            os.close(lock)

    def _save(self) -> None:
        now = self._clock()
        live = [record for record in self._records.values() if record.is_valid(now)]
        save_private(Path(self._path), msgspec.json.encode(live))
        found = os.stat(self._path)
        self._seen = (found.st_mtime_ns, found.st_ino)


def _by_id(records: Iterable[TokenRecord]) -> dict[str, TokenRecord]:
    return {record.id: record for record in records}


class LoginCodes:
    """Codes for the printed address: each works once, and only for a short time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, seconds: float = CODE_SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds
        self._codes: dict[str, float] = {}

    def issue(self) -> str:
        now = self._clock()
        self._codes = {code: until for code, until in self._codes.items() if now < until}
        code = secrets.token_urlsafe(24)
        self._codes[hash_of(code)] = now + self._seconds
        return code

    async def redeem(self, code: str) -> bool:
        until = self._codes.pop(hash_of(code), None)
        return until is not None and self._clock() < until


class Discovery(Struct, frozen=True):
    """Where this user's server is, for their other programs."""

    url: str
    token: str
    pid: int


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
