"""How a reply is written: as an event stream, as one JSON document, as an array of events, or as one event per line.

The bytes decide, not the content type: servers and gateways send event streams as `text/plain`, and one document to
clients that asked for a stream. Pure; it knows no network.
"""

import re
from collections.abc import Callable

import msgspec

from assent.models.model_protocol import BrokenStream
from assent.models.sse import BOM, MAX_EVENT_SIZE, SseDecoder, SseEvent
from assent.models.wire_json import BAD_JSON

_SHOWN = 1000
"""Bytes of a body that is not a reply: enough to tell what it is."""
_BLANK = BOM + b" \t\r\n"
_SSE_STARTS = b"deir:"
"""How a line of an event stream can begin: with `data`, `event` or `error`, `id`, `retry`, or as a comment."""


class ReplyBody:
    """Feed blocks, get complete events; then `end` once. `foreign` makes the error for a body that is not a reply."""

    def __init__(self, foreign: Callable[[bytes], BrokenStream]) -> None:
        self._foreign = foreign
        self._sse = SseDecoder()
        self._start = b""
        """What has arrived, until it shows how the reply is written."""
        self._is_stream = self._has_events = False
        self._document: bytearray | None = None

    @property
    def cut(self) -> bool:
        """Whether the body ended inside an event."""
        return self._sse.unfinished

    def feed(self, block: bytes) -> list[SseEvent]:
        if self._is_stream:
            events = self._sse.feed(block)
            self._has_events = self._has_events or bool(events)
            return events
        if self._document is not None:
            self._keep(self._document, block)
            return []
        self._start += block
        first = self._start.lstrip(_BLANK)[:1]
        if not first:
            return []
        return self._begin(first)

    def end(self) -> list[SseEvent]:
        """What only the end of the body completes. Raises BrokenStream for a body that is not a reply."""
        if self._document is not None:
            return [SseEvent(document) for document in _documents(bytes(self._document))]
        events = self._sse.end()
        if not (self._has_events or events) and _is_no_line(rest := self._sse.rest()):
            raise self._foreign(rest[:_SHOWN])
        return events

    def incomplete(self, error: BrokenStream) -> BrokenStream:
        """The error for events that do not make a reply: JSON without any other sign is shown as it came."""
        return error if self._document is None else self._foreign(bytes(self._document[:_SHOWN]))

    def _begin(self, first: bytes) -> list[SseEvent]:
        block, self._start = self._start, b""
        if first in _SSE_STARTS:
            self._is_stream = True
            return self.feed(block)
        if first not in b"{[":
            raise self._foreign(block[:_SHOWN])
        self._document = bytearray()
        self._keep(self._document, block)
        return []

    def _keep(self, document: bytearray, block: bytes) -> None:
        document += block
        if len(document) > MAX_EVENT_SIZE:
            raise BrokenStream(f"the reply is one document of more than {MAX_EVENT_SIZE} bytes")


def _is_no_line(rest: bytes) -> bool:
    return bool(rest) and re.match(rb"(?:data|event|error|id|retry)?(?::|$)", rest) is None


def _documents(body: bytes) -> list[bytes]:
    """The events of an array, or the documents of a body with one in each line; a document over many lines is one."""
    body = body.strip(_BLANK)
    try:
        if body.startswith(b"["):
            return [bytes(event) for event in msgspec.json.decode(body, type=list[msgspec.Raw])]
        msgspec.json.decode(body)
    except BAD_JSON as error:
        lines = [line for line in body.splitlines() if line.strip()]
        if body.startswith(b"[") or len(lines) == 1:
            raise BrokenStream(f"the reply is incomplete: {error}") from error
        return lines
    return [body]
