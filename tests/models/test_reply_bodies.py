"""However a body is written and labelled, a whole reply is read, and what is no reply is named."""

import msgspec
import pytest

from assent.models.model_protocol import (
    AuthFailed,
    BrokenStream,
    CallChunk,
    Chunk,
    Finished,
    ModelError,
    TextChunk,
    ThoughtChunk,
)
from support.tape_events import (
    ARGS,
    ONE_CALL,
    READ,
    TEXT,
    WHOLE,
    Json,
    chat_call,
    chat_delta,
    chat_end,
    completed,
    done,
    events,
    gemini,
    hi,
    item,
    message,
    read,
    response,
    stream,
)
from support.wire_formats import FORMATS

pytestmark = pytest.mark.spec("K1")
formats = pytest.mark.parametrize("wire", FORMATS)
KINDS = ("text/plain; charset=utf-8", "application/octet-stream", "text/html", "application/json", "")


def unlabelled(body: bytes) -> bytes:
    return response(body).replace(b"Content-Type: text/event-stream\r\n", b"")


@formats
@pytest.mark.parametrize("kind", KINDS)
async def test_an_event_stream_is_one_whatever_its_content_type(wire: str, kind: str) -> None:
    assert await read(wire, response(stream(WHOLE[wire]), kind=kind)) == READ


@formats
@pytest.mark.parametrize("block", [1, 1 << 20])
async def test_an_event_stream_needs_no_content_type(wire: str, block: int) -> None:
    assert await read(wire, unlabelled(stream(WHOLE[wire])), block) == READ


@formats
async def test_events_may_come_as_an_array(wire: str) -> None:
    body = msgspec.json.format(msgspec.json.encode([event for event in WHOLE[wire] if event != "[DONE]"]), indent=1)
    assert await read(wire, response(body, kind="application/json"), 7) == READ
    for place in (len(body) // 2, len(body) - 1):
        with pytest.raises(BrokenStream):
            await read(wire, response(body[:place], kind="application/json"))


@formats
async def test_events_may_come_one_in_each_line(wire: str) -> None:
    sent = [msgspec.json.encode(event) for event in WHOLE[wire] if event != "[DONE]"]
    assert await read(wire, response(b"\n".join(sent), kind="application/x-ndjson")) == READ
    lines = b"".join(b"data: " + line + b"\n" for line in sent)
    assert await read(wire, response(lines + b"\n")) == READ


CONTENT = [{"type": "text", "text": "Grüße 🎉"}, {"type": "tool_use", "id": "c1", "name": "read_file", "input": ARGS}]
CALL = {"id": "c1", "function": {"name": "read_file", "arguments": TEXT}}
DOCUMENTS: dict[str, Json] = {
    "chat": {"choices": [{"message": {"content": "Grüße 🎉", "tool_calls": [CALL]}, "finish_reason": "tool_calls"}]},
    "gemini": gemini(
        {"text": "Grüße 🎉"}, {"functionCall": {"name": "read_file", "args": ARGS, "id": "c1"}}, finish="STOP"
    ),
    "messages": {"type": "message", "role": "assistant", "content": CONTENT, "stop_reason": "tool_use"},
    "responses": {"object": "response", "status": "completed", "output": [message("m1", "Grüße 🎉"), item()]},
}


@formats
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
async def test_a_whole_reply_may_come_in_one_document(wire: str, kind: str) -> None:
    body = msgspec.json.encode(DOCUMENTS[wire])
    assert await read(wire, response(body, kind=kind)) == READ
    assert await read(wire, unlabelled(b"\n" + body), 1) == READ
    with pytest.raises(BrokenStream):
        await read(wire, response(body[:-1], kind=kind))


@pytest.mark.parametrize("status", ["queued", "in_progress"])
async def test_a_response_that_still_runs_is_no_reply(status: str) -> None:
    body = msgspec.json.encode(DOCUMENTS["responses"] | {"status": status})
    with pytest.raises(BrokenStream, match=status):
        await read("responses", response(body, kind="application/json"))


@pytest.mark.spec("K4")
@formats
@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("text/plain", b"Upstream unavailable", "text/plain instead of an event stream: Upstream unavailable"),
        ("text/plain", b"internal error\n", "text/plain instead of an event stream: internal error"),
        ("text/html", b"<html><h1>Sign in</h1></html>", "text/html instead of an event stream: Sign in"),
        ("text/html", b"<html>" + b"x" * 100_000, "text/html instead of an event stream"),
        ("application/json", b'{"status":"ok"}', '"status":"ok"'),
        ("application/json", b"[]", r"application/json instead of an event stream: \[\]"),
        ("image/png", b"\x89PNG\r\n\x1a\n", "image/png instead of an event stream"),
    ],
)
async def test_what_is_no_reply_is_named(wire: str, kind: str, body: bytes, words: str) -> None:
    with pytest.raises(BrokenStream, match=words):
        await read(wire, response(body, kind=kind))


