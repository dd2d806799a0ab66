"""What OpenAI's error replies mean: `{"error": {message, type, code}}`, or the same inside a stream. Pure."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assent.models.failure_signs import ErrorReply, classify, in_stream, read_error
from assent.models.model_protocol import MediaRefused, ModelError
from assent.models.wire_json import BAD_JSON
from assent.parts import JsonObject

ADVICE = (
    "Get a key at https://platform.openai.com/api-keys, then run `assent login openai` or set OPENAI_API_KEY to it."
)


class _Response(Struct):
    error: JsonObject | None = None


class _Failed(Struct):
    """An `error` event has the error in its own fields; `response.failed` has it in the response."""

    response: _Response | None = None


def failure(status: int, headers: Mapping[str, str], body: bytes, model: str) -> ModelError:
    return _classify(read_error(status, headers, body), model)


def failure_in_stream(data: bytes, model: str) -> ModelError:
    error = _read(data)
    if error.status == 200:
        error = replace(error, status=400 if _is_ours(error.code) else 500)
    return in_stream(_classify(error, model), model)


def _read(data: bytes) -> ErrorReply:
    try:
        response = msgspec.json.decode(data, type=_Failed).response
    except BAD_JSON:
        response = None
    inner = response.error if response is not None else None
    return read_error(200, {}, data if inner is None else msgspec.json.encode({"error": inner}))


def _classify(error: ErrorReply, model: str) -> ModelError:
    if error.status == 400 and "image" in error.code:
        return MediaRefused(f"{model} does not accept an image in this conversation: {error.said}")
    return classify(error, model, ADVICE)


def _is_ours(code: str) -> bool:
    """Whether the error is about the request, and not about the state of the provider."""
    return code.startswith("invalid_") or "image" in code or "policy" in code
