"""What Gemini's error replies mean: Google's `{"error": {code, message, status, details}}` as one of our errors.

Only reads; whether and when to try again is decided elsewhere, from the error's kind and its `retry_after`.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from assent.models.model_protocol import AuthFailed, BadRequest, BrokenStream, ModelError, QuotaExhausted, Transient

MESSAGE_LIMIT = 1000
MINUTE = 60.0
LONGEST_WAIT = 300.0
"""A provider that asks for more than this is out of quota, whatever it calls it."""


class _Violation(Struct, rename="camel"):
    quota_id: str = ""


class _Detail(Struct, rename="camel"):
    """RetryInfo, ErrorInfo and QuotaFailure in one: their fields do not collide."""

    reason: str = ""
    retry_delay: str = ""
    violations: list[_Violation] = []


class _Error(Struct):
    code: int = 0
    message: str = ""
    status: str = ""
    details: list[_Detail] = []


class _Body(Struct):
    error: _Error


class _Loose(Struct):
    """What can still be said when the details are of another shape."""

    error: dict[str, Any]


def failure(status: int, headers: Mapping[str, str], body: bytes, model: str) -> ModelError:
    """The error for a response that is not 200."""
    return _classify(status, _parse(body), model, _retry_after(headers))


def failure_in_stream(data: bytes, model: str) -> ModelError:
    """The error for an event that is one. What may be tried again is a broken stream: part of the reply is out."""
    error = _parse(data)
    found = _classify(error.code or 500, error, model, None)
    if type(found) is Transient:
        return BrokenStream(f"the reply of {model} broke off: {found}", found.retry_after)
    return found


def _classify(status: int, error: _Error, model: str, header_delay: float | None) -> ModelError:
    said = error.message[:MESSAGE_LIMIT].strip() or error.status or f"status {status}"
    reasons = {detail.reason for detail in error.details}
    match status:
        case 401 | 403:
            return _auth(said)
        case 400 if "API_KEY_INVALID" in reasons or "API key" in said:
            return _auth(said)
        case 404:
            return BadRequest(f"model {model} not found: {said}")
        case 429:
            return _too_many(error, said, reasons, header_delay)
        case _ if status in (408, 499) or status >= 500:
            return Transient(f"the provider is not available ({status}): {said}", header_delay)
        case _ if 300 <= status < 400:
            return BadRequest(f"the provider redirects us (status {status}): check GOOGLE_GEMINI_BASE_URL")
        case _:
            return BadRequest(f"the provider refuses the request ({status}): {said}")


def _auth(said: str) -> AuthFailed:
    return AuthFailed(
        f"the provider refuses the key: {said}\n"
        "Get a key at https://aistudio.google.com/apikey and set GEMINI_API_KEY to it."
    )


def _too_many(error: _Error, said: str, reasons: set[str], header_delay: float | None) -> ModelError:
    quotas = [violation.quota_id for detail in error.details for violation in detail.violations]
    if any("PerDay" in quota or "Daily" in quota for quota in quotas):
        return QuotaExhausted(f"no more requests today: {said}")
    if "QUOTA_EXHAUSTED" in reasons or _says_exhausted(said):
        return QuotaExhausted(f"the quota is used up: {said}")
    delay = _retry_delay(error) or header_delay
    if delay is not None and delay > LONGEST_WAIT:
        return QuotaExhausted(f"the quota is used up for the next {delay:.0f} s: {said}")
    if delay is None and any("PerMinute" in quota for quota in quotas):
        delay = MINUTE
    return Transient(f"too many requests: {said}", delay)


def _says_exhausted(said: str) -> bool:
    """Not a bare "exhausted": "Resource has been exhausted (e.g. check quota)" is what a passing burst gets."""
    low = said.lower()
    return "exhausted your" in low or "quota exhausted" in low or ("credits" in low and "exhausted" in low)


def _retry_delay(error: _Error) -> float | None:
    return next((_seconds(detail.retry_delay) for detail in error.details if detail.retry_delay), None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds. A date, which Google does not send, counts as no word."""
    return _seconds(headers.get("retry-after", ""))


def _seconds(text: str) -> float | None:
    number = text.strip().removesuffix("s")
    return float(number) if number.replace(".", "", 1).isdecimal() else None


def _parse(body: bytes) -> _Error:
    """Google wraps the error of a stream in a list at times; anything else may come from something in between."""
    for kind in (_Body, list[_Body], _Loose):
        try:
            found = msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, RecursionError):
            continue
        match found:
            case _Body(error) | [_Body(error), *_]:
                return error
            case _Loose(fields):
                return _Error(message=str(fields.get("message", "")))
            case _:
                break
    return _Error(message=body.decode("utf-8", "replace"))
