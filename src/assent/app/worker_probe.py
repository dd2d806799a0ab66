"""What a worker reports to monitoring: `/healthz`, `/readyz`, and `/metrics` for Prometheus.

It answers nothing else and changes nothing. It reveals no names or texts of sessions.
"""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from assent.session.log import LogError

REQUEST_SECONDS = 5.0
MAX_HEAD = 8_192
_STARTED = time.time()
Answer = tuple[int, str]


class WorkerFigures(Protocol):
    """What is measured."""

    @property
    def open_sessions(self) -> int: ...
    @property
    def most_sessions(self) -> int: ...
    @property
    def servers(self) -> int: ...
    @property
    def backlog(self) -> int: ...
    @property
    def connected(self) -> bool:
        """To the engine."""
        ...

    @property
    def draining(self) -> bool: ...


class WorkerProbe:
    def __init__(self, figures: WorkerFigures, try_writing: Callable[[], Awaitable[None]]) -> None:
        self._figures, self._try_writing = figures, try_writing
        self._listener: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Returns the port."""
        self._listener = await asyncio.start_server(self._serve, host, port, limit=MAX_HEAD)
        return self._listener.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                status, text = await self._answer(head.split(b"\r\n", 1)[0])
                writer.write(_response(status, text))
                await writer.drain()
        writer.close()

    async def _answer(self, request: bytes) -> Answer:
        match request.split(b" "):
            case [b"GET", b"/healthz", _]:
                return 200, "ok\n"
            case [b"GET", b"/readyz", _]:
                return await self._readiness()
            case [b"GET", b"/metrics", _]:
                return 200, "".join(map(_metric, _metrics(self._figures)))
            case _:
                return 404, "only /healthz, /readyz and /metrics exist\n"

    async def _readiness(self) -> Answer:
        if self._figures.draining:
            return 503, "it is stopping\n"
        if not self._figures.connected:
            return 503, "the engine cannot be reached\n"
        try:
            await self._try_writing()
        except LogError as error:
            return 503, f"{error}\n"
        return 200, "ok\n"


Metric = tuple[str, str, str, float]


def _metrics(figures: WorkerFigures) -> list[Metric]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return [
        ("assent_open_sessions", "gauge", "Sessions running in this process.", figures.open_sessions),
        ("assent_session_slots", "gauge", "How many sessions may run here at the same time.", figures.most_sessions),
        ("assent_servers", "gauge", "Servers connected to this worker.", figures.servers),
        ("assent_write_queue_length", "gauge", "Changes waiting to be written to the log.", figures.backlog),
        ("assent_engine_connected", "gauge", "Whether the engine can be reached.", figures.connected),
        ("assent_draining", "gauge", "Whether it takes no more sessions.", figures.draining),
        ("process_cpu_seconds_total", "counter", "Processor time.", used.ru_utime + used.ru_stime),
        ("process_start_time_seconds", "gauge", "When it was started.", _STARTED),
    ]


def _metric(metric: Metric) -> str:
    name, kind, about, value = metric
    return f"# HELP {name} {about}\n# TYPE {name} {kind}\n{name} {float(value)}\n"


def _response(status: int, text: str) -> bytes:
    body = text.encode()
    reason = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}[status]
    kind = "text/plain; version=0.0.4; charset=utf-8"
    lines = [
        f"HTTP/1.1 {status} {reason}",
        f"content-type: {kind}",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
