"""What the fake providers share: real sockets on loopback, replies from a scenario (`models.scripted.scenario`).

On top of that format, chunks may be `{"raw": "…"}` (sent as it is), `{"abort": true}` (the connection is reset) or
`{"hang": true}` (nothing more, until the client leaves); replies may have

    stream                    the whole stream, sent as it is in place of the chunks
    status, headers, body     an HTTP error, or a document, in place of a stream; headers also go with a stream
    wire_finish               a finish reason in the provider's spelling, for those we have no word for
    chunk_size                HTTP chunks of that many bytes, each in a write of its own
    drop_after                close after that many bytes of the response, head included
    close                     end the connection after the response, as HTTP/1.0 does

A fake of one provider says how its replies are written down: see `FakeServer` and `ReplyWriter`. In a test:
`async with FakeGemini({"replies": […]}) as fake:` and then `fake.url`, `fake.requests`. As a program:
`python tests/support/fake_gemini.py --scenario FILE --port-file FILE`, with GET /__fake/log and POST /__fake/scenario.
"""

import asyncio
import socket
import ssl
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import msgspec
from msgspec import Struct

from assent.models.scripted.scenario import (
    ChunkSpec,
    ErrorSpec,
    Fill,
    ReplySpec,
    Slot,
    next_slot,
    parse_scenario,
    unroll,
)


class WireChunk(ChunkSpec, frozen=True):
    raw: str | None = None
    abort: Literal[True] | None = None
    hang: Literal[True] | None = None


class WireReply(ReplySpec[WireChunk], frozen=True):
    status: int = 200
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    body: Any = None
    stream: str | None = None
    wire_finish: str | None = None
    chunk_size: int | None = None
    drop_after: int | None = None
    close: bool = False


class WireScenario(Struct, frozen=True, forbid_unknown_fields=True):
    replies: tuple[WireReply, ...] = ()
    description: str = ""


class Received(Struct, frozen=True):
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    at_ns: int
    """`time.monotonic_ns()`, comparable between the processes of a machine."""
    connection: int


class Dropped(Exception):
    """The scenario ends this connection."""


class ReplyWriter(Protocol):
    """Writes one reply down as its provider would: pieces of an event stream."""

    def begin(self) -> bytes: ...

    def chunk(self, chunk: WireChunk, fill: Fill) -> bytes: ...

    def end(self) -> bytes: ...


