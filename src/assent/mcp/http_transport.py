"""HTTP to a server's address: one endpoint, or the older pair of an event stream and an address to post to.

HTTP errors, such as a status or a failed connection, are kept apart from errors of the server itself. A request that
the server rejects because it was restarted and has forgotten our session was not processed and can be sent again.
"""

import functools
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from assent.http.loopback import is_loopback
from assent.mcp.intercept import Intercept, Refused
from assent.mcp.notifications import NotConnected, NotificationListener
from assent.mcp_config import McpServer, expand
from assent.process.peer import LINE_LIMIT

_TIMEOUT = 30.0
_CHECK_TIMEOUT = 10.0
_SESSION = "mcp-session-id"
_FORGOTTEN = "the server has forgotten our session"
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)


@asynccontextmanager
async def one_endpoint(
    server: McpServer, env: Mapping[str, str], listener: NotificationListener, intercept: Intercept
) -> AsyncGenerator[TransportStreams]:
    """No redirect leaves the configured origin (the SDK ensures that), so neither do the headers."""
    client = _client(server, env, listener, intercept)
    endpoint = streamable_http_client(server.entry.url, http_client=client, max_sse_event_size=LINE_LIMIT)
    async with client, endpoint as streams:
        yield intercept.around(streams)


@asynccontextmanager
async def event_stream(
    server: McpServer, env: Mapping[str, str], listener: NotificationListener, intercept: Intercept
) -> AsyncGenerator[TransportStreams]:
    """The transport of 2024-11-05. The address to post to must have the same origin (the SDK ensures that)."""

    def client(*_: object, **__: object) -> httpx2.AsyncClient:
        return _client(server, env, listener, intercept, one_way=True)

    try:
        async with sse_client(server.entry.url, httpx_client_factory=client) as streams:
            yield intercept.around(streams)
    except* httpx2.HTTPStatusError as errors:
        raise NotConnected(refusal(_status(errors))) from errors


def _status(errors: BaseExceptionGroup[httpx2.HTTPStatusError]) -> int:
    first = errors.exceptions[0]
    return _status(first) if isinstance(first, BaseExceptionGroup) else first.response.status_code


def refusal(status: int) -> str:
    """A status in words for the person."""
    match status:
        case 401 | 403:
            return f"the server refused access (HTTP {status}); put its token into `headers`"
        case _:
            return f"the server answered with HTTP status {status}"


def _client(
    server: McpServer,
    env: Mapping[str, str],
    listener: NotificationListener,
    intercept: Intercept,
    *,
    one_way: bool = False,
) -> "_Client":
    return _Client(
        listener,
        intercept,
        one_way=one_way,
        headers={"Accept-Encoding": "identity", **expand(server.entry.headers, env)},
        timeout=httpx2.Timeout(_TIMEOUT, read=server.entry.timeout),
        verify=_certificates(),
        trust_env=not is_loopback(httpx2.URL(server.entry.url).host),  # no proxy for this machine
    )


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Loading them takes longer than connecting."""
    return httpx2.create_ssl_context()


class _Client(httpx2.AsyncClient):
    """Inspects every exchange before the SDK does."""

    def __init__(self, listener: NotificationListener, intercept: Intercept, *, one_way: bool, **options: Any) -> None:
        super().__init__(**options)
        self._listener = listener
        self._intercept = intercept
        self._one_way = one_way
        """A POST gets no answer; if it is refused, nothing else would report it."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as error:
            return self._unanswered(request, error)
        _bound(response)
        if response.status_code >= 400:
            await self._look_at_refusal(response)
        return response

    def _unanswered(self, request: httpx2.Request, error: httpx2.TransportError) -> httpx2.Response:
        """Only this request fails, not all that are in progress with it."""
        reason = f"cannot reach {request.url.copy_with(query=None)}: {error}"
        undelivered = isinstance(error, _UNSENT)
        self._intercept.refused(_id_of(request), Refused(0, undelivered, reason))
        if self._one_way or (undelivered and self._intercept.connected):
            self._listener.lost(reason)
        if request.method == "GET":
            raise error
        return httpx2.Response(503, request=request)

    async def _look_at_refusal(self, response: httpx2.Response) -> None:
        status, request = response.status_code, response.request
        self._listener.log_line(f"HTTP status {status}")
        forgotten = await self._has_forgotten_us(response)
        if forgotten:
            self._listener.lost(_FORGOTTEN)
        elif self._one_way and request.method == "POST":
            self._listener.lost(refusal(status))
        if request.method == "POST":
            self._intercept.refused(_id_of(request), Refused(status, forgotten, refusal(status)))

    async def _has_forgotten_us(self, response: httpx2.Response) -> bool:
        """The specification says 404, many servers say 400: check whether any request works in this session."""
        request = response.request
        if response.status_code not in (400, 404) or request.method == "DELETE" or _SESSION not in request.headers:
            return False
        kept = {name: value for name, value in request.headers.items() if not name.lower().startswith("content-")}
        ping = {"jsonrpc": "2.0", "id": "still-there", "method": "ping"}
        headers = kept | {"accept": "application/json, text/event-stream"}
        check = self.build_request("POST", request.url, json=ping, headers=headers, timeout=_CHECK_TIMEOUT)
        try:
            answer = await super().send(check, stream=True)
        except httpx2.HTTPError:
            return False
        await answer.aclose()
        return answer.status_code in (400, 404)


class _Message(msgspec.Struct):
    id: int | str | None = None


def _id_of(request: httpx2.Request) -> object:
    try:
        return msgspec.json.decode(request.content, type=_Message).id
    except (msgspec.MsgspecError, httpx2.RequestNotRead):
        return None


# --- bodies ---


def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("compressed, although we asked for an uncompressed answer", request=response.request)
    if not response.headers.get("content-type", "").startswith("text/event-stream"):  # these are limited per event
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """A body that raises an error if it is larger than a message may be, or breaks off. The SDK reports this kind of
    error to the waiter for this answer.
    """

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LINE_LIMIT
        try:
            async for chunk in self._stream:
                left -= len(chunk)
                if left < 0:
                    raise httpx2.StreamError(f"an answer of more than {LINE_LIMIT:,} bytes")
                yield chunk
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"the connection was lost: {error}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()
