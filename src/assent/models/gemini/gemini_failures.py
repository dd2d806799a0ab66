"""What only Google reports in its error replies: the details in `{"error": {code, message, status, details}}`.

It only reads; whether and when to retry is decided elsewhere, by the error's type and its `retry_after`. Pure.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assent.models.failure_signs import ErrorReply, classify, in_stream, read_error, requested_delay
from assent.models.model_protocol import AuthFailed, ModelError, QuotaExhausted, UnknownModel
from assent.models.wire_json import BAD_JSON

ADVICE = "Get a key at https://aistudio.google.com/apikey, then run `assent login gemini` or set GEMINI_API_KEY to it."
MINUTE = 60.0


class _Violation(Struct, rename="camel"):
    quota_id: str = ""


class _Detail(Struct, rename="camel"):
    """RetryInfo, ErrorInfo and QuotaFailure in one: their fields do not clash."""

    reason: str = ""
    retry_delay: str = ""
    violations: list[_Violation] = []


class _Error(Struct):
    details: list[_Detail] = []


class _Body(Struct):
    error: _Error


def failure(status: int, headers: Mapping[str, str], body: bytes, model: str, advice: str = "") -> ModelError:
    """The error for a response that is not 200."""
    return _classify(read_error(status, headers, body), _details(body), model, advice or ADVICE)


def failure_in_stream(data: bytes, model: str, advice: str = "") -> ModelError:
    """The error in an event of the stream."""
    error = read_error(200, {}, data)
    if error.status == 200:
        error = replace(error, status=500)
    return in_stream(_classify(error, _details(data), model, advice or ADVICE), model)


def _classify(error: ErrorReply, details: list[_Detail], model: str, advice: str) -> ModelError:
    quotas = [violation.quota_id for detail in details for violation in detail.violations]
    if any("PerDay" in quota or "Daily" in quota for quota in quotas):
        return QuotaExhausted(f"no more requests today: {error.said}")
    if any(detail.reason == "QUOTA_EXHAUSTED" for detail in details):
        return QuotaExhausted(f"the quota is used up: {error.said}")
    if error.status == 404:
        return UnknownModel(f"model {model} not found: {error.said}")
    if error.status == 400 and "API key" in error.message:
        return AuthFailed(f"the provider rejected the key: {error.said}\n{advice}")
    return classify(replace(error, wait=_wait(error, details, quotas)), model, advice)


def _wait(error: ErrorReply, details: list[_Detail], quotas: list[str]) -> float | None:
    delays = [detail.retry_delay for detail in details if detail.retry_delay]
    told = requested_delay({"retry-after": delays[0]}) if delays else error.wait
    return MINUTE if told is None and any("PerMinute" in quota for quota in quotas) else told


def _details(body: bytes) -> list[_Detail]:
    """Google sometimes wraps an error in a list; details of another shape are ignored."""
    for kind in (_Body, list[_Body]):
        try:
            found = msgspec.json.decode(body, type=kind)
        except BAD_JSON:
            continue
        match found:
            case _Body(error) | [_Body(error), *_]:
                return error.details
            case _:
                break
    return []
