"""How a node of a chaos test reaches what it needs, and how it stops doing so.

With network namespaces, each node is on a machine of its own, and the network is cut. Without (who runs the test is not
root), each node goes through relays that hold back the bytes.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from support.namespaces import Network, Place
from support.postgres_pair import PostgresMember, PostgresPair
from support.relay import Relay
from support.temporal_server import TemporalServer


class Link(Protocol):
    def cut(self) -> None: ...
    def heal(self) -> None: ...


class Route(Struct):
    """From one place to some addresses."""

    place: Place
    addresses: list[str]

    def cut(self) -> None:
        for address in self.addresses:
            self.place.lose(address)

    def heal(self) -> None:
        for address in self.addresses:
            self.place.find(address)


class Relays(Struct):
    relays: list[Relay]

    def cut(self) -> None:
        for relay in self.relays:
            relay.cut()

    def heal(self) -> None:
        for relay in self.relays:
            relay.heal()


class Site(Struct):
    """Where a node is: what cuts it off, where the database (all hosts of it) and Temporal are for it."""

    links: dict[str, Link]
    database: str
    engine: str
    place: Place | None = None
    door: Relay | None = None
    """Where clients reach a server, whatever became of its links."""


class Sites:
    """Makes them, and what they use."""

    def __init__(self, network: Network | None) -> None:
        self._network = network
        self._relays: list[Relay] = []

    def start(self) -> tuple[Place | None, Place | None, Place | None]:
        """The places of Temporal and of two database servers."""
        if self._network is None:
            return None, None, None
        self._network.start()
        return self._network.place(), self._network.place(), self._network.place()

    async def site(self, pair: PostgresPair, temporal: TemporalServer) -> Site:
        if self._network is None:
            return await self._behind_relays(pair, temporal)
        place, databases = self._network.place(), [member.host for member in pair.members]
        routes: dict[str, Link] = {
            "postgres": Route(place, databases),
            "temporal": Route(place, [str(urlsplit(temporal.url).hostname)]),
            "everyone": place,
        }
        door = await self._relay(lambda: place.dial(door.port))
        return Site(routes, ",".join(databases), temporal.url, place, door)

    async def _behind_relays(self, pair: PostgresPair, temporal: TemporalServer) -> Site:
        databases = [await self._relay(self._to_socket(member)) for member in pair.members]
        engine = await self._relay(lambda: asyncio.open_connection("127.0.0.1", temporal.port))
        links: dict[str, Link] = {
            "postgres": Relays(databases),
            "temporal": Relays([engine]),
            "everyone": Relays([*databases, engine]),
        }
        hosts = ",".join(f"127.0.0.1:{relay.port}" for relay in databases)
        return Site(links, hosts, f"temporal://127.0.0.1:{engine.port}/default")

    @staticmethod
    def _to_socket(member: PostgresMember) -> Callable[[], "asyncio.Future[object]"]:
        socket = str(member.folder / ".s.PGSQL.5432")
        return lambda: asyncio.open_unix_connection(socket)  # pyright: ignore

    async def _relay(self, dial: Callable[[], object]) -> Relay:
        relay = Relay(dial)  # pyright: ignore
        await relay.start()
        self._relays.append(relay)
        return relay

    async def end(self) -> None:
        for relay in self._relays:
            await relay.close()
        if self._network is not None:
            self._network.end()
