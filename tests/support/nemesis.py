"""What goes wrong in a chaos test: at random, by a seed, and made good again after a while."""

import asyncio
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from support.chaos_cluster import SKEWS, ChaosCluster, ChaosNode

HOLD = (0.5, 8.0)
"""Seconds for which something stays broken."""
PAUSE = (0.5, 4.0)
PAUSE_OF_SERVICES = (10.0, 30.0)


class Nemesis:
    def __init__(self, cluster: ChaosCluster) -> None:
        self._cluster, self._chance = cluster, cluster.chance
        self.counts: Counter[str] = Counter()
        self._starting = asyncio.Lock()
        """A node that finds no database when it starts ends, and needs someone who starts it again."""

    async def run(self, seconds: float) -> None:
        """When it returns, nothing is broken any more."""
        until = asyncio.get_running_loop().time() + seconds
        services = [self._restart_postgres, self._restart_temporal, self._fail_over]
        if self._cluster.network is not None:
            services.append(self._fail_over_by_partition)
        await asyncio.gather(
            self._harm(until, PAUSE, [self._kill, self._kill, self._freeze, self._freeze, self._cut, self._skew]),
            self._harm(until, PAUSE_OF_SERVICES, services),
        )

    async def _harm(
        self, until: float, pause: tuple[float, float], harms: Sequence[Callable[[], Awaitable[None]]]
    ) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            await asyncio.sleep(min(self._chance.uniform(*pause), max(0.0, until - loop.time())))
            await self._chance.choice(harms)()

    def _count(self, what: str, node: ChaosNode) -> None:
        self.counts[f"{what} of a {'worker' if node in self._cluster.workers else 'server'}"] += 1

    async def _hold(self) -> None:
        await asyncio.sleep(self._chance.uniform(*HOLD))

    async def _kill(self) -> None:
        node = self._chance.choice(self._cluster.nodes)
        self._count("kill -9", node)
        await node.kill()
        await self._hold()
        await self._start(node)

    async def _freeze(self) -> None:
        node = self._chance.choice(self._cluster.nodes)
        self._count("SIGSTOP", node)
        node.signal(signal.SIGSTOP)
        await self._hold()
        node.signal(signal.SIGCONT)

    async def _cut(self) -> None:
        """From the database, from Temporal, or from everyone."""
        node = self._chance.choice(self._cluster.nodes)
        name = self._chance.choice(sorted(node.links))
        self._count(f"partition ({name})", node)
        node.links[name].cut()
        await self._hold()
        node.links[name].heal()

    async def _skew(self) -> None:
        """A worker is replaced by one whose clock is wrong."""
        node = self._chance.choice(self._cluster.workers)
        if node.skew(self._chance.choice(SKEWS)):
            self._count("clock skew", node)
        await node.kill()
        await self._start(node)
        node.skew(0)

    async def _start(self, node: ChaosNode) -> None:
        async with self._starting:
            await node.start()

    async def _restart_postgres(self) -> None:
        self.counts["restart of PostgreSQL"] += 1
        async with self._starting:
            await asyncio.to_thread(self._cluster.postgres.stop, "immediate")
            await asyncio.sleep(self._chance.uniform(0, 4))
            await asyncio.to_thread(self._cluster.postgres.start)

    async def _restart_temporal(self) -> None:
        self.counts["restart of Temporal"] += 1
        async with self._starting:
            await asyncio.to_thread(self._cluster.temporal.stop)
            await asyncio.sleep(self._chance.uniform(0, 4))
            await asyncio.to_thread(self._cluster.temporal.start)

    async def _fail_over(self) -> None:
        """The primary dies, and the standby takes its place."""
        self.counts["fail-over of PostgreSQL (crash)"] += 1
        async with self._starting:
            pair = self._cluster.postgres
            await asyncio.to_thread(pair.wait_until_in_sync)
            await asyncio.to_thread(pair.stop, "immediate")
            await asyncio.sleep(self._chance.uniform(0, 2))
            await asyncio.to_thread(pair.take_over)
            await asyncio.to_thread(pair.rebuild)

    async def _fail_over_by_partition(self) -> None:
        """The primary is cut off and keeps running, alone, while the standby takes its place. Before the network is
        back, someone has to see to it that the old one is down."""
        self.counts["fail-over of PostgreSQL (partition)"] += 1
        async with self._starting:
            pair = self._cluster.postgres
            await asyncio.to_thread(pair.wait_until_in_sync)
            old = pair.primary
            assert old.place is not None
            old.place.cut()
            await asyncio.sleep(self._chance.uniform(0, 4))
            await asyncio.to_thread(pair.take_over)
            await self._hold()
            await asyncio.to_thread(old.stop, "immediate")
            old.place.heal()
            await asyncio.to_thread(pair.rebuild)
