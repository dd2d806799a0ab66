"""The Anthropic adapter: where its requests go, and which models it has."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.models.anthropic.anthropic_request import encode_messages
from assent.models.model_protocol import ModelError, Request
from assent.models.provider import Access, FoundModel
from assent.models.provider_registry import full_name
from assent.models.streamed_model import StreamedModel, check_key
from assent.models.streaming_client import HttpClient

if TYPE_CHECKING:  # loaded when a reply arrives
    from assent.models.anthropic.anthropic_reply import AnthropicReply

BASE_URL = "https://api.anthropic.com"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
VERSION = "2023-06-01"
"""The version of the API. Newer ones bring nothing that Assent needs, and not every gateway knows them."""
LONGEST_REPLY = 32_000
"""In tokens, for models that are not listed: all models since 2025 can write this much."""


class AnthropicFormat:
    path = "/v1/messages"

    def __init__(self, model: str, longest_reply: int, provider: str = "anthropic") -> None:
        self._model = model
        self.name = full_name(provider, model)
        self._longest_reply = longest_reply

    def encode(self, request: Request) -> bytes:
        return encode_messages(request, self._model, self.name, self._limit(request))

    def reader(self, request: Request) -> "AnthropicReply":
        from assent.models.anthropic.anthropic_reply import AnthropicReply
        from assent.models.anthropic.anthropic_signature import past_of_reply
        from assent.models.wire_ids import earlier_ids

        return AnthropicReply(self._model, past_of_reply(request), self._limit(request), earlier_ids(request))

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.anthropic.anthropic_failures import failure

        return failure(status, headers, body, self._model)

    def _limit(self, request: Request) -> int:
        return min(request.max_tokens or self._longest_reply, self._longest_reply)


class AnthropicModel(StreamedModel):
    def __init__(self, model: str, access: Access, longest_reply: int = LONGEST_REPLY) -> None:
        wire = AnthropicFormat(model, longest_reply, access.provider or "anthropic")
        http = HttpClient(_base_url(access), access.proxy, access.timeouts)
        super().__init__(wire.name, http, wire, _headers(access), access.key)


class _Found(Struct):
    id: str
    max_input_tokens: int | None = None
    max_tokens: int | None = None


class _List(Struct):
    data: list[_Found] = []


async def list_models(access: Access) -> Sequence[FoundModel]:
    from assent.models.json_client import JsonClient  # not needed for a request

    http = HttpClient(_base_url(access), access.proxy, access.timeouts)

    def refused(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.anthropic.anthropic_failures import failure

        return failure(status, headers, body, "the provider")

    async with JsonClient(http, _headers(access), access.key, refused) as client:
        found = await client.get("/v1/models?limit=1000", _List)
    return [
        FoundModel(name=model.id, window=model.max_input_tokens, output=model.max_tokens, tools=True)
        for model in found.data
    ]


def _base_url(access: Access) -> str:
    """People write it both with and without the version."""
    return access.base_url.rstrip("/").removesuffix("/v1")


def _headers(access: Access) -> tuple[tuple[str, str], ...]:
    version = ("anthropic-version", VERSION)
    if not access.key and access.provider not in ("", "anthropic"):  # the user's own server may need none
        return (version,)
    check_key(access.key, KEY_VARIABLE)
    return (("x-api-key", access.key), version)
