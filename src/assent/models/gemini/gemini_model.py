"""The Gemini adapter: where its requests go, which models it has, and its web search."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct

from assent.http.head import Headers
from assent.models.gemini.gemini_request import encode_request
from assent.models.model_protocol import ModelError, Request
from assent.models.provider import Access, FoundModel
from assent.models.provider_registry import full_name
from assent.models.proxy import Proxy
from assent.models.streamed_model import StreamedModel, check_key
from assent.models.streaming_client import HttpClient, Timeouts
from assent.parts import SearchAnswer

if TYPE_CHECKING:  # loaded when a reply arrives
    from assent.models.gemini.gemini_reply import GeminiReply

BASE_URL = "https://generativelanguage.googleapis.com"
VERTEX_URL = "https://aiplatform.googleapis.com"
TOKEN_COMMAND = "gcloud auth print-access-token"
"""Prints a token for Vertex AI."""
KEY_VARIABLE = "GEMINI_API_KEY"


class GeminiFormat:
    def __init__(self, model: str, folder: str = "/v1beta/models", provider: str = "gemini", advice: str = "") -> None:
        """`folder` is the path of the models; `advice` says what to do about a rejected key."""
        self._model = model
        self._provider = provider
        self._advice = advice
        self.path = f"{folder}/{quote(model, safe='')}:streamGenerateContent?alt=sse"

    def encode(self, request: Request) -> bytes:
        return encode_request(request, self._model, self._provider)

    def reader(self, request: Request) -> "GeminiReply":
        from assent.models.wire_ids import earlier_ids

        return self.new_reply(earlier_ids(request))

    def new_reply(self, used_ids: set[str] | None = None) -> "GeminiReply":
        from assent.models.gemini.gemini_reply import GeminiReply

        return GeminiReply(self._model, used_ids or set(), self._advice)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.gemini.gemini_failures import failure

        return failure(status, headers, body, self._model, self._advice)


class SearchingModel(StreamedModel):
    """A Gemini model, however it is reached."""

    def __init__(self, name: str, http: HttpClient, wire: GeminiFormat, headers: Headers, key: str) -> None:
        super().__init__(name, http, wire, headers, key)
        self._format = wire

    can_search = True

    async def search(self, query: str) -> SearchAnswer:
        """Google's search, with an answer that this model writes from the results."""
        from assent.models.gemini.gemini_search import SearchReader, encode_search

        reply, found = self._format.new_reply(), SearchReader()
        async with await self.post(self._format.path, encode_search(query)) as response:
            body = self.body_of(response)
            while (block := await response.read()) is not None:
                for event in body.feed(block):
                    found.take(reply.chunks(event.data), event.data)
        for event in body.end():
            found.take(reply.chunks(event.data), event.data)
        reply.end(cut=body.cut)
        return found.answer()


class GeminiModel(SearchingModel):
    """A Gemini model at Google AI, with a key."""

    def __init__(
        self,
        name: str,
        key: str,
        base_url: str = BASE_URL,
        proxy: Proxy | None = None,
        timeouts: Timeouts | None = None,
        provider: str = "gemini",
    ) -> None:
        check_key(key, KEY_VARIABLE)
        model = name.removeprefix("models/")
        http = HttpClient(base_url, proxy, timeouts)
        wire = GeminiFormat(model, provider=provider)
        super().__init__(full_name(provider, model), http, wire, _key_header(key), key)


class _Found(Struct, rename="camel"):
    name: str
    input_token_limit: int | None = None
    output_token_limit: int | None = None
    supported_generation_methods: list[str] = []


class _List(Struct):
    models: list[_Found] = []


async def list_models(access: Access) -> Sequence[FoundModel]:
    from assent.models.json_client import JsonClient  # not needed for a request

    check_key(access.key, KEY_VARIABLE)
    http = HttpClient(access.base_url, access.proxy, access.timeouts)

    def refused(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.gemini.gemini_failures import failure

        return failure(status, headers, body, "the provider")

    async with JsonClient(http, _key_header(access.key), access.key, refused) as client:
        found = await client.get("/v1beta/models?pageSize=1000", _List)
    return [
        FoundModel(
            name=model.name.removeprefix("models/"), window=model.input_token_limit, output=model.output_token_limit
        )
        for model in found.models
        if "generateContent" in model.supported_generation_methods
    ]


def _key_header(key: str) -> Headers:
    return (("x-goog-api-key", key),)
