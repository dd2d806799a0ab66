"""Servers on loopback under made-up names: a resolver and a dialler that lead to them, and remember what was asked."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from assent.web import dial as network

PUBLIC = "93.184.216.34"
"""What the made-up names resolve to."""
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A web server that says what it was asked for."""
    head = await reader.readuntil(b"\r\n\r\n")
    body = b"asked for " + head.split()[1] + b"\n"
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    await writer.drain()
    writer.close()


class LocalHosts:
    """Every name is a public address, and every public address is this server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.addresses: dict[str, list[str]] = {}
        """Names that resolve to something else."""
        self.rebinds: dict[str, list[str]] = {}
        """What names resolve to from the second time on."""
        self.resolved: list[str] = []
        self.dialled: list[tuple[str, int]] = []

    async def resolve(self, host: str) -> list[str]:
        self.resolved.append(host)
        found = self.addresses.get(host, [PUBLIC])
        self.addresses |= {host: self.rebinds[host]} if host in self.rebinds else {}
        return found

    async def dial(self, address: str, port: int) -> socket.socket:
        self.dialled.append((address, port))
        return await network.dial("127.0.0.1", self.port)


@asynccontextmanager
async def local_hosts(handler: Handler = hello) -> AsyncGenerator[LocalHosts]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield LocalHosts(server.sockets[0].getsockname()[1])
    finally:
        server.close()
