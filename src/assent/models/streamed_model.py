"""A model over HTTP: POST, stream, decode. All adapters share it; a `WireFormat` builds requests and reads replies.

It does not retry, except once without signatures if the provider rejects one, and it runs nothing. It yields chunks,
and `Finished` only after a complete reply.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import suppress
from typing import Protocol

from msgspec.structs import replace

from assent.http.head import Headers
from assent.models.foreign_messages import signatures, without_refused
from assent.models.model_protocol import (
    AuthFailed,
    BrokenStream,
    Chunk,
    ModelError,
    Request,
    StaleSignature,
    Transient,
)
from assent.models.reply_body import ReplyBody
from assent.models.streaming_client import HttpClient, Response

EVENT_STREAM = "text/event-stream"
LONGEST_FAREWELL = 5.0
"""Seconds from the last event of a reply to the end of its HTTP response: some servers never end it."""


class ReplyReader(Protocol):
    """Reads one reply. Pure: bytes in, chunks out."""

    @property
    def ended(self) -> bool:
        """Whether the end marker of the format has arrived: nothing of the reply is missing."""
        ...

    def chunks(self, data: bytes) -> Iterable[Chunk]:
        """The chunks of one event, or of a whole reply in one document. Raises ModelError."""
        ...

    def end(self, *, cut: bool) -> Iterable[Chunk]:
        """The chunks that remain when the stream has ended, `Finished` last. `cut`: it ended inside an event.

        Raises BrokenStream if the reply is incomplete.
        """
        ...


class WireFormat(Protocol):
    """One provider's format of requests, replies and errors. Pure."""

    @property
    def path(self) -> str: ...

    def encode(self, request: Request) -> bytes: ...

    def reader(self, request: Request) -> ReplyReader:
        """For the reply to this request. Called when it arrives: the code that reads it need not be loaded before."""
        ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError: ...


class StreamedModel:
    def __init__(self, name: str, http: HttpClient, wire: WireFormat, headers: Headers, key: str = "") -> None:
        self.name = name
        self.http = http
        self._wire = wire
        self._key = key
        self._refused: frozenset[str] = frozenset()
        """Signatures that the provider no longer accepts: they are not sent again."""
        self._headers = (
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream"),
            ("Accept-Encoding", "identity"),
            *headers,
        )

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        try:
            async with await self._ask(request) as response:
                reply, body = self._wire.reader(request), self.body_of(response)
                while not reply.ended and (block := await response.read()) is not None:
                    for event in body.feed(block):
                        for chunk in reply.chunks(event.data):
                            yield chunk
                if reply.ended:
                    await _drain(response)
            # Only here: the connection is free again, and nothing can follow the last chunk.
            for chunk in _last_chunks(reply, body):
                yield chunk
        except ModelError as error:
            self._hide_key(error)
            raise

    def _hide_key(self, error: ModelError) -> None:
        """A gateway may echo the request, also inside a reply."""
        error.args = (hidden(self._key, str(error).encode(errors="replace")).decode(),)

    async def _ask(self, request: Request) -> Response:
        if self._refused:
            request = replace(request, messages=without_refused(request.messages, self._refused))
        try:
            return await self.post(self._wire.path, self._wire.encode(request))
        except StaleSignature:
            self._refused |= signatures(request.messages)
            plain = replace(request, messages=without_refused(request.messages, self._refused))
            return await self.post(self._wire.path, self._wire.encode(plain))

    async def post(self, path: str, body: bytes) -> Response:
        """The response, unless it is an error. Raises ModelError."""
        response = await self.http.post(path, self._headers, body)
        try:
            await self._check(response)
        except BaseException:
            response.release()
            raise
        return response

    def use_key(self, key: str, header: tuple[str, str]) -> None:
        """From now on, for a key that is made anew from time to time."""
        self._key = key
        self._headers = (*(one for one in self._headers if one[0] != header[0]), header)

    async def close(self) -> None:
        await self.http.close()

    async def _check(self, response: Response) -> None:
        if not 200 <= response.status < 300:
            raise self._wire.failure(response.status, response.headers, hidden(self._key, await response.read_all()))

    def body_of(self, response: Response) -> ReplyBody:
        kind = response.headers.get("content-type", EVENT_STREAM).partition(";")[0].strip().lower()

        def foreign(start: bytes) -> BrokenStream:
            from assent.models.failure_signs import plain_words

            words = plain_words(hidden(self._key, start).decode("utf-8", "replace"))
            return BrokenStream(f"{self.http.host} sent {kind} instead of an event stream: {words}")

        return ReplyBody(foreign)


async def _drain(response: Response) -> None:
    """So that the connection can be used again. A complete reply stays complete, however its response ends."""
    with suppress(TimeoutError, Transient):
        async with asyncio.timeout(LONGEST_FAREWELL):
            while await response.read() is not None:
                pass


def _last_chunks(reply: ReplyReader, body: ReplyBody) -> Iterable[Chunk]:
    for event in body.end():
        yield from reply.chunks(event.data)
    try:
        yield from reply.end(cut=body.cut)
    except BrokenStream as error:
        raise body.incomplete(error) from error


def check_key(key: str, variable: str) -> None:
    if not (key.isascii() and key.isprintable() and key):
        raise AuthFailed(f"the key contains invalid characters: check what {variable} is set to")


def hidden(key: str, body: bytes) -> bytes:
    """Mask the key. A gateway may echo the request, and the key must not reach a log that way.

    A key of one or two letters is not a real key, and would match inside every word.
    """
    from assent.secrets.values import is_distinct

    return body.replace(key.encode(), b"[key]") if key and is_distinct(key) else body
