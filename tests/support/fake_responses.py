"""A fake of OpenAI's Responses API on loopback; see `fake_server` for what a scenario may say."""

from itertools import count
from typing import Any

import msgspec

from assent.models.scripted.scenario import CallSpec, ErrorKind, ErrorSpec, Fill, fill_all
from support.fake_server import FakeServer, WireChunk, WireReply, sse

INCOMPLETE = {"max_tokens": "max_output_tokens", "safety": "content_filter", "other": "steered"}
ERRORS: dict[ErrorKind, tuple[int, str, str]] = {
    "auth": (401, "invalid_request_error", "invalid_api_key"),
    "quota": (429, "insufficient_quota", "insufficient_quota"),
    "transient": (503, "server_error", "server_is_overloaded"),
    "bad_request": (400, "invalid_request_error", "invalid_prompt"),
    "context_too_long": (400, "invalid_request_error", "context_length_exceeded"),
}
PIECE = 16
"""Characters of arguments in one delta."""


class FakeResponses(FakeServer):
    """A fake of OpenAI's Responses API on loopback."""

    def writer(self, reply: WireReply) -> "ResponsesWriter":
        return ResponsesWriter(reply)

    def error(self, spec: ErrorSpec, fill: Fill) -> tuple[int, Any]:
        status, kind, code = ERRORS[spec.kind]
        return status, {"error": {"message": fill(spec.message), "type": kind, "code": code, "param": None}}

    def error_event(self, spec: ErrorSpec, fill: Fill) -> bytes:
        _, kind, code = ERRORS[spec.kind]
        error = {"code": code, "message": fill(spec.message), "type": kind}
        return ResponsesWriter(WireReply()).failed(error)

    def newest_results(self, body: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = []
        for item in reversed(body["input"]):
            if item.get("type") != "function_call_output" and item.get("role") != "user":
                break
            results += [{"output": item["output"]}] if "output" in item else []
        return results


class ResponsesWriter:
    """Neighbouring pieces of text or thought go into one item."""

    def __init__(self, reply: WireReply) -> None:
        self._reply = reply
        self._numbers = count()
        self._output: list[dict[str, Any]] = []
        self._item: dict[str, Any] | None = None
        """The one that is open; it has its place in the output when it is done."""
        self._texts: list[str] = []

    def begin(self) -> bytes:
        response = self._response("in_progress")
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def chunk(self, chunk: WireChunk, fill: Fill) -> bytes:
        match chunk:
            case WireChunk(thought=str(thought)):
                data = self._in_item({"type": "reasoning", "summary": [], "encrypted_content": "half"}) + self._text(
                    "response.reasoning_summary_text.delta", fill(thought), summary_index=0
                )
                return data + (self._close(chunk.signature) if chunk.signature is not None else b"")
            case WireChunk(call=CallSpec() as call):
                return self._call(call, fill)
            case _:
                item: dict[str, Any] = {"type": "message", "role": "assistant", "status": "in_progress", "content": []}
                return self._in_item(item) + self._text(
                    "response.output_text.delta", fill(chunk.text or ""), content_index=0, logprobs=[]
                )

    def end(self) -> bytes:
        closed = self._close()
        reason = self._reply.wire_finish or INCOMPLETE.get(self._reply.finish)
        if reason is None:
            return closed + self._event("response.completed", response=self._response("completed"))
        response = self._response("incomplete") | {"incomplete_details": {"reason": reason}}
        return closed + self._event("response.incomplete", response=response)

    def failed(self, error: dict[str, Any]) -> bytes:
        return self._event("response.failed", response=self._response("failed") | {"error": error})

    def _response(self, status: str) -> dict[str, Any]:
        usage = self._reply.usage
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "model": "fake",
            "status": status,
            "output": self._output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "usage": {
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
                "output_tokens": usage.output + usage.thoughts,
                "output_tokens_details": {"reasoning_tokens": usage.thoughts},
                "total_tokens": usage.total,
            },
        }

    def _call(self, call: CallSpec, fill: Fill) -> bytes:
        place = len(self._output) + (self._item is not None)
        call_id = fill(call.id) if call.id is not None else f"call_{place}"
        arguments = msgspec.json.encode(fill_all(call.args, fill)).decode()
        item = {"type": "function_call", "call_id": call_id, "name": fill(call.name), "arguments": ""}
        data = self._close() + self._in_item(item)
        for at in range(0, len(arguments), PIECE):
            data += self._text("response.function_call_arguments.delta", arguments[at : at + PIECE])
        return data + self._close()

    def _in_item(self, item: dict[str, Any]) -> bytes:
        if self._item is not None and self._item["type"] == item["type"]:
            return b""
        closed = self._close()
        self._item = item | {"id": f"{item['type']}_{len(self._output)}"}
        added = self._event("response.output_item.added", item=self._item, output_index=len(self._output))
        return closed + added + self._first_part(item["type"], item_id=self._item["id"], output_index=len(self._output))

    def _first_part(self, kind: str, **place: Any) -> bytes:
        match kind:
            case "message":
                part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
                return self._event("response.content_part.added", part=part, content_index=0, **place)
            case "reasoning":
                part = {"type": "summary_text", "text": ""}
                return self._event("response.reasoning_summary_part.added", part=part, summary_index=0, **place)
            case _:
                return b""

    def _text(self, kind: str, text: str, **fields: Any) -> bytes:
        assert self._item is not None
        self._texts.append(text)
        return self._event(kind, delta=text, item_id=self._item["id"], output_index=len(self._output), **fields)

    def _close(self, signature: str | None = None) -> bytes:
        if self._item is None:
            return b""
        item, place, text = self._item, len(self._output), "".join(self._texts)
        self._item, self._texts = None, []
        match item["type"]:
            case "reasoning":
                item |= {"summary": [{"type": "summary_text", "text": text}], "encrypted_content": signature}
            case "message":
                content: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
                item |= {"content": [content], "status": "completed"}
            case _:
                item |= {"arguments": text, "status": "completed"}
        self._output.append(item)
        return self._event("response.output_item.done", item=item, output_index=place)

    def _event(self, kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, "sequence_number": next(self._numbers)} | fields, kind)
