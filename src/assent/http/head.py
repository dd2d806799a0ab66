"""HTTP/1.1 heads: ours are written here, theirs are read by h11. Pure bytes; no network.

h11 takes 9 ms to import, so that happens only when there is a response to read: by then the request has been sent, the
model is busy, and nobody waits for us.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from assent.http import Broken, Unsendable

Headers = Sequence[tuple[str, str]]

DEFAULT_PORTS = {"http": 80, "https": 443}

_TARGET = re.compile(r"[\x21-\x7e]+")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")


class Head(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    keeps: bool
    """Whether the peer allows the connection to be reused."""
    rest: bytes
    """The bytes after the head."""


def authority(scheme: str, host: str, port: int) -> str:
    """As in the Host header and in addresses: brackets around IPv6, the port only if it is not the default."""
    name = f"[{host}]" if ":" in host else host
    return name if port == DEFAULT_PORTS[scheme] else f"{name}:{port}"


def request_head(method: str, target: str, headers: Headers) -> bytes:
    """Nothing may smuggle a line break into a request, so everything is checked."""
    well_formed = _TARGET.fullmatch(target) and all(
        _NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in headers
    )
    if not well_formed:  # not repeated in the error: one of the headers is the key
        raise Unsendable("the request has an address or a header with characters that HTTP forbids")
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("ascii")


class HeadParser:
    """Reads one response head, skipping informational ones before it."""

    def __init__(self, host: str, method: str) -> None:
        import h11

        self._host = host
        self._h11 = h11
        self._parser = h11.Connection(h11.CLIENT)
        # h11 reads a response to a request that it has seen; this one is never sent.
        self._parser.send(h11.Request(method=method, target="h:1", headers=[("Host", "h")]))

    @property
    def begun(self) -> bool:
        return bool(self._parser.trailing_data[0])

    def feed(self, block: bytes) -> Head | None:
        self._parser.receive_data(block)
        while True:
            try:
                event = self._parser.next_event()
            except self._h11.RemoteProtocolError as error:
                raise Broken(f"{self._host} sent something that is not HTTP: {error}") from error
            if event is self._h11.NEED_DATA:
                return None
            if isinstance(event, self._h11.Response):
                return self._head(event.status_code, event.http_version, event.headers)

    def _head(self, status: int, version: bytes, fields: Sequence[tuple[bytes, bytes]]) -> Head:
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in fields}
        keeps = version >= b"1.1" and "close" not in headers.get("connection", "").lower()
        return Head(status, headers, keeps, self._parser.trailing_data[0])
