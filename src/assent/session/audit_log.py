"""The port `AuditLog`: where the audit is stored. Records are added, and pruned from the oldest on; never changed."""

from collections.abc import AsyncIterator, Iterable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from assent.audit import AuditEntry, AuditRecord, ChainCheck, Checkpoint, Verified

PAGE_SIZE = 1_000


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Which records to list, newest first."""

    before: int | None = None
    """Only records with a smaller id."""
    limit: int = 100
    owner: str | None = None
    session: str = ""
    kind: str = ""
    """A kind, or the beginning of one: `token`."""
    by: str = ""
    """The beginning of the name of whoever did it."""


class AuditLog(Protocol):
    async def record(self, entry: AuditEntry) -> AuditRecord:
        """Durable when it returns. What happens in sessions is recorded by itself, with its event."""
        ...

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        """Only records that `check` covers: those after the checkpoint."""
        ...

    async def read(self, after: int, limit: int) -> list[AuditRecord]:
        """In order, for an export or a check."""
        ...

    async def checkpoint(self) -> Checkpoint:
        """Where the records begin."""
        ...

    async def last_id(self) -> int:
        """How many records were ever added, as counted apart from the records themselves."""
        ...

    async def mislabelled(self) -> list[int]:
        """The records that are stored under labels that contradict them (`audit.contradicts`)."""
        ...

    async def prune(self, before: float, by: str) -> int:
        """Removes the oldest records, from before that time. The newest always stays. Returns how many it removed."""
        ...


async def all_records(audit: AuditLog) -> AsyncIterator[AuditRecord]:
    """Everything after the checkpoint."""
    at = (await audit.checkpoint()).id
    while page := await audit.read(at, PAGE_SIZE):
        for record in page:
            yield record
        at = page[-1].id


async def check(audit: AuditLog, known: Iterable[Checkpoint] = ()) -> Verified:
    """Checks the whole chain as it is stored."""
    last_id = await audit.last_id()
    chain = ChainCheck(await audit.checkpoint(), known)
    async for record in all_records(audit):
        chain.add(record)
    found = chain.result(last_id)
    wrong = tuple(f"record {id} is listed under labels that contradict it" for id in await audit.mislabelled())
    return replace(found, problems=found.problems + wrong)
