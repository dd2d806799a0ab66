"""A server in its own process, to be measured from outside: Assent's, or the floor, which is bare ASGI.

    python -m bench.serving assent FOLDER [LINGER]
    python -m bench.serving floor

It prints its port (and the operator's token), then reads lines from standard input: `burst SESSION N` sends N events to
all watchers of the session. The floor has streams and an echo: POST /SESSION notifies the streams of that session.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from assent.cli import collect_rarely
from assent.events import CallProcess, Envelope, to_wire


async def read_lines() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    return reader


def say(**facts: object) -> None:
    sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
    sys.stdout.flush()


# --- Assent ---


async def assent(folder: Path, linger: float) -> None:
    from assent.config import Settings
    from assent.front.web.app_state import Setup
    from assent.front.web.request_limits import RequestLimits
    from assent.front.web.web_server import Server, Where
    from assent.session.sqlite_log import SqliteLog

    work = (folder / "work").resolve()
    env = {"ASSENT_HOME": str(folder), "HOME": str(folder), "PATH": os.environ["PATH"]}
    limits = RequestLimits(
        requests_per_second=1e6, burst=1_000_000, streams=10_000, streams_of_one=10_000, requests=5_000
    )
    settings = Settings(model=f"scripted:{folder / 'scenario.json'}")
    setup = Setup(
        settings=settings, env=env, user="bench", folder=str(work), roots=(str(work),), limits=limits, linger=linger
    )
    server = Server(SqliteLog(folder, busy=True), setup, Where(port=0), folder)
    serving = asyncio.create_task(
        server.run(lambda it: say(port=int(it.address.rpartition(":")[2]), token=it.token, pid=os.getpid()))
    )
    lines = await read_lines()
    while line := (await lines.readline()).decode().split():
        session, count = line[1], int(line[2])
        for number in range(count):
            server.app_state.feeds.on_event(Envelope(0, 0.0, session, CallProcess("c", number)))
    server.stop()
    await serving


# --- the floor ---


class Floor:
    """The minimum of a server with streams: shared frames, a position for each client, one event to wake it."""

    def __init__(self) -> None:
        self.frames: dict[str, list[bytes]] = {}
        self.waiting: dict[str, set[asyncio.Event]] = {}

    def tell(self, session: str, frames: list[bytes]) -> None:
        self.frames.setdefault(session, []).extend(frames)
        for event in self.waiting.get(session, ()):
            event.set()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        session = scope["path"].strip("/")
        if scope["method"] == "POST":
            await receive()
            self.tell(session, [b"data: " + to_wire(Envelope(1, 0.0, session, CallProcess("c", 1))) + b"\n"])
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"{}"})
        else:
            await self._stream(session, int(scope["query_string"] or b"0"), send)

    async def _stream(self, session: str, place: int, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
        news = asyncio.Event()
        self.waiting.setdefault(session, set()).add(news)
        frames = self.frames.setdefault(session, [])
        while True:
            news.clear()
            if found := frames[place:]:
                place += len(found)
                body = b"event: events\n" + b"".join(found) + b"id: %d\n\n" % place
                await send({"type": "http.response.body", "body": body, "more_body": True})
            else:
                await news.wait()


async def floor() -> None:
    app = Floor()
    options = {"log_config": None, "access_log": False, "lifespan": "off", "ws": "none", "timeout_graceful_shutdown": 1}
    server = uvicorn.Server(uvicorn.Config(app, port=0, **options))  # pyright: ignore
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    say(port=server.servers[0].sockets[0].getsockname()[1], token="", pid=os.getpid())
    lines = await read_lines()
    while line := (await lines.readline()).decode().split():
        session, count = line[1], int(line[2])
        event = [to_wire(Envelope(0, 0.0, session, CallProcess("c", number))) for number in range(count)]
        app.tell(session, [b"data: " + wire + b"\n" for wire in event])
    serving.cancel()
    os._exit(0)  # its streams do not end


if __name__ == "__main__":
    collect_rarely()  # like every run of Assent
    match sys.argv[1:]:
        case ["floor"]:
            asyncio.run(floor())
        case ["assent", folder, *rest]:
            asyncio.run(assent(Path(folder), float(rest[0]) if rest else 20.0))
        case _:
            sys.exit(__doc__)
