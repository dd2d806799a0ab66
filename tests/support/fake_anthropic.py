"""A fake of Anthropic's Messages API on loopback; see `fake_server` for what a scenario may say."""

from itertools import count
from typing import Any, cast

import msgspec

from assent.models.scripted.scenario import CallSpec, ErrorKind, ErrorSpec, Fill, fill_all
from support.fake_server import FakeServer, WireChunk, WireReply, sse

FINISH = {"stop": "end_turn", "max_tokens": "max_tokens", "safety": "refusal", "other": "pause_turn"}
ERRORS: dict[ErrorKind, tuple[int, str]] = {
    "auth": (401, "authentication_error"),
    "quota": (402, "billing_error"),
    "transient": (529, "overloaded_error"),
    "bad_request": (400, "invalid_request_error"),
    "context_too_long": (413, "request_too_large"),
}
PIECE = 16
"""Characters of arguments in one delta."""


class FakeAnthropic(FakeServer):
    """A fake of Anthropic's Messages API on loopback."""

    def writer(self, reply: WireReply) -> "AnthropicWriter":
        return AnthropicWriter(reply)

    def error(self, spec: ErrorSpec, fill: Fill) -> tuple[int, Any]:
        status, kind = ERRORS[spec.kind]
        return status, {"type": "error", "error": {"type": kind, "message": fill(spec.message)}, "request_id": "req_1"}

    def error_event(self, spec: ErrorSpec, fill: Fill) -> bytes:
        return _sse(self.error(spec, fill)[1])

    def newest_results(self, body: Any) -> list[dict[str, Any]]:
        """As objects again, whatever they were made of."""
        newest: dict[str, Any] = body["messages"][-1]
        content: Any = newest["content"]
        answers = newest["role"] == "user" and isinstance(content, list)
        blocks = cast(list[dict[str, Any]], content) if answers else []
        return [{"output": block.get("content", "")} for block in blocks if block["type"] == "tool_result"]


class AnthropicWriter:
    """Neighbouring pieces of text or thought go into one block."""

    def __init__(self, reply: WireReply) -> None:
        self._reply = reply
        self._index = -1
        self._kind = ""
        """Of the block that is open."""
        self._ids = count()
        self._has_calls = False

    def begin(self) -> bytes:
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage() | {"output_tokens": 1},
        }
        return _sse({"type": "message_start", "message": message}) + _sse({"type": "ping"})

    def chunk(self, chunk: WireChunk, fill: Fill) -> bytes:
        match chunk:
            case WireChunk(thought=str(thought)):
                data = self._in_block("thinking", {"thinking": "", "signature": ""})
                data += self._delta({"type": "thinking_delta", "thinking": fill(thought)})
                return data + (self._sign(chunk.signature) if chunk.signature is not None else b"")
            case WireChunk(call=CallSpec() as call):
                return self._call(call, fill)
            case _:
                data = self._in_block("text", {"text": ""})
                return data + self._delta({"type": "text_delta", "text": fill(chunk.text or "")})

    def end(self) -> bytes:
        stop = "tool_use" if self._has_calls and self._reply.finish == "stop" else FINISH[self._reply.finish]
        delta = {"stop_reason": self._reply.wire_finish or stop, "stop_sequence": None}
        last = _sse({"type": "message_delta", "delta": delta, "usage": self._usage()})
        return self._close() + last + _sse({"type": "message_stop"})

    def _usage(self) -> dict[str, Any]:
        usage = self._reply.usage
        return {
            "input_tokens": usage.input - usage.cached - usage.cache_written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": usage.cache_written,
            "output_tokens": usage.output + usage.thoughts,
            "output_tokens_details": {"thinking_tokens": usage.thoughts},
        }

    def _call(self, call: CallSpec, fill: Fill) -> bytes:
        self._has_calls = True
        call_id = fill(call.id) if call.id is not None else f"toolu_{next(self._ids)}"
        arguments = msgspec.json.encode(fill_all(call.args, fill)).decode() if call.args else ""
        data = self._close() + self._in_block("tool_use", {"id": call_id, "name": fill(call.name), "input": {}})
        for piece in ["", *(arguments[at : at + PIECE] for at in range(0, len(arguments), PIECE))]:
            data += self._delta({"type": "input_json_delta", "partial_json": piece})
        return data + self._close()

    def _sign(self, signature: str) -> bytes:
        return self._delta({"type": "signature_delta", "signature": signature}) + self._close()

    def _in_block(self, kind: str, fields: dict[str, Any]) -> bytes:
        if self._kind == kind:
            return b""
        closed = self._close()
        self._index, self._kind = self._index + 1, kind
        block = {"type": kind} | fields
        return closed + _sse({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return _sse({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _close(self) -> bytes:
        if not self._kind:
            return b""
        self._kind = ""
        return _sse({"type": "content_block_stop", "index": self._index})


def _sse(event: dict[str, Any]) -> bytes:
    return sse(event, event["type"])
