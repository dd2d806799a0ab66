"""The server: the cost of a stream, the latency of events and answers, and the cost of waiting sessions.

The server is its own process; this one plays the browsers. The floor is a bare ASGI application with the same kind of
streams on the same uvicorn, measured in the same run.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assent.cli import collect_rarely
from bench.disk import syncs_meanwhile
from bench.measure import SOURCE
from bench.report import Row

Json = dict[str, Any]
REPLIES = [
    {
        "chunks": [
            {"text": "I write it down."},
            {"call": {"name": "write_file", "args": {"file_path": "a.txt", "content": "x\n"}, "id": "c1"}},
        ]
    },
    {"chunks": [{"text": "Done."}]},
]
TICKS = os.sysconf("SC_CLK_TCK")


class Sizes(NamedTuple):
    streams: int
    burst: int
    sessions: int
    rate: float
    waiting: int
    idle_seconds: float


FULL = Sizes(1_000, 300, 500, 100.0, 2_000, 5.0)
QUICK = Sizes(100, 100, 40, 50.0, 60, 1.0)


def measure(quick: bool) -> Iterator[Row]:
    sizes = QUICK if quick else FULL
    collect_rarely()  # here too: a pause of the measuring process would count as one of the server's
    for part in (_streams, _answers, _waiting):
        yield from asyncio.run(part(sizes))


# --- the measured process ---


class Process:
    def __init__(self, process: asyncio.subprocess.Process, facts: Json) -> None:
        self._process = process
        self.port: int = facts["port"]
        self.token: str = facts["token"]
        self.pid: int = facts["pid"]

    @property
    def kilobytes(self) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return float(line.split()[1])
        raise RuntimeError("the server has exited")

    @property
    def cpu(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def burst(self, session: str, count: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"burst {session} {count}\n".encode())

    async def busy(self, seconds: float) -> float:
        """CPU used while nothing happens, in percent of a core."""
        before = self.cpu
        await asyncio.sleep(seconds)
        return (self.cpu - before) / seconds * 100


@asynccontextmanager
async def serving(*args: str) -> AsyncGenerator[Process, None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.serving", *args, stdin=-1, stdout=-1, env=dict(os.environ) | SOURCE
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield Process(process, msgspec.json.decode(await process.stdout.readline()))
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def home() -> AsyncGenerator[Path, None]:
    """The log is on disk; `work` in it, where sessions write their files, is in memory if possible."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with (
        tempfile.TemporaryDirectory(prefix="assent-bench-") as folder,
        tempfile.TemporaryDirectory(prefix="assent-bench-", dir=memory) as work,
    ):
        (Path(folder) / "work").symlink_to(work)
        (Path(folder) / "scenario.json").write_bytes(msgspec.json.encode({"replies": REPLIES}))
        yield Path(folder)


# --- browsers ---


class Browser:
    """One connection; it counts events and remembers when the newest arrived."""

    def __init__(self) -> None:
        self.events = 0
        self.at = 0.0
        self._reached: asyncio.Future[None] | None = None
        self._wanted = 0
        self._reader: asyncio.Task[None] | None = None
        self._mark = b"\ndata: {"

    async def open(self, server: Process, path: str, mark: bytes = b"\ndata: {") -> None:
        self._mark = mark
        reader, self._writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n\r\n"
        self._writer.write(head.encode())
        begun = await reader.readuntil(b"hello\n\n")
        if b" 200 " not in begun[:20]:
            raise RuntimeError(begun.decode())
        self._reader = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while block := await reader.read(1 << 18):
            self.events += block.count(self._mark)
            self.at = time.perf_counter()
            if self._reached is not None and self.events >= self._wanted and not self._reached.done():
                self._reached.set_result(None)

    async def until(self, count: int) -> None:
        if self.events < count:
            self._wanted, self._reached = count, asyncio.get_running_loop().create_future()
            await self._reached

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
        self._writer.transport.abort()


async def post(server: Process, path: str, body: Json) -> Json:
    data = msgspec.json.encode(body)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    kind = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    writer.write((head + kind).encode() + data)
    answer = await reader.read()
    writer.close()
    first, _, content = answer.partition(b"\r\n\r\n")
    if first.split()[1][:1] != b"2":
        raise RuntimeError(answer.decode())
    return msgspec.json.decode(content)


