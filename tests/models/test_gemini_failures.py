"""What Google's error replies mean to us."""

from typing import Any

import msgspec
import pytest

from assent.models.gemini.gemini_failures import failure, failure_in_stream
from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    ContextTooLong,
    ModelError,
    QuotaExhausted,
    StaleSignature,
    Transient,
    UnknownModel,
)

pytestmark = pytest.mark.spec("F8")

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


def quota(quota_id: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


def reason(text: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": text, "domain": "googleapis.com"}


def fail(
    status: int, message: str = "so it is", *details: dict[str, Any], headers: dict[str, str] | None = None
) -> ModelError:
    body = {"error": {"code": status, "message": message, "status": "X", "details": list(details)}}
    return failure(status, headers or {}, msgspec.json.encode(body), "gemini-test")


@pytest.mark.parametrize(
    "error",
    [
        fail(401),
        fail(403),
        fail(400, "API key not valid. Please pass a valid API key.", reason("API_KEY_INVALID")),
        fail(400, "API key expired. Please renew the API key."),
    ],
)
def test_a_rejected_key_tells_the_person_what_to_do(error: ModelError) -> None:
    assert type(error) is AuthFailed
    assert "GEMINI_API_KEY" in str(error) and "https://aistudio.google.com/apikey" in str(error)


def test_a_rejected_request_quotes_the_provider() -> None:
    error = fail(400, "contents is not specified")
    assert type(error) is BadRequest
    assert "contents is not specified" in str(error)


def test_a_conversation_that_is_too_long_has_its_own_error() -> None:
    error = fail(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).")
    assert type(error) is ContextTooLong


@pytest.mark.parametrize("word", ["Invalid", "Corrupted"])
def test_a_signature_of_another_key_has_its_own_error(word: str) -> None:
    assert type(fail(400, f"{word} thought signature.")) is StaleSignature


def test_a_gateway_may_reject_a_key_with_status_400() -> None:
    body = b'{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}'
    assert type(failure(400, {}, body, "gemini-test")) is AuthFailed


def test_an_unknown_model_is_named() -> None:
    error = fail(404)
    assert type(error) is UnknownModel
    assert "model gemini-test not found" in str(error)


def test_a_redirect_points_to_the_base_url() -> None:
    error = fail(302)
    assert type(error) is BadRequest
    assert "base URL" in str(error)


@pytest.mark.parametrize("status", [408, 499, 500, 502, 503, 504, 529])
def test_an_unavailable_provider_is_transient(status: int) -> None:
    assert type(fail(status)) is Transient


@pytest.mark.parametrize(
    ("error", "delay"),
    [
        (fail(429, "slow down", RETRY), 34.5),
        (fail(429, "slow down", quota("GenerateRequestsPerMinutePerProject"), RETRY), 34.5),
        (fail(429, "slow down", quota("GenerateRequestsPerMinutePerProject")), 60.0),
        (fail(429, "slow down", headers={"retry-after": "7"}), 7.0),
        (fail(429, "slow down", RETRY, headers={"retry-after": "7"}), 34.5),
        (fail(429, "slow down", headers={"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}), 0.0),
        (fail(429, "Resource has been exhausted (e.g. check quota)."), None),
        (fail(503, "overloaded", headers={"retry-after": "2"}), 2.0),
    ],
)
def test_a_short_rate_limit_is_transient_and_says_when_to_retry(error: ModelError, delay: float | None) -> None:
    assert type(error) is Transient
    assert error.retry_after == delay


@pytest.mark.parametrize(
    "error",
    [
        fail(429, "so it is", quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), RETRY),
        fail(429, "so it is", reason("QUOTA_EXHAUSTED")),
        fail(429, "You have exhausted your capacity on this model."),
        fail(429, "so it is", {"retryDelay": "7200s"}),
    ],
)
def test_a_used_up_quota_is_not_worth_waiting_for(error: ModelError) -> None:
    assert type(error) is QuotaExhausted


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'[{"error": {"code": 503, "message": "in a list"}}]', "in a list"),
        (b'{"error": {"message": "odd details", "details": "none"}}', "odd details"),
        (b"<html>bad gateway</html>", "bad gateway"),
        (b'{"error": "text"}', "text"),
        (b"\xff\xfe", "503"),
        (b"[" * 100_000, "503"),
        (b"", "503"),
    ],
)
def test_an_error_body_of_any_shape_gives_a_message(body: bytes, words: str) -> None:
    error = failure(503, {}, body, "gemini-test")
    assert type(error) is Transient
    assert words in str(error) and len(str(error)) < 1200


@pytest.mark.spec("F9")
def test_a_transient_error_within_the_stream_breaks_it_and_keeps_the_delay() -> None:
    data = msgspec.json.encode({"error": {"code": 429, "message": "slow down", "details": [RETRY]}})
    error = failure_in_stream(data, "gemini-test")
    assert type(error) is BrokenStream
    assert error.retry_after == 34.5


@pytest.mark.spec("F9")
@pytest.mark.parametrize("data", [b'{"error": {}}', b'{"error": "odd"}', b'{"error": 7}'])
def test_an_error_within_the_stream_of_any_shape_breaks_it(data: bytes) -> None:
    assert type(failure_in_stream(data, "gemini-test")) is BrokenStream


@pytest.mark.spec("F9")
@pytest.mark.parametrize(("code", "error"), [("400", BadRequest), ("401", AuthFailed), ("503", BrokenStream)])
def test_a_code_within_the_stream_may_be_text(code: str, error: type[ModelError]) -> None:
    data = msgspec.json.encode({"error": {"code": code, "message": "so it is", "status": "X"}})
    assert type(failure_in_stream(data, "gemini-test")) is error
