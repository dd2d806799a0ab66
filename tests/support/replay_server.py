"""Sends recorded replies, one for each request, and keeps the requests."""

import asyncio
import re
from collections.abc import Sequence

from support.raw_server import Server

_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n"


class ReplayServer(Server):
    def __init__(self, replies: Sequence[bytes]) -> None:
        super().__init__()
        self._replies = list(replies)
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        self.requests.append((await reader.readexactly(int(length[1]) if length else 0)).decode())
        reply = self._replies.pop(0)
        writer.write(_HEAD.format(len(reply)).encode() + reply)
        await writer.drain()
