"""One request and its response, as the log sees them: an id that the client gets as well, and one line at the end."""

import re
import secrets
import time
from collections.abc import MutableMapping
from typing import Any

from assent.front.web.access_tokens import Principal
from assent.front.web.server_log import ServerLog

EXCHANGE = "assent.exchange"
"""The scope key for the exchange, set by the access control."""
REQUEST_ID = b"x-request-id"
CLIENT_GONE = 499
"""The usual status, in logs only, of a request whose client left before the response."""
REFUSALS = (400, 401, 403, 408, 413, 415, 421, 429)
"""What attackers and broken programs get."""
QUIET = ("/healthz", "/readyz", "/metrics", "/favicon.ico")
"""What monitoring asks for all the time."""
_GIVEN = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SESSION = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{16}")
_MAX_SEGMENT = 30
"""Longer parts of a path are cut: someone may have put a token there."""


class Exchange:
    def __init__(self, log: ServerLog, request_id: str) -> None:
        self.log, self.id = log, request_id
        self.started = time.monotonic()
        self.status = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def finished(
        self, scope: MutableMapping[str, Any], address: str, principal: Principal | None, *, is_flood: bool
    ) -> None:
        """The access log. A flood of refusals gets only a few lines, because it could fill the disk."""
        status = self.status or CLIENT_GONE
        told = self.log.debug if is_flood else self._told(scope["path"], status)
        told(
            "request",
            request_id=self.id,
            method=scope["method"],
            path=shown_path(scope["path"]),
            status=status,
            ms=round(self.seconds * 1000, 1),
            address=address,
            by=None if principal is None else principal.name,
            token=None if principal is None else principal.token_id,
        )

    def _told(self, path: str, status: int) -> Any:
        if status >= 500:
            return self.log.error
        if status in REFUSALS:
            return self.log.warning
        is_quiet = path in QUIET or path == "/" or path.startswith("/page/")
        return self.log.debug if is_quiet and status < 400 else self.log.info


def request_id(headers: list[tuple[bytes, bytes]], *, trusts_proxy: bool) -> str:
    """The one that our proxy gave it, so that both logs agree; otherwise a new one. A client cannot choose it."""
    given = dict(headers).get(REQUEST_ID, b"") if trusts_proxy else b""
    return given.decode() if _GIVEN.fullmatch(given) else secrets.token_hex(8)


def shown_path(path: str) -> str:
    """Without the query, and without long parts that may be secret."""
    return "/".join(_shown(part) for part in path[:500].split("/"))


def _shown(part: str) -> str:
    return part if len(part) <= _MAX_SEGMENT or _SESSION.fullmatch(part) else f"{part[:8]}..."
