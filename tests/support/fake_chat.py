"""A fake of a chat completions server on loopback; see `fake_server` for what a scenario may say."""

from typing import Any

import msgspec

from assent.models.scripted.scenario import CallSpec, ErrorKind, ErrorSpec, Fill, fill_all
from support.fake_server import FakeServer, WireChunk, WireReply, sse

FINISH = {"max_tokens": "length", "safety": "content_filter"}
ERRORS: dict[ErrorKind, tuple[int, str, str]] = {
    "auth": (401, "invalid_request_error", "invalid_api_key"),
    "quota": (429, "insufficient_quota", "insufficient_quota"),
    "transient": (503, "server_error", "server_is_overloaded"),
    "bad_request": (400, "invalid_request_error", "invalid_prompt"),
}
PIECE = 7
"""Characters of arguments in one delta."""


class FakeChat(FakeServer):
    """A fake of a chat completions server on loopback."""

    def writer(self, reply: WireReply) -> "ChatWriter":
        return ChatWriter(reply)

    def error(self, spec: ErrorSpec, fill: Fill) -> tuple[int, Any]:
        status, kind, code = ERRORS[spec.kind]
        return status, {"error": {"message": fill(spec.message), "type": kind, "code": code, "param": None}}

    def error_event(self, spec: ErrorSpec, fill: Fill) -> bytes:
        return sse(self.error(spec, fill)[1])

    def newest_results(self, body: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = []
        for message in reversed(body["messages"]):
            if message["role"] == "assistant":
                break
            results += [{"output": message["content"]}] if message["role"] == "tool" else []
        return results


class ChatWriter:
    """As OpenAI and llama.cpp write: arguments in pieces, the finish reason, the usage in a chunk without choices."""

    def __init__(self, reply: WireReply) -> None:
        self._reply = reply
        self._calls = 0

    def begin(self) -> bytes:
        return _delta({"role": "assistant", "content": None})

    def chunk(self, chunk: WireChunk, fill: Fill) -> bytes:
        match chunk:
            case WireChunk(thought=str(thought)):
                return _delta({"reasoning_content": fill(thought)})
            case WireChunk(call=CallSpec(name, args, call_id)):
                return self._call(fill(name), fill_all(args, fill), fill(call_id) if call_id else None)
            case _:
                return _delta({"content": fill(chunk.text or "")})

    def end(self) -> bytes:
        usual = "tool_calls" if self._calls else "stop"
        finish = self._reply.wire_finish or FINISH.get(self._reply.finish, usual)
        return _delta({}, finish) + sse(_event([]) | {"usage": self._usage()}) + b"data: [DONE]\r\n\r\n"

    def _call(self, name: str, args: dict[str, Any], call_id: str | None) -> bytes:
        text, index = msgspec.json.encode(args).decode(), self._calls
        self._calls += 1
        first = {"index": index, "id": call_id or f"call_{name}_{index}x", "type": "function"}
        pieces = [
            {"index": index, "function": {"arguments": text[at : at + PIECE]}} for at in range(0, len(text), PIECE)
        ]
        fragments = [first | {"function": {"name": name, "arguments": ""}}, *pieces]
        return b"".join(_delta({"tool_calls": [fragment]}) for fragment in fragments)

    def _usage(self) -> dict[str, Any]:
        usage = self._reply.usage
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output + usage.thoughts,
            "total_tokens": usage.total,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.thoughts},
        }


def _delta(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return sse(_event([{"index": 0, "delta": delta, "finish_reason": finish}]))


def _event(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": choices}
