"""The audit, for front ends: what is recorded, how it is read and checked, and how long it is kept."""

import time

from assent.audit import (
    AuditEntry,
    AuditRecord,
    ChainCheck,
    Checkpoint,
    Verified,
    decode_record,
    encode_record,
    head_text,
    read_head,
)
from assent.config import AuditSettings
from assent.session.audit_log import AuditLog, AuditQuery, all_records, check

__all__ = (
    "AuditEntry",
    "AuditLog",
    "AuditQuery",
    "AuditRecord",
    "ChainCheck",
    "Checkpoint",
    "Verified",
    "all_records",
    "check",
    "decode_record",
    "encode_record",
    "head_text",
    "prune",
    "read_head",
)


async def prune(audit: AuditLog, settings: AuditSettings, by: str) -> int:
    """Removes what is older than the settings say. Returns how many records it removed."""
    if settings.keep_days is None:
        return 0
    return await audit.prune(time.time() - settings.keep_days * 86_400, by)
