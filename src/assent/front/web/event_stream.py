"""The stream: one response per browser, with the events of all sessions it watches. Raw ASGI: there may be many.

The cursor holds the last sequence number sent of each session. It comes in the same frame as the events it covers, so a
connection may break anywhere: an incomplete frame is sent again, a complete one is not.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import parse_qs

from msgspec import Struct

from assent.app.session_log import NoSuchSession, SessionLog
from assent.events import Envelope, PromptsQueued
from assent.front.web.access_tokens import Principal
from assent.front.web.feeds import Feed, Feeds, data_line
from assent.front.web.overview import Overview
from assent.front.web.problems import Problem
from assent.front.web.request_limits import RequestLimits
from assent.front.web.security import PRINCIPAL, Receive, Scope, Send
from assent.transient_events import Queued

HEARTBEAT_SECONDS = 15.0
CHECK_SECONDS = 1.0
"""How soon the stream of a token that another process revoked is ended, even if nothing happens."""
SHUTDOWN = b"the server is shutting down"
INVALID = b"your token is no longer valid"
MAX_SESSIONS = 100
MAX_LINES = 512
"""Per frame, so that one client cannot hold a lot of memory."""
FRAME_INTERVAL = 0.02
"""Seconds; a client is sent at most two frames in this time."""
START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")],
}


class Position(Struct):
    feed: Feed
    place: int
    seq: int
    """The newest durable event sent."""


class Wanted(Struct, frozen=True):
    """What the request asks for: sessions, each with the sequence number after which to start."""

    sessions: dict[str, int]
    overview: bool


class Streams:
    def __init__(
        self,
        log: SessionLog,
        feeds: Feeds,
        overview: Overview,
        limits: RequestLimits,
        holds: Callable[[Principal], bool],
        queued: Callable[[str], tuple[Queued, ...]],
    ) -> None:
        self._log, self._feeds, self._overview, self._limits = log, feeds, overview, limits
        self._holds = holds
        self._queued = queued
        self._open: set[EventStream] = set()
        self._of_one: dict[str, int] = {}
        self._tickers: list[asyncio.Task[None]] = []
        self._stopping = False

    def __len__(self) -> int:
        return len(self._open)

    def start(self) -> None:
        self._tickers = [asyncio.create_task(self._beat()), asyncio.create_task(self._check())]

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for stream in list(self._open):
                stream.beat = True
                stream.wake()

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.end_invalid()

    def end_invalid(self) -> None:
        """Ends the streams of tokens that are no longer valid."""
        holders = {stream.principal.token_id: stream.principal for stream in self._open}
        invalid = {token_id for token_id, holder in holders.items() if not self._holds(holder)}
        for stream in list(self._open):
            if stream.principal.token_id in invalid:
                stream.stop(INVALID)

    def stop(self) -> None:
        """Ends all streams: an open one would keep the server from stopping."""
        self._stopping = True
        for ticker in self._tickers:
            ticker.cancel()
        for stream in list(self._open):
            stream.stop(SHUTDOWN)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal: Principal = scope[PRINCIPAL]
        wanted = read_request(scope)
        self._check_room(principal)
        stream = EventStream(self._overview if wanted.overview else None, principal, self._holds)
        self._open.add(stream)
        self._of_one[principal.token_id] = self._of_one.get(principal.token_id, 0) + 1
        try:
            await self._attach(stream, wanted, principal)
            await stream.run(receive, send)
        finally:
            stream.detach()
            self._open.discard(stream)
            self._of_one[principal.token_id] -= 1

    def _check_room(self, principal: Principal) -> None:
        if self._stopping:
            raise Problem("unavailable", "the server is shutting down")
        if (
            len(self._open) >= self._limits.streams
            or self._of_one.get(principal.token_id, 0) >= self._limits.streams_of_one
        ):
            raise Problem("unavailable", "too many streams are open; close some first")

    async def _attach(self, stream: "EventStream", wanted: Wanted, principal: Principal) -> None:
        for session, seq in wanted.sessions.items():
            try:
                if (await self._log.info(session)).owner != principal.owner:
                    raise NoSuchSession
                feed = await self._feeds.open(session)
            except NoSuchSession:
                raise Problem("not-found", f"there is no session {session}") from None
            await stream.add(feed, seq)
            if waiting := self._queued(session):  # sent to all clients only when it changes
                stream.tell(Envelope(0, time.time(), session, PromptsQueued(waiting)))


class EventStream:
    def __init__(self, overview: Overview | None, principal: Principal, holds: Callable[[Principal], bool]) -> None:
        self.principal = principal
        self._holds = holds
        self._positions: list[Position] = []
        self._overview = overview
        self._told = b""
        self._lost: list[Position] = []
        self._own: list[bytes] = []
        """Lines for this client alone, sent once it has caught up."""
        self._news = asyncio.Event()
        self.wake = self._news.set
        self.beat = False
        self._gone = False
        self._goodbye = b""
        """Why it ends."""
        self._sent = -math.inf
        self._ignore_overview = None if overview is None else overview.watch(principal.owner, self.wake)

    async def add(self, feed: Feed, seq: int) -> None:
        feed.watchers.add(self.wake)  # first, so that nothing is missed while we look for the position
        place = await feed.place_after(seq)
        position = Position(feed, feed.end if place is None else place, seq)
        self._positions.append(position)
        if place is None:
            self._lost.append(position)

    def tell(self, envelope: Envelope) -> None:
        self._own.append(data_line(envelope))

    def detach(self) -> None:
        for position in self._positions:
            position.feed.watchers.discard(self.wake)
        if self._ignore_overview is not None:
            self._ignore_overview()

    def stop(self, why: bytes) -> None:
        self._goodbye = why
        self.wake()

    async def run(self, receive: Receive, send: Send) -> None:
        watcher = asyncio.create_task(self._until_gone(receive))
        try:
            await send(dict(START))
            await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
            while not self._gone:
                self._news.clear()
                if not self._holds(self.principal):
                    self._goodbye = INVALID
                frames = self._last() if self._goodbye == INVALID else b"".join(self._frames())
                if frames:
                    await send({"type": "http.response.body", "body": frames, "more_body": not self._goodbye})
                    if self._goodbye:
                        return
                    await self._pause()
                else:
                    await self._news.wait()
        finally:
            watcher.cancel()

    async def _pause(self) -> None:
        """Waits after two frames in quick succession, so that what follows is sent together."""
        now = time.monotonic()
        early, self._sent = self._sent + FRAME_INTERVAL - now, now
        if early > 0:
            await asyncio.sleep(early)

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self.wake()

    # --- frames ---

    def _frames(self) -> Iterator[bytes]:
        lines = self._lines()
        for position in self._lost:
            yield self._resync(position)
        self._lost.clear()
        if lines:
            yield b"event: events\n" + b"".join(lines) + b"id: " + self.cursor() + b"\n\n"
        if self._overview is not None and (line := self._overview.line(self.principal.owner)) != self._told:
            self._told = line
            yield b"event: overview\ndata: " + line + b"\n\n"
        if self._goodbye:
            yield self._last()
        elif self.beat and not lines:
            yield b": still here\n\n"
        self.beat = False

    def _last(self) -> bytes:
        return b'event: bye\ndata: {"reason":"%s"}\n\n' % self._goodbye

    def _lines(self) -> list[bytes]:
        lines: list[bytes] = []
        for position in self._positions:
            found = position.feed.since(position.place, MAX_LINES - len(lines))
            if found is None:
                self._lost.append(position)
                continue
            position.seq = position.feed.newest_seq(position.place, len(found)) or position.seq
            position.place += len(found)
            lines += found
            if len(lines) >= MAX_LINES:
                self.wake()  # there is more
                return lines
        lines += self._own
        self._own = []
        return lines

    def _resync(self, position: Position) -> bytes:
        feed = position.feed
        position.place, position.seq = feed.end, feed.seq or 0
        data = b'{"session":"%s","seq":%d}' % (feed.session.encode(), position.seq)
        return b"event: resync\ndata: " + data + b"\nid: " + self.cursor() + b"\n\n"

    def cursor(self) -> bytes:
        return b",".join(b"%s:%d" % (p.feed.session.encode(), p.seq) for p in self._positions)


# --- the request ---


def read_request(scope: Scope) -> Wanted:
    query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=MAX_SESSIONS + 10)
    if unknown := set(query) - {"session", "cursor", "overview"}:
        raise Problem("bad-request", f"unknown parameter {min(unknown)!r}")
    headers: Mapping[bytes, bytes] = dict(scope["headers"])
    cursor = headers.get(b"last-event-id", b"").decode("latin-1") or (query.get("cursor") or [""])[-1]
    reached = dict(_numbers(cursor.split(","))) if cursor else {}
    asked = list(_numbers(query.get("session", [])))
    sessions = {session: reached.get(session, seq) for session, seq in asked}
    if len(sessions) != len(asked) or len(sessions) > MAX_SESSIONS:
        raise Problem("bad-request", f"name each session once, and at most {MAX_SESSIONS}")
    overview = (query.get("overview") or ["0"])[-1]
    if overview not in ("0", "1"):
        raise Problem("bad-request", "overview must be 0 or 1")
    return Wanted(sessions, overview == "1")


def _numbers(items: list[str]) -> Iterator[tuple[str, int]]:
    for item in items:
        session, _, number = item.partition(":")
        if not number.isascii() or not number.isdigit() or len(number) > 15:
            raise Problem("bad-request", "give each session with the number of the last event you have: ID:SEQ")
        yield session, int(number)
