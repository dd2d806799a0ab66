"""Google's Application Default Credentials: tokens for Vertex AI from a file that Google's own programs use as well.

The file belongs to a service account, or to a person (`gcloud auth application-default login`). A service account's
private key never leaves this machine: it signs a request for a token (RFC 7523). A token is kept until it expires.
"""

import asyncio
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from assent.files.regular_file import NotPlain, read_plain
from assent.models.failure_signs import read_error
from assent.models.model_protocol import AuthFailed, BadRequest, ModelError, Transient
from assent.models.proxy import proxy_for
from assent.models.streaming_client import HttpClient, parse_origin
from assent.models.wire_json import BAD_JSON

FILE_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
TOKEN_URL = "https://oauth2.googleapis.com/token"
LIFETIME = 3600
EARLY = 120
"""Seconds before the end of a token at which it is replaced."""
_ON_BEHALF = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_FORM = (("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"))


class CredentialsFile(Struct, frozen=True, kw_only=True):
    type: str = ""
    token_uri: str = ""
    project_id: str = ""
    quota_project_id: str = ""
    client_email: str = ""
    private_key: str = ""
    private_key_id: str = ""
    client_id: str = ""
    client_secret: str = ""
    refresh_token: str = ""

    @property
    def project(self) -> str:
        return self.project_id or self.quota_project_id

    @property
    def url(self) -> str:
        return self.token_uri or TOKEN_URL


class _Token(Struct):
    access_token: str
    expires_in: int = LIFETIME


class _Refused(Struct):
    error: str = ""
    error_description: str = ""


def credentials_path(env: Mapping[str, str]) -> Path | None:
    """Where Google's programs look for it; None if there is none."""
    if named := env.get(FILE_VARIABLE, "").strip():
        return Path(named)
    folder = env.get("CLOUDSDK_CONFIG", "").strip() or f"{env.get('HOME', '')}/.config/gcloud"
    path = Path(folder, "application_default_credentials.json")
    return path if path.is_file() else None


def read_credentials(path: Path) -> CredentialsFile:
    """Raises AuthFailed."""
    try:
        found = msgspec.json.decode(read_plain(path), type=CredentialsFile)
    except (OSError, NotPlain, *BAD_JSON) as error:
        raise AuthFailed(f"cannot read the credentials in {path}: {error}") from error
    if found.type not in ("service_account", "authorized_user"):
        raise AuthFailed(
            f"{path} has credentials of the kind {found.type!r}; Assent can use service accounts and the result of\n"
            "`gcloud auth application-default login`. For others, let gcloud create tokens: see [keys] in the guide."
        )
    return found


class TokenSource:
    def __init__(self, file: CredentialsFile, env: Mapping[str, str], clock: Callable[[], float] = time.time) -> None:
        """Raises BadRequest if the file would send its secrets over an open connection."""
        self._file = file
        self._clock = clock
        self._http = HttpClient(_checked(file.url), proxy_for(file.url, env))
        self._token = ""
        self._until = 0.0
        self._asking = asyncio.Lock()

    async def token(self) -> str:
        """Raises ModelError."""
        async with self._asking:
            if self._clock() >= self._until:
                await self._renew()
            return self._token

    def drop(self, refused: str) -> bool:
        """The provider refused this token; whether another may help."""
        if refused != self._token or not refused:
            return False
        self._until = 0.0
        return True

    async def close(self) -> None:
        await self._http.close()

    async def _renew(self) -> None:
        now = self._clock()
        path = "/" + self._file.url.partition("://")[2].partition("/")[2]
        async with await self._http.post(path, _FORM, urlencode(self._grant(int(now))).encode()) as response:
            body = await response.read_all()
        if response.status != 200:
            raise _failure(response.status, response.headers, body)
        try:
            found = msgspec.json.decode(body, type=_Token)
        except BAD_JSON as error:
            raise AuthFailed(f"{self._http.host} sent no token") from error
        self._token, self._until = found.access_token, now + found.expires_in - EARLY

    def _grant(self, now: int) -> dict[str, str]:
        file = self._file
        if file.type == "service_account":
            return {"grant_type": _ON_BEHALF, "assertion": signed_request(file, now)}
        return {
            "grant_type": "refresh_token",
            "client_id": file.client_id,
            "client_secret": file.client_secret,
            "refresh_token": file.refresh_token,
        }


def signed_request(file: CredentialsFile, now: int) -> str:
    """A JWT that asks for a token. Raises AuthFailed."""
    try:
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ModuleNotFoundError as error:
        raise AuthFailed("a service account needs the extra `vertex`: pip install 'assent[vertex]'") from error
    try:
        key = load_pem_private_key(file.private_key.encode(), None)
    except (ValueError, TypeError) as error:
        raise AuthFailed("the private key of the service account cannot be read") from error
    if not isinstance(key, RSAPrivateKey):
        raise AuthFailed("the private key of the service account is not an RSA key")
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    head = {"alg": "RS256", "typ": "JWT", "kid": file.private_key_id}
    claims = {"iss": file.client_email, "scope": SCOPE, "aud": file.url, "iat": now, "exp": now + LIFETIME}
    text = f"{_encoded(msgspec.json.encode(head))}.{_encoded(msgspec.json.encode(claims))}"
    return f"{text}.{_encoded(key.sign(text.encode(), PKCS1v15(), SHA256()))}"


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _checked(url: str) -> str:
    from assent.http.loopback import is_loopback

    origin = parse_origin(url)
    if origin.scheme != "https" and not is_loopback(origin.host):
        raise BadRequest(f"the credentials name {url}, which is not encrypted: others could read your secrets")
    return f"{origin.scheme}://{url.partition('://')[2].partition('/')[0]}"


def _failure(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """The endpoint speaks OAuth: `{"error": "invalid_grant", "error_description": …}`."""
    if status >= 500 or status == 429:
        return Transient(f"Google issued no token (status {status})", read_error(status, headers, body).wait)
    try:
        refused = msgspec.json.decode(body, type=_Refused)
    except BAD_JSON:
        refused = _Refused()
    said = ": ".join(word for word in (refused.error, refused.error_description) if word) or f"status {status}"
    return AuthFailed(
        f"Google refused these credentials: {said}\n"
        "Run `gcloud auth application-default login` again, or check the file that "
        f"{FILE_VARIABLE} names."
    )
