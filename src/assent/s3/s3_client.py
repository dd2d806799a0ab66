"""Requests to a server with the S3 API: signed, one after the other on each connection, over our own HTTP."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from assent.blob_store import BlobUnavailable
from assent.http import HttpError
from assent.http.connection import BLOCK, Connection, reason
from assent.http.head import request_head
from assent.s3.signature import Credentials, Request, encoded_path, encoded_query, signed_headers

TIMEOUT = 20.0
"""Seconds for one request."""
_IDLE = 4
"""Connections that are kept for the next request."""


class Response(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


class S3Client:
    def __init__(self, endpoint: str, region: str, credentials: Credentials, *, timeout: float = TIMEOUT) -> None:
        """Raises ValueError."""
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise ValueError(f"{endpoint!r} is not the URL of a server: write https://HOST or https://HOST:PORT")
        self.endpoint = f"{parts.scheme}://{parts.netloc}"
        self._host, self._name, self._secure = parts.hostname, parts.netloc, parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._region, self._credentials, self._timeout = region, credentials, timeout
        self._idle: list[Connection] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        """In which the idle connections can be used."""
        self._context: ssl.SSLContext | None = None

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """Every request may be repeated, so one on a connection that the server has closed is. Raises
        BlobUnavailable."""
        asked = Request(method=method, host=self._name, path=path, query=query or {}, headers=headers or {}, body=body)
        self._enter(asyncio.get_running_loop())
        try:
            async with asyncio.timeout(self._timeout):
                while self._idle:
                    try:
                        return await self._exchange(self._idle.pop(), asked)
                    except (ConnectionError, HttpError):
                        continue
                return await self._exchange(await self._connect(), asked)
        except TimeoutError:
            raise BlobUnavailable(f"{self.endpoint} did not answer within {self._timeout:g} s") from None
        except HttpError as error:
            raise BlobUnavailable(f"{self.endpoint} does not speak HTTP as expected: {error}") from error
        except OSError as error:
            raise BlobUnavailable(f"cannot reach {self.endpoint}: {reason(error)}") from error

    def _enter(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:
            self._idle.clear()
            self._loop = loop

    async def _exchange(self, connection: Connection, asked: Request) -> Response:
        keep = False
        try:
            reply = await connection.request(self._bytes(asked), asked.method)
            body = bytearray()
            while (block := await reply.read()) is not None:
                body += block
            keep = reply.leaves_clean and len(self._idle) < _IDLE
            return Response(reply.status, reply.headers, bytes(body))
        finally:
            if keep:
                self._idle.append(connection)
            else:
                connection.abort()

    def _bytes(self, asked: Request) -> bytes:
        when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        headers = signed_headers(asked, self._region, self._credentials, when)
        query = encoded_query(asked.query)
        target = encoded_path(asked.path) + (f"?{query}" if query else "")
        sent = [*headers.items(), ("content-length", str(len(asked.body)))]
        return request_head(asked.method, target, sent) + asked.body

    async def _connect(self) -> Connection:
        if self._secure and self._context is None:
            self._context = ssl.create_default_context()
        reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._context, limit=BLOCK)
        return Connection(reader, writer, self._host, None)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().abort()
