"""The Gemini adapter: how its requests are addressed, and its search of the web."""

from collections.abc import Mapping
from urllib.parse import quote

from assent.models.gemini.gemini_failures import failure
from assent.models.gemini.gemini_reply import GeminiReply
from assent.models.gemini.gemini_request import encode_request
from assent.models.model_protocol import ModelError, Request
from assent.models.provider_registry import full_name
from assent.models.proxy import Proxy
from assent.models.sse import SseDecoder
from assent.models.streamed_model import StreamedModel, check_key
from assent.models.streaming_client import HttpClient, Timeouts
from assent.parts import SearchAnswer

BASE_URL = "https://generativelanguage.googleapis.com"


class GeminiFormat:
    def __init__(self, model: str) -> None:
        self._model = model
        self.path = f"/v1beta/models/{quote(model, safe='')}:streamGenerateContent?alt=sse"

    def encode(self, request: Request) -> bytes:
        return encode_request(request, self._model)

    def reader(self, request: Request) -> GeminiReply:
        return self.new_reply()

    def new_reply(self) -> GeminiReply:
        return GeminiReply(self._model)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        return failure(status, headers, body, self._model)


class GeminiModel(StreamedModel):
    def __init__(
        self,
        name: str,
        key: str,
        base_url: str = BASE_URL,
        proxy: Proxy | None = None,
        timeouts: Timeouts | None = None,
        provider: str = "gemini",
    ) -> None:
        check_key(key, "GEMINI_API_KEY")
        model = name.removeprefix("models/")
        self._format = GeminiFormat(model)
        http = HttpClient(base_url, proxy, timeouts)
        super().__init__(full_name(provider, model), http, self._format, (("x-goog-api-key", key),), key)

    async def search(self, query: str) -> SearchAnswer:
        """Google's search, with an answer that this model writes from what was found."""
        from assent.models.gemini.gemini_search import SearchReader, encode_search

        reply, events, found = self._format.new_reply(), SseDecoder(), SearchReader()
        async with await self.post(self._format.path, encode_search(query)) as response:
            while (block := await response.read()) is not None:
                for event in events.feed(block):
                    found.take(reply.chunks(event.data), event.data)
        reply.end(cut=events.unfinished)
        return found.answer()
