"""Access control: every request passes through here first. Raw ASGI, so that nothing can bypass it.

It checks for an exact `Host` (DNS rebinding), an exact `Origin` and `Sec-Fetch-Site` (other pages), JSON bodies only
(forms of other pages), a bearer token even on loopback (other users and programs of this machine), no changes by
programs that Assent itself started, and limits on sizes, rates and numbers. It also sends the headers that keep the
page from running or loading anything but its own files.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any

from msgspec import Struct

from assent.app.session_log import LogError
from assent.front.web.access_tokens import Principal, TokenBook
from assent.front.web.exchange import EXCHANGE, REFUSALS, REQUEST_ID, Exchange, request_id
from assent.front.web.problems import MEDIA_TYPE, Problem
from assent.front.web.request_limits import RateLimit, RequestLimits, logged_refusal_rates, request_rates, source_of
from assent.front.web.server_log import ServerLog
from assent.front.web.token_uses import TokenUses
from assent.front.web.traffic import Traffic

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

API = "/api/v1"
STREAM = f"{API}/stream"
LOGIN = f"{API}/login"
PRINCIPAL = "assent.principal"
"""The scope key for the principal, set by the access control."""
CALLER = "assent.caller"
"""The scope key for the program at the other end, set by the connection."""
READING = ("GET", "HEAD", "OPTIONS")

SECRET_NAMES = (b"token", b"access_token", b"auth_token", b"bearer", b"authorization", b"code")
CSP = (  # blob: is for images that the page itself makes from data; trusted types allow the service worker alone
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types assent-worker"
)
HEADERS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class Place(Struct, frozen=True):
    """How clients reach us: the exact values allowed for `Host` and `Origin`."""

    hosts: frozenset[str]
    origins: frozenset[str]
    secure: bool = False
    is_behind_proxy: bool = False
    base: str = ""
    """The path below which clients see us; a proxy may pass it on or remove it."""


def place_of(scheme: str, names: Iterable[str], port: int) -> Place:
    default = port == (443 if scheme == "https" else 80)
    brackets = [f"[{name}]" if ":" in name else name for name in map(str.lower, names)]  # as clients write it
    hosts = {f"{name}:{port}" for name in brackets} | (set(brackets) if default else set[str]())
    return Place(frozenset(hosts), frozenset(f"{scheme}://{host}" for host in hosts), scheme == "https")


class AccessControl:
    def __init__(
        self,
        app: App,
        place: Place,
        tokens: TokenBook,
        uses: TokenUses,
        limits: RequestLimits,
        traffic: Traffic,
        log: ServerLog,
        rates: RateLimit | None = None,
    ) -> None:
        self._app = app
        self.place = place
        self._tokens = tokens
        self._uses = uses
        self._limits = limits
        self._rates = rates or request_rates(limits)
        self._refusals = logged_refusal_rates(limits)
        self._under_way = 0
        self._traffic = traffic
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(self._without_base(scope), receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _without_base(self, scope: Scope) -> Scope:
        """Everything behind this knows only our own paths."""
        path, base = scope["path"], self.place.base
        if base and path.startswith(f"{base}/"):
            scope["path"] = path.removeprefix(base)
            scope["raw_path"] = scope.get("raw_path", b"").removeprefix(base.encode())
        return scope

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(self._log, request_id(scope["headers"], trusts_proxy=self.place.is_behind_proxy))
        scope[EXCHANGE] = exchange
        answer = self._answer(scope, send, exchange)
        streams = scope["path"] == STREAM
        self._under_way += not streams
        try:
            if self.place.base and scope["path"] == self.place.base:
                await _redirect(answer, f"{self.place.base}/")
                return
            await self._admit(scope)
            await _check_caller(scope)
            await self._app(scope, self._limited(scope, receive), answer)
        except Problem as problem:
            await send_problem(answer, problem, exchange.id)
        finally:
            self._under_way -= not streams
            address = client_address(scope)
            is_flood = exchange.status in REFUSALS and not self._refusals.take(source_of(address))
            exchange.finished(scope, address, scope.get(PRINCIPAL), is_flood=is_flood)

    # --- requests ---

    async def _admit(self, scope: Scope) -> None:
        headers = _headers(scope)
        self._check_place(scope, headers)
        if self._under_way > self._limits.requests:
            raise Problem("unavailable", "too many concurrent requests; try again in a moment")
        _check_query(scope)
        _check_body(scope, headers, self._limit(scope))
        if not is_public(scope["path"]):
            scope[PRINCIPAL] = principal = await self._principal(headers)
            self._uses.note(principal.token_id, client_address(scope))

    def _check_place(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        if headers.get(b"host", b"").decode("latin-1").lower() not in self.place.hosts:
            raise Problem(
                "misdirected", "this server does not have that address; use the one that `assent serve` printed"
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1") not in self.place.origins:
            raise Problem("forbidden", "requests from other pages are refused")
        site = headers.get(b"sec-fetch-site")
        if site not in (None, b"same-origin", b"none") and not _follows_link(scope, headers):
            raise Problem("forbidden", "requests from other pages are refused")

    async def _principal(self, headers: dict[bytes, bytes]) -> Principal:
        kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            raise _no_token()
        try:
            await self._tokens.refresh()  # another server may have issued or revoked it just now
            principal = self._tokens.check(token.strip())
            if principal is None:
                raise _no_token()
            if not await self._rates.allows(principal.token_id):
                raise Problem("too-many-requests", "too many requests; slow down")
        except LogError as error:
            raise Problem("unavailable", "the server cannot check your token now; try again in a moment") from error
        return principal

    def _limit(self, scope: Scope) -> int:
        if scope["path"] == LOGIN:
            return self._limits.login_body
        if scope["path"].endswith("/uploads"):
            return self._limits.upload_body
        large = scope["path"].endswith(("/messages", "/decision", "/prompts"))
        return self._limits.large_body if large else self._limits.body

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """A body is cut off at the limit, whatever its declared length, and must arrive in time: a slow one would hold
        its place forever."""
        left = self._limit(scope)
        until = asyncio.get_running_loop().time() + self._limits.body_seconds
        whole = False

        async def limited() -> Message:
            nonlocal left, whole
            try:
                async with asyncio.timeout_at(None if whole else until):
                    message = await receive()
            except TimeoutError:
                raise Problem(
                    "too-slow", f"the body must arrive within {self._limits.body_seconds:g} seconds"
                ) from None
            if message["type"] == "http.disconnect" and not whole and scope["method"] not in ("GET", "HEAD"):
                raise Problem("bad-request", "the client left before the body was complete")
            whole = not message.get("more_body", False)
            left -= len(message.get("body", b""))
            if left < 0:
                raise Problem("too-large", "the body is too large")
            return message

        return limited

    # --- responses ---

    def _answer(self, scope: Scope, send: Send, exchange: Exchange) -> Send:
        cache = b"no-cache" if is_page(scope["path"]) else b"no-store"
        secure = [(b"strict-transport-security", b"max-age=31536000")] if self.place.secure else []

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = status = message["status"]
                self._traffic.finished(_route(scope), status, exchange.seconds)
                closing = (
                    [(b"connection", b"close")] if status in (408, 413) else []
                )  # the rest of the body may still come
                traced = [(REQUEST_ID, exchange.id.encode())]
                given = [*message.get("headers", [])]
                caching = (
                    [] if is_page(scope["path"]) and _names(given, b"cache-control") else [(b"cache-control", cache)]
                )
                message["headers"] = [*given, *HEADERS, *caching, *traced, *secure, *closing]
            await send(message)

        return answer


def _no_token() -> Problem:
    return Problem("unauthenticated", "a valid token is required: Authorization: Bearer TOKEN")


def client_address(scope: Scope) -> str:
    """For the log; behind a proxy it is the forwarded one, which must at least be a valid address."""
    client = scope.get("client")
    try:
        return str(ip_address(client[0] if client else ""))
    except ValueError:
        return "unknown"


def _route(scope: Scope) -> str:
    """What was asked for, without the ids in it."""
    if is_page(scope["path"]):
        return "page"
    return scope.get("path_template") or (scope["path"] if scope["path"] == STREAM else "other")


def is_page(path: str) -> bool:
    return path in ("/", "/worker.js") or path.startswith("/page/")


def _names(headers: list[tuple[bytes, bytes]], name: bytes) -> bool:
    return any(given == name for given, _ in headers)


def is_public(path: str) -> bool:
    return is_page(path) or path in ("/healthz", "/readyz", "/openapi.json", LOGIN, "/favicon.ico")


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """A duplicate header could be read differently by others: only headers meant to repeat may do so."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in (b"host", b"origin", b"authorization", b"content-type", b"content-length"):
            raise Problem("bad-request", f"the header {name.decode('latin-1')} must not be repeated")
        headers[name] = value
    return headers


