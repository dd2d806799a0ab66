"""Moves bytes between two sockets until both sides are done, and counts them.

A side that stops sending may still listen: the end of one direction is passed on, and the other goes on.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Coroutine

from msgspec import Struct

from assent.proxy.tls_hello import HelloCheck

_BLOCK = 262_144


class Traffic(Struct):
    """Bytes so far, as the program in the sandbox sees them."""

    sent: int = 0
    received: int = 0


async def relay_tunnel(
    client: socket.socket, server: socket.socket, early: bytes, check: HelloCheck, traffic: Traffic
) -> None:
    """Everything, in both directions. Raises OSError or WrongName; then the connection must be closed."""
    up = asyncio.ensure_future(_upwards(client, server, early, check, traffic))
    down = asyncio.ensure_future(_downwards(server, client, traffic))
    try:
        await asyncio.gather(up, down)
    finally:
        await _end(up, down)


async def relay_request(
    client: socket.socket, server: socket.socket, request: AsyncIterator[bytes], traffic: Traffic
) -> None:
    """One request, and whatever the server replies until it closes the connection. Raises as `relay_tunnel` does, or
    whatever `request` raises.
    """
    up = asyncio.ensure_future(_request(server, request, traffic))
    down = asyncio.ensure_future(_downwards(server, client, traffic))
    try:
        await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
        if up.done():
            up.result()
        await down
    finally:
        await _end(up, down)


async def _end(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _request(server: socket.socket, request: AsyncIterator[bytes], traffic: Traffic) -> None:
    async for piece in request:
        await _send(server, piece, traffic)


async def _upwards(
    client: socket.socket, server: socket.socket, early: bytes, check: HelloCheck, traffic: Traffic
) -> None:
    loop = asyncio.get_running_loop()
    block = memoryview(bytearray(_BLOCK))
    if early:
        await _send(server, check.feed(early), traffic)
    while size := await loop.sock_recv_into(client, block):
        await _send(server, block[:size] if check.passed else check.feed(bytes(block[:size])), traffic)
        await asyncio.sleep(0)  # a fast sender must not occupy the loop
    await _send(server, check.end(), traffic)
    _finish(server)


def _send(server: socket.socket, data: bytes | memoryview, traffic: Traffic) -> Coroutine[None, None, None]:
    traffic.sent += len(data)
    return asyncio.get_running_loop().sock_sendall(server, data)


async def _downwards(server: socket.socket, client: socket.socket, traffic: Traffic) -> None:
    loop = asyncio.get_running_loop()
    block = memoryview(bytearray(_BLOCK))
    while size := await loop.sock_recv_into(server, block):
        traffic.received += size
        await loop.sock_sendall(client, block[:size])
        await asyncio.sleep(0)
    _finish(client)


def _finish(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        return  # it is already gone
