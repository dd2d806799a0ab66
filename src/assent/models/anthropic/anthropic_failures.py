"""What Anthropic's error replies mean: `{"type": "error", "error": {type, message}}` as one of our errors. Pure."""

from collections.abc import Mapping

from msgspec.structs import replace

from assent.models.failure_signs import ErrorReply, classify, in_stream, read_error
from assent.models.model_protocol import ModelError, UnknownModel

ADVICE = (
    "Get a key at https://platform.claude.com/settings/keys, then run `assent login anthropic` or set "
    "ANTHROPIC_API_KEY to it."
)
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that matches an error inside a stream. Any other error is a failure of the server."""


def failure(status: int, headers: Mapping[str, str], body: bytes, model: str) -> ModelError:
    return _classified(read_error(status, headers, body), model)


def failure_in_stream(data: bytes, model: str) -> ModelError:
    error = read_error(200, {}, data)
    if error.status == 200:
        error = replace(error, status=_STATUS.get(error.kind, 500))
    return in_stream(_classified(error, model), model)


def _classified(error: ErrorReply, model: str) -> ModelError:
    if error.kind == "not_found_error" and error.message.startswith("model:"):
        return UnknownModel(f"model {model} not found: {error.said}")
    return classify(error, model, ADVICE)
