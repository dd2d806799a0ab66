"""What a worker says about itself to whoever watches it."""

import asyncio

import pytest
from msgspec import Struct

from assent.app.worker_probe import WorkerProbe
from assent.session.log import LogUnavailable

pytestmark = pytest.mark.spec("M2")


class Figures(Struct):
    open_sessions: int = 3
    most_sessions: int = 500
    servers: int = 2
    backlog: int = 0
    connected: bool = True
    draining: bool = False


async def works() -> None:
    pass


async def is_away() -> None:
    raise LogUnavailable("the log cannot be reached")


async def ask(probe: WorkerProbe, request: bytes) -> bytes:
    port = await probe.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await probe.close()
    return answer


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: any\r\n\r\n".encode()


async def test_a_worker_tells_how_many_sessions_it_runs():
    answer = await ask(WorkerProbe(Figures(), works), get("/metrics"))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\n# TYPE assent_open_sessions gauge\nassent_open_sessions 3.0\n" in b"\n" + answer
    assert b"assent_session_slots 500.0\n" in answer


@pytest.mark.parametrize(
    ("figures", "writing", "expected"),
    [
        (Figures(), works, b"200 OK"),
        (Figures(connected=False), works, b"the engine cannot be reached"),
        (Figures(draining=True), works, b"it is stopping"),
        (Figures(), is_away, b"the log cannot be reached"),
    ],
)
async def test_a_worker_is_ready_if_it_can_work(figures: Figures, writing: object, expected: bytes):
    answer = await ask(WorkerProbe(figures, writing), get("/readyz"))  # pyright: ignore[reportArgumentType]
    assert expected in answer
    assert (b"503" in answer) == (expected != b"200 OK")


async def test_a_worker_is_alive_even_if_it_cannot_work():
    assert b"200 OK" in await ask(WorkerProbe(Figures(connected=False), is_away), get("/healthz"))


@pytest.mark.parametrize(
    "request_", [b"POST /metrics HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n"]
)
async def test_nothing_else_can_be_asked(request_: bytes):
    assert (await ask(WorkerProbe(Figures(), works), request_)).startswith(b"HTTP/1.1 404 ")


async def test_a_head_without_end_is_not_read_for_ever():
    assert await ask(WorkerProbe(Figures(), works), b"x" * 100_000) == b""
