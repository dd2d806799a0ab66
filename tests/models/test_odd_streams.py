"""Streams as no documentation describes them, but servers and gateways send them: what is whole is taken, what is not
breaks the reply, and nothing runs twice.
"""

import gzip
from collections.abc import Callable

import msgspec
import pytest

from assent.models.model_protocol import (
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    Finished,
    ModelError,
    QuotaExhausted,
    TextChunk,
    Transient,
)
from support.tape_events import (
    ARGS,
    ONE_CALL,
    READ,
    TEXT,
    WHOLE,
    Json,
    as_line,
    block,
    block_delta,
    chat_call,
    chat_delta,
    chat_end,
    completed,
    done,
    events,
    gemini,
    gemini_call,
    hi,
    item,
    message,
    message_end,
    read,
    response,
    said,
    stream,
)
from support.wire_formats import FORMATS

pytestmark = pytest.mark.spec("K1")
formats = pytest.mark.parametrize("wire", FORMATS)

# --- the same in every format ---

WRITTEN: dict[str, Callable[[list[Json]], bytes]] = {
    "CRLF": lambda sent: stream(sent, b"\r\n"),
    "CR": lambda sent: stream(sent, b"\r"),
    "a byte order mark": lambda sent: b"\xef\xbb\xbf" + stream(sent),
    "no space after the colon": lambda sent: stream(sent).replace(b"data: ", b"data:"),
    "comments": lambda sent: b": hello\n\n" + stream(sent).replace(b"data:", b": still here\ndata:") + b": bye\n\n",
    "ids and retry": lambda sent: stream(sent).replace(b"data:", b"id: 1\nretry: 5\ndata:"),
    "empty events": lambda sent: stream(sent).replace(b"data: {", b"data:\n\ndata: {"),
    "unknown events": lambda sent: stream([{"type": "weird", "x": [None, {"y": 1}]}, *sent]),
    "an end marker": lambda sent: stream([*sent, "[DONE]"]),
    "the last event twice": lambda sent: stream([*sent, sent[-1]]),
    "no error": lambda sent: stream([{"error": None}, *sent]),
    "numbers that JSON does not know": lambda sent: stream(['{"x": [NaN, -Infinity]}', *sent]),
    "half a letter": lambda sent: stream(['{"x": "\\ud83d"}', *sent]),
}


@formats
@pytest.mark.parametrize("how", WRITTEN)
async def test_however_a_stream_is_written_it_means_the_same(wire: str, how: str) -> None:
    assert await read(wire, response(WRITTEN[how](WHOLE[wire]))) == READ


@formats
async def test_json_over_many_lines_is_one_event(wire: str) -> None:
    documents = (msgspec.json.format(as_line(event), indent=1) for event in WHOLE[wire] if event != "[DONE]")
    lines = b"".join(b"data: " + document.replace(b"\n", b"\ndata: ") + b"\n\n" for document in documents)
    assert await read(wire, response(lines)) == READ


@formats
@pytest.mark.parametrize("compressed", [False, True])
async def test_a_stream_that_comes_byte_by_byte_is_the_same(wire: str, compressed: bool) -> None:
    body = stream(WHOLE[wire])
    sent = response(gzip.compress(body), Content_Encoding="gzip") if compressed else response(body)
    assert await read(wire, sent, 1) == READ


@formats
@pytest.mark.parametrize("block", [1, 1 << 20])
async def test_a_compressed_stream_may_have_several_members(wire: str, block: int) -> None:
    whole = stream(WHOLE[wire])
    packed = gzip.compress(whole[:40]) + gzip.compress(whole[40:90]) + gzip.compress(whole[90:])
    assert await read(wire, response(packed, Content_Encoding="gzip"), block) == READ


@formats
@pytest.mark.parametrize(
    "body",
    [
        b"data: null\n\n",
        b"data: []\n\n",
        b'data: {"a": 1}{"b": 2}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"event: error\ndata: Internal server error\n\n",
    ],
)
async def test_what_is_no_reply_breaks_the_stream(wire: str, body: bytes) -> None:
    whole = stream(WHOLE[wire])
    first, rest = whole.split(b"\n\n", 1)
    with pytest.raises(BrokenStream):
        await read(wire, response(first + b"\n\n" + body + rest))