async def many(count: int, work: Callable[[int], Awaitable[Any]], at_once: int = 50) -> list[Any]:
    slots = asyncio.Semaphore(at_once)

    async def one(number: int) -> Any:
        async with slots:
            return await work(number)

    return await asyncio.gather(*(one(number) for number in range(count)))


async def open_all(server: Process, paths: list[str], mark: bytes = b"\ndata: {") -> list[Browser]:
    browsers = [Browser() for _ in paths]
    await many(len(paths), lambda n: browsers[n].open(server, paths[n], mark))
    return browsers


async def close_all(browsers: list[Browser]) -> None:
    for browser in browsers:
        await browser.close()


# --- streams: idle, a burst, a storm of reconnects ---


class Streamed(NamedTuple):
    kilobytes: float
    idle_cpu: float
    deliveries: float
    storm: float


async def _streams(sizes: Sizes) -> list[Row]:
    async with home() as folder, serving("assent", str(folder)) as server:
        session = (await post(server, "/api/v1/sessions", {}))["id"]
        for number in range(100):
            await post(server, f"/api/v1/sessions/{session}/commands", {"type": "cancel_turn", "reason": str(number)})
        ours = await _stream_figures(server, sizes, session, f"/api/v1/stream?session={session}:")
    async with serving("floor") as server:
        server.burst("s", 100)
        floor = await _stream_figures(server, sizes, "s", "/s?")
    return [
        Row(f"{sizes.streams:,} idle streams, each", ours.kilobytes, "KB", floor.kilobytes),
        Row(f"{sizes.streams:,} idle streams, CPU", ours.idle_cpu, "%", None, 2.0),
        Row(f"burst of {sizes.burst} to all, a delivery", 1e6 / ours.deliveries, "µs", 1e6 / floor.deliveries, 2.0),
        Row(f"{sizes.streams:,} reconnects x 100 events", ours.storm, "s", floor.storm),
        Row("  the same, against its goal", ours.storm, "s", None, 2.0),
    ]


async def _stream_figures(server: Process, sizes: Sizes, session: str, path: str) -> Streamed:
    newest = 102 if session != "s" else 100  # created, opened, and one for each command
    before = server.kilobytes
    browsers = await open_all(server, [f"{path}{newest}"] * sizes.streams)
    await asyncio.sleep(0.3)
    each = (server.kilobytes - before) / sizes.streams
    idle = await server.busy(sizes.idle_seconds)
    begun = time.perf_counter()
    server.burst(session, sizes.burst)
    await asyncio.gather(*(browser.until(sizes.burst) for browser in browsers))
    deliveries = sizes.streams * sizes.burst / (max(browser.at for browser in browsers) - begun)
    await close_all(browsers)
    return Streamed(each, idle, deliveries, await _storm(server, sizes, path, newest))


async def _storm(server: Process, sizes: Sizes, path: str, newest: int) -> float:
    """All reconnect at once, and each has missed the last hundred events (and what the burst left)."""
    begun = time.perf_counter()
    browsers = [Browser() for _ in range(sizes.streams)]
    await asyncio.gather(*(browser.open(server, f"{path}{newest - 100}") for browser in browsers))
    await asyncio.gather(*(browser.until(100) for browser in browsers))
    took = time.perf_counter() - begun
    await close_all(browsers)
    return took


# --- from the click to the stream ---


