"""A cluster for chaos tests: its nodes can be killed, frozen, cut off and started again, and so can what they need."""

import asyncio
import os
import random
import signal
from pathlib import Path

import msgspec

from assent.client import Api
from assent.client.http_client import Http
from support import namespaces
from support.chaos_links import Site, Sites
from support.cluster import ServerNode, WorkerNode
from support.postgres_pair import PostgresPair
from support.program import Json, Program
from support.temporal_server import TemporalServer

REQUEST_SECONDS = 5.0
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
"""From Debian's package; without it, clocks are right."""
SKEWS = (-300, -5, 5, 300)
"""Seconds by which the clock of a worker may be wrong."""


class ChaosNode:
    """A server or a worker, at a site of its own."""

    def __init__(self, node: ServerNode | WorkerNode, model: str, database: str, site: Site) -> None:
        self.node, self.links = node, site.links
        self._model = model
        self._places = ("--log", f"postgresql://assent@{site.database}/{database}", "--engine", site.engine)
        if site.place is not None and site.door is not None:
            node.program.launcher = site.place.launcher
            there = (
                ("--listen", site.place.address) if isinstance(node, WorkerNode) else ("--port", str(site.door.port))
            )
            self._places += there
        self.api: Api | None = None
        """Of a server that runs."""

    async def start(self) -> None:
        await asyncio.to_thread(self.node.start, self._model, *self._places)
        if isinstance(self.node, ServerNode):
            found: Json = msgspec.json.decode((self.node.program.home / "serve.json").read_bytes())
            self.api = Api(Http(found["url"], found["token"], timeout=REQUEST_SECONDS))

    async def kill(self) -> None:
        api, self.api = self.api, None
        if api is not None:
            await api.close()
        await asyncio.to_thread(self.node.kill)

    async def replace(self, release: Path | None = None) -> None:
        """As in a rolling upgrade: the balancer sends nothing more, it finishes what it has begun, and starts anew, as
        another release if one is given.
        """
        api, self.api = self.api, None
        self.signal(signal.SIGTERM)
        await asyncio.to_thread(self.node.running.wait)
        await asyncio.to_thread(self.node.kill)  # closes its pipes
        if api is not None:
            await api.close()
        if release is not None:
            self.node.program.env = self.node.program.env | {"PYTHONPATH": str(release)}
        await self.start()

    @property
    def pid(self) -> int:
        return self.node.running.process.pid

    def signal(self, number: signal.Signals) -> None:
        self.node.signal(number)

    def skew(self, seconds: int) -> bool:
        """The clock of the process that is started next; False if this machine cannot pretend."""
        fake = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": f"{seconds:+d}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        plain = {name: value for name, value in self.node.program.env.items() if name not in fake}
        self.node.program.env = plain | (fake if seconds and FAKETIME else {})
        return FAKETIME is not None


class ChaosCluster:
    """In network namespaces where that is possible and CHAOS_NETWORK is not `relays`."""

    def __init__(self, base: Path, chance: random.Random) -> None:
        self.program = Program(base)
        self.chance = chance
        wanted = os.environ.get("CHAOS_NETWORK") != "relays"
        self.network = namespaces.Network() if wanted and namespaces.possible() else None
        self._sites = Sites(self.network)
        engine, *databases = self._sites.start()
        self.postgres = PostgresPair(*databases)
        self.temporal = TemporalServer(base / "temporal.db", engine)
        self.workers: list[ChaosNode] = []
        self.servers: list[ChaosNode] = []

    async def start(self, model: str, *, workers: int, servers: int) -> None:
        await asyncio.to_thread(self.postgres.create)
        await asyncio.to_thread(self.temporal.start)
        for number in range(workers + servers):
            made = WorkerNode if number < workers else ServerNode
            site = await self._sites.site(self.postgres, self.temporal)
            node = ChaosNode(made(self.program, f"node{number}"), model, self.postgres.database, site)
            (self.workers if number < workers else self.servers).append(node)
            await node.start()

    @property
    def nodes(self) -> list[ChaosNode]:
        return [*self.workers, *self.servers]

    async def any_api(self) -> Api:
        """A server that is not known to be dead; it may be frozen or cut off."""
        while not (there := [node.api for node in self.servers if node.api is not None]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return self.chance.choice(there)

    async def end(self) -> None:
        for node in self.nodes:
            await node.kill()
        await asyncio.to_thread(self.temporal.stop)
        await asyncio.to_thread(self.postgres.remove)
        await self._sites.end()
