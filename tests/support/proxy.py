"""A small TLS reverse proxy, as a person would put in front of the server."""

import asyncio
import re
import ssl
from contextlib import suppress

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Proxy:
    """Appends the client's address (from `client`) to the request's own header, as proxies do."""

    def __init__(self, context: ssl.SSLContext, client: str = "203.0.113.9") -> None:
        self._context = context
        self.client = client
        self.behind = 0
        """The port of the server behind it."""
        self.strips = ""
        """The path that it removes from the beginning of every request."""

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        return self._server.sockets[0].getsockname()[1]

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection("127.0.0.1", self.behind)
        back = asyncio.create_task(_pump(answers, writer))
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                head = head.replace(f" {self.strips}/".encode(), b" /", 1) if self.strips else head
                requests.write(head[:-2] + f"X-Forwarded-For: {self.client}\r\n\r\n".encode())
                if length := _LENGTH.search(head):
                    requests.write(await reader.readexactly(int(length[1])))
                await requests.drain()
        requests.close()
        await back


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(65_536):
            writer.write(block)
            await writer.drain()
    writer.close()
