"""The adapter for OpenAI's Responses API: where its requests go, and which models it has."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.models.model_protocol import ModelError, Request
from assent.models.openai.responses_request import encode_responses
from assent.models.provider import Access, FoundModel
from assent.models.provider_registry import full_name, well_known
from assent.models.streamed_model import StreamedModel, check_key
from assent.models.streaming_client import HttpClient

if TYPE_CHECKING:  # loaded when a reply arrives
    from assent.models.openai.responses_reply import ResponsesReply

BASE_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
_NO_AGENT = re.compile(r"audio|realtime|image|tts|transcribe|search|instruct|live|translate")
"""Parts of names of models that use another API, or cannot call tools."""


class ResponsesFormat:
    path = "/responses"

    def __init__(self, model: str, provider: str = "openai") -> None:
        self._model = model
        self.name = full_name(provider, model)

    def encode(self, request: Request) -> bytes:
        return encode_responses(request, self._model, self.name)

    def reader(self, request: Request) -> "ResponsesReply":
        from assent.models.openai.responses_reply import ResponsesReply
        from assent.models.wire_ids import earlier_ids

        return ResponsesReply(self._model, request.max_tokens, earlier_ids(request))

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.openai.openai_failures import failure

        return failure(status, headers, body, self._model)


class ResponsesModel(StreamedModel):
    def __init__(self, model: str, access: Access) -> None:
        wire = ResponsesFormat(model, access.provider or "openai")
        http = HttpClient(access.base_url, access.proxy, access.timeouts)
        super().__init__(wire.name, http, wire, _headers(access), access.key)


class _Found(Struct):
    id: str


class _List(Struct):
    data: list[_Found] = []


async def list_models(access: Access) -> Sequence[FoundModel]:
    """The models that an agent can use. Another server may have models of any name."""
    from assent.models.json_client import JsonClient  # not needed for a request

    http = HttpClient(access.base_url, access.proxy, access.timeouts)

    def refused(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.openai.openai_failures import failure

        return failure(status, headers, body, "the provider")

    async with JsonClient(http, _headers(access), access.key, refused) as client:
        found = await client.get("/models", _List)
    names = [model.id for model in found.data if access.base_url != BASE_URL or _is_agent_model(model.id)]
    return [FoundModel(name=name) for name in names]


def _is_agent_model(name: str) -> bool:
    return well_known(name) == "openai" and _NO_AGENT.search(name) is None


def _headers(access: Access) -> tuple[tuple[str, str], ...]:
    named = (("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID"))
    more = ((header, value) for header, name in named if (value := access.env.get(name, "").strip()))
    if not access.key and access.provider not in ("", "openai"):  # the user's own server may need none
        return tuple(more)
    check_key(access.key, KEY_VARIABLE)
    return (("Authorization", f"Bearer {access.key}"), *more)
