"""A request head must arrive in time and be short: one that never ends would hold its connection, or grow, forever.

uvicorn closes connections that are idle after a request; this closes those that never complete one, with the same kind
of error as the rest of the server, even if the request is not HTTP. It knows nothing about the request's meaning.
"""

import asyncio
import secrets
from http import HTTPStatus
from typing import Any

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assent.front.web.exchange import REQUEST_ID
from assent.front.web.peer_process import PeerProcess
from assent.front.web.problems import Problem
from assent.front.web.security import CALLER, HEADERS, problem_headers
from assent.front.web.server_log import ServerLog

HEAD_SECONDS = 10.0
HEAD_BYTES = 64_000


class TimeoutProtocol(HttpToolsProtocol):
    log: ServerLog
    """Set by `with_log`, because uvicorn makes the instances."""
    _waiting: asyncio.TimerHandle | None = None
    _head: int | None = None
    """The length of the head so far; None while there is none."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._caller = PeerProcess(self.client, self.server)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        under_way: Any = self.cycle  # None before the first request, whatever its type says
        if under_way is None or under_way.response_complete:
            self._wait()
        else:
            self._stop_waiting()
        if self._head is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._refuse(Problem("too-large", f"the request head may have at most {HEAD_BYTES:,} bytes"))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CALLER] = self._caller  # pyright: ignore[reportGeneralTypeIssues]
        self._head = 0

    def on_headers_complete(self) -> None:
        """Only paths: an address in the request line would take precedence over `Host`, which is what is checked."""
        if not self.url.startswith(b"/"):
            raise HttpParserError("not a path")
        self._head = None
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(Problem("bad-request", "this is not a valid HTTP request"))

    def _refuse(self, problem: Problem) -> None:
        if self.transport.is_closing():
            return
        trace = secrets.token_hex(8)
        address = self.client[0] if self.client else ""
        self.log.info("refused", request_id=trace, status=problem.status, address=address, detail=str(problem))
        body = problem.encode(trace)
        own = [(b"cache-control", b"no-store"), (b"connection", b"close"), (REQUEST_ID, trace.encode())]
        fields = [*problem_headers(problem, body), *HEADERS, *own]
        first = f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n".encode()
        self.transport.write(first + b"".join(b"%s: %s\r\n" % field for field in fields) + b"\r\n" + body)
        self.transport.close()

    @classmethod
    def with_log(cls, log: ServerLog) -> "type[TimeoutProtocol]":
        return type(cls.__name__, (cls,), {"log": log})

    # --- waiting ---

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._waited)

    def _waited(self) -> None:
        """A silent connection gets no response: browsers open connections that they may never use."""
        if self._head is not None:
            self._refuse(Problem("too-slow", f"the request head must arrive within {HEAD_SECONDS:g} seconds"))
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
