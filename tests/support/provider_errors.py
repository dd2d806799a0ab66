"""How each provider says what went wrong: replies for its fake, by wire format. See the table in docs/models.md."""

from typing import Any

import msgspec
from msgspec import Struct

Json = dict[str, Any]
ATTEMPTS = 5


def chat(status: int, message: str, code: str = "", **headers: str) -> Json:
    return {"status": status, "body": {"error": {"message": message, "code": code}}, "headers": headers}


def messages(status: int, kind: str, message: str, **headers: str) -> Json:
    return {
        "status": status,
        "body": {"type": "error", "error": {"type": kind, "message": message}},
        "headers": headers,
    }


def gemini(status: int, word: str, message: str, details: Any = (), **headers: str) -> Json:
    error = {"code": status, "message": message, "status": word, "details": list(details)}
    return {"status": status, "body": {"error": error}, "headers": headers}


class Row(Struct, frozen=True, kw_only=True):
    """How each provider says it, what the failure is called, and what the person reads."""

    replies: Json
    kind: str
    told: str
    next: str
    tries: int = 1


PER_DAY = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay"}]}]
ROWS = {
    "wrong key": Row(
        replies={
            "chat": chat(401, "Authentication Fails", "invalid_request_error"),
            "gemini": gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
            "messages": messages(401, "authentication_error", "invalid x-api-key"),
            "responses": chat(401, "Incorrect API key provided", "invalid_api_key"),
        },
        kind="auth",
        told="the provider rejected the key",
        next="`assent login",
    ),
    "no credit": Row(
        replies={
            "chat": chat(402, "Insufficient Balance"),
            "gemini": gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", PER_DAY),
            "messages": messages(400, "invalid_request_error", "Your credit balance is too low"),
            "responses": chat(429, "You exceeded your current quota", "insufficient_quota"),
        },
        kind="quota",
        told="no credit is left|no more requests today",
        next="Top up your account or wait until the quota is renewed, or choose another model",
    ),
    "rate limit": Row(
        replies={
            "chat": chat(429, "Slow down", **{"Retry-After": "7"}),
            "gemini": gemini(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted", **{"Retry-After": "7"}),
            "messages": messages(429, "rate_limit_error", "Slow down", **{"Retry-After": "7"}),
            "responses": chat(429, "Slow down", **{"Retry-After": "7"}),
        },
        kind="unavailable",
        told="too many requests",
        next="Try again in a while, or choose another model",
        tries=ATTEMPTS,
    ),
    "overload": Row(
        replies={
            "chat": chat(503, "The server is overloaded"),
            "gemini": gemini(503, "UNAVAILABLE", "The model is overloaded"),
            "messages": messages(529, "overloaded_error", "Overloaded"),
            "responses": chat(503, "We are overloaded", "server_is_overloaded"),
        },
        kind="unavailable",
        told="the provider is not available",
        next="Try again in a while, or choose another model",
        tries=ATTEMPTS,
    ),
    "failure of the provider": Row(
        replies={
            "chat": {"status": 500, "body": "<html><h1>Internal error</h1></html>"},
            "gemini": gemini(500, "INTERNAL", "Internal error"),
            "messages": messages(500, "api_error", "Internal error"),
            "responses": chat(500, "Internal error", "server_error"),
        },
        kind="unavailable",
        told=r"the provider is not available \(500\): Internal error",
        next="Try again in a while",
        tries=ATTEMPTS,
    ),
    "unknown model": Row(
        replies={
            "chat": chat(400, "Model Not Exist", "invalid_request_error"),
            "gemini": gemini(404, "NOT_FOUND", "models/x is not found for API version v1beta"),
            "messages": messages(404, "not_found_error", "model: claude-x"),
            "responses": chat(404, "The model `x` does not exist", "model_not_found"),
        },
        kind="unknown_model",
        told="model .* not found",
        next="Did you mean near-1 or near-2\\? `assent models` lists the models; choose one with /model",
    ),
    "image refused": Row(
        replies={
            "chat": chat(400, "This model does not support image input"),
            "gemini": gemini(400, "INVALID_ARGUMENT", "Image input modality is not enabled for models/x"),
            "messages": messages(400, "invalid_request_error", "Could not process image"),
            "responses": chat(400, "Invalid image", "image_parse_error"),
        },
        kind="media_refused",
        told="does not accept an image",
        next="It is left out from now on. Describe it in words, or attach it again",
    ),
}
"""Failures that a provider tells with a status."""
TOO_LONG = {
    "chat": chat(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"),
    "gemini": gemini(
        400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    ),
    "messages": messages(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "responses": chat(400, "Your input exceeds the context window", "context_length_exceeded"),
}
STALE = {
    "gemini": gemini(400, "INVALID_ARGUMENT", "Corrupted thought signature."),
    "messages": messages(400, "invalid_request_error", "thinking is bound to a different conversation"),
    "responses": chat(400, "The content could not be decrypted", "invalid_encrypted_content"),
}
"""Chat completions have no signatures."""
HALF = '{"path": "a'


def malformed(wire: str) -> Json:
    """A call with half its arguments, in a reply that says it is complete."""
    stream = "".join(f"data: {msgspec.json.encode(event).decode()}\n\n" for event in _HALF_CALLS[wire])
    return {"stream": stream + ("data: [DONE]\n\n" if wire == "chat" else "")}


def _choice(delta: Json, **more: str) -> Json:
    return {"choices": [{"index": 0, "delta": delta} | more]}


_FRAGMENT = {"index": 0, "id": "c1", "function": {"name": "read_note", "arguments": HALF}}
_MESSAGE: Json = {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 1}}
_TOOL_USE: Json = {"type": "tool_use", "id": "t1", "name": "read_note", "input": {}}
_FUNCTION_CALL = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "read_note"}
_HALF_CALLS: dict[str, list[Json]] = {
    "chat": [_choice({"tool_calls": [_FRAGMENT]}), _choice({}, finish_reason="tool_calls")],
    "gemini": [{"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}],
    "messages": [
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": _TOOL_USE},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": HALF}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ],
    "responses": [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": _FUNCTION_CALL | {"arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": _FUNCTION_CALL | {"arguments": HALF}},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ],
}
