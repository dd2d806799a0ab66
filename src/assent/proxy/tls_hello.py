"""Looks at the first bytes that a program sends through a tunnel: does a TLS handshake name the host that was judged?

With another name, a server that hosts many sites would serve one that nobody judged (domain fronting). What follows is
encrypted and cannot be checked. Bytes that are not TLS pass at once. Pure.
"""

from assent.web.hosts import BadHost, canonical_host

_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME = 22, 1, 0
_OTHER_RECORDS = (20, 21, 23, 24)
"""TLS records that do not begin a handshake; some servers ignore a warning before it."""
_MAX_HELLO_SIZE = 65_536


class WrongName(Exception):
    """The handshake names another host, or cannot be read; the message says which."""


class HelloCheck:
    """Holds back the beginning of a handshake until the name in it is known."""

    def __init__(self, host: str) -> None:
        """Without a host, because an address was judged, every name passes."""
        self._host = host
        self._held = b""
        self.passed = False
        """Nothing is left to check."""

    def feed(self, data: bytes) -> bytes:
        """What may be sent now. Raises WrongName."""
        if self.passed:
            return data
        self._held += data
        if self._host and self._held and not self._is_read():
            return b""
        self.passed = True
        held, self._held = self._held, b""
        return held

    def end(self) -> bytes:
        """What is still held back when no more bytes come."""
        held, self._held = self._held, b""
        return held

    def _is_read(self) -> bool:
        """Whether what the program sends is known and allowed."""
        if self._held[0] in _OTHER_RECORDS:
            if self._held[1:2] == b"\x03":
                raise WrongName("it is TLS, but does not begin with a handshake")
            return len(self._held) > 1
        return self._held[0] != _HANDSHAKE or self._is_checked()

    def _is_checked(self) -> bool:
        hello = client_hello(self._held)
        if hello is None:
            if len(self._held) > _MAX_HELLO_SIZE:
                raise WrongName("the TLS handshake is too long to be checked")
            return False
        name = server_name(hello)
        if name is not None and not _same(name, self._host):
            raise WrongName(f"the TLS handshake names another host ({name[:100]!r})")
        return True


def client_hello(data: bytes) -> bytes | None:
    """The body of the message, which may come in several records; None if more bytes are needed."""
    message, at = b"", 0
    while at + 5 <= len(data):
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at] != _HANDSHAKE or size == 0:
            raise WrongName("the TLS handshake cannot be read")
        message += data[at + 5 : at + 5 + size]
        at += 5 + size
        if message[:1] not in (b"", bytes((_CLIENT_HELLO,))):
            raise WrongName("the TLS handshake cannot be read")
        length = int.from_bytes(message[1:4], "big")
        if len(message) >= 4 + length and len(message) >= 4:
            return message[4 : 4 + length]
    return None


def server_name(hello: bytes) -> str | None:
    """The name that the program asks for; None if it asks for none."""
    at = 34  # version and random bytes
    for width in (1, 2, 1):  # session, ciphers, compression
        at += width + _number(hello, at, width)
    end = at + 2 + _number(hello, at, 2) if at < len(hello) else at
    at += 2
    while at + 4 <= end:
        kind, size = _number(hello, at, 2), _number(hello, at + 2, 2)
        if kind == _SERVER_NAME:
            length = _number(hello, at + 7, 2)
            return hello[at + 9 : at + 9 + length].decode("latin-1")
        at += 4 + size
    return None


def _number(data: bytes, at: int, width: int) -> int:
    if at + width > len(data):
        raise WrongName("the TLS handshake cannot be read")
    return int.from_bytes(data[at : at + width], "big")


def _same(name: str, host: str) -> bool:
    try:
        return canonical_host(name) == host
    except BadHost:
        return False