@formats
@pytest.mark.parametrize("body", [b"", b"\n\n", b": ping\n\n", b"<html>sign in</html>", b"data: [DONE", b"\x00" * 100])
async def test_a_stream_without_events_is_broken(wire: str, body: bytes) -> None:
    with pytest.raises(BrokenStream):
        await read(wire, response(body))


@formats
async def test_a_letter_that_is_not_utf_8_breaks_the_stream(wire: str) -> None:
    for letter in ("ü", "ä"):
        with pytest.raises(BrokenStream, match="malformed"):
            await read(wire, response(stream(WHOLE[wire]).replace(letter.encode(), b"\xe4")))


@formats
@pytest.mark.parametrize("missing", [20, 40])
async def test_a_compressed_stream_that_is_cut_is_broken(wire: str, missing: int) -> None:
    with pytest.raises(BrokenStream):
        await read(wire, response(gzip.compress(stream(WHOLE[wire]))[:-missing], Content_Encoding="gzip"))


@formats
async def test_without_its_checksum_a_compressed_stream_is_whole_only_with_an_end_marker(wire: str) -> None:
    sent = response(gzip.compress(stream(WHOLE[wire]))[:-1], Content_Encoding="gzip")
    if wire != "gemini":
        assert await read(wire, sent) == READ
        return
    with pytest.raises(BrokenStream):
        await read(wire, sent)


@formats
@pytest.mark.parametrize(
    ("sent", "error", "words"),
    [
        (response(b"", "301 Moved", Location="https://elsewhere.example"), BadRequest, "check its base URL"),
        (response(b"", "204 No Content"), BrokenStream, "before it was complete"),
        (response(b"<h1>Bad Gateway</h1>", "502 Bad", "text/html"), Transient, r"\(502\): Bad Gateway"),
        (response(b'{"error":{"mess', "500 Oh", "application/json"), Transient, "500"),
        (response(b'{"error":"\xff"}', "500 Oh", "application/json"), Transient, "500"),
        (response(b'{"error":"too busy"}', "529 Busy", "application/json"), Transient, "too busy"),
        (
            response(b'{"detail":[{"msg":"field required"}]}', "422 No", "application/json"),
            BadRequest,
            "field required",
        ),
        (response(b'{"error":{"code":429,"message":"slow"}}', kind="application/json"), Transient, "too many requests"),
        (response(b'{"error":"slow"}', kind="application/json"), Transient, "slow"),
        (response(b"<html>sign in</html>", kind="text/html"), BrokenStream, "instead of an event stream"),
        (response(stream(['{"error":"overloaded, sorry"}'])), BrokenStream, "overloaded, sorry"),
    ],
)
async def test_a_failure_of_any_shape_is_told(wire: str, sent: bytes, error: type[ModelError], words: str) -> None:
    with pytest.raises(error, match=words):
        await read(wire, sent)


@formats
@pytest.mark.parametrize(
    ("asked", "wait"),
    [("Wed, 18 Nov 2009 00:00:00 GMT", 0.0), ("-5", None), ("soon", None), ("nan", None), ("1e999", None), ("7", 7.0)],
)
async def test_a_wait_that_makes_no_sense_is_ignored(wire: str, asked: str, wait: float | None) -> None:
    with pytest.raises(Transient) as told:
        await read(wire, response(b"{}", "429 Slow", "application/json", Retry_After=asked))
    assert told.value.retry_after == wait


@formats
async def test_a_wait_until_next_century_is_a_lack_of_quota(wire: str) -> None:
    with pytest.raises(QuotaExhausted):
        await read(wire, response(b"{}", "429 Slow", Retry_After="Wed, 18 Nov 2099 00:00:00 GMT"))


# --- one format each ---

Cases = dict[str, tuple[list[Json], list[Chunk]]]
"""The events of a reply, and what they mean."""


CALLED: list[Chunk] = [CallChunk("read_file", {}, "c1"), Finished("stop")]

