"""A small client for streaming requests over `assent.http`. It knows no provider.

Every failure is a ModelError (see `model_protocol`), with a message that names the host:

    refused, unresolved, TLS, no answer         Unreachable
    reset or silent before the reply began      Transient
    closed or garbled after the reply began     BrokenStream
    a request or an address that cannot be sent BadRequest

A connection has one owner at a time. It goes back to the client only after a complete, well-formed response; anything
else (an error, a cancelled task, a consumer that stops reading) closes it at once.
"""

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from msgspec import Struct

from assent.http import Broken, NoReply, Silent, Unsendable
from assent.http.connection import BLOCK, Connection, Reply, reason
from assent.http.head import Headers, authority, request_head
from assent.http.loopback import is_loopback
from assent.models.model_protocol import BadRequest, BrokenStream, ModelError, Transient, Unreachable
from assent.models.proxy import Proxy

if TYPE_CHECKING:
    import ssl

    from assent.http.decompression import Unpacker

ERROR_BODY_LIMIT = 1 << 16
DECOMPRESSED_LIMIT = 64 << 20
"""The largest size of one block of a compressed body after decompression, in bytes."""


class Timeouts(Struct, frozen=True):
    """Seconds."""

    connect: float = 15.0
    """Until the connection is established, including TLS and the proxy."""
    read: float = 300.0
    """Without a single byte. A model may think for minutes before it sends the first."""
    idle: float = 60.0
    """A connection that was idle for longer is not used again: routers drop it silently."""


class Origin(Struct, frozen=True):
    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        return authority(self.scheme, self.host, self.port)


