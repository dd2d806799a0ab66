"""Sits between a transport and the SDK: keeps the good part of malformed answers, and reports what HTTP rejected.

The SDK does neither: to it an answer is good or bad, and a status from a proxy is an error like the server's own.
"""

import asyncio
import contextlib
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from msgspec import Struct

from assent.mcp.definitions import Refusal
from assent.mcp.notifications import NotificationListener
from assent.mcp.salvage import KNOWN, salvaged

Incoming = SessionMessage | Exception
MAX_PENDING = 1_000
"""Requests whose method we remember; older ones will hardly be answered."""


class Refused(Struct, frozen=True):
    """The HTTP result of a request. Put into the error that the SDK makes of it; no server can send one."""

    status: int = 0
    """0: there was no answer."""
    undelivered: bool = False
    """The server never processed it: it was not there, or did not know our session. It may be sent again."""
    reason: str = ""


class _Closable(Protocol):
    async def aclose(self) -> None: ...


T = TypeVar("T", bound=_Closable)


class _Wrapped(Generic[T]):
    """A stream as the SDK uses it."""

    def __init__(self, inner: T, watch: "Intercept") -> None:
        self._inner = inner
        self._watch = watch

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self._inner.aclose()


class _Reading(_Wrapped[ReadStream[Incoming]]):
    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return self._watch.came(await self._inner.__anext__())
        except StopAsyncIteration:
            self._watch.ended()
            raise

    async def receive(self) -> Incoming:
        return self._watch.came(await self._inner.receive())


class _Writing(_Wrapped[WriteStream[SessionMessage]]):
    async def send(self, item: SessionMessage, /) -> None:
        self._watch.goes(item)
        await self._inner.send(item)


class Intercept:
    def __init__(self, listener: NotificationListener) -> None:
        self.version = "2025-11-25"
        """The version of the protocol. Nothing is listed or called before it is known."""
        self.connected = False
        """The handshake is over."""
        self.dropped: list[Refusal] = []
        self._listener = listener
        self._asked: dict[str, str] = {}
        self._answered = asyncio.Event()
        self._refused: dict[str, Refused] = {}

    def around(self, streams: TransportStreams) -> TransportStreams:
        reading, writing = streams
        return _Reading(reading, self), _Writing(writing, self)

    def greeted(self, version: str) -> None:
        self.version, self.connected = version, True

    def refused(self, request_id: object, refused: Refused) -> None:
        """The error for this request does not come from the server."""
        _remember(self._refused, str(request_id), refused)

    def goes(self, item: SessionMessage) -> None:
        match item.message:
            case JSONRPCRequest(id=request_id, method=method) if method in KNOWN:
                _remember(self._asked, str(request_id), method)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": request_id}):
                self._over(request_id)
            case _:
                pass

    def came(self, item: Incoming) -> Incoming:
        match item:
            case SessionMessage(message=JSONRPCResponse() as answer):
                if method := self._over(answer.id):
                    answer.result, dropped = salvaged(method, self.version, answer.result)
                    self.dropped += dropped
            case SessionMessage(message=JSONRPCError() as answer):
                self._over(answer.id)
                refused = self._refused.pop(str(answer.id), None)
                answer.error.data = refused if refused is not None else answer.error.data
            case _:
                pass
        return item

    def _over(self, request_id: object) -> str:
        self._answered.set()
        return self._asked.pop(str(request_id), "")

    async def settled(self, max_wait: float) -> None:
        """Wait until pending requests have been answered, so that each waiter learns what became of its request."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max_wait):
                while self._asked:
                    self._answered.clear()
                    await self._answered.wait()

    def ended(self) -> None:
        """Nothing more will be answered."""
        self._asked.clear()
        self._answered.set()
        self._listener.lost("the server closed the connection")


V = TypeVar("V")


def _remember(known: dict[str, V], key: str, value: V) -> None:
    known[key] = value
    if len(known) > MAX_PENDING:
        del known[next(iter(known))]
