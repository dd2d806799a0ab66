"""The worker's end of the bus: sends every event of every session that runs here to each connected server.

A line is the number of the newest durable event so far, a space, and the event in its wire format. The events are also
in the log, where a server reads what it missed. So nothing waits for a slow server: it is disconnected.
"""

import asyncio
import secrets
from contextlib import suppress

from assent.bus.worker_directory import ANNOUNCE_SECONDS, WorkerAddress, WorkerDirectory
from assent.events import Envelope, to_wire
from assent.session.log import LogError

MAX_BEHIND = 8_000_000
"""Bytes that may wait for one server."""
GREETING_SECONDS = 5.0


class EventPublisher:
    def __init__(self, directory: WorkerDirectory, host: str, port: int = 0) -> None:
        self._directory, self._host, self._port = directory, host, port
        self._servers: set[asyncio.StreamWriter] = set()
        self._newest: dict[str, int] = {}
        self._listener: asyncio.Server | None = None
        self._announcing: asyncio.Task[None] | None = None
        self.address = WorkerAddress(host, port, secrets.token_urlsafe(32))

    @property
    def servers(self) -> int:
        """How many are connected."""
        return len(self._servers)

    async def start(self) -> None:
        self._listener = await asyncio.start_server(self._serve, self._host, self._port)
        port = self._listener.sockets[0].getsockname()[1]
        self.address = WorkerAddress(self._host, port, self.address.secret)
        self._announcing = asyncio.create_task(self._announce())

    async def close(self) -> None:
        if self._listener is None or self._announcing is None:
            return
        self._announcing.cancel()
        await asyncio.gather(self._announcing, return_exceptions=True)
        self._listener.close()
        for server in list(self._servers):
            server.close()
        with suppress(LogError):
            await self._directory.withdraw(self.address)

    def on_event(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        if envelope.seq:
            self._newest[envelope.session] = envelope.seq
        if not self._servers:
            return
        line = b"%d %s\n" % (self._newest.get(envelope.session, 0), to_wire(envelope))
        for server in list(self._servers):
            if server.transport.get_write_buffer_size() > MAX_BEHIND:
                self._servers.discard(server)
                server.transport.abort()
            else:
                server.write(line)

    def forget(self, session: str) -> None:
        """It no longer runs here."""
        self._newest.pop(session, None)

    async def _announce(self) -> None:
        while True:
            with suppress(LogError):  # the database cannot be reached; the next attempt may succeed
                await self._directory.announce(self.address)
            await asyncio.sleep(ANNOUNCE_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                given = (await reader.readline()).rstrip(b"\n")
            if not secrets.compare_digest(given, self.address.secret.encode()):
                return
            writer.write(b"\n")  # from now on, it hears everything
            self._servers.add(writer)
            await reader.read()  # until the server is gone
        except (OSError, TimeoutError, ValueError):
            pass
        finally:
            self._servers.discard(writer)
            writer.close()
