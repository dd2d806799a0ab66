"""A TCP relay on loopback that can lose everything, like a network that is cut."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
BLOCK = 65_536


class Relay:
    """While it is cut, connections stay open and nothing gets through, in either direction; new ones wait."""

    def __init__(self, dial: Callable[[], Awaitable[Streams]]) -> None:
        self._dial = dial
        self._whole = asyncio.Event()
        self._whole.set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._whole.clear()

    def heal(self) -> None:
        self._whole.set()

    def lose(self) -> None:
        """The connections of now stay open, and nothing ever comes through them again; new ones work."""
        self._whole.clear()
        self._whole = asyncio.Event()
        self._whole.set()

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        others: list[asyncio.StreamWriter] = [writer]
        whole = self._whole
        try:
            await whole.wait()
            server_reader, server_writer = await self._dial()
            others.append(server_writer)
            pumps = [_pump(reader, server_writer, whole), _pump(server_reader, writer, whole)]
            running = [asyncio.create_task(pump) for pump in pumps]
            try:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)
        except OSError:
            pass  # the server is away: the client's connection ends as well
        finally:
            for each in others:
                each.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, whole: asyncio.Event) -> None:
    with suppress(OSError):
        while block := await reader.read(BLOCK):
            await whole.wait()
            writer.write(block)
            await writer.drain()
        await whole.wait()