async def _check_caller(scope: Scope) -> None:
    """The agent must not answer its own questions. Its commands may only read, as with `assent sessions`."""
    if scope["method"] not in READING and (why := await scope[CALLER].why_refused()):
        raise Problem("forbidden", why)


def _follows_link(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """A person may follow a link to the page from anywhere: it shows them the page and reveals nothing to others."""
    navigates = (headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")) == (b"navigate", b"document")
    return navigates and scope["method"] == "GET" and scope["path"] == "/"


def _check_query(scope: Scope) -> None:
    names = {pair.partition(b"=")[0].lower() for pair in scope["query_string"].split(b"&")}
    if names & set(SECRET_NAMES):
        raise Problem("bad-request", "do not put secrets in the URL, which ends up in logs; use the header")


def _check_body(scope: Scope, headers: dict[bytes, bytes], limit: int) -> None:
    length = headers.get(b"content-length", b"0")
    if not length.isdigit():
        raise Problem("bad-request", "the content length is not a number")
    if int(length) > limit:
        raise Problem("too-large", f"the body is too large: at most {limit:,} bytes")
    has_body = int(length) > 0 or b"transfer-encoding" in headers
    if has_body and scope["method"] in ("GET", "HEAD"):
        raise Problem("bad-request", "this request must not have a body")
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if scope["method"] not in ("GET", "HEAD") and (has_body or kind) and kind != b"application/json":
        raise Problem("not-json", "send JSON: Content-Type: application/json")


async def _redirect(send: Send, to: str) -> None:
    """To the page's own folder, so that its relative addresses work."""
    headers = [(b"location", to.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def send_problem(send: Send, problem: Problem, request_id: str) -> None:
    body = problem.encode(request_id)
    await send({"type": "http.response.start", "status": problem.status, "headers": problem_headers(problem, body)})
    await send({"type": "http.response.body", "body": body})


def problem_headers(problem: Problem, body: bytes) -> list[tuple[bytes, bytes]]:
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if problem.status in (429, 503):
        headers.append((b"retry-after", b"1"))
    return headers