@pytest.mark.spec("K4")
@formats
@pytest.mark.parametrize(
    ("end", "error"),
    [
        (b'{"error":{"code":401,"message":"wrong key","type":"authentication_error"}}', AuthFailed),
        (b'{"error":{"code":401,"message":"wrong key","type":"authentication_error"}}\n\n', AuthFailed),
        (b'{"error":{"message":"the model crashed"}}\n', BrokenStream),
    ],
)
async def test_an_error_without_a_field_is_told(wire: str, end: bytes, error: type[ModelError]) -> None:
    first = stream(WHOLE[wire][:1])
    with pytest.raises(error, match=r"wrong key|the model crashed"):
        await read(wire, response(first + end))


async def test_an_error_in_a_field_of_its_own_is_told() -> None:
    """As older versions of llama-server send it."""
    sent = b'error: {"code":500,"message":"the slot is gone","type":"server_error"}\n\n'
    with pytest.raises(BrokenStream, match="the slot is gone"):
        await read("chat", response(stream([chat_delta(content="hi")]) + sent))


THOUGHTS: dict[str, Json] = {
    "text": {"text": "hm"},
    "content": {"content": "hm", "type": "reasoning"},
    "a summary": {"effort": "high", "summary": [{"type": "summary_text", "text": "hm"}]},
    "a list": [{"text": "h"}, {"text": "m"}],
}


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("shape", THOUGHTS)
async def test_a_thought_may_be_an_object(field: str, shape: str) -> None:
    sent = [chat_delta(**{field: THOUGHTS[shape]}), chat_delta(content="hi"), chat_end()]
    assert await events("chat", *sent) == [ThoughtChunk("hm"), *hi()]


@pytest.mark.parametrize("setting", [{"effort": "high"}, {"effort": None, "summary": None}, [], {}, True])
async def test_a_setting_is_no_thought(setting: Json) -> None:
    assert await events("chat", chat_delta(content="hi", reasoning=setting), chat_end()) == hi()


@pytest.mark.parametrize("content", [{"type": "text", "text": "hi"}, ["hi"], [{"type": "text", "text": "hi"}]])
async def test_a_text_may_be_an_object_or_a_list(content: Json) -> None:
    assert await events("chat", chat_delta(content=content), chat_end()) == hi()


async def test_a_call_may_have_another_id_in_every_piece() -> None:
    sent = [chat_call(arguments=""), chat_call("", TEXT[:5], id="c2"), chat_call(None, TEXT[5:], id="c3"), chat_end()]
    assert await events("chat", *sent) == ONE_CALL


async def test_the_content_of_a_response_may_be_a_text() -> None:
    said: Json = {"type": "message", "id": "m1", "content": "hi"}
    thought: Json = {"type": "reasoning", "id": "r1", "summary": "hm", "encrypted_content": "e"}
    expected: list[Chunk] = [ThoughtChunk("hm"), ThoughtChunk("", "e"), *hi()]
    assert await events("responses", done(thought), done(said), completed()) == expected
    assert await events("responses", completed(thought, said)) == expected


async def test_no_object_but_an_empty_list_in_a_response() -> None:
    expected = [CallChunk("read_file", {}, "c1"), Finished("stop")]
    assert await events("responses", done(item(arguments=[])), completed()) == expected


async def test_the_names_of_gemini_may_be_in_snake_case() -> None:
    args = {"file_path": "a_b", "nested_key": {"finish_reason": 1}}
    call = {"function_call": {"name": "read_file", "args": args, "id": "c1"}, "thought_signature": "s"}
    usage = {"prompt_token_count": 5, "candidates_token_count": 2, "cached_content_token_count": 3}
    sent: Json = [
        {"candidates": [{"content": {"parts": [{"text": 'say "finish_reason": x'}]}}]},
        {"candidates": [{"content": {"parts": [call]}, "finish_reason": "STOP"}], "usage_metadata": usage},
    ]
    text, asked, finished = await events("gemini", *sent)
    assert text == TextChunk('say "finish_reason": x')
    assert asked == CallChunk("read_file", args, "c1", "s")
    assert isinstance(finished, Finished)
    assert (finished.usage.input, finished.usage.output, finished.usage.cached) == (5, 2, 3)
