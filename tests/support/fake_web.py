"""A web on loopback: real servers, real TLS, and a name server with scripted answers.

Every public address leads to the same two servers (port 443 to the one with TLS); everything dialled, looked up and
requested is recorded. A page is the raw bytes of its response; `HANG` at its end keeps the connection open.
"""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Self

from assent.web.fetch import FetchLimits, Web
from support.raw_server import Server

PUBLIC = "93.184.216.34"
HANG = b"<hang>"


def page(body: bytes | str, type_: str = "text/plain", status: str = "200 OK", **headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    fields = {"Content-Type": type_, "Content-Length": str(len(data))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode() + data


def sends_to(location: str, status: str = "302 Found") -> bytes:
    return page("", status=status, Location=location)


class _Site(Server):
    def __init__(self, web: "FakeWeb", tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self._web = web

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self._web.heads.append(head)
        self._web.asked.set()
        answer = self._web.answer(head)
        writer.write(answer.removesuffix(HANG))
        await writer.drain()
        if answer.endswith(HANG):
            await reader.read()  # until the client leaves
            self._web.left.set()
        writer.close()
        await writer.wait_closed()


class FakeWeb:
    def __init__(
        self, pages: dict[str, bytes] | bytes, tls: ssl.SSLContext | None = None, limits: FetchLimits | None = None
    ) -> None:
        """`pages`: by host and path, such as `page.example/a`; or one for everything."""
        self._pages = pages
        self._tls = tls
        self._ports: dict[int, int] = {}
        self.names: dict[str, list[Sequence[str]]] = {}
        """DNS answers, one after the other, the last one forever; otherwise PUBLIC."""
        self.dead: set[str] = set()
        """Addresses that refuse connections."""
        self.looked_up: list[str] = []
        self.dialled: list[tuple[str, int]] = []
        self.heads: list[str] = []
        self.asked, self.left = asyncio.Event(), asyncio.Event()
        """Set when the first request has arrived, and when a client has left a hanging page."""
        self.now = 0.0
        self.web = Web(self._resolve, self.dial, limits, clock=lambda: self.now)

    async def __aenter__(self) -> Self:
        self._stack = await AsyncExitStack().__aenter__()
        self._ports[80] = (await self._stack.enter_async_context(_Site(self))).port
        if self._tls is not None:
            self._ports[443] = (await self._stack.enter_async_context(_Site(self, self._tls))).port
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def answer(self, head: str) -> bytes:
        if isinstance(self._pages, bytes):
            return self._pages
        path = head.split()[1]
        host = next(line[6:] for line in head.split("\r\n") if line.startswith("Host: "))
        return self._pages.get(host + path, page("no such page", status="404 Not Found"))

    async def _resolve(self, host: str) -> Sequence[str]:
        self.looked_up.append(host)
        answers = self.names.get(host, [[PUBLIC]])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def dial(self, address: str, port: int) -> socket.socket:
        self.dialled.append((address, port))
        if address in self.dead:
            raise ConnectionRefusedError
        sock = socket.socket()
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", self._ports.get(port, self._ports[80])))
        return sock
