"""A reply is complete when its format says so, and not when the connection ends: servers keep it open, or drop it."""

import asyncio
import re

import pytest

from assent.models import streamed_model
from assent.models.model_protocol import BrokenStream, Chunk
from support.raw_server import Server
from support.tape_events import READ, REQUEST, WHOLE, response, stream
from support.wire_formats import FORMATS

pytestmark = [pytest.mark.spec("K1"), pytest.mark.spec("F9")]
MARKED = ("chat", "messages", "responses")
"""The formats with an end marker."""


class Lingering(Server):
    """Sends a reply, and then comments without end, or resets the connection."""

    def __init__(self, sent: bytes, *, resets: bool) -> None:
        super().__init__()
        self._sent, self._resets = sent, resets
        self.left = asyncio.Event()
        """The client has closed the connection."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        await reader.readexactly(int(length[1]) if length else 0)
        writer.write(self._sent)
        await writer.drain()
        if not self._resets:
            await self._ping_until_closed(reader, writer)
            self.left.set()

    async def _ping_until_closed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        closed = asyncio.create_task(reader.read())
        while not closed.done():
            writer.write(b"8\r\n: ping\n\n\r\n")
            await asyncio.wait([closed], timeout=0.01)


def unended(body: bytes) -> bytes:
    """As the first chunk of a response that promises more."""
    head = response(b"", Transfer_Encoding="chunked").replace(b"Connection: close\r\n", b"")
    return head + b"%x\r\n%b\r\n" % (len(body), body)


async def ask(wire: str, server: Lingering) -> list[Chunk]:
    model = FORMATS[wire].open_at(f"http://127.0.0.1:{server.port}")
    try:
        return [chunk async for chunk in model.stream(REQUEST)]
    finally:
        await model.close()


@pytest.mark.parametrize("wire", MARKED)
async def test_a_server_that_never_ends_its_response_is_not_waited_for(
    wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_model, "LONGEST_FAREWELL", 0.05)
    async with Lingering(unended(stream(WHOLE[wire])), resets=False) as server:
        assert await ask(wire, server) == READ
        await server.left.wait()


@pytest.mark.parametrize("wire", MARKED)
async def test_a_connection_that_breaks_after_the_last_event_loses_nothing(wire: str) -> None:
    async with Lingering(unended(stream(WHOLE[wire])), resets=True) as server:
        assert await ask(wire, server) == READ


@pytest.mark.parametrize("wire", FORMATS)
async def test_a_connection_that_breaks_before_the_last_event_breaks_the_reply(wire: str) -> None:
    async with Lingering(unended(stream(WHOLE[wire][:-1])), resets=True) as server:
        with pytest.raises(BrokenStream):
            await ask(wire, server)
