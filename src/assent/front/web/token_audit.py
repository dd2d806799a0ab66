"""How the audit describes what happens to a token: by its id, never by the token itself."""

import time
from typing import Literal

from assent.app.audit_access import AuditEntry
from assent.front.web.access_tokens import TokenRecord

TokenAct = Literal["login.succeeded", "logout", "token.created", "token.revoked"]


def token_entry(kind: TokenAct, record: TokenRecord, by: str) -> AuditEntry:
    about = f"{record.kind} token of {record.name}, {record.role}"
    return AuditEntry(kind=kind, ts=time.time(), by=by, owner=record.owner, about=about, reference=record.id)
