"""What a program in a sandbox asks of the proxy: HTTP CONNECT, a plain HTTP request, or SOCKS5; and the replies to it.

One port serves all of them: the first byte tells them apart. Reading is bounded in bytes; the caller bounds the time.
Plain HTTP is parsed and rewritten, so that nothing can follow the request that was judged.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from assent.web.destinations import Destination, destination
from assent.web.hosts import BadHost

if TYPE_CHECKING:
    import h11

Outcome = Literal["accepted", "refused", "unreachable", "busy", "malformed"]
MAX_HEAD = 64_000
"""Bytes of a request, without its body."""
_BLOCK = 65_536
_HTTP = {
    "refused": "403 Forbidden",
    "unreachable": "502 Bad Gateway",
    "busy": "503 Service Unavailable",
    "malformed": "400 Bad Request",
}
_SOCKS = {"accepted": 0, "busy": 1, "refused": 2, "unreachable": 4, "malformed": 7}
_HOP_BY_HOP = (b"connection", b"keep-alive", b"te", b"trailer", b"upgrade", b"host")
"""Hop-by-hop headers. `Host` is rewritten."""
_FRAMING = (b"content-length", b"transfer-encoding")
"""They stay, whatever `Connection` says: without them the server would read the body as another request."""


class BadRequest(Exception):
    """Not a request that the proxy understands; the message says why. `reply` is what the program gets."""

    def __init__(self, reason: str, reply: bytes = b"") -> None:
        super().__init__(reason)
        self.reply = reply


class Tunnel(Struct, frozen=True, kw_only=True):
    """Bytes in both directions, whatever they are."""

    wanted: Destination
    socks: bool = False
    early: bytes = b""
    """What the program has already sent."""

    def reply(self, outcome: Outcome, reason: str = "") -> bytes:
        if self.socks:
            return socks_reply(outcome)
        return b"HTTP/1.1 200 Connection established\r\n\r\n" if outcome == "accepted" else http_reply(outcome, reason)


class Forward(Struct, frozen=True, kw_only=True):
    """One plain HTTP request."""

    wanted: Destination
    head: bytes
    """As the server gets it."""
    body: "RequestBody"

    def reply(self, outcome: Outcome, reason: str = "") -> bytes:
        return b"" if outcome == "accepted" else http_reply(outcome, reason)


ClientRequest = Tunnel | Forward


def http_reply(outcome: Outcome, reason: str) -> bytes:
    body = f"Assent: {reason}\n".encode()
    head = f"HTTP/1.1 {_HTTP[outcome]}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\nConnection: close\r\n\r\n" + body


def socks_reply(outcome: Outcome) -> bytes:
    return bytes((5, _SOCKS[outcome], 0, 1, 0, 0, 0, 0, 0, 0))


async def read_request(client: socket.socket) -> ClientRequest | None:
    """None if the program said nothing. Raises BadRequest or OSError."""
    first = await _received(client)
    if not first:
        return None
    return await _Socks(client, first).request() if first[0] == 5 else await _http(client, first)


async def _received(client: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(client, _BLOCK)


# --- HTTP ---


async def _http(client: socket.socket, first: bytes) -> ClientRequest:
    import h11

    reading = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
    data = first
    try:
        while True:
            reading.receive_data(data)
            event = reading.next_event()
            if isinstance(event, h11.Request):
                return _understood(event, reading, client)
            data = await _received(client)
            if not data:
                raise _bad("the request was cut off")
    except h11.RemoteProtocolError as error:
        raise _bad(f"this is not a request to a proxy ({error})") from error


def _understood(event: "h11.Request", reading: "h11.Connection", client: socket.socket) -> ClientRequest:
    target = event.target.decode("latin-1")
    if event.method == b"CONNECT":
        return Tunnel(wanted=_authority(target, None), early=reading.trailing_data[0])
    return _forward(event, target, RequestBody(reading, client))


def _forward(event: "h11.Request", target: str, body: "RequestBody") -> Forward:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(target)
    except ValueError:
        raise _bad("the address cannot be read") from None
    if parts.scheme.lower() != "http" or "@" in parts.netloc:
        raise _bad("this is a proxy: send `CONNECT host:port`, or a request for an http:// address")
    wanted = _authority(parts.netloc, 80)
    hosts = [value.decode("latin-1") for name, value in event.headers if name == b"host"]
    if any(_authority(host, 80) != wanted for host in hosts):
        raise _bad("the Host header and the address name different hosts")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Forward(wanted=wanted, head=body.rewritten(event, path, parts.netloc), body=body)


def _authority(text: str, port: int | None) -> Destination:
    """`host:port`, where a missing port means the default."""
    host, colon, digits = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, digits = text, "" if port is None else str(port)
    if not digits.isascii() or not digits.isdigit():
        raise _bad("the host and port cannot be read")
    try:
        return destination(host, int(digits))
    except (BadHost, ValueError) as error:
        raise _bad(str(error)) from None


def _bad(reason: str) -> BadRequest:
    return BadRequest(reason, http_reply("malformed", reason))


class RequestBody:
    """The rest of a plain HTTP request, piece by piece; nothing after it is read."""

    def __init__(self, reading: "h11.Connection", client: socket.socket) -> None:
        import h11

        self._h11 = h11
        self._reading = reading
        self._writing = h11.Connection(h11.CLIENT)
        self._client = client

    def rewritten(self, event: "h11.Request", path: str, host: str) -> bytes:
        """The head as the server gets it, which closes the connection after its reply."""
        named = [value for name, value in event.headers if name == b"connection"]
        dropped = {*_HOP_BY_HOP, *(word.strip().lower() for value in named for word in value.split(b","))}
        dropped -= set(_FRAMING)
        kept = [(n, v) for n, v in event.headers.raw_items() if n.lower() not in dropped and n[:6].lower() != b"proxy-"]
        headers = [(b"Host", host.encode("latin-1")), *kept, (b"Connection", b"close")]
        try:
            request = self._h11.Request(method=event.method, target=path, headers=headers)
            return self._writing.send(request) or b""
        except self._h11.LocalProtocolError as error:
            raise _bad(str(error)) from error

    async def pieces(self) -> AsyncIterator[bytes]:
        """As the server gets them. Raises BadRequest or OSError."""
        while True:
            try:
                event = self._reading.next_event()
                is_part = isinstance(event, self._h11.Data | self._h11.EndOfMessage)
                piece = self._writing.send(event) if is_part else None
            except self._h11.ProtocolError as error:
                raise BadRequest(str(error)) from error
            match event:
                case self._h11.NEED_DATA:
                    self._reading.receive_data(await _received(self._client))
                case self._h11.Data():
                    yield piece or b""
                case self._h11.EndOfMessage():
                    yield piece or b""
                    return
                case _:
                    raise BadRequest("the request was cut off")


# --- SOCKS5 ---


class _Socks:
    """RFC 1928: no login, CONNECT only. A program may send everything at once."""

    def __init__(self, client: socket.socket, first: bytes) -> None:
        self._client = client
        self._data = first

    async def request(self) -> Tunnel:
        _, methods = await self._take(2)
        offered = await self._take(methods)
        if 0 not in offered:
            raise BadRequest("it wants to log in", b"\x05\xff")
        await asyncio.get_running_loop().sock_sendall(self._client, b"\x05\x00")
        version, command, _, kind = await self._take(4)
        if version != 5 or command != 1:
            raise BadRequest("only the command CONNECT is supported", socks_reply("malformed"))
        host = await self._host(kind)
        port = int.from_bytes(await self._take(2), "big")
        try:
            return Tunnel(wanted=destination(host, port), socks=True, early=self._data)
        except BadHost as error:
            raise BadRequest(str(error), socks_reply("refused")) from None

    async def _host(self, kind: int) -> str:
        match kind:
            case 1:
                return ".".join(map(str, await self._take(4)))
            case 3:
                (size,) = await self._take(1)
                return (await self._take(size)).decode("latin-1")
            case 4:
                return socket.inet_ntop(socket.AF_INET6, await self._take(16))
            case _:
                raise BadRequest("an unknown kind of address", socks_reply("malformed"))

    async def _take(self, size: int) -> bytes:
        while len(self._data) < size:
            if not (block := await _received(self._client)):
                raise BadRequest("the request was cut off")
            self._data += block
        taken, self._data = self._data[:size], self._data[size:]
        return taken
