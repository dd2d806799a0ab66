"""A server on loopback that answers questions about itself: a JSON document for each path."""

import asyncio
from typing import Any

import msgspec

from support.raw_server import Server


class FakeCatalog(Server):
    """`answers`: the document, or a function of the request's body. Any other path is 404."""

    def __init__(self, answers: dict[str, Any], status: int = 200, *, hangs: bool = False) -> None:
        super().__init__()
        self._answers, self._status, self._hangs = answers, status, hangs
        self.asked: list[str] = []
        self.heads: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if self._hangs:
            await asyncio.Event().wait()
        path = head.split(" ")[1]
        self.asked.append(path)
        self.heads.append(head.lower())
        lengths = [line.partition(":")[2] for line in head.lower().split("\r\n") if line.startswith("content-length")]
        body = await reader.readexactly(int(lengths[0]) if lengths else 0)
        status, answer = (self._status, self._answers[path]) if path in self._answers else (404, {"error": "no"})
        data = msgspec.json.encode(answer(msgspec.json.decode(body)) if callable(answer) else answer)
        kind = f"HTTP/1.1 {status} Fake\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        writer.write(f"{kind}Connection: close\r\n\r\n".encode() + data)
        writer.close()
        await writer.wait_closed()
