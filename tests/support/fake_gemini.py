"""A fake Gemini on loopback that speaks the real wire format; see `fake_server` for what a scenario may say."""

import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a program it is on its own
    sys.path.insert(0, str(Path(__file__).parents[1]))

from assent.models.scripted.scenario import CallSpec, ErrorKind, ErrorSpec, Fill, fill_all
from support.fake_server import FakeServer, WireChunk, WireReply, run_as_program, sse

FINISH = {
    "stop": "STOP",
    "max_tokens": "MAX_TOKENS",
    "safety": "SAFETY",
    "other": "OTHER",
    "cancelled": "OTHER",
}
DAILY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
ERRORS: dict[ErrorKind, tuple[int, str, list[dict[str, Any]]]] = {
    "auth": (401, "UNAUTHENTICATED", []),
    "quota": (429, "RESOURCE_EXHAUSTED", [DAILY]),
    "transient": (503, "UNAVAILABLE", []),
    "bad_request": (400, "INVALID_ARGUMENT", []),
    "context_too_long": (400, "INVALID_ARGUMENT", []),
}
TOO_LONG = "The input token count (9) exceeds the maximum number of tokens allowed (8)."


class FakeGemini(FakeServer):
    """A fake Gemini on loopback."""

    def writer(self, reply: WireReply) -> "GeminiWriter":
        return GeminiWriter(reply)

    def error(self, spec: ErrorSpec, fill: Fill) -> tuple[int, Any]:
        code, status, details = ERRORS[spec.kind]
        if spec.retry_after is not None:
            retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{spec.retry_after:g}s"}
            details = [*details, retry]
        message = f"{TOO_LONG} {fill(spec.message)}" if spec.kind == "context_too_long" else fill(spec.message)
        return code, {"error": {"code": code, "message": message, "status": status, "details": details}}

    def error_event(self, spec: ErrorSpec, fill: Fill) -> bytes:
        return sse(self.error(spec, fill)[1])

    def newest_results(self, body: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = []
        for content in reversed(body["contents"]):
            if content["role"] == "model":
                break
            results += [part["functionResponse"]["response"] for part in content["parts"] if "functionResponse" in part]
        return results


class GeminiWriter:
    def __init__(self, reply: WireReply) -> None:
        self._reply = reply

    def begin(self) -> bytes:
        return b""

    def chunk(self, chunk: WireChunk, fill: Fill) -> bytes:
        return sse(_event([_part(chunk, fill)]))

    def end(self) -> bytes:
        event, usage = _event([{"text": ""}]), self._reply.usage
        event["candidates"][0]["finishReason"] = self._reply.wire_finish or FINISH[self._reply.finish]
        event["usageMetadata"] = {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output,
            "thoughtsTokenCount": usage.thoughts,
            "cachedContentTokenCount": usage.cached,
            "totalTokenCount": usage.total,
        }
        return sse(event)


def _part(chunk: WireChunk, fill: Fill) -> dict[str, Any]:
    part: dict[str, Any]
    match chunk:
        case WireChunk(thought=str(thought)):
            part = {"text": fill(thought), "thought": True}
        case WireChunk(call=CallSpec(name, args, call_id)):
            part = {"functionCall": {"name": fill(name), "args": fill_all(args, fill)}}
            if call_id is not None:
                part["functionCall"]["id"] = fill(call_id)
        case _:
            part = {"text": fill(chunk.text or "")}
    if chunk.signature is not None:
        part["thoughtSignature"] = chunk.signature
    return part


def _event(parts: list[dict[str, Any]]) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    return {"candidates": [candidate], "modelVersion": "fake", "responseId": "fake-1"}


if __name__ == "__main__":
    run_as_program(FakeGemini)