async def _answers(sizes: Sizes) -> list[Row]:
    async with home() as folder, serving("assent", str(folder)) as server:
        sessions = await _ask_in(server, folder, sizes.sessions)
        waiting = {item["session"]["id"]: item for item in await _waiting_items(server, sizes.sessions)}
        paths = [f"/api/v1/stream?session={s}:{waiting[s]['session']['seq']}" for s in sessions]
        browsers = await open_all(server, paths, b'"type":"approval.answered"')

        async def answer(n: int) -> None:
            body = {"outcome": "proceed_once", "digest": waiting[sessions[n]]["approval"]["digest"]}
            await post(server, f"/api/v1/sessions/{sessions[n]}/calls/c1/decision", body)

        before = server.cpu
        with syncs_meanwhile(folder) as syncs:
            ours = await _latencies(sizes, browsers, answer)
        await asyncio.sleep(0.5)  # until the last turn is over
        each = (server.cpu - before) / sizes.sessions * 1000
        await close_all(browsers)
    async with serving("floor") as server:
        names = [f"s{number}" for number in range(sizes.sessions)]
        browsers = await open_all(server, [f"/{name}" for name in names])
        floor = await _latencies(sizes, browsers, lambda n: post(server, f"/{names[n]}", {}))
        await close_all(browsers)
    what = f"answer to stream, {sizes.sessions} sessions, {sizes.rate:g}/s"
    return [
        Row(f"{what}, p50", _percentile(ours, 50), "ms", _percentile(floor, 50)),
        Row(f"{what}, p99", _percentile(ours, 99), "ms", None, 50.0),
        Row("  the floor's p99", _percentile(floor, 99), "ms"),
        Row("  the slowest bare sync of the disk meanwhile", max(syncs, default=0.0), "ms"),
        Row("  CPU for one: woken, answered, run to its end", each, "ms", None, 10.0),
    ]


async def _until_parked(server: Process) -> None:
    while "assent_open_sessions 0\n" not in await _text(server, "/metrics"):
        await asyncio.sleep(0.2)


async def _ask_in(server: Process, base: Path, count: int) -> list[str]:
    """This many sessions, each in its own folder and with a waiting call."""

    async def begin(number: int) -> Json:
        folder = base / "work" / str(number)
        folder.mkdir(parents=True)
        return await post(server, "/api/v1/sessions", {"folder": str(folder), "prompt": "go"})

    made = await many(count, begin, at_once=8)
    sessions: list[str] = [item["id"] for item in made]
    while len(await _waiting_items(server, count)) < count:
        await asyncio.sleep(0.2)
    return sessions


async def _waiting_items(server: Process, count: int) -> list[Json]:
    items: list[Json] = []
    for offset in range(0, count, 200):
        items += (await _get(server, f"/api/v1/approvals?limit=200&offset={offset}"))["approvals"]
    return items


async def _get(server: Process, path: str) -> Json:
    return msgspec.json.decode(await _text(server, path))


async def _text(server: Process, path: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n\r\n")[2].decode()


async def _latencies(sizes: Sizes, browsers: list[Browser], act: Callable[[int], Awaitable[object]]) -> list[float]:
    """One click at a fixed rate, whether earlier ones were answered or not; milliseconds, sorted."""
    took: list[float] = []

    async def click(number: int) -> None:
        await asyncio.sleep(number / sizes.rate)
        begun = time.perf_counter()
        seen = asyncio.ensure_future(browsers[number].until(1))
        await act(number)
        await seen
        took.append((browsers[number].at - begun) * 1000)

    await asyncio.gather(*(click(number) for number in range(len(browsers))))
    return sorted(took)


def _percentile(sorted_figures: list[float], percent: float) -> float:
    return sorted_figures[min(len(sorted_figures) - 1, int(len(sorted_figures) * percent / 100))]


# --- waiting sessions ---


async def _waiting(sizes: Sizes) -> list[Row]:
    async with home() as folder:
        async with serving("assent", str(folder), "0") as server:
            await _ask_in(server, folder, sizes.waiting)
            await _until_parked(server)
            megabytes, idle = server.kilobytes / 1024, await server.busy(sizes.idle_seconds)
        begun = time.perf_counter()
        async with serving("assent", str(folder), "0") as server:
            found = await _get(server, "/api/v1/approvals?limit=1")
            again = time.perf_counter() - begun
            assert found["total"] == sizes.waiting, found["total"]
            resting = server.kilobytes / 1024
    async with home() as folder:
        begun = time.perf_counter()
        async with serving("assent", str(folder), "0") as server:
            await _get(server, "/api/v1/approvals?limit=1")
            empty = time.perf_counter() - begun
    name = f"{sizes.waiting:,} waiting sessions"
    return [
        Row(f"{name}, memory", megabytes, "MB", None, 150.0),
        Row(f"{name}, CPU", idle, "%", None, 2.0),
        Row(f"{name}, restart to first list", again, "s", empty, 2.0),
        Row(f"{name}, memory after restart", resting, "MB", None, 150.0),
    ]
