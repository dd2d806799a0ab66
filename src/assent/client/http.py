"""HTTP/1.1 to one server: requests that are answered whole, and a response that is read as it comes."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import h11
from msgspec import Struct

BLOCK = 1 << 16
Headers = Sequence[tuple[str, str]]


class Unreachable(OSError):
    """The server cannot be reached, or the connection broke; the message names it."""


class Reply(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.http = h11.Connection(h11.CLIENT)

    async def begin(self, method: str, target: str, headers: Headers, body: bytes) -> h11.Response:
        self._send(h11.Request(method=method, target=target, headers=list(headers)))
        if body:
            self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        await self.writer.drain()
        event = await self.next()
        while isinstance(event, h11.InformationalResponse):
            event = await self.next()
        if not isinstance(event, h11.Response):
            raise ConnectionResetError("closed without a reply")
        return event

    def _send(self, event: "h11.Request | h11.Data | h11.EndOfMessage") -> None:
        self.writer.write(self.http.send(event) or b"")

    async def next(self) -> object:
        while (event := self.http.next_event()) is h11.NEED_DATA:
            self.http.receive_data(await self.reader.read(BLOCK))
        return event

    async def body(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self.next(), h11.Data):
            yield bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionResetError("closed in the middle of the reply")

    def abort(self) -> None:
        with suppress(Exception):
            self.writer.transport.abort()


class Http:
    """Keeps one idle connection; requests at the same time get connections of their own."""

    def __init__(self, url: str, token: str = "", *, timeout: float = 30.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not an address: it must start with http:// or https:// and name a host")
        self.url = url.rstrip("/")
        self._host, self._secure = parts.hostname, parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._timeout = timeout
        self._idle: _Connection | None = None
        self._open: set[_Connection] = set()
        self.closed = False
        self._always: Headers = (("Host", parts.netloc), *((("Authorization", f"Bearer {token}"),) if token else ()))

    async def request(self, method: str, path: str, body: bytes = b"", headers: Headers = ()) -> Reply:
        """A connection that the server closed while it was idle is replaced, once."""
        sent = [*self._always, *headers]
        if body or method in ("POST", "PATCH"):
            sent += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        try:
            async with asyncio.timeout(self._timeout):
                return await self._request(method, path, sent, body)
        except TimeoutError:
            raise Unreachable(f"{self.url} did not answer within {self._timeout:g} s") from None
        except (OSError, h11.ProtocolError) as error:
            raise Unreachable(f"cannot reach {self.url}: {error}") from error

    async def _request(self, method: str, path: str, headers: Headers, body: bytes) -> Reply:
        reused, self._idle = self._idle, None
        if reused is not None:
            try:
                return await self._exchange(reused, method, path, headers, body)
            except (ConnectionError, h11.ProtocolError):
                if method not in ("GET", "DELETE") and not any(name == "Idempotency-Key" for name, _ in headers):
                    raise
        return await self._exchange(await self._connect(), method, path, headers, body)

    async def _exchange(self, connection: _Connection, method: str, path: str, headers: Headers, body: bytes) -> Reply:
        try:
            head = await connection.begin(method, path, headers, body)
            received = b"".join([block async for block in connection.body()])
            keep = connection.http.our_state is h11.DONE and connection.http.their_state is h11.DONE
        except BaseException:
            self._drop(connection)
            raise
        if keep and self._idle is None:
            connection.http.start_next_cycle()
            self._idle = connection
        else:
            self._drop(connection)
        return Reply(head.status_code, _decoded(head), received)

    async def stream(self, path: str, headers: Headers = ()) -> AsyncGenerator[Reply | bytes, None]:
        """First the reply (with its body only when it is an error), then the blocks as they come."""
        try:
            async with asyncio.timeout(self._timeout):
                connection = await self._connect()
                head = await connection.begin("GET", path, [*self._always, *headers], b"")
        except (OSError, TimeoutError, h11.ProtocolError) as error:
            raise Unreachable(f"cannot reach {self.url}: {error}") from error
        try:
            failed = b"".join([block async for block in connection.body()]) if head.status_code != 200 else b""
            yield Reply(head.status_code, _decoded(head), failed)
            if head.status_code == 200:
                async for block in connection.body():
                    yield block
        except (OSError, h11.ProtocolError) as error:
            raise Unreachable(f"{self.url} closed the stream: {error}") from error
        finally:
            self._drop(connection)

    async def _connect(self) -> _Connection:
        context = ssl.create_default_context() if self._secure else None
        reader, writer = await asyncio.open_connection(self._host, self._port, ssl=context, limit=BLOCK * 4)
        connection = _Connection(reader, writer)
        self._open.add(connection)
        return connection

    def _drop(self, connection: _Connection) -> None:
        self._open.discard(connection)
        connection.abort()

    async def close(self) -> None:
        self.closed = True
        for connection in list(self._open):
            self._drop(connection)
        self._idle = None


def _decoded(head: h11.Response) -> dict[str, str]:
    return {bytes(name).decode("latin-1"): bytes(value).decode("latin-1") for name, value in head.headers}
