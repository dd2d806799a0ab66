"""Decodes server-sent events from blocks of bytes, however they are split. It knows nothing of the network or of JSON.

Per the standard, lines end in LF, CRLF or CR, and a blank line ends an event. `id` and `retry` are for browsers and are
ignored here. An event that the stream left unfinished is never returned: see `SseDecoder.unfinished`.

Beyond the standard, because servers do it: the blank line after the end marker may be missing, `data` lines that are
whole JSON objects are one event each, and an error may come without a field or in a field `error`.
"""

from msgspec import Struct

from assent.models.model_protocol import BrokenStream
from assent.models.wire_json import DONE

MAX_EVENT_SIZE = 64 << 20
"""No provider sends an event of this size; a peer that does must not fill our memory."""

BOM = b"\xef\xbb\xbf"
END_MARKERS = (b"data: " + DONE, b"data:" + DONE)


class SseEvent(Struct, frozen=True, gc=False):
    data: bytes
    name: str = ""


class SseDecoder:
    """Feed blocks, get complete events. The cost is linear: a long event is joined once, not once per block."""

    def __init__(self, limit: int = MAX_EVENT_SIZE) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._last = b""
        self._after_cr = False
        self._at_start = True

    @property
    def unfinished(self) -> bool:
        """Whether bytes came after the last complete event: at the end of a stream, this means that it was cut."""
        return any(piece.strip(b"\n") for piece in self._held)

    def rest(self) -> bytes:
        """The bytes after the last complete event."""
        return b"".join(self._held).strip(b"\n")

    def feed(self, block: bytes) -> list[SseEvent]:
        block = self._unify_line_ends(block)
        if b"\n\n" not in (self._last + block if self._held else block):
            self._hold(block)
            return []
        if self._held:
            block = b"".join((*self._held, block))
            self._held, self._size, self._last = [], 0, b""
        *whole, rest = block.split(b"\n\n")
        self._hold(rest)
        found: list[SseEvent] = []
        for piece in whole:
            self._parse(piece, found)
        return found

    def end(self) -> list[SseEvent]:
        """An end marker or an error without a blank line after it; anything else remains `unfinished`: it was cut."""
        rest, found = self.rest(), list[SseEvent]()
        if rest in END_MARKERS or (rest.startswith(b"{") and rest.endswith(b"}")):
            self._held = []
            self._parse(rest, found)
        return found

    def _unify_line_ends(self, block: bytes) -> bytes:
        """A CR ends its line at once instead of waiting for an LF; an LF at the start of the next block is dropped."""
        if self._after_cr and block:
            block = block.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" not in block:
            return block
        self._after_cr = block.endswith(b"\r")
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _hold(self, block: bytes) -> None:
        if not block:
            return
        self._size += len(block)
        if self._size > self._limit + 1:  # the first LF of the blank line may be held already
            raise BrokenStream(f"the reply has an event longer than {self._limit} bytes")
        self._held.append(block)
        self._last = block[-1:]

    def _parse(self, piece: bytes, found: list[SseEvent]) -> None:
        if len(piece) > self._limit:
            raise BrokenStream(f"the reply has an event longer than {self._limit} bytes")
        if self._at_start:
            self._at_start = False
            piece = piece.removeprefix(BOM)
        if piece.startswith(b"data: ") and b"\n" not in piece:  # what providers send, 20,000 times per reply
            found.append(SseEvent(piece[6:]))
            return
        if piece.startswith(b"event: ") and piece.count(b"\n") == 1:  # or this
            name, _, data = piece.partition(b"\ndata: ")
            if data:
                found.append(SseEvent(data, name[7:].decode("utf-8", "replace")))
                return
        found += _parse_lines(piece)


def _parse_lines(piece: bytes) -> list[SseEvent]:
    data: list[bytes] = []
    name = ""
    for line in piece.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                data.append(value)
            case b"error" if value.startswith(b"{"):  # older versions of llama-server
                data.append(value)
            case b"event":
                name = value.decode("utf-8", "replace")
            case _:  # a comment (the field is empty), id, retry, or something the standard tells us to ignore
                pass
    if not data:
        return [SseEvent(piece)] if piece.startswith(b"{") else []  # JSON without a field: an error, in a hurry
    if len(data) > 1 and all(map(_is_whole, data)):
        return [SseEvent(line, name) for line in data]
    return [SseEvent(b"\n".join(data), name)]


def _is_whole(line: bytes) -> bool:
    """Whether a line is an event of its own: no line of a longer JSON document begins and ends like this."""
    return line == DONE or (line.startswith(b'{"') and line.endswith(b"}"))
