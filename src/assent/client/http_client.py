"""Talks to one server over `assent.http`: requests with complete responses, and streams read as they arrive."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from msgspec import Struct

from assent.http import HttpError, NoReply
from assent.http.connection import BLOCK, Connection, reason
from assent.http.connection import Reply as Arriving
from assent.http.head import Headers, request_head
from assent.http.loopback import is_loopback

UNAUTHORIZED = 401
SILENCE_TIMEOUT = 45.0
"""Seconds after which a silent stream counts as broken: three times the server's longest silence."""


class Unreachable(OSError):
    """The server cannot be reached, or the connection broke; the message names it."""


class Reply(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes


class Http:
    """Keeps one idle connection; concurrent requests get connections of their own."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timeout: float = 30.0,
        ca: str | None = None,
        renew: Callable[[], str] | None = None,
    ) -> None:
        """`ca` is a file with the certificates to trust instead of the system's; `renew` returns the current token, for
        a server that has a new one after each start. Raises ValueError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not a valid URL: it must start with http:// or https:// and contain a host")
        if token and parts.scheme == "http" and not is_loopback(parts.hostname):
            raise ValueError(f"{url} must use https, because your token would be sent unencrypted")
        self.url = url.rstrip("/")
        self._host, self._secure = parts.hostname, parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._timeout = timeout
        self._context = _trusting(ca) if self._secure and ca is not None else None
        self._idle: Connection | None = None
        self._open: set[Connection] = set()
        self.closed = False
        self._name, self._token, self._renew = parts.netloc, token, renew
        self._base = parts.path.rstrip("/")
        """The path under which a proxy serves it."""

    @property
    def _always(self) -> Headers:
        return (("Host", self._name), *((("Authorization", f"Bearer {self._token}"),) if self._token else ()))

    def _is_old(self, reply: Reply | Arriving) -> bool:
        """The token was refused and there is a new one: the request had no effect, so it can be repeated."""
        before = self._token
        if reply.status == UNAUTHORIZED and self._renew is not None:
            self._token = self._renew() or before
        return self._token != before

    async def request(self, method: str, path: str, body: bytes = b"", headers: Headers = ()) -> Reply:
        """Retries once on a new connection if the server closed the idle one and repeating does no harm."""
        reply = await self._once(method, path, body, headers)
        return await self._once(method, path, body, headers) if self._is_old(reply) else reply

    async def _once(self, method: str, path: str, body: bytes, headers: Headers) -> Reply:
        sent = [*self._always, *headers]
        if body or method in ("POST", "PATCH"):
            sent += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        repeatable = method in ("GET", "DELETE") or any(name == "Idempotency-Key" for name, _ in headers)
        with self._in_our_words():
            data = request_head(method, self._base + path, sent) + body
            async with asyncio.timeout(self._timeout):
                return await self._request(data, method, repeatable)

    async def _request(self, data: bytes, method: str, repeatable: bool) -> Reply:
        reused, self._idle = self._idle, None
        if reused is not None:
            try:
                return await self._exchange(reused, data, method)
            except (ConnectionError, HttpError):
                if not repeatable:
                    raise
        return await self._exchange(await self._connect(), data, method)

    async def _exchange(self, connection: Connection, data: bytes, method: str) -> Reply:
        keep = False
        try:
            reply = await connection.request(data, method)
            body = await _whole(reply)
            keep = reply.leaves_clean and self._idle is None
        finally:
            if not keep:
                self._drop(connection)
        if keep:
            self._idle = connection
        return Reply(reply.status, reply.headers, body)

    async def stream(self, path: str, headers: Headers = ()) -> AsyncGenerator[Reply | bytes, None]:
        """First the reply (with a body only if it is an error), then the blocks as they arrive."""
        with self._in_our_words():
            data = request_head("GET", self._base + path, [*self._always, *headers])
            async with asyncio.timeout(self._timeout):
                connection = await self._connect()
            try:
                async with asyncio.timeout(self._timeout):
                    reply = await connection.request(data, "GET")
                if self._is_old(reply):
                    raise Unreachable(f"{self.url} was restarted")
                good = reply.status == 200
                yield Reply(reply.status, reply.headers, b"" if good else await _whole(reply))
                while good and (block := await _within(SILENCE_TIMEOUT, reply)) is not None:
                    yield block
            finally:
                self._drop(connection)

    async def _connect(self) -> Connection:
        if self._secure and self._context is None:
            self._context = ssl.create_default_context()  # the system's, or SSL_CERT_FILE
        reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._context, limit=BLOCK)
        connection = Connection(reader, writer, self._host, None)
        self._open.add(connection)
        return connection

    def _drop(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.abort()

    async def close(self) -> None:
        self.closed = True
        for connection in list(self._open):
            self._drop(connection)
        self._idle = None

    @contextmanager
    def _in_our_words(self) -> Generator[None, None, None]:
        try:
            yield
        except Unreachable:
            raise
        except TimeoutError:
            raise Unreachable(f"{self.url} did not answer within {self._timeout:g} s") from None
        except NoReply as failed:
            raise Unreachable(f"{self.url} closed the connection without a reply{failed}") from failed
        except HttpError as error:
            raise Unreachable(f"{self.url} does not speak HTTP as expected: {error}") from error
        except ssl.SSLCertVerificationError as error:
            trust = "give a file with certificates to trust: --ca FILE, or SSL_CERT_FILE"
            raise Unreachable(f"cannot reach {self.url}: {reason(error)}; {trust}") from error
        except OSError as error:
            raise Unreachable(f"cannot reach {self.url}: {reason(error)}") from error


def _trusting(ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"cannot read certificates from {ca}: {error.strerror or error}") from error


async def _within(seconds: float, reply: Arriving) -> bytes | None:
    async with asyncio.timeout(seconds):
        return await reply.read()


async def _whole(reply: Arriving) -> bytes:
    body = bytearray()
    while (block := await reply.read()) is not None:
        body += block
    return bytes(body)
