"""The server's end of the bus: connects to every worker and receives the events of all their sessions.

What a connection missed is in the log, except for live text and output; the event that ends them has them complete.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import msgspec

from assent.bus.worker_directory import WorkerAddress, WorkerDirectory
from assent.events import Envelope, from_wire
from assent.session.log import LogDamaged, LogError

LOOK_SECONDS = 1.0
LONGEST_LINE = 64_000_000

Heard = Callable[[Envelope, int], None]
"""Called with an event and the number of the newest durable event of its session when it happened."""


class EventSubscriber:
    def __init__(self, directory: WorkerDirectory, heard: Heard) -> None:
        self._directory, self._heard = directory, heard
        self._connections: dict[WorkerAddress, asyncio.Task[None]] = {}
        self._looking: asyncio.Task[None] | None = None
        self.connected = 0

    def start(self) -> None:
        self._looking = asyncio.create_task(self._look())

    async def close(self) -> None:
        tasks = [*self._connections.values(), *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            with suppress(LogError):  # the database cannot be reached, but the workers may still be there
                self._keep(set(await self._directory.workers()))
            await asyncio.sleep(LOOK_SECONDS)

    def _keep(self, workers: set[WorkerAddress]) -> None:
        for gone in self._connections.keys() - workers:
            self._connections.pop(gone).cancel()
        for worker in workers:
            task = self._connections.get(worker)
            if task is None or task.done():
                self._connections[worker] = asyncio.create_task(self._listen(worker))

    async def _listen(self, worker: WorkerAddress) -> None:
        """Returns when the connection ends; the next round connects again."""
        try:
            reader, writer = await asyncio.open_connection(worker.host, worker.port, limit=LONGEST_LINE)
        except OSError:
            return
        try:
            writer.write(worker.secret.encode() + b"\n")
            if await reader.readline() == b"\n":
                await self._hear(reader)
        except (OSError, ValueError):  # ValueError: a line without end
            pass
        finally:
            writer.close()

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        self.connected += 1
        try:
            while line := await reader.readline():
                newest, _, event = line.partition(b" ")
                with suppress(LogDamaged, msgspec.MsgspecError):  # an event of a newer version; the log has it
                    self._heard(from_wire(event), int(newest))
        finally:
            self.connected -= 1
