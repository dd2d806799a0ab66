"""The in-memory implementation of the audit, with the same chain."""

import time

from assent.audit import AuditEntry, AuditRecord, Checkpoint, head_of, head_text, seal
from assent.session.audit_log import AuditQuery


class MemoryAudit:
    def __init__(self) -> None:
        self._records: list[AuditRecord] = []
        self._start = Checkpoint()

    def add(self, entry: AuditEntry) -> AuditRecord:
        record = seal(head_of(self._records[-1]) if self._records else self._start, entry)
        self._records.append(record)
        return record

    async def record(self, entry: AuditEntry) -> AuditRecord:
        return self.add(entry)

    async def find(self, query: AuditQuery) -> list[AuditRecord]:
        return [record for record in reversed(self._records) if _matches(record, query)][: query.limit]

    async def read(self, after: int, limit: int) -> list[AuditRecord]:
        return [record for record in self._records if record.id > after][:limit]

    async def checkpoint(self) -> Checkpoint:
        return self._start

    async def last_id(self) -> int:
        return self._records[-1].id if self._records else self._start.id

    async def mislabelled(self) -> list[int]:
        return []

    async def prune(self, before: float, by: str) -> int:
        kept = [place for place, record in enumerate(self._records) if record.entry.ts >= before]
        gone = min([*kept, len(self._records) - 1])
        if gone <= 0:
            return 0
        start, first = head_of(self._records[gone - 1]), self._start.id
        about = f"{start.id - first} records, up to record {start.id}"
        self.add(AuditEntry(kind="audit.pruned", ts=time.time(), by=by, about=about, reference=head_text(start)))
        self._start, self._records = start, self._records[gone:]
        return gone


def _matches(record: AuditRecord, query: AuditQuery) -> bool:
    entry = record.entry
    return (
        (query.before is None or record.id < query.before)
        and query.owner in (None, entry.owner)
        and query.session in ("", entry.session)
        and entry.kind.startswith(query.kind)
        and entry.by.startswith(query.by)
    )
