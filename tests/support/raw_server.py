"""Two tiny servers for what a well-behaved provider never does: one sends given bytes, one is a CONNECT proxy."""

import asyncio
import re
import ssl
from typing import Self


class Server:
    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.serve(reader, writer))
        self._tasks.add(task)
        try:
            await asyncio.gather(task, return_exceptions=True)
        finally:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class RawServer(Server):
    """Reads a request, sends the bytes, `block` of them in each write, and closes; without bytes it sends nothing."""

    def __init__(self, answer: bytes | None, block: int = 1 << 20) -> None:
        super().__init__()
        self._answer = answer
        self._block = block

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._answer is None:
            await asyncio.Event().wait()
            return
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        await reader.readexactly(int(length[1]) if length else 0)
        for place in range(0, len(self._answer), self._block):
            writer.write(self._answer[place : place + self._block])
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()
        await writer.wait_closed()


class FakeProxy(Server):
    """Sends every CONNECT to the same port of this machine, or refuses with the given status."""

    def __init__(self, target_port: int, status: int = 200) -> None:
        super().__init__()
        self._target_port, self._status = target_port, status
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 %d Fake\r\n\r\n" % self._status)
        if self._status != 200:
            writer.close()
            return await writer.wait_closed()
        there, back = await asyncio.open_connection("127.0.0.1", self._target_port)
        try:
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        finally:
            back.transport.abort()
        return None


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while block := await source.read(65536):
        target.write(block)
        await target.drain()
    target.transport.abort()