class FakeServer:
    # --- what a fake of one provider says ---

    def writer(self, reply: WireReply) -> ReplyWriter:
        raise NotImplementedError

    def error(self, spec: ErrorSpec, fill: Fill) -> tuple[int, Any]:
        """The status and the body of an error."""
        raise NotImplementedError

    def error_event(self, spec: ErrorSpec, fill: Fill) -> bytes:
        """The same error inside a stream."""
        raise NotImplementedError

    def newest_results(self, body: Any) -> list[dict[str, Any]]:
        """The results in a request that answer the newest reply."""
        raise NotImplementedError

    # --- the server ---

    def __init__(self, scenario: dict[str, Any] | bytes, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}
        self.connections = 0
        """How many there were."""
        self.hung_up = asyncio.Event()
        """Set when a client has left a hanging reply."""
        self.port = 0
        self.play(scenario)

    def play(self, scenario: dict[str, Any] | bytes) -> None:
        """Start a scenario over and forget the requests."""
        raw = scenario if isinstance(scenario, bytes) else msgspec.json.encode(scenario)
        self._slots = unroll(parse_scenario(raw, "of the fake", WireScenario).replies)
        self._next = 0
        self.requests: list[Received] = []
        self.sent = bytearray()
        """Everything sent in answer to the newest request."""

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        tasks = list(self._connections)
        self.drop_connections()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()

    def drop_connections(self) -> None:
        for writer in self._connections.values():
            writer.transport.abort()

    # --- a connection ---

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        self.connections += 1
        try:
            while (request := await _read_request(reader, self.connections)) is not None:
                await self._answer(request, reader, writer)
        except (Dropped, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            del self._connections[task]

    async def _answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        match request.path:
            case "/__fake/log":
                writer.write(_plain(200, {}, msgspec.to_builtins(self.requests)))
            case "/__fake/scenario":
                self.play(msgspec.json.encode(request.body))
                writer.write(_plain(200, {}, {"replies": len(self._slots)}))
            case _:
                self.requests.append(request)
                self.sent = bytearray()
                await self._reply(self._take_slot(request), Wire(self, reader, writer))
        await writer.drain()

    def _take_slot(self, request: Received) -> Slot[WireReply]:
        if request.method == "GET" and self._is_streamed_next():
            return Slot(self._next, 0, WireReply(status=404, body={}))  # a list of models, which the scenario has not
        results = self.newest_results(request.body) if request.body is not None else []
        n = next_slot(self._slots, self._next, results)
        self._next = n + 1
        if n < len(self._slots):
            return self._slots[n]
        status, body = self.error(ErrorSpec("bad_request", "the scenario is exhausted"), lambda text: text)
        return Slot(n, 0, WireReply(status=status, body=body))

    def _is_streamed_next(self) -> bool:
        return self._next >= len(self._slots) or self._slots[self._next].reply.body is None

    async def _reply(self, slot: Slot[WireReply], wire: "Wire") -> None:
        reply = slot.reply
        first = reply.chunks[0].error if reply.chunks else None
        wire.left = reply.drop_after
        if reply.status != 200 or reply.body is not None:
            await wire.write(_plain(reply.status, reply.headers, reply.body))
        elif first is not None:
            status, error = self.error(first, lambda text: text)
            await wire.write(_plain(status, reply.headers, error))
        else:
            await self._stream(slot, wire)
        if reply.close:
            raise Dropped

    async def _stream(self, slot: Slot[WireReply], wire: "Wire") -> None:
        reply = slot.reply
        writer = self.writer(reply)
        wire.chunked, wire.chunk_size = not reply.close, reply.chunk_size
        await wire.write(_stream_head(reply))
        if reply.stream is not None:
            await wire.body(reply.stream.encode())
            return await wire.end()
        await wire.body(writer.begin())
        for chunk, fill in slot.chunks():
            match chunk:
                case WireChunk(pause_ms=int(pause)):
                    await asyncio.sleep(pause / 1000)
                case WireChunk(hang=True):
                    await wire.hang()
                case WireChunk(abort=True):
                    wire.reset()
                case WireChunk(cut=True):
                    return await wire.end()
                case WireChunk(raw=str(raw)):
                    await wire.body(fill(raw).encode())
                case WireChunk(error=ErrorSpec() as error):
                    await wire.body(self.error_event(error, fill))
                    return await wire.end()
                case _:
                    await wire.body(writer.chunk(chunk, fill))
        await wire.body(writer.end())
        return await wire.end()


class Wire:
    """Where a response is written: it splits the bytes as the scenario says."""

    def __init__(self, fake: FakeServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._fake, self._reader, self._writer = fake, reader, writer
        self.left: int | None = None
        self.chunked = True
        self.chunk_size: int | None = None

    async def write(self, data: bytes) -> None:
        if self.left is not None:
            data = data[: self.left]
            self.left -= len(data)
        self._fake.sent += data
        self._writer.write(data)
        await self._writer.drain()
        if self.left == 0:
            raise Dropped

    async def body(self, data: bytes) -> None:
        size = self.chunk_size or len(data) or 1
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            await self.write(b"%x\r\n%s\r\n" % (len(piece), piece) if self.chunked else piece)

    async def end(self) -> None:
        if self.chunked:
            await self.write(b"0\r\n\r\n")

    async def hang(self) -> None:
        await self._reader.read(1)
        self._fake.hung_up.set()
        raise Dropped

    def reset(self) -> None:
        sock: socket.socket = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
        raise Dropped


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    at = time.monotonic_ns()
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, msgspec.json.decode(body) if body else None, at, connection)


def sse(event: dict[str, Any], name: str = "") -> bytes:
    data = b"data: " + msgspec.json.encode(event) + b"\r\n\r\n"
    return f"event: {name}\r\n".encode() + data if name else data


def _stream_head(reply: WireReply) -> bytes:
    framing = {"Connection": "close"} if reply.close else {"Transfer-Encoding": "chunked"}
    headers = {"Content-Type": "text/event-stream"} | framing | reply.headers
    return b"HTTP/1.1 200 OK\r\n" + b"".join(_header_lines(headers)) + b"\r\n"


def _plain(status: int, headers: dict[str, str], body: Any) -> bytes:
    """A response in one piece: JSON, or text if the body is a string."""
    data = body.encode() if isinstance(body, str) else msgspec.json.encode(body)
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data))} | headers
    return b"HTTP/1.1 %d Fake\r\n" % status + b"".join(_header_lines(headers)) + b"\r\n" + data


def _header_lines(headers: dict[str, str]) -> Iterator[bytes]:
    return (f"{name}: {value}\r\n".encode("latin-1") for name, value in headers.items())


# --- as a program ---


async def _run(kind: type[FakeServer], scenario: Path | None, port_file: Path | None) -> None:
    async with kind(scenario.read_bytes() if scenario else {}) as fake:
        if port_file:
            draft = port_file.with_suffix(".draft")
            draft.write_text(str(fake.port))
            draft.replace(port_file)
        sys.stdout.write(f"{fake.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def run_as_program(kind: type[FakeServer]) -> None:
    import argparse

    parser = argparse.ArgumentParser(description=kind.__doc__)
    parser.add_argument("--scenario", type=Path)
    parser.add_argument("--port-file", type=Path)
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_run(kind, options.scenario, options.port_file))
