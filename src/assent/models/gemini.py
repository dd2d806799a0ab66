"""The Gemini adapter: POST, stream, decode. What is said is built in `gemini_request` and read in `gemini_reply`.

It does not try again and does not run anything: it yields chunks, and `Finished` only after a whole reply.
"""

from collections.abc import AsyncGenerator
from urllib.parse import quote

from assent.models.gemini_failures import failure
from assent.models.gemini_reply import ReplyReader
from assent.models.gemini_request import encode_request
from assent.models.model_protocol import AuthFailed, BrokenStream, Chunk, ModelError, Request
from assent.models.proxy import Proxy
from assent.models.sse import SseDecoder
from assent.models.streaming_client import HttpClient, Response, Timeouts
from assent.parts import SearchAnswer

BASE_URL = "https://generativelanguage.googleapis.com"


class GeminiModel:
    def __init__(
        self,
        name: str,
        key: str,
        base_url: str = BASE_URL,
        proxy: Proxy | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        if not (key.isascii() and key.isprintable() and key):
            raise AuthFailed("the key has characters that no key has: check what GEMINI_API_KEY is set to")
        self._name = name.removeprefix("models/")
        self._key = key
        self._http = HttpClient(base_url, proxy, timeouts)
        self._path = f"/v1beta/models/{quote(self._name, safe='')}:streamGenerateContent?alt=sse"
        self._headers = (
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream"),
            ("Accept-Encoding", "identity"),
            ("x-goog-api-key", key),
        )

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        body = encode_request(request, self._name)
        reply, events = ReplyReader(self._name), SseDecoder()
        async with await self._http.post(self._path, self._headers, body) as response:
            await self._check(response)
            while (block := await response.read()) is not None:
                for event in events.feed(block):
                    for chunk in reply.chunks(event.data):
                        yield chunk
        # Only here: the connection is free again, and nothing can come after the last chunk.
        yield reply.finished(cut=events.unfinished)

    async def search(self, query: str) -> SearchAnswer:
        """Google's search, with an answer that this model writes from what was found."""
        from assent.models.gemini_search import SearchReader, encode_search

        reply, events, found = ReplyReader(self._name), SseDecoder(), SearchReader()
        async with await self._http.post(self._path, self._headers, encode_search(query)) as response:
            await self._check(response)
            while (block := await response.read()) is not None:
                for event in events.feed(block):
                    found.take(reply.chunks(event.data), event.data)
        reply.finished(cut=events.unfinished)
        return found.answer()

    async def close(self) -> None:
        await self._http.close()

    async def _check(self, response: Response) -> None:
        if response.status != 200:
            raise await self._failure(response)
        _check_type(response, self._http.host)

    async def _failure(self, response: Response) -> ModelError:
        from assent.secrets.values import is_distinct

        body = await response.read_all()
        # Something between us and Google may echo the request; the key must not get into a log that way.
        # A key of a letter or two is none, and would be found in every word.
        if is_distinct(self._key):
            body = body.replace(self._key.encode(), b"[key]")
        return failure(response.status, response.headers, body, self._name)


def _check_type(response: Response, host: str) -> None:
    kind = response.headers.get("content-type", "text/event-stream").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise BrokenStream(f"{host} answered with {kind} where an event stream was expected")
