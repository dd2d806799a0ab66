"""What the server does from time to time: prunes the audit, writes its head to the log, and removes old lock files."""

import asyncio
import time
from collections.abc import Callable

from assent.app.audit_access import AuditLog, AuditQuery, Checkpoint, head_text, prune
from assent.app.session_log import LogError
from assent.config import AuditSettings
from assent.front.web.server_log import ServerLog

HEAD_INTERVAL = 60.0
PRUNE_INTERVAL = 24 * 3600.0


class Housekeeping:
    def __init__(self, audit: AuditLog, settings: Callable[[], AuditSettings], by: str, log: ServerLog) -> None:
        self._audit, self._settings, self._by, self._log = audit, settings, by, log
        self._logged = 0

    async def run(self) -> None:
        """Until cancelled."""
        pruned_at = -PRUNE_INTERVAL
        while True:
            try:
                if time.monotonic() - pruned_at >= PRUNE_INTERVAL:
                    pruned_at = time.monotonic()
                    await self.prune()
                await self.log_head()
            except LogError as error:
                self._log.error("audit", detail=str(error))
            await asyncio.sleep(HEAD_INTERVAL)

    async def prune(self) -> None:
        if gone := await prune(self._audit, self._settings(), self._by):
            self._log.info("audit.pruned", records=gone)

    async def log_head(self) -> None:
        """With the head in a log kept elsewhere, nobody can remove the end of the audit without being noticed."""
        newest = await self._audit.find(AuditQuery(limit=1))
        if newest and newest[0].id != self._logged:
            self._logged = newest[0].id
            self._log.info("audit.head", head=head_text(Checkpoint(newest[0].id, newest[0].hash)))
