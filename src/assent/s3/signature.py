"""AWS Signature Version 4, as the S3 API uses it: proves who sends a request, without sending the secret.

Pure functions: the time comes from the caller.
"""

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

ALGORITHM = "AWS4-HMAC-SHA256"
_SAFE = "-._~"


class Credentials(Struct, frozen=True):
    key_id: str
    secret: str
    session_token: str = ""


class Request(Struct, frozen=True, kw_only=True):
    method: str
    host: str
    """With the port, if it is not the usual one."""
    path: str
    """Not encoded."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    body: bytes = b""


def encoded_path(path: str) -> str:
    return quote(path, safe=f"/{_SAFE}")


def encoded_query(query: Mapping[str, str]) -> str:
    return "&".join(f"{quote(name, safe=_SAFE)}={quote(value, safe=_SAFE)}" for name, value in sorted(query.items()))


def signed_headers(request: Request, region: str, credentials: Credentials, when: str) -> dict[str, str]:
    """All headers to send. `when` is the time in UTC: `20261118T120000Z`."""
    payload = hashlib.sha256(request.body).hexdigest()
    headers = {name.lower(): value for name, value in request.headers.items()}
    headers |= {"host": request.host, "x-amz-content-sha256": payload, "x-amz-date": when}
    if credentials.session_token:
        headers["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(headers))
    scope = f"{when[:8]}/{region}/s3/aws4_request"
    canonical = "\n".join(
        (
            request.method,
            encoded_path(request.path),
            encoded_query(request.query),
            *(f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)),
            "",
            names,
            payload,
        )
    )
    to_sign = "\n".join((ALGORITHM, when, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    signature = hmac.new(_signing_key(credentials.secret, scope), to_sign.encode(), hashlib.sha256).hexdigest()
    proof = f"{ALGORITHM} Credential={credentials.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return headers | {"authorization": proof}


def _signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
