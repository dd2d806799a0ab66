"""The audit: one record for each decision, login, token, grant and deletion, each bound to the one before by its hash.

Plain data and the rules of the chain. It knows nothing about where the records are stored or who reads them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

AuditKind = Literal[
    "session.created",
    "session.deleted",
    "approval.answered",
    "call.allowed",
    "grant.added",
    "grant.revoked",
    "mode.changed",
    "login.succeeded",
    "login.failed",
    "logout",
    "token.created",
    "token.revoked",
    "server.started",
    "server.stopped",
    "settings.reloaded",
    "audit.pruned",
]
ABOUT_LENGTH = 300
"""Longer texts are cut: the digest covers all of what was decided on."""
FIRST = "0" * 64
"""What the first record names as the hash of the one before."""


class AuditEntry(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What happened: who did it, when and from where, to what. Secrets in texts are masked before it is recorded."""

    kind: AuditKind
    ts: float
    by: str = ""
    """Who, and from where: `ann@192.168.1.5`, or `ann@pid42` for a program on this machine."""
    session: str = ""
    owner: str = ""
    """Whose session or token it is; empty for the user who runs Assent."""
    call_id: str = ""
    tool: str = ""
    outcome: str = ""
    """The answer; for `call.allowed`, what allowed it: mode, rule, grant or person; for a mode, the new one."""
    digest: str = ""
    """Of exactly what was decided on, or what ran."""
    about: str = ""
    """What it was about, in one line: the command, the file, the reach of a grant, the name and role of a token."""
    reason: str = ""
    reference: str = ""
    """The id of the grant or token, the rule that allowed a call, or the session that a fork was made from."""


class AuditRecord(Struct, frozen=True):
    """An entry in the chain: `data` is the entry as it is stored and hashed."""

    id: int
    previous: str
    hash: str
    data: msgspec.Raw

    @property
    def entry(self) -> AuditEntry:
        return decode_entry(self.data)

    @property
    def is_readable(self) -> bool:
        """False only if someone tampered with it."""
        try:
            return bool(self.entry)
        except msgspec.DecodeError:
            return False


Labels = tuple[float, str, str, str, str]
"""What records are found by: time, kind, session, owner, and who. The entry has the same, and the hash covers it."""


def labels_of(entry: AuditEntry) -> Labels:
    return entry.ts, entry.kind, entry.session, entry.owner, entry.by


def contradicts(data: bytes, labels: Sequence[object], spelled: Callable[[str], str] = str) -> bool:
    """Whether a record is stored under labels that contradict it, so that a search would list it as something else.

    `spelled` is how the store writes texts.
    """
    try:
        ts, *texts = labels_of(decode_entry(data))
    except msgspec.DecodeError:
        return True
    return [ts, *map(spelled, texts)] != list(labels)


class Checkpoint(Struct, frozen=True):
    """The newest record that was pruned: the first one that is left continues from its hash."""

    id: int = 0
    hash: str = FIRST


NOTHING = Checkpoint()
"""Where a chain begins if nothing was pruned from it."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(AuditEntry).decode
_decode_record = msgspec.json.Decoder(AuditRecord).decode


def decode_entry(data: msgspec.Raw | bytes) -> AuditEntry:
    return _decode(bytes(data))


def encode_record(record: AuditRecord) -> bytes:
    """As one line, for an export. The entry keeps every byte, so that its hash can be checked."""
    return _encode(record)


def decode_record(line: bytes) -> AuditRecord:
    return _decode_record(line)


def hash_of(id: int, previous: str, data: bytes) -> str:
    from hashlib import sha256

    return sha256(b"%d\n%s\n%s" % (id, previous.encode(), data)).hexdigest()


def seal(last: Checkpoint, entry: AuditEntry) -> AuditRecord:
    """The record that follows the last one."""
    data = _encode(entry)
    id = last.id + 1
    return AuditRecord(id, last.hash, hash_of(id, last.hash, data), msgspec.Raw(data))


def head_of(record: AuditRecord) -> Checkpoint:
    return Checkpoint(record.id, record.hash)


def head_text(head: Checkpoint) -> str:
    """As people write it down: `2315:9f86d0…`."""
    return f"{head.id}:{head.hash}"


def read_head(text: str) -> Checkpoint:
    """Raises ValueError if it is not `ID:HASH`."""
    id, _, hash = text.partition(":")
    if not (id.isascii() and id.isdigit() and re.fullmatch(r"[0-9a-f]{64}", hash)):
        raise ValueError(f"a head is a number and a hash, as `assent audit verify` prints it: not {text!r}")
    return Checkpoint(int(id), hash)


class Verified(Struct, frozen=True):
    """What a check of the chain found."""

    records: int
    head: Checkpoint
    problems: tuple[str, ...]


class ChainCheck:
    """Checks records one by one, in order, from a checkpoint on.

    `known` are heads that were noted earlier, perhaps on another machine: the chain must still contain them.
    """

    def __init__(self, start: Checkpoint = NOTHING, known: Iterable[Checkpoint] = ()) -> None:
        self._start = self._at = start
        self._known = {head.id: head.hash for head in known if head.id > start.id}
        self._count = 0
        self._is_founded = start.id == 0
        """Whether a record says that everything up to the start was pruned."""
        self._problems: list[str] = []

    def add(self, record: AuditRecord) -> None:
        self._count += 1
        self._problems += _problems(self._at, record)
        if self._known.pop(record.id, record.hash) != record.hash:
            self._problems.append(f"record {record.id} is not the one whose head was noted")
        self._is_founded |= _founds(record, self._start)
        self._at = head_of(record)

    def result(self, last_id: int = 0) -> Verified:
        """`last_id`: how many records there were, according to another count."""
        return Verified(self._count, self._at, (*self._problems, *self._missing(last_id)))

    def _missing(self, last_id: int) -> Iterator[str]:
        if not self._is_founded:
            yield "the oldest records are missing, and no record says that they were pruned"
        if last_id > self._at.id:
            yield f"the last record is {self._at.id}, but there were {last_id}: the end is missing"
        for id in self._known:
            yield f"record {id}, whose head was noted, is missing"


def _founds(record: AuditRecord, start: Checkpoint) -> bool:
    """Whether it says that everything up to the start was pruned."""
    if b"audit.pruned" not in bytes(record.data) or not record.is_readable:
        return False
    return (record.entry.kind, record.entry.reference) == ("audit.pruned", head_text(start))


def _problems(last: Checkpoint, record: AuditRecord) -> Iterator[str]:
    if record.id != last.id + 1:
        yield f"record {record.id} follows record {last.id}: records are missing or out of order"
    elif record.previous != last.hash:
        yield f"record {record.id} does not continue record {last.id}: one of them was replaced"
    if hash_of(record.id, record.previous, bytes(record.data)) != record.hash:
        yield f"record {record.id} was changed"
