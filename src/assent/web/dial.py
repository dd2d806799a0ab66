"""Connects: resolves the name, and dials addresses that were judged, never a name.

A second DNS answer can therefore not lead elsewhere (DNS rebinding). The name only goes into the Host header and the
TLS handshake, so that the certificate must belong to the requested host. No proxy is used: it would resolve the name
again, out of our sight.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from assent.http.connection import BLOCK, Connection
from assent.web.urls import Target

if TYPE_CHECKING:
    import ssl

Dial = Callable[[str, int], Awaitable[socket.socket]]
"""From an address and a port to a connected socket, or `OSError`."""

MAX_ADDRESSES = 4
SECONDS_AN_ADDRESS = 5.0


async def resolve(host: str) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


async def dial(address: str, port: int) -> socket.socket:
    from ipaddress import ip_address

    family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET  # a name is an error here
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock


async def first_that_answers(addresses: Sequence[str], port: int, dial: Dial = dial) -> socket.socket:
    """Connected to one of these addresses; raises `OSError`."""
    problem: OSError = OSError("it has no address")
    for address in sorted(addresses, key=lambda address: ":" in address)[:MAX_ADDRESSES]:  # IPv4 works everywhere
        try:
            async with asyncio.timeout(SECONDS_AN_ADDRESS):
                return await dial(address, port)
        except OSError as error:
            problem = error
    raise problem


class Connector:
    def __init__(self, dial: Dial = dial) -> None:
        self._dial = dial
        self._tls: ssl.SSLContext | None = None

    async def connect(self, target: Target, addresses: Sequence[str], idle: float) -> Connection:
        """To the first of these addresses that answers; raises `OSError`. `idle`: seconds without a byte."""
        sock = await first_that_answers(addresses, target.port, self._dial)
        tls = self._tls_context() if target.scheme == "https" else None
        name = target.host if tls else None
        try:
            reader, writer = await asyncio.open_connection(sock=sock, ssl=tls, server_hostname=name, limit=BLOCK)
        except BaseException:
            sock.close()
            raise
        return Connection(reader, writer, target.host, idle)

    def _tls_context(self) -> "ssl.SSLContext":
        if self._tls is None:
            import ssl

            self._tls = ssl.create_default_context()
        return self._tls
