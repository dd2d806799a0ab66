"""Which models Gemini has for a key."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from assent.models.gemini.gemini_failures import failure
from assent.models.model_list import fetch_list
from assent.models.model_protocol import ModelError
from assent.models.provider import Access, FoundModel
from assent.models.streamed_model import check_key
from assent.models.streaming_client import HttpClient

_METHOD = "generateContent"


class _Listed(Struct, rename="camel"):
    name: str
    input_token_limit: int | None = None
    output_token_limit: int | None = None
    supported_generation_methods: list[str] = []


class _Listing(Struct):
    models: list[_Listed] = []


async def list_models(access: Access) -> Sequence[FoundModel]:
    """Those that can hold a conversation; others make embeddings or images. Raises ModelError."""
    check_key(access.key, "GEMINI_API_KEY")
    http = HttpClient(access.base_url, access.proxy, access.timeouts)

    def refused(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        return failure(status, headers, body, "the provider")

    key = (("x-goog-api-key", access.key),)
    found = await fetch_list(http, "/v1beta/models?pageSize=1000", key, _Listing, refused, access.key)
    return [_found(model) for model in found.models if _METHOD in model.supported_generation_methods]


def _found(model: _Listed) -> FoundModel:
    name = model.name.removeprefix("models/")
    return FoundModel(name=name, window=model.input_token_limit, output=model.output_token_limit)
