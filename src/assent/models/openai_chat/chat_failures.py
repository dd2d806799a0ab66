"""What errors of chat servers mean beyond what all providers agree on, and which field a server rejects. Pure."""

import re
from collections.abc import Collection, Mapping

from msgspec.structs import replace

from assent.models.failure_signs import ErrorReply, classify, in_stream, plain_words, read_error
from assent.models.model_protocol import BadRequest, MediaRefused, ModelError, UnknownModel

_NO_IMAGES = re.compile(
    r"image input is not supported|does not support (?:image|vision)|unknown variant `?image_url|mmproj", re.IGNORECASE
)
_NO_TOOLS = re.compile(r"does not support tools|enable-auto-tool-choice|tool-call-parser|--jinja", re.IGNORECASE)
_NO_SUCH_MODEL = re.compile(r"invalid model name", re.IGNORECASE)
_NO_THINKING = re.compile(r"does not support thinking|think value", re.IGNORECASE)
_EFFORT_FIELDS = ("reasoning_effort", "reasoning", "thinking")
_STATUS = {"invalid_request_error": 400, "BadRequestError": 400, "NotFoundError": 404, "AuthenticationError": 401}
"""The status for an error inside a reply, by its kind, if the error has none."""
_UNKNOWN_STATUS = 500
"""For any other error: worth a retry."""


def chat_failure(status: int, headers: Mapping[str, str], body: bytes, model: str, advice: str) -> ModelError:
    """The error for a response that is not 200."""
    return _classify(read_error(status, headers, body), model, advice)


def chat_failure_in_stream(data: bytes, model: str, advice: str) -> ModelError:
    """The error in an event of the stream."""
    error = read_error(200, {}, data)
    if not 400 <= error.status < 600:  # the server's own codes are not a status
        error = replace(error, status=_STATUS.get(error.kind, _UNKNOWN_STATUS))
    return in_stream(_classify(error, model, advice), model)


def refused_field(error: ModelError, sent: Collection[str]) -> str | None:
    """The optional field that a server rejects, if it names one: older servers, and strict ones, do not know them
    all. The longest name goes first, because one may be part of another.
    """
    if type(error) is not BadRequest:
        return None
    if _NO_THINKING.search(str(error)):
        return next((field for field in _EFFORT_FIELDS if field in sent), None)
    return next((field for field in sorted(sent, key=len, reverse=True) if field in str(error)), None)


def _classify(error: ErrorReply, model: str, advice: str) -> ModelError:
    if not error.message and error.body:  # an unknown shape: better all of it than nothing
        error = replace(error, message=plain_words(error.body))
    if _NO_IMAGES.search(error.message):
        return MediaRefused(f"{model} does not accept an image in this conversation: {error.said}")
    if _NO_SUCH_MODEL.search(error.message):
        return UnknownModel(f"model {model} not found: {error.said}")
    if _NO_TOOLS.search(error.message):
        return BadRequest(
            f"{model} cannot call tools: {error.said}\n"
            "Assent works through tools. Choose a model that can call tools, or start the server with tool support."
        )
    return classify(error, model, advice)
