"""Who may use the server: logging in and out, and the list of tokens, each of which can be revoked.

Every change is recorded in the audit before it takes effect. Knows nothing about HTTP.
"""

import asyncio
import time
from pathlib import Path

from assent.app.audit_access import AuditEntry, AuditLog
from assent.app.storage import Shared
from assent.front.web.access_tokens import (
    BROWSER_SECONDS,
    LoginCodes,
    NewToken,
    Principal,
    TokenRecord,
)
from assent.front.web.api_types import TokenView
from assent.front.web.problems import Problem
from assent.front.web.request_limits import Bucket, RequestLimits, failed_login_rates, request_rates, source_of
from assent.front.web.server_log import ServerLog
from assent.front.web.shared_tokens import SharedLoginCodes, open_tokens, open_uses
from assent.front.web.token_audit import TokenAct, token_entry
from assent.front.web.token_uses import SAVE_INTERVAL

RECORDED_PER_MINUTE = 60
"""Failed logins that are recorded, from all addresses together: nobody can fill the audit from outside."""


class Access:
    def __init__(
        self,
        data: Path,
        audit: AuditLog,
        user: str,
        limits: RequestLimits,
        log: ServerLog,
        shared: Shared | None = None,
    ) -> None:
        """`shared`: what this server has in common with others; without it, everything is in its data folder."""
        records, all_limits = (None, None) if shared is None else (shared.records, shared.limits)
        self.tokens = open_tokens(data, records)
        self.uses = open_uses(data, records)
        self.codes = LoginCodes() if records is None else SharedLoginCodes(records)
        self.request_rates = request_rates(limits, all_limits)
        self._audit, self._user, self._log = audit, user, log
        self.failed_logins = 0
        self._failed = failed_login_rates(limits, all_limits)
        self._recorded = Bucket(RECORDED_PER_MINUTE / 60, RECORDED_PER_MINUTE)

    # --- logging in and out ---

    async def log_in(self, code: str, address: str) -> NewToken:
        """A valid code always works, whatever others tried before; only failures are limited."""
        if not await self.codes.redeem(code):
            await self._refuse(address)
        new = self.tokens.prepare(self._user, "operator", seconds=BROWSER_SECONDS, kind="browser")
        await self._record_token("login.succeeded", new.record, f"{self._user}@{address}")
        self.tokens.add(new.record)
        await self.tokens.settled()
        self.uses.note(new.record.id, address)
        return new

    async def _refuse(self, address: str) -> None:
        self.failed_logins += 1
        if not await self._failed.allows(source_of(address)):
            raise Problem("too-many-requests", "too many failed logins from your address; wait a minute")
        self._log.warning("login.failed", address=address)
        if self._recorded.take():
            await self._audit.record(AuditEntry(kind="login.failed", ts=time.time(), by=f"@{address}"))
        raise Problem(
            "unauthenticated",
            "this code is invalid, used or expired; for a new one, press Enter in `assent serve`, or run: "
            "assent serve login",
        )

    def may_log_in(self, principal: Principal) -> bool:
        """Whether they may log in another browser: only the user who runs the server. A named token may not, whatever
        its name and role, because the login could outlive it and belong to someone else."""
        record = self._find(principal.token_id)
        return record is not None and record.kind != "named"

    def new_code(self, principal: Principal) -> str:
        if not self.may_log_in(principal):
            raise Problem("forbidden", "only the user who runs this server can log in another browser")
        return self.codes.issue()

    async def log_out(self, principal: Principal, by: str) -> None:
        record = self._find(principal.token_id)
        if record is not None:
            await self._record_token("logout", record, by)
            self.tokens.revoke(lambda one: one.id == record.id)
            await self.tokens.settled()

    # --- tokens ---

    def listed(self, principal: Principal) -> list[TokenView]:
        return [self._view(record, principal) for record in self.tokens.records() if _may_manage(principal, record)]

    async def revoke(self, principal: Principal, token_id: str, by: str) -> None:
        record = self._find(token_id)
        if record is None or not _may_manage(principal, record):
            raise Problem("not-found", f"there is no token {token_id}")
        if record.kind == "local":
            raise Problem("refused", "this is the server's own token; it ends when the server stops")
        await self._record_token("token.revoked", record, by)
        self.tokens.revoke(lambda one: one.id == token_id)
        await self.tokens.settled()

    def _find(self, token_id: str) -> TokenRecord | None:
        return next((record for record in self.tokens.records() if record.id == token_id), None)

    def _view(self, record: TokenRecord, principal: Principal) -> TokenView:
        used = self.uses.last(record.id)
        return TokenView(
            id=record.id,
            name=record.name,
            role=record.role,
            owner=record.owner,
            kind=record.kind,
            created_at=record.created_at,
            expires_at=record.expires_at,
            used_at=None if used is None else used.at,
            used_from="" if used is None else used.address,
            current=record.id == principal.token_id,
        )

    # --- the server's own ---

    def announce(self) -> NewToken:
        """A token for this user's other programs, instead of the one of the last start."""
        self.end()
        new = self.tokens.prepare(self._user, "operator", kind="local")
        self.tokens.add(new.record)
        return new

    def end(self) -> None:
        self.tokens.revoke(lambda record: record.kind == "local")
        self.uses.save(record.id for record in self.tokens.records())

    async def keep_saving(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(SAVE_INTERVAL)
            await self.uses.save_aside([record.id for record in self.tokens.records()])

    # --- the audit ---

    async def _record_token(self, kind: TokenAct, record: TokenRecord, by: str) -> None:
        await self._audit.record(token_entry(kind, record, by))
        self._log.info(kind, by=by, token=record.id, name=record.name, kind=record.kind, role=record.role)


def _may_manage(principal: Principal, record: TokenRecord) -> bool:
    """The user who runs the server manages all; other operators only what belongs to their owner."""
    return principal.is_administrator or (principal.may("operator") and principal.owner == record.owner)
