"""What an error reply means, where providers agree: its message, how long to wait, and which ModelError it is.

Providers wrap an error in one of a few shapes, and gateways change them on the way, so all of them are searched for the
signs. What only one provider says is in its own package. Pure.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    ContextTooLong,
    MediaRefused,
    ModelError,
    QuotaExhausted,
    StaleSignature,
    Transient,
    UnknownModel,
    Withheld,
)
from assent.models.wire_json import BAD_JSON

MESSAGE_LIMIT = 1000
_ENDLESS = float("inf")
LONGEST_WAIT = 300.0
"""Seconds. A provider that asks for more than this is out of quota, whatever it calls it."""


class _Sign:
    """A pattern that is compiled when it is first used: most sessions see no error."""

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._pattern, self._flags = pattern, flags

    def search(self, text: str) -> re.Match[str] | None:
        return re.compile(self._pattern, self._flags).search(text)


_TOO_LONG = _Sign(
    r"context_length_exceeded|exceeds the context window|maximum context length (?:is|of)"
    r"|prompt is too long|exceed context limit|request_too_large"
    r"|input token count.*exceeds the maximum number of tokens"
    r"|exceed_context_size_error|exceeds the available context size"
    r"|input length exceeds the context length|ContextWindowExceededError"
    r"|reduce the length of the messages|greater than the context length"
    r"|loaded with context length of only|longer than the maximum model length|maximum prompt length is"
    r"|input is too long for|tokens \+ `max_new_tokens` must be|exceeded model token limit"
    r"|prompt exceeds max length|range of input length should be",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE = _Sign(
    r"request too large for|tokens must be reduced in order to run"
    r"|request payload size exceeds|reduce your message size",
    re.IGNORECASE,
)
"""A single request that exceeds what may be used in a minute, among others: waiting does not help."""
_TOO_MANY = _Sign(r"rate.?limit|too many requests", re.IGNORECASE)
_NO_CREDIT = _Sign(
    r"insufficient_quota|usage_not_included|billing_error|enforced_spend_limit_reached|credit balance is too low"
    r"|insufficient (?:balance|credits)|exhausted your|quota exhausted|credits[^.]{0,40}exhausted",
    re.IGNORECASE,
)
_BAD_KEY = _Sign(
    r"API_KEY_INVALID|API key not valid|invalid_api_key|no_db_connection|authentication_error", re.IGNORECASE
)
_OVERLOADED = _Sign(
    r"overloaded|server_is_overloaded|Loading model|tool_use_failed",
    re.IGNORECASE,
)
_TOO_FAST = _Sign(r"rate_limit_exceeded|rate_limit_error|ramp_limit_exceeded|slow_down", re.IGNORECASE)
_STALE = _Sign(
    r"invalid_encrypted_content|(?:invalid|corrupted) thought signature|bound to a different conversation"
    r"|signature: field required|invalid `signature`",
    re.IGNORECASE,
)
_WITHHELD = _Sign(r"content_filter|content management policy|invalid_prompt|cyber_policy", re.IGNORECASE)
_NO_MODEL = _Sign(
    r"model_not_found|DeploymentNotFound|unknown model|model .{0,200}(?:not found|does not exist|not exist)",
    re.IGNORECASE,
)
_NO_MEDIA = _Sign(
    r"(?:image|media|pdf|vision|multimodal|audio)[^.]{0,80}"
    r"(?:not supported|unsupported|not accept|invalid|could not process|not enabled)"
    r"|(?:not support|unsupported|does not accept|(?:could not|unable to|cannot) process)[^.]{0,80}"
    r"(?:image|media|pdf|vision|multimodal)",
    re.IGNORECASE,
)
_TRY_AGAIN = _Sign(r"try again in ([\d.]+) ?(ms|s)", re.IGNORECASE)
_EVENT = re.compile(rb"\A\s*(?:event:[^\n]*\n)?data: ?(\{[^\r\n]*)")
_STATUS = re.compile(r"[1-5]\d\d")
_MARKUP = re.compile(r"<(script|style)\b.{0,2000}?</\1>|<[^>]{0,2000}>", re.DOTALL | re.IGNORECASE)


class ErrorReply(Struct, frozen=True, kw_only=True):
    """An error, as far as its shape is known."""

    status: int
    message: str = ""
    kind: str = ""
    code: str = ""
    body: str = ""
    """The complete body, for signs that appear only in details."""
    wait: float | None = None

    @property
    def said(self) -> str:
        return self.message or self.code or self.kind or f"status {self.status}"


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> ErrorReply:
    """Understands `{"error": {…}}`, `{"error": "text"}`, `{"message": …}`, `{"detail": …}`, a list of one, any of these
    as an event, plain text and HTML.
    """
    text = body.decode("utf-8", "replace")
    fields = _fields(body)
    details = _as_object(fields.get("error", fields))
    code, kind = _word(details.get("code")), _word(details.get("type") or details.get("status"))
    said = details.get("message") or fields.get("message") or fields.get("detail")
    message = str(said or ("" if fields and (code or kind) else plain_words(text)))
    return ErrorReply(
        status=int(code) if _STATUS.fullmatch(code) and status == 200 else status,
        message=message[:MESSAGE_LIMIT].strip(),
        kind=kind,
        code=code,
        body=text[: 16 * MESSAGE_LIMIT],
        wait=requested_delay(headers, message),
    )


def classify(error: ErrorReply, model: str, advice: str) -> ModelError:
    """`advice` tells the person where to get a working key."""
    return _by_signs(error, model, advice) or _by_status(error, advice)


def _by_signs(error: ErrorReply, model: str, advice: str) -> ModelError | None:
    """What the message says, whatever the status is: gateways often change it."""
    said, signs = error.said, f"{error.kind} {error.code} {error.body}"
    if _is_too_long(error, signs):
        return ContextTooLong(f"the conversation is too long for {model}: {said}")
    if _STALE.search(signs):
        return StaleSignature(f"{model} rejects a signature in this conversation: {said}")
    if _NO_CREDIT.search(signs):
        return QuotaExhausted(f"no credit is left for {model}: {said}")
    if _BAD_KEY.search(signs):
        return _bad_key(said, advice)
    if error.status == 400 and _WITHHELD.search(f"{error.code} {error.message}"):
        return Withheld(f"{model} rejected this prompt: {said}")
    if error.status in (400, 404) and _NO_MODEL.search(signs):
        return UnknownModel(f"model {model} not found: {said}")
    if error.status in (400, 415, 422) and _NO_MEDIA.search(error.message):
        return MediaRefused(f"{model} does not accept an image or file in this conversation: {said}")
    if _OVERLOADED.search(signs):
        return Transient(f"the provider is not available: {said}", error.wait)
    return _too_many(said, error.wait) if _TOO_FAST.search(signs) else None


def _is_too_long(error: ErrorReply, signs: str) -> bool:
    if _TOO_LARGE.search(error.message):
        return True
    return error.status == 413 or bool(_TOO_LONG.search(signs) and not _TOO_MANY.search(error.message))


def _by_status(error: ErrorReply, advice: str) -> ModelError:
    said = error.said
    match error.status:
        case 401 | 403:
            return _bad_key(said, advice)
        case 402 if error.wait is None:
            return QuotaExhausted(f"no credit is left: {said}")
        case 402 | 429:
            return _too_many(said, error.wait)
        case status if status in (408, 409, 498, 499) or status >= 500:
            return Transient(f"the provider is not available ({status}): {said}", error.wait)
        case status if 300 <= status < 400:
            return BadRequest(f"the provider redirects the request (status {status}): check its base URL")
        case status:
            return BadRequest(f"the provider rejected the request ({status}): {said}")


def _bad_key(said: str, advice: str) -> AuthFailed:
    return AuthFailed(f"the provider rejected the key: {said}\n{advice}")


def in_stream(error: ModelError, model: str) -> ModelError:
    """The same error inside a reply. If it is worth a retry, it is a broken stream: part of the reply is out."""
    if type(error) is Transient:
        return BrokenStream(f"the reply from {model} broke off: {error}", error.retry_after)
    return error


def requested_delay(headers: Mapping[str, str], message: str = "") -> float | None:
    """Seconds."""
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    if (asked := headers.get("retry-after", "")) and (seconds := _seconds_or_date(asked)) is not None:
        return seconds
    if found := _TRY_AGAIN.search(message):
        number = _number(found.group(1))
        return number if number is None or found.group(2).lower() == "s" else number / 1000
    return None


def plain_words(text: str) -> str:
    """A page or a text, as one line without markup."""
    return " ".join(_MARKUP.sub(" ", text).split())[:MESSAGE_LIMIT]


def _too_many(said: str, wait: float | None) -> ModelError:
    if wait is not None and wait > LONGEST_WAIT:
        return QuotaExhausted(f"the quota is used up for the next {wait:.0f} s: {said}")
    return Transient(f"too many requests: {said}", wait)


def _fields(body: bytes) -> dict[str, Any]:
    event = _EVENT.search(body)  # gateways send errors as events as well, whatever the status is
    try:
        found = msgspec.json.decode(body if event is None else event[1])
    except BAD_JSON:
        return {}
    return (
        _as_object(found[0] if isinstance(found, list) and found else found) if isinstance(found, dict | list) else {}
    )


def _word(value: Any) -> str:
    return str(value or "")[:MESSAGE_LIMIT]


def _as_object(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {"message": str(value)}


def _seconds_or_date(text: str) -> float | None:
    if (number := _number(text)) is not None:
        return number
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    digits = text.strip().removesuffix("s")
    number = float(digits) if digits.replace(".", "", 1).isdecimal() else _ENDLESS
    return number if number < _ENDLESS else None
