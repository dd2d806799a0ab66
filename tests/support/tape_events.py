"""Events of all four wire formats, as few words as possible, and a server that sends them."""

from typing import Any

import msgspec

from assent.models.model_protocol import CallChunk, Chunk, Finished, Request, TextChunk
from assent.parts import Text, Usage, UserMessage
from support.raw_server import RawServer
from support.wire_formats import FORMATS

Json = Any
REQUEST = Request(system="", messages=(UserMessage((Text("hi"),)),))
ARGS = {"file_path": "ä.txt"}
TEXT = msgspec.json.encode(ARGS).decode()


def chat_delta(**delta: Json) -> Json:
    return {"choices": [{"index": 0, "delta": delta}]}


def chat_call(name: str | None = "read_file", arguments: Json = TEXT, **more: Json) -> Json:
    return chat_delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}} | more])


def chat_end(reason: Json = "stop", **more: Json) -> Json:
    return {"choices": [{"index": 0, "finish_reason": reason}], **more}


def gemini(*parts: Json, finish: str | None = None, **more: Json) -> Json:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": finish}], **more}


def gemini_call(**more: Json) -> Json:
    return {"functionCall": {"name": "read_file", "args": ARGS} | more}


def block(index: Json, kind: str = "text", **fields: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def block_delta(index: Json, kind: str, **fields: Json) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def message_end(reason: str = "end_turn", **usage: Json) -> list[Json]:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}, {"type": "message_stop"}]


def item(item_id: str = "f1", arguments: Json = TEXT, call_id: str = "c1") -> Json:
    return {"type": "function_call", "id": item_id, "call_id": call_id, "name": "read_file", "arguments": arguments}


def message(item_id: str, text: str) -> Json:
    return {"type": "message", "id": item_id, "content": [{"type": "output_text", "text": text}]}


def done(what: Json) -> Json:
    return {"type": "response.output_item.done", "item": what}


def said(text: str, item_id: str = "m1") -> Json:
    return {"type": "response.output_text.delta", "item_id": item_id, "delta": text}


def completed(*output: Json, **more: Json) -> Json:
    return {"type": "response.completed", "response": {"status": "completed", "output": list(output), **more}}


WHOLE: dict[str, list[Json]] = {
    "chat": [chat_delta(content="Grüße 🎉"), chat_call(), chat_end("tool_calls"), "[DONE]"],
    "gemini": [gemini({"text": "Grüße 🎉"}), gemini(gemini_call(id="c1")), gemini(finish="STOP")],
    "messages": [
        block(0, text=""),
        block_delta(0, "text_delta", text="Grüße 🎉"),
        block(1, "tool_use", id="c1", name="read_file"),
        block_delta(1, "input_json_delta", partial_json=TEXT),
        *message_end("tool_use"),
    ],
    "responses": [said("Grüße 🎉"), done(message("m1", "Grüße 🎉")), done(item()), completed()],
}
"""A text and a call in every format."""
READ: list[Chunk] = [TextChunk("Grüße 🎉"), CallChunk("read_file", ARGS, "c1"), Finished("stop")]

ONE_CALL: list[Chunk] = [CallChunk("read_file", ARGS, "c1"), Finished("stop")]


def hi(**usage: int) -> list[Chunk]:
    return [TextChunk("hi"), Finished("stop", Usage(**usage))]


def stream(events: list[Json], end: bytes = b"\n") -> bytes:
    return b"".join(b"data: " + as_line(event) + 2 * end for event in events)


def as_line(event: Json) -> bytes:
    return event.encode() if isinstance(event, str) else msgspec.json.encode(event)


def response(body: bytes, status: str = "200 OK", kind: str = "text/event-stream", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def read(wire: str, sent: bytes, block: int = 1 << 20) -> list[Chunk]:
    spoken = FORMATS[wire]
    async with RawServer(sent, block) as server:
        model = spoken.open_at(server.url)
        try:
            return [chunk async for chunk in model.stream(REQUEST)]
        finally:
            await model.close()


async def events(wire: str, *sent: Json) -> list[Chunk]:
    return await read(wire, response(stream(list(sent))))
