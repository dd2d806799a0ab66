"""One dialled connection: send a request, receive a reply, release; and messages for failures."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from assent.http import Broken, NoReply, Silent
from assent.http.body import body_for
from assent.http.head import Head, HeadParser

if TYPE_CHECKING:
    import ssl

BLOCK = 1 << 18


class Connection:
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, timeout: float | None
    ) -> None:
        """`timeout`: seconds without a byte; None for a peer that may be silent for long."""
        self._reader, self._writer = reader, writer
        self._host, self._timeout = host, timeout
        self.rested_since: float | None = None
        """When it became idle; None before its first use."""

    @property
    def usable(self) -> bool:
        return not self._writer.is_closing() and not self._reader.at_eof()

    async def request(self, data: bytes, method: str) -> "Reply":
        """Send a whole request and wait for the head of the reply."""
        await self.send(data)
        return Reply(self, await self.read_head(method))

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        try:
            async with asyncio.timeout(self._timeout):
                await self._writer.drain()
        except TimeoutError:
            raise Silent(f"{self._host} did not accept the request within {self._timeout:g} s") from None
        except OSError as error:
            raise NoReply(f": {reason(error)}") from error

    async def read(self) -> bytes:
        """The next block, or b"" at the end."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._reader.read(BLOCK)
        except TimeoutError:
            raise Silent(f"{self._host} sent nothing for {self._timeout:g} s") from None

    async def read_head(self, method: str) -> Head:
        """The head of the response to a request with this method."""
        parser = HeadParser(self._host, method)
        while True:
            try:
                block = await self.read()
            except OSError as error:
                raise self._ended(parser, f": {reason(error)}") from error
            if not block:
                raise self._ended(parser)
            if (head := parser.feed(block)) is not None:
                return head

    def _ended(self, parser: HeadParser, why: str = "") -> Broken | NoReply:
        return (
            Broken(f"{self._host} closed the connection in the middle of its reply{why}")
            if parser.begun
            else NoReply(why)
        )

    async def read_body(self) -> bytes:
        """The next block of a response whose head has arrived; b"" at the end."""
        try:
            return await self.read()
        except Silent as silence:
            raise Broken(f"{silence}, in the middle of its reply") from None
        except OSError as error:
            raise Broken(f"{self._host} closed the connection in the middle of its reply: {reason(error)}") from error

    async def start_tls(self, context: "ssl.SSLContext", host: str) -> None:
        await self._writer.start_tls(context, server_hostname=host)

    def abort(self) -> None:
        """At once, without the TLS close handshake: a peer that does not answer it would delay us by half a minute."""
        self._writer.transport.abort()

    async def closed(self) -> None:
        with suppress(OSError):
            await self._writer.wait_closed()


class Reply:
    """A response whose head has arrived. `read` returns the body piece by piece."""

    def __init__(self, connection: Connection, head: Head) -> None:
        self._connection, self._head, self._rest = connection, head, head.rest
        self._body = body_for(head.status, head.headers)
        self.status, self.headers = head.status, head.headers

    async def read(self) -> bytes | None:
        """The next piece of the body, never empty; None after the last. A truncated body raises Broken."""
        while not self._body.done:
            block, self._rest = self._rest, b""
            block = block or await self._connection.read_body()
            if not block:
                self._body.end()
                return None
            if data := self._body.feed(block):
                return data
        return None

    @property
    def leaves_clean(self) -> bool:
        """Whether the whole body was read and the connection can be reused."""
        return self._head.keeps and self._body.done and self._body.clean


def reason(error: OSError) -> str:
    """Why a connection failed, in words."""
    match type(error).__name__:
        case "gaierror":
            return "its name cannot be resolved"
        case "SSLCertVerificationError":
            return f"its certificate is not trusted ({getattr(error, 'verify_message', error)})"
        case "ConnectionRefusedError":
            return "connection refused"
        case "ConnectionResetError" | "BrokenPipeError":
            return "connection reset"
        case _:
            return error.strerror or str(error)
