"""Content encodings: decompresses gzip and deflate block by block, with a limit. Bytes in, bytes out.

A few compressed bytes may expand to gigabytes, so the caller says how much it accepts.
"""

import zlib
from collections.abc import Mapping
from typing import Protocol

from assent.http import Broken

_GZIP = b"\x1f\x8b"


class Unpacker(Protocol):
    def feed(self, block: bytes, room: int) -> bytes:
        """At most `room` bytes; the caller stops when it gets that many."""
        ...

    def end(self) -> None: ...


class Plain:
    def feed(self, block: bytes, room: int) -> bytes:
        return block[:room]

    def end(self) -> None:
        pass


class Packed:
    """gzip, and deflate with its header or, as some servers send it, without."""

    def __init__(self) -> None:
        self._first = b""
        self._packed = None

    def feed(self, block: bytes, room: int) -> bytes:
        if self._packed is None:
            self._first += block
            if len(self._first) < 2:
                return b""
            block, self._packed = self._first, zlib.decompressobj(_window(self._first))
        try:
            data = self._packed.decompress(block, room)
            while self._packed.eof and self._packed.unused_data[:2] == _GZIP and len(data) < room:  # another member
                rest, self._packed = self._packed.unused_data, zlib.decompressobj(_window(_GZIP))
                data += self._packed.decompress(rest, room - len(data))
            return data
        except zlib.error as error:
            raise Broken(f"the content cannot be decompressed: {error}") from error

    def end(self) -> None:
        if self._first and (self._packed is None or not self._packed.eof):
            raise Broken("the compressed content is incomplete")


def _window(first: bytes) -> int:
    if first[:2] == _GZIP:
        return 16 + zlib.MAX_WBITS
    has_header = first[0] & 0x0F == 8 and int.from_bytes(first[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS


def unpacker_for(headers: Mapping[str, str]) -> Unpacker:
    match headers.get("content-encoding", "").strip().lower():
        case "" | "identity":
            return Plain()
        case "gzip" | "x-gzip" | "deflate":
            return Packed()
        case other:
            raise Broken(f"the content has an unsupported encoding ({other[:40]!r})")