def parse_origin(url: str) -> Origin:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadRequest(f"{url!r} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadRequest(f"{url!r} is not an address: it must start with http:// or https:// and name a host")
    default = 443 if parts.scheme == "https" else 80
    return Origin(parts.scheme, parts.hostname, port or default, parts.path.rstrip("/"))


class Response:
    """A response whose head has arrived. `read` returns the body in blocks; leaving the `async with` releases it."""

    def __init__(self, client: "HttpClient", connection: Connection, reply: Reply) -> None:
        self._client, self._connection, self._reply = client, connection, reply
        self.status, self.headers = reply.status, reply.headers
        self._unpacker = _unpacker(reply.headers)

    async def read(self) -> bytes | None:
        """The next piece of the body, never empty; None after the last. Raises BrokenStream if the body was cut."""
        with _in_our_words():
            if self._unpacker is None:
                return await self._reply.read()
            return await self._read_decompressed(self._unpacker)

    async def _read_decompressed(self, unpacker: "Unpacker") -> bytes | None:
        while (block := await self._reply.read()) is not None:
            data = unpacker.feed(block, DECOMPRESSED_LIMIT)
            if len(data) == DECOMPRESSED_LIMIT:
                raise Broken("the compressed reply is too large")
            if data:
                return data
        unpacker.end()
        return None

    async def read_all(self, limit: int = ERROR_BODY_LIMIT) -> bytes:
        """For error bodies: at most `limit` bytes; if the body was cut, what came before, instead of a second error."""
        data = bytearray()
        try:
            while len(data) < limit and (block := await self.read()) is not None:
                data += block
        except Transient:
            pass
        return bytes(data[:limit])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the connection; it is closed unless the response is complete."""
        self._client.take_back(self._connection, self._reply.leaves_clean)


class HttpClient:
    """Sends requests to one origin and keeps one idle connection. Concurrent requests get their own connections."""

    def __init__(self, base_url: str, proxy: Proxy | None = None, timeouts: Timeouts | None = None) -> None:
        self._origin = parse_origin(base_url)
        self._proxy = proxy
        self._timeouts = timeouts or Timeouts()
        self._idle: Connection | None = None
        self._open: set[Connection] = set()
        self._tls: ssl.SSLContext | None = None

    @property
    def host(self) -> str:
        return self._origin.host

    @property
    def open_connections(self) -> int:
        """Including the idle one."""
        return len(self._open)

    async def post(self, path: str, headers: Headers, body: bytes) -> Response:
        """Send, and wait for the head. If the server has closed the idle connection meanwhile, it is replaced, once."""
        with _in_our_words():
            return await self._exchange("POST", self._request("POST", path, headers, body))

    async def get(self, path: str, headers: Headers) -> Response:
        """For lists of models and the like."""
        with _in_our_words():
            return await self._exchange("GET", self._request("GET", path, headers, b""))

    async def _exchange(self, method: str, data: bytes) -> Response:
        while True:
            reused = self._take_idle()
            connection = reused or await self._connect()
            try:
                return Response(self, connection, await connection.request(data, method))
            except NoReply as failed:
                self.take_back(connection, keep=False)
                if reused is None:
                    raise Transient(f"{self.host} closed the connection without a reply{failed}") from failed
            except BaseException:
                self.take_back(connection, keep=False)
                raise

    def take_back(self, connection: Connection, keep: bool) -> None:
        """Accept a connection that its owner has finished with."""
        if keep and self._idle is None and connection in self._open:
            connection.rested_since = asyncio.get_running_loop().time()
            self._idle = connection
        else:
            self._open.discard(connection)
            connection.abort()

    async def close(self) -> None:
        """Close everything, including requests in progress."""
        connections, self._open, self._idle = self._open, set[Connection](), None
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.closed()

    # --- one exchange ---

    def _request(self, method: str, path: str, headers: Headers, body: bytes) -> bytes:
        origin = self._origin
        target = origin.path + path
        fields = [("Host", origin.authority), *headers]
        if method == "POST":
            fields.insert(1, ("Content-Length", str(len(body))))
        if self._proxy and origin.scheme == "http":
            target = f"http://{origin.authority}{target}"
            fields += _proxy_login(self._proxy)
        return request_head(method, target, fields) + body

    # --- connecting ---

    def _take_idle(self) -> Connection | None:
        connection, self._idle = self._idle, None
        if connection is None or connection.rested_since is None:
            return None
        rested = asyncio.get_running_loop().time() - connection.rested_since
        if connection.usable and rested < self._timeouts.idle:
            return connection
        self.take_back(connection, keep=False)
        return None

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(self._timeouts.connect):
                if self._proxy and self._origin.scheme == "https":
                    return await self._connect_tunnel(self._proxy)
                return await self._connect_directly()
        except TimeoutError:
            raise Unreachable(f"{self._way()} did not answer within {self._timeouts.connect:g} s") from None
        except OSError as error:
            raise Unreachable(f"cannot reach {self._way()}: {reason(error)}{_own_authority(error)}") from error
        except UnicodeError:
            raise BadRequest(f"{self.host!r} is not the name of a host") from None

    async def _connect_directly(self) -> Connection:
        """To the origin itself, or to the proxy for plain HTTP."""
        if self._proxy:
            return await self._dial(self._proxy.host, self._proxy.port)
        context = self._tls_context() if self._origin.scheme == "https" else None
        return await self._dial(self._origin.host, self._origin.port, context)

    async def _connect_tunnel(self, proxy: Proxy) -> Connection:
        connection = await self._dial(proxy.host, proxy.port)
        try:
            await self._ask_for_tunnel(connection, proxy)
            await connection.start_tls(self._tls_context(), self._origin.host)
        except BaseException:
            self.take_back(connection, keep=False)
            raise
        return connection

    async def _ask_for_tunnel(self, connection: Connection, proxy: Proxy) -> None:
        target = f"{self._origin.host}:{self._origin.port}"
        fields = [("Host", target), *_proxy_login(proxy)]
        try:
            await connection.send(request_head("CONNECT", target, fields))
            head = await connection.read_head("CONNECT")
        except NoReply as failed:
            raise Transient(f"the proxy {proxy.host} closed the connection{failed}") from failed
        if not 200 <= head.status < 300:
            raise _proxy_refusal(proxy, head.status)

    async def _dial(self, host: str, port: int, context: "ssl.SSLContext | None" = None) -> Connection:
        # Happy Eyeballs: without it, a broken IPv6 would use up the whole timeout before IPv4 is tried. This machine
        # answers at once, and asyncio leaves the socket to the garbage collector if it is cancelled as a race ends.
        delay = None if is_loopback(host) else 0.25
        reader, writer = await asyncio.open_connection(host, port, ssl=context, limit=BLOCK, happy_eyeballs_delay=delay)
        connection = Connection(reader, writer, host, self._timeouts.read)
        self._open.add(connection)
        return connection

    def _tls_context(self) -> "ssl.SSLContext":
        if self._tls is None:
            import ssl

            self._tls = ssl.create_default_context()
        return self._tls

    def _way(self) -> str:
        server = self._origin.authority
        return f"{server} through the proxy {self._proxy.host}" if self._proxy else server


def _own_authority(error: OSError) -> str:
    if type(error).__name__ != "SSLCertVerificationError":
        return ""
    return "; if an authority of your own signed it, set SSL_CERT_FILE to that authority's file"


def _unpacker(headers: Mapping[str, str]) -> "Unpacker | None":
    """None for a plain body. Assent asks for one, but a few servers compress anyway."""
    if "content-encoding" not in headers:
        return None
    from assent.http.decompression import unpacker_for

    return unpacker_for(headers)


@contextmanager
def _in_our_words() -> Generator[None, None, None]:
    """Turn an HTTP failure into what it means for a request to a model."""
    try:
        yield
    except Unsendable as error:
        raise BadRequest(str(error)) from error
    except Broken as error:
        raise BrokenStream(str(error)) from error
    except Silent as error:
        raise Transient(str(error)) from error


def _proxy_login(proxy: Proxy) -> list[tuple[str, str]]:
    if proxy.login is None:
        return []
    from binascii import b2a_base64

    token = b2a_base64(proxy.login.encode(), newline=False).decode("ascii")
    return [("Proxy-Authorization", f"Basic {token}")]


def _proxy_refusal(proxy: Proxy, status: int) -> ModelError:
    if status == 407:
        return BadRequest(f"the proxy {proxy.host} requires a login: put user:password@ before its name in HTTPS_PROXY")
    sentence = f"the proxy {proxy.host} refused the connection (status {status})"
    return BadRequest(sentence) if status < 500 else Transient(sentence)
