"""The network of one running command: its proxy, who judges its connections, and the report about them at the end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.tools.tool import Live
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination

if TYPE_CHECKING:
    from assent.proxy.proxy_server import ConnectionJudge
    from assent.proxy.sandbox_port import SandboxPort
    from assent.web.dial import Dial
    from assent.web.urls import Resolver

MAX_SHOWN = 20
"""Hosts that are listed with the output of a command."""

MAX_CONNECTIONS = 10_000
"""Of one command: each is recorded."""


class _Host(Struct):
    """What is known about one host and port."""

    connections: int = 0
    sent: int = 0
    received: int = 0
    refused: str = ""
    problem: str = ""


class NetworkAccess:
    """The proxy's keeper. `entries` are the domains that were allowed with the command."""

    def __init__(self, live: Live, entries: tuple[str, ...]) -> None:
        self._live = live
        self._entries = entries
        self._hosts: dict[Destination, _Host] = {}
        self._waiting = 0

    @property
    def is_waiting(self) -> bool:
        """A person is being asked."""
        return self._waiting > 0

    async def judge(self, number: int, wanted: Destination) -> Access:
        if number > MAX_CONNECTIONS:
            return Access(False, f"the command has made {MAX_CONNECTIONS:,} connections, which is the limit")
        self._waiting += 1
        try:
            access = await self._live.may_connect(number, wanted, self._entries)
        finally:
            self._waiting -= 1
        if not access.allowed:
            self._host(wanted).refused = access.reason
        return access

    def ended(self, number: int, wanted: Destination, end: ConnectionEnd) -> None:
        host = self._host(wanted)
        host.connections += bool(end.address)
        host.sent += end.sent
        host.received += end.received
        host.problem = end.problem if not end.address else ""
        self._live.connection_ended(number, end)

    def _host(self, wanted: Destination) -> _Host:
        return self._hosts.setdefault(wanted, _Host())

    def for_person(self) -> str:
        """A line for each host; empty if there was no connection."""
        lines = [f"[network: {wanted}, {_outcome(host)}]\n" for wanted, host in self._hosts.items()]
        more = len(lines) - MAX_SHOWN
        return "".join(lines[:MAX_SHOWN]) + (f"[network: {more} more hosts]\n" if more > 0 else "")

    def refusals(self) -> dict[Destination, str]:
        """Where it could not connect because it must not, and why."""
        return {wanted: host.refused for wanted, host in self._hosts.items() if host.refused}

    def notes(self) -> list[str]:
        """For the model. A refusal was a verdict, so asking for the same again is pointless."""
        return [
            f"The sandbox refused the connection to {wanted}: {reason.rstrip('.')}."
            for wanted, reason in list(self.refusals().items())[:MAX_SHOWN]
        ]


def _outcome(host: _Host) -> str:
    if host.refused and not host.connections:
        return f"refused: {host.refused}"
    if host.problem and not host.connections:
        return host.problem
    times = "1 connection" if host.connections == 1 else f"{host.connections} connections"
    return f"{times}, {host.sent:,} bytes sent, {host.received:,} received"


@asynccontextmanager
async def proxied(
    port: "SandboxPort | None",
    access: "ConnectionJudge",
    resolve: "Resolver | None" = None,
    dial: "Dial | None" = None,
) -> AsyncGenerator[None]:
    """Runs the proxy behind the sandbox's port while this is open; closes all its connections at the end."""
    if port is None:
        yield
        return
    task = asyncio.ensure_future(_serve(port, access, resolve, dial))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        port.close()


async def _serve(
    port: "SandboxPort", access: "ConnectionJudge", resolve: "Resolver | None", dial: "Dial | None"
) -> None:
    from assent.proxy.proxy_server import Proxy
    from assent.web import dial as network

    proxy = Proxy(access, resolve or network.resolve, dial or network.dial)
    await proxy.serve(await port.listening())
