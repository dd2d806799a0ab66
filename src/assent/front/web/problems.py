"""The API's errors: problem details (RFC 9457) with a stable type and a sentence for people."""

from typing import Any

import msgspec

STATUS = {
    "bad-request": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not-found": 404,
    "method-not-allowed": 405,
    "too-slow": 408,
    "refused": 409,
    "already-decided": 409,
    "busy": 409,
    "gone": 410,
    "digest-differs": 412,
    "too-large": 413,
    "not-json": 415,
    "misdirected": 421,
    "invalid": 422,
    "too-many-requests": 429,
    "internal": 500,
    "unavailable": 503,
}
MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """`more` are additional members of the problem, e.g. `by`."""

    def __init__(self, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.kind = kind
        self.status = STATUS[kind]
        self.more = more

    def encode(self, request_id: str = "") -> bytes:
        title = self.kind.replace("-", " ").capitalize()
        head = {"type": f"urn:assent:{self.kind}", "title": title, "status": self.status, "detail": str(self)}
        request = {"request_id": request_id} if request_id else {}
        return msgspec.json.encode(head | self.more | request)


class ProblemShape(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a problem looks like, for the API's description."""

    type: str
    title: str
    status: int
    detail: str
    by: str = ""
    digest: str = ""
    request_id: str = ""
    """The same as in the header `X-Request-ID` and in the server's log."""


def kind_of(status: int) -> str:
    """The problem type for a bare status."""
    found = next((kind for kind, code in STATUS.items() if code == status), None)
    return found or ("internal" if status >= 500 else "bad-request")
