"""The adapter for chat completions: where requests go, and what happens if a server rejects a field."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from assent.http.head import Headers
from assent.models.model_protocol import BadRequest, ModelError, Request
from assent.models.openai_chat.chat_quirks import Quirks
from assent.models.openai_chat.chat_request import encode_chat, optional_fields
from assent.models.provider import Access
from assent.models.provider_registry import full_name
from assent.models.streamed_model import StreamedModel, check_key
from assent.models.streaming_client import HttpClient, Response

if TYPE_CHECKING:  # loaded when a reply arrives
    from assent.models.openai_chat.chat_reply import ChatReply

API_VERSION = "AZURE_OPENAI_API_VERSION"


class ChatFormat:
    """`advice` tells the person where to get a working key."""

    def __init__(self, model: str, access: Access, quirks: Quirks, advice: str) -> None:
        self._model, self._access, self._quirks, self._advice = model, access, quirks, advice
        self.name = full_name(access.provider, model)
        self.path = chat_path(model, access, quirks)
        self._left_out = frozenset[str]()
        """Fields that the server has rejected, and would reject again."""

    def encode(self, request: Request) -> bytes:
        return encode_chat(request, self._model, self.name, self._quirks, self._left_out)

    def reader(self, request: Request) -> "ChatReply":
        from assent.models.openai_chat.chat_reply import ChatReply
        from assent.models.wire_ids import earlier_ids

        return ChatReply(
            self._model,
            self._failure_in_stream,
            frozenset(tool.name for tool in request.tools) if self._quirks.reads_written_calls else (),
            earlier_ids(request),
            keeps_details=self._quirks.replays == "reasoning_details",
        )

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        from assent.models.openai_chat.chat_failures import chat_failure

        return chat_failure(status, headers, body, self._model, self._advice)

    def leave_out(self, error: ModelError, request: Request) -> bool:
        """Leave out the field that the error names. Returns whether that changes anything."""
        from assent.models.openai_chat.chat_failures import refused_field

        sent = optional_fields(request, self._model, self._quirks, self._left_out)
        field = refused_field(error, sent)
        if field is not None:
            self._left_out |= {field}
        return field is not None

    def _failure_in_stream(self, data: bytes) -> ModelError:
        from assent.models.openai_chat.chat_failures import chat_failure_in_stream

        return chat_failure_in_stream(data, self._model, self._advice)


class ChatModel(StreamedModel):
    def __init__(self, model: str, access: Access, quirks: Quirks, advice: str) -> None:
        self._format = ChatFormat(model, access, quirks, advice)
        http = HttpClient(access.base_url, access.proxy, access.timeouts)
        super().__init__(self._format.name, http, self._format, key_headers(access, quirks), access.key)

    async def _ask(self, request: Request) -> Response:
        """Each attempt sends one field fewer, so this ends."""
        while True:
            try:
                return await super()._ask(request)
            except BadRequest as error:
                if not self._format.leave_out(error, request):
                    raise


def chat_path(model: str, access: Access, quirks: Quirks) -> str:
    if quirks.path != "azure":
        return "/chat/completions"
    version = access.env.get(API_VERSION, "").strip()
    if not version:
        return "/openai/v1/chat/completions"
    place = f"deployments/{quote(model, safe='')}" if version[0].isdecimal() else "v1"  # a date means the old API
    return f"/openai/{place}/chat/completions?api-version={quote(version, safe='')}"


def key_headers(access: Access, quirks: Quirks) -> Headers:
    """None for a server that takes no key."""
    if not access.key:
        return ()
    check_key(access.key, f"the key of {access.provider}")
    if quirks.key_header == "api-key":
        return (("api-key", access.key),)
    return (("Authorization", f"Bearer {access.key}"),)
