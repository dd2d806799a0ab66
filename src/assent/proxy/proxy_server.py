"""The proxy of one sandbox: takes connections, has each judged, resolves and dials, and moves the bytes.

    proxy = Proxy(judge)
    await proxy.serve(listening)        # until it is cancelled; then all its connections are closed

A name is resolved only after the verdict, and only addresses that were judged are dialled, so that no lookup leaks
anything, and no later DNS answer leads elsewhere.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from assent.http.connection import reason
from assent.proxy.client_request import BadRequest, ClientRequest, Forward, Outcome, http_reply, read_request
from assent.proxy.relay import Traffic, relay_request, relay_tunnel
from assent.proxy.tls_hello import HelloCheck, WrongName
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination, why_unreachable
from assent.web.dial import Dial, dial, first_that_answers, resolve
from assent.web.hosts import is_address
from assent.web.urls import Resolver


class ProxyLimits(Struct, frozen=True, kw_only=True):
    request_seconds: float = 30.0
    """Seconds for a program to send its request."""
    connect_seconds: float = 20.0
    connections: int = 256
    """At the same time."""
    reply_seconds: float = 5.0
    """Seconds for a program to read a refusal."""
    end_seconds: float = 0.3
    """Seconds for connections to end on their own after the program has exited."""


class ConnectionJudge(Protocol):
    """Decides about connections, and records them."""

    async def judge(self, number: int, wanted: Destination) -> Access:
        """It may take as long as a person takes to answer. The verdict is recorded when this returns."""
        ...

    def ended(self, number: int, wanted: Destination, end: ConnectionEnd) -> None:
        """Called only for a connection that was allowed."""
        ...


class _Unreachable(Exception):
    """The message says why. `refused`: because of what its address is."""

    def __init__(self, reason: str, outcome: Outcome = "unreachable") -> None:
        super().__init__(reason)
        self.outcome: Outcome = outcome


class Proxy:
    def __init__(
        self, judge: ConnectionJudge, resolve: Resolver = resolve, dial: Dial = dial, limits: ProxyLimits | None = None
    ) -> None:
        self._judge = judge
        self._resolve = resolve
        self._dial = dial
        self._limits = limits or ProxyLimits()
        self._count = 0
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        try:
            while True:
                client, _ = await loop.sock_accept(listening)
                client.setblocking(False)
                task = loop.create_task(self._attend(client))
                self._open.add(task)
                task.add_done_callback(self._open.discard)
        finally:
            listening.close()
            await self.close()

    async def close(self) -> None:
        if self._open:
            await asyncio.wait(list(self._open), timeout=self._limits.end_seconds)
        open_now = list(self._open)
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)

    async def _attend(self, client: socket.socket) -> None:
        with client, suppress(OSError):  # the program has closed the connection
            if len(self._open) > self._limits.connections:
                await self._say(client, http_reply("busy", "too many connections at the same time"))
                return
            try:
                async with asyncio.timeout(self._limits.request_seconds):
                    request = await read_request(client)
            except BadRequest as error:
                await self._say(client, error.reply)
                return
            if request is not None:
                await self._serve(client, request)

    async def _serve(self, client: socket.socket, request: ClientRequest) -> None:
        self._count += 1
        number, wanted = self._count, request.wanted
        access = await self._judge.judge(number, wanted)
        if not access.allowed:
            await self._say(client, request.reply("refused", f"no connection to {wanted}: {access.reason}"))
            return
        traffic, address, problem = Traffic(), "", "it was cut off when the command ended"
        try:
            server = await self._reach(wanted, access)
            with server:
                address = str(server.getpeername()[0])
                await self._relay(client, server, request, traffic)
            problem = ""
        except _Unreachable as error:
            problem = str(error)
            await self._say(client, request.reply(error.outcome, problem))
        except (WrongName, BadRequest) as error:
            problem = str(error)
        except OSError as error:
            problem = reason(error)
        finally:
            end = ConnectionEnd(sent=traffic.sent, received=traffic.received, address=address, problem=problem)
            self._judge.ended(number, wanted, end)

    async def _relay(
        self, client: socket.socket, server: socket.socket, request: ClientRequest, traffic: Traffic
    ) -> None:
        if isinstance(request, Forward):
            await relay_request(client, server, _whole(request), traffic)
            return
        await asyncio.get_running_loop().sock_sendall(client, request.reply("accepted"))
        host = request.wanted.host
        await relay_tunnel(client, server, request.early, HelloCheck("" if is_address(host) else host), traffic)

    async def _reach(self, wanted: Destination, access: Access) -> socket.socket:
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                addresses = await self._addresses(wanted, access)
                return await first_that_answers(addresses, wanted.port, self._dial)
        except TimeoutError:
            raise _Unreachable(f"{wanted} did not answer in time") from None
        except OSError as error:
            raise _Unreachable(f"cannot reach {wanted}: {reason(error)}") from error

    async def _addresses(self, wanted: Destination, access: Access) -> Sequence[str]:
        found = [wanted.host] if is_address(wanted.host) else await self._resolve(wanted.host)
        if why := why_unreachable(wanted, found, access.entries):
            raise _Unreachable(f"no connection to {wanted}: {why}", "refused")
        return found

    async def _say(self, client: socket.socket, reply: bytes) -> None:
        """Reads what the program still sends: with unread bytes, it would not get the reply."""
        loop = asyncio.get_running_loop()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(self._limits.reply_seconds):
                await loop.sock_sendall(client, reply)
                client.shutdown(socket.SHUT_WR)
                while await loop.sock_recv(client, 65_536):
                    pass


async def _whole(request: Forward) -> AsyncIterator[bytes]:
    yield request.head
    async for piece in request.body.pieces():
        yield piece