CHAT: Cases = {
    "an empty list for every object": (
        [{"choices": [{"delta": []}], "usage": []}, chat_delta(content="hi", tool_calls={}), chat_end(usage=[])],
        hi(),
    ),
    "an empty text for every object": ([{"choices": [{"delta": ""}]}, chat_delta(content="hi"), chat_end()], hi()),
    "null in every list": (
        [
            {"choices": [None]},
            chat_delta(content=[None, "hi"], tool_calls=[None], reasoning_details=[None]),
            chat_end(),
        ],
        hi(),
    ),
    "usage that makes no sense": (
        [chat_delta(content="hi"), chat_end(usage={"prompt_tokens": "many", "prompt_tokens_details": 7})],
        hi(),
    ),
    "half an emoji in each chunk": (
        [
            '{"choices": [{"delta": {"content": "hi \\ud83d"}}]}',
            '{"choices": [{"delta": {"content": "\\ude00"}}]}',
            chat_end(),
        ],
        [TextChunk("hi \ufffd"), TextChunk("\ufffd"), Finished("stop")],
    ),
    "the logarithm of zero": (
        ['{"choices": [{"delta": {"content": "hi"}, "logprobs": {"content": [{"logprob": -Infinity}]}}]}', chat_end()],
        hi(),
    ),
    "one call without a list": (
        [
            chat_delta(tool_calls={"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": TEXT}}),
            chat_end(),
        ],
        ONE_CALL,
    ),
    "an empty object before the arguments": ([chat_call(arguments="{}"), chat_call(None, TEXT), chat_end()], ONE_CALL),
    "the arguments twice": ([chat_call(), chat_call(), chat_end("tool_calls")], ONE_CALL),
    "the arguments in pieces, and then at once": (
        [chat_call(arguments=TEXT[:5]), chat_call(None, TEXT[5:], id=None), chat_call(), chat_end("tool_calls")],
        ONE_CALL,
    ),
    "an empty object twice": ([chat_call(arguments="{} {}"), chat_end()], CALLED),
    "two calls with one index and one id": (
        [chat_call(arguments="{}"), chat_call("ls", "{}"), chat_end()],
        [CALLED[0], CallChunk("ls", {}), Finished("stop")],
    ),
    "the word null for no finish reason": (
        [{"choices": [{"delta": {"content": "hi"}, "finish_reason": "null"}]}, "[DONE]"],
        hi(),
    ),
    "a name in pieces": ([chat_call("read_", ""), chat_call("file", TEXT, id=None), chat_end()], ONE_CALL),
    "a name with spaces": ([chat_call(" read_file\n"), chat_end()], ONE_CALL),
    "a number that is text": ([chat_call(index="0"), chat_end()], ONE_CALL),
    "arguments encoded twice": ([chat_call(arguments=msgspec.json.encode(TEXT).decode()), chat_end()], ONE_CALL),
    "only roles": ([chat_delta(role="assistant"), chat_delta(content="hi"), chat_end()], hi()),
    "no delta": ([{"choices": [{"delta": None}]}, chat_delta(content="hi"), chat_end()], hi()),
    "odd usage": (
        [chat_delta(content="hi"), chat_end(usage={"prompt_tokens": "5", "completion_tokens": 3.5})],
        hi(input=5, output=3),
    ),
    "an end marker with spaces": ([chat_delta(content="hi"), chat_end(), "  [DONE]  "], hi()),
    "an id that is a number": ([chat_call(id=7), chat_end()], [CallChunk("read_file", ARGS), Finished("stop")]),
}
GEMINI: Cases = {
    "null for every switch": (
        [
            gemini({"text": "hi", "thought": None, "functionCall": None}),
            gemini(gemini_call(id=7, willContinue=None), finish="STOP"),
        ],
        [TextChunk("hi"), CallChunk("read_file", ARGS), Finished("stop")],
    ),
    "an empty list for every object": (
        [
            {"candidates": [{"content": []}], "usageMetadata": [], "promptFeedback": []},
            gemini({"text": "hi"}, finish="STOP"),
        ],
        hi(),
    ),
    "no reason to block": (
        [{"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}}, gemini({"text": "hi"}, finish="STOP")],
        hi(),
    ),
    "a signature alone": (
        [gemini({"text": "hi"}), gemini({"thoughtSignature": "s"}, finish="STOP")],
        [TextChunk("hi"), TextChunk("", "s"), Finished("stop")],
    ),
    "arguments as text": ([gemini(gemini_call(args=TEXT, id="c1"), finish="STOP")], ONE_CALL),
    "nothing in its places": (
        [{"candidates": None}, {"candidates": [{"content": {"parts": None}}]}, gemini({"text": "hi"}, finish="STOP")],
        hi(),
    ),
    "odd usage": (
        [gemini({"text": "hi"}, finish="STOP", usageMetadata={"promptTokenCount": "5", "candidatesTokenCount": None})],
        hi(input=5),
    ),
    "small letters": ([gemini({"text": "hi"}, finish="stop")], hi()),
    "usage at last": ([gemini({"text": "hi"}, finish="STOP"), {"usageMetadata": {"promptTokenCount": 5}}], hi(input=5)),
}
MESSAGES: Cases = {
    "an end marker instead of message_stop": ([block(0, text="hi"), message_end()[0], "[DONE]"], hi()),
    "deltas without a type": (
        [
            block(0, text=""),
            {"type": "content_block_delta", "index": 0, "delta": {"text": "hi"}},
            block(1, "tool_use", id="c1", name="read_file"),
            {"type": "content_block_delta", "index": 1, "delta": {"partial_json": TEXT}},
            *message_end("tool_use"),
        ],
        [TextChunk("hi"), *ONE_CALL],
    ),
    "an empty list for every object": (
        [
            {"type": "message_start", "message": []},
            block(0, text="hi"),
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_details": "none"}, "usage": []},
            {"type": "message_stop"},
        ],
        hi(),
    ),
    "an id that is a number": (
        [block(0, "tool_use", id=77, name="read_file", input=ARGS), *message_end("tool_use")],
        [CallChunk("read_file", ARGS), Finished("stop")],
    ),
    "an empty object before the input": (
        [
            block(0, "tool_use", id="c1", name="read_file", input={}),
            block_delta(0, "input_json_delta", partial_json="{}"),
            block_delta(0, "input_json_delta", partial_json=TEXT),
            *message_end("tool_use"),
        ],
        ONE_CALL,
    ),
    "input as text": ([block(0, "tool_use", id="c1", name="read_file", input=TEXT), *message_end()], ONE_CALL),
    "no index": ([block(None, text=None), block_delta(None, "text_delta", text="hi"), *message_end()], hi()),
    "a block that never began": ([block_delta(0, "text_delta", text="hi"), *message_end()], hi()),
    "odd usage": (
        [block_delta(0, "text_delta", text="hi"), *message_end(input_tokens="5", output_tokens=3.0)],
        hi(input=5, output=3),
    ),
    "another message": ([*WHOLE["messages"], *WHOLE["messages"]], READ),
}
RESPONSES: Cases = {
    "no deltas, but the whole text": (
        [{"type": "response.output_text.done", "item_id": "m1", "text": "hi"}, done(message("m1", "hi")), completed()],
        hi(),
    ),
    "no deltas, but a whole piece": (
        [
            {"type": "response.content_part.done", "item_id": "m1", "part": {"type": "output_text", "text": "hi"}},
            completed(),
        ],
        hi(),
    ),
    "deltas, and the whole text and piece under other ids": (
        [
            said("hi", "m1"),
            {"type": "response.output_text.done", "item_id": "m2", "text": "hi"},
            {"type": "response.content_part.done", "item_id": "m3", "part": {"type": "output_text", "text": "hi"}},
            done(message("m4", "hi")),
            completed(message("m5", "hi")),
        ],
        hi(),
    ),
    "a refusal without deltas": (
        [done({"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "no"}]}), completed()],
        [TextChunk("no"), Finished("safety")],
    ),
    "a response that someone cancelled": (
        [said("hi"), completed(status="cancelled")],
        [TextChunk("hi"), Finished("other", said="incomplete")],
    ),
    "another word for the end": ([said("hi"), {"type": "response.done", "response": {"status": "completed"}}], hi()),
    "null for every number": (
        [
            {"type": "response.reasoning_summary_text.delta", "delta": "", "summary_index": None, "item_id": None},
            said("hi"),
            completed(usage=[]),
        ],
        hi(),
    ),
    "ids that are numbers": (
        [done(item() | {"id": 1, "call_id": 2}), completed()],
        [CallChunk("read_file", ARGS), Finished("stop")],
    ),
    "an item that ends twice": ([done(item()), done(item()), completed(item())], ONE_CALL),
    "a call only at the end": ([completed(item())], ONE_CALL),
    "a text only at the end": ([completed(message("m1", "hi"))], hi()),
    "another id in every event": ([said("hi", "m1"), done(message("m2", "hi")), completed(message("m3", "hi"))], hi()),
    "arguments as an object": ([done(item(arguments=ARGS)), completed()], ONE_CALL),
    "odd usage": ([said("hi"), completed(usage={"input_tokens": "5", "output_tokens": 3.0})], hi(input=5, output=3)),
    "a broken-off end": (
        [said("hi"), {"type": "response.incomplete", "response": {"incomplete_details": None}}],
        [TextChunk("hi"), Finished("other", said="incomplete")],
    ),
    "two calls with one id": (
        [done(item("f1")), done(item("f2", "{}")), completed()],
        [ONE_CALL[0], CallChunk("read_file", {}), Finished("stop")],
    ),
}


@pytest.mark.parametrize("odd", CHAT)
async def test_odd_chat_completions(odd: str) -> None:
    sent, expected = CHAT[odd]
    assert await events("chat", *sent) == expected


@pytest.mark.parametrize("odd", GEMINI)
async def test_odd_replies_of_gemini(odd: str) -> None:
    sent, expected = GEMINI[odd]
    assert await events("gemini", *sent) == expected


@pytest.mark.parametrize("odd", MESSAGES)
async def test_odd_messages(odd: str) -> None:
    sent, expected = MESSAGES[odd]
    assert await events("messages", *sent) == expected


@pytest.mark.parametrize("odd", RESPONSES)
async def test_odd_responses(odd: str) -> None:
    sent, expected = RESPONSES[odd]
    assert await events("responses", *sent) == expected


async def test_a_completed_response_that_failed_is_a_failure() -> None:
    with pytest.raises(BrokenStream, match="boom"):
        await events("responses", said("hi"), completed(status="failed", error={"code": "x", "message": "boom"}))


@pytest.mark.parametrize("end", [b"data: [DONE]", b"data:[DONE]", b"data: [DONE]\n"])
async def test_the_blank_line_after_the_end_marker_may_be_missing(end: bytes) -> None:
    """But not before the model has said that it is done."""
    assert await read("chat", response(stream(WHOLE["chat"][:-1]) + end)) == READ
    with pytest.raises(BrokenStream):
        await read("chat", response(stream(WHOLE["chat"][:-1]) + end[:-3]))


@pytest.mark.parametrize("wire", ["messages", "responses"])
async def test_what_follows_a_complete_reply_does_not_matter(wire: str) -> None:
    assert await read(wire, response(stream(WHOLE[wire]) + b"data: {{\n\ngarbage")) == READ


ODD_FAILURES: dict[str, tuple[str, Json, type[ModelError], str]] = {
    "an error of a choice": (
        "chat",
        {"choices": [{"delta": {"content": ""}, "error": {"code": 429, "message": "slow down"}}]},
        BrokenStream,
        "slow down",
    ),
    "credit that ends in a choice": (
        "chat",
        {"choices": [{"finish_reason": "error", "error": {"code": 402, "message": "no credits"}}]},
        QuotaExhausted,
        "no credits",
    ),
    "FastAPI's detail": ("chat", {"detail": "the worker died"}, BrokenStream, "the worker died"),
    "words instead of JSON": ("chat", "upstream connect error", BrokenStream, "upstream connect error"),
}


@pytest.mark.spec("K4")
@pytest.mark.parametrize("odd", ODD_FAILURES)
async def test_no_failure_inside_a_reply_is_a_silent_success(odd: str) -> None:
    wire, sent, error, words = ODD_FAILURES[odd]
    with pytest.raises(error, match=words):
        await events(wire, *WHOLE[wire][:1], sent, *WHOLE[wire][1:])


@formats
@pytest.mark.spec("K4")
async def test_a_key_echoed_inside_a_reply_is_masked(wire: str) -> None:
    sent = {"type": "error", "error": {"code": 500, "message": "bad test-key-123"}}
    with pytest.raises(ModelError, match=r"bad \[key\]"):
        await events(wire, sent)
    with pytest.raises(ModelError, match=r"bad \[key\]"):
        await events(wire, "bad test-key-123")


@pytest.mark.parametrize("given", [7, True, {"x": 1}])
async def test_what_matters_in_an_event_is_not_repaired(given: Json) -> None:
    with pytest.raises(BrokenStream):
        await events("chat", chat_delta(content=given if given != {"x": 1} else None, refusal=given), chat_end())
    with pytest.raises(BrokenStream):
        await events("messages", block(0, "tool_use", id="c1", name="f"), block_delta(0, "x", partial_json=given))
