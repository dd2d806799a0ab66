"""Fetches a page: judge, resolve, dial what was judged, read with limits; every redirect is judged again.

Redirects on the same host are followed (`www.` does not make it another host). A redirect elsewhere is not: nobody has
approved that host, so the result is where it leads. Nothing is kept between requests: no cookies, no connections.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from msgspec import Struct

import assent
from assent.http import HttpError, NoReply
from assent.http.connection import Reply, reason
from assent.http.decompression import unpacker_for
from assent.http.head import request_head
from assent.web.content import ACCEPT, ACCEPT_ENCODING, Unreadable, kind_of, mime_of, to_text
from assent.web.dial import Connector, Dial, dial, resolve
from assent.web.urls import Resolver, Target, UrlVerdict, check_url, parse, redirect

_REDIRECTS = (301, 302, 303, 307, 308)
REQUESTS_A_MINUTE = 10


class FetchLimits(Struct, frozen=True):
    """Seconds and bytes."""

    connect: float = 10.0
    idle: float = 10.0
    """Without a single byte."""
    total: float = 30.0
    """For everything, including redirects."""
    size: int = 10_000_000
    """Of the decompressed content."""


class Page(Struct, frozen=True):
    url: str
    """Where it was finally found."""
    status: int
    mime: str
    size: int
    text: str
    """Readable: HTML has become Markdown."""


class Moved(Struct, frozen=True):
    """The page is now on another host; nothing there was contacted."""

    url: str


class FetchFailed(Exception):
    """`str(error)` says why, and names the host."""


class Web:
    def __init__(
        self,
        resolve: Resolver = resolve,
        dial: Dial = dial,
        limits: FetchLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolve = resolve
        self._connector = Connector(dial)
        self._limits = limits or FetchLimits()
        self._pace = _Pace(clock)

    async def fetch(self, url: str) -> Page | Moved:
        try:
            async with asyncio.timeout(self._limits.total):
                return await self._follow(await check_url(url, self._resolve))
        except TimeoutError:
            raise FetchFailed(f"{url} took longer than {self._limits.total:g} s") from None

    async def _follow(self, verdict: UrlVerdict) -> Page | Moved:
        if not verdict.allowed:
            raise FetchFailed(verdict.reason)
        self._pace.step(verdict.host)
        found = await self._ask(verdict)
        if isinstance(found, Page):
            return found
        following = await redirect(verdict, found, self._resolve)
        if not following.allowed:
            raise FetchFailed(f"{verdict.canonical} leads to {following.shown}, which is refused: {following.reason}")
        return await self._follow(following) if _same_place(verdict, following) else Moved(following.canonical)

    async def _ask(self, verdict: UrlVerdict) -> Page | str:
        """The page, or its new address."""
        target = parse(verdict.canonical)
        try:
            connection = await self._connect(target, verdict)
            try:
                reply = await connection.request(_request(target), "GET")
                return _location(reply) or await self._read(reply, verdict.canonical)
            finally:
                connection.abort()
        except NoReply as failed:
            raise FetchFailed(f"{target.host} closed the connection without a reply{failed}") from failed
        except Unreadable as error:
            raise FetchFailed(f"{verdict.canonical} cannot be read: {error}") from error
        except HttpError as error:
            raise FetchFailed(str(error)) from error

    async def _connect(self, target: Target, verdict: UrlVerdict):
        try:
            async with asyncio.timeout(self._limits.connect):
                return await self._connector.connect(target, verdict.addresses, self._limits.idle)
        except TimeoutError:
            raise FetchFailed(f"{target.host} did not answer within {self._limits.connect:g} s") from None
        except OSError as error:
            raise FetchFailed(f"cannot reach {target.host}: {reason(error)}") from error

    async def _read(self, reply: Reply, url: str) -> Page:
        mime, told = mime_of(reply.headers), int(reply.headers.get("content-length", 0))
        kind = kind_of(mime)
        if kind is None:
            size = f", {told:,} bytes" if told else ""
            raise Unreadable(f"it is not text but {mime[:80]}{size}")
        data = await self._content(reply, told)
        text = to_text(data, reply.headers.get("content-type", ""), kind)
        if kind == "html":
            from assent.web.readable import readable

            text = await asyncio.to_thread(readable, text, url)
        return Page(url, reply.status, mime, len(data), text)

    async def _content(self, reply: Reply, told: int) -> bytes:
        most, unpacker, content = self._limits.size, unpacker_for(reply.headers), bytearray()
        if told <= most:
            while (block := await reply.read()) is not None:
                content += unpacker.feed(block, most + 1 - len(content))
                if len(content) > most:
                    break
        if told > most or len(content) > most:
            raise Unreadable(f"it has more than {most:,} bytes")
        unpacker.end()
        return bytes(content)


class _Pace:
    """No host gets too many requests, whoever approved it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._asked: dict[str, deque[float]] = {}

    def step(self, host: str) -> None:
        now, asked = self._clock(), self._asked.setdefault(host, deque(maxlen=REQUESTS_A_MINUTE))
        if len(asked) == REQUESTS_A_MINUTE and now - asked[0] < 60:
            wait = 60 - int(now - asked[0])
            raise FetchFailed(f"{host} got {REQUESTS_A_MINUTE} requests within a minute; try again in {wait} s")
        asked.append(now)


def _request(target: Target) -> bytes:
    fields = [
        ("Host", target.authority),
        ("User-Agent", f"Assent/{assent.__version__}"),
        ("Accept", ACCEPT),
        ("Accept-Encoding", ACCEPT_ENCODING),
        ("Connection", "close"),
    ]
    return request_head("GET", target.rest, fields)


def _location(reply: Reply) -> str:
    """Empty if it is not a redirect. Servers write UTF-8 where only ASCII is allowed."""
    location = reply.headers.get("location", "") if reply.status in _REDIRECTS else ""
    return location.encode("latin-1").decode("utf-8", "replace")


def _same_place(before: UrlVerdict, after: UrlVerdict) -> bool:
    """Whether it was approved: the same host, and the same port or one of the web's standard ports."""
    old, new = parse(before.canonical), parse(after.canonical)
    return old.host.removeprefix("www.") == new.host.removeprefix("www.") and new.port in (80, 443, old.port)
