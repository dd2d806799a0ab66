"""The replies of Anthropic's Messages API, and of servers that speak it in their own way."""

from typing import Any

import msgspec
import pytest

from assent.models.anthropic.anthropic_model import AnthropicModel, list_models
from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    ContextTooLong,
    Finished,
    ModelError,
    QuotaExhausted,
    StaleSignature,
    TextChunk,
    ThoughtChunk,
    Transient,
    UnknownModel,
    Withheld,
)
from assent.models.provider import Access, FoundModel
from assent.parts import ModelMessage, Text, Thought, Usage, UserMessage
from support.fake_anthropic import FakeAnthropic
from support.talk import HELLO

KEY = "test-key-123"
Events = list[dict[str, Any]]


def model_at(fake: FakeAnthropic, name: str = "claude-opus-5-5") -> AnthropicModel:
    return AnthropicModel(name, Access(base_url=fake.url, key=KEY))


async def collect(fake: FakeAnthropic, into: list[Chunk] | None = None) -> list[Chunk]:
    chunks: list[Chunk] = [] if into is None else into
    model = model_at(fake)
    try:
        async for chunk in model.stream(HELLO):
            chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
    finally:
        await model.close()
    return chunks


async def answer(reply: dict[str, Any], into: list[Chunk] | None = None) -> list[Chunk]:
    async with FakeAnthropic({"replies": [reply]}) as fake:
        return await collect(fake, into)


def stream(*events: dict[str, Any]) -> dict[str, Any]:
    """A reply of exactly these events."""
    return {"stream": "".join(f"data: {msgspec.json.encode(event).decode()}\n\n" for event in events)}


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}


def begin(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str, **usage: int) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}, {"type": "message_stop"}


def signature_of(chunk: Chunk) -> dict[str, str]:
    assert isinstance(chunk, ThoughtChunk) and chunk.signature is not None
    return msgspec.json.decode(chunk.signature)


# --- a whole reply ---


@pytest.mark.spec("F1")
@pytest.mark.spec("K1")
async def test_a_reply_streams_thoughts_text_and_calls_and_ends_in_finished() -> None:
    chunks = await answer(
        {
            "chunks": [
                {"thought": "Look "},
                {"thought": "first", "signature": "s1"},
                {"text": "Reading "},
                {"text": "it."},
                {"call": {"name": "read_file", "args": {"path": "ä.txt"}, "id": "c1"}},
                {"call": {"name": "now", "id": "c2"}},
            ],
            "usage": {"input": 7, "output": 5, "thoughts": 3, "cached": 2, "cache_written": 1},
        }
    )
    assert signature_of(chunks[2])["signature"] == "s1"
    assert [*chunks[:2], *chunks[3:]] == [
        ThoughtChunk("Look "),
        ThoughtChunk("first"),
        TextChunk("Reading "),
        TextChunk("it."),
        CallChunk("read_file", {"path": "ä.txt"}, "c1"),
        CallChunk("now", {}, "c2"),
        Finished("stop", Usage(7, 5, 3, 2, 1)),
    ]


@pytest.mark.spec("F1")
@pytest.mark.parametrize("size", [1, 7, 64])
async def test_the_size_of_http_chunks_does_not_matter(size: int) -> None:
    reply = {"chunks": [{"text": "é{i}", "repeat": 3}, {"call": {"name": "x", "args": {"a": [1, None, "ü"]}}}]}
    assert await answer(reply | {"chunk_size": size}) == await answer(reply)


async def test_the_key_and_the_version_go_in_headers() -> None:
    async with FakeAnthropic({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        await collect(fake)
        received = fake.requests[0]
    assert received.path == "/v1/messages"
    assert (received.headers["x-api-key"], received.headers["anthropic-version"]) == (KEY, "2023-06-01")


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_the_base_url_may_have_the_version_or_not(suffix: str) -> None:
    async with FakeAnthropic({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        model = AnthropicModel("claude-opus-5-5", Access(base_url=fake.url + suffix, key=KEY))
        _ = [chunk async for chunk in model.stream(HELLO)]
        await model.close()
        assert fake.requests[0].path == "/v1/messages"


async def test_pings_and_unknown_events_and_blocks_are_ignored() -> None:
    chunks = await answer(
        stream(
            start(),
            {"type": "ping"},
            begin(0, "server_tool_use", id="x", name="web_search", input={}),
            stop(0),
            begin(1, "text", text=""),
            {"type": "ping"},
            delta(1, "citations_delta", citation={"cited_text": "x"}),
            delta(1, "text_delta", text="hi", newer=1),
            stop(1),
            {"type": "something_new", "index": 1},
            *ended("end_turn"),
        )
    )
    assert chunks == [TextChunk("hi"), Finished("stop")]


async def test_a_redacted_thought_is_kept_without_words() -> None:
    chunks = await answer(
        stream(start(), begin(0, "redacted_thinking", data="xyz"), stop(0), begin(1, "text", text="hi"), *ended("x"))
    )
    assert isinstance(chunks[0], ThoughtChunk) and chunks[0].text == ""
    assert signature_of(chunks[0])["redacted"] == "xyz"


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "safety"),
        ("pause_turn", "other"),
        ("something_new", "other"),
    ],
)
async def test_stop_reasons_are_translated(wire: str, reason: str) -> None:
    chunks = await answer({"chunks": [{"text": "hi"}], "wire_finish": wire})
    assert isinstance(chunks[-1], Finished) and chunks[-1].reason == reason


async def test_a_refusal_says_what_it_is_about() -> None:
    delta = {"stop_reason": "refusal", "stop_details": {"category": "cyber", "explanation": "No exploits."}}
    refused = ({"type": "message_delta", "delta": delta}, {"type": "message_stop"})
    chunks = await answer(stream(start(), begin(0, "text", text="Well"), stop(0), *refused))
    assert chunks[-1] == Finished("safety", said="refusal: cyber: No exploits.")
    with pytest.raises(Withheld, match="cyber: No exploits"):
        await answer(stream(start(), *refused))


# --- usage ---

READ = {"input_tokens": 115, "cache_read_input_tokens": 98}


@pytest.mark.parametrize(
    ("at_start", "at_end", "usage"),
    [
        (READ | {"output_tokens": 0}, {"output_tokens": 92}, Usage(213, 92, 0, 98)),
        ({"input_tokens": 0, "output_tokens": 0}, READ | {"output_tokens": 92}, Usage(213, 92, 0, 98)),
        ({"input_tokens": 9, "cache_creation_input_tokens": 5752}, {"output_tokens": 4}, Usage(5761, 4, 0, 0, 5752)),
        ({}, {}, Usage()),
    ],
    ids=["llama.cpp: at the start", "LiteLLM: at the end", "written to the cache", "not told"],
)  # fmt: skip
async def test_usage_is_put_together_from_start_and_end(
    at_start: dict[str, int], at_end: dict[str, int], usage: Usage
) -> None:
    chunks = await answer(stream(start(**at_start), begin(0, "text", text="hi"), stop(0), *ended("end_turn", **at_end)))
    assert chunks[-1] == Finished("stop", usage)


# --- calls ---


async def test_calls_whose_blocks_end_together_come_in_order() -> None:
    """As llama.cpp sends them, without `input`, and with a thought that is not signed."""
    chunks = await answer(
        stream(
            start(),
            begin(0, "thinking", thinking=""),
            delta(0, "thinking_delta", thinking="hm"),
            begin(1, "tool_use", id="a", name="read_file"),
            delta(1, "input_json_delta", partial_json='{\n "path": "a'),
            delta(1, "input_json_delta", partial_json='.txt"}'),
            begin(2, "tool_use", id="b", name="read_file"),
            delta(2, "input_json_delta", partial_json='{"path": "b.txt"}'),
            delta(0, "signature_delta", signature=""),
            stop(0),
            stop(1),
            stop(2),
            *ended("tool_use"),
        )
    )
    calls = [CallChunk("read_file", {"path": "a.txt"}, "a"), CallChunk("read_file", {"path": "b.txt"}, "b")]
    assert chunks == [ThoughtChunk("hm"), *calls, Finished("stop")]


async def test_arguments_may_come_with_the_start_of_a_block() -> None:
    chunks = await answer(stream(start(), begin(0, "tool_use", id="a", name="x", input={"n": 1}), *ended("tool_use")))
    assert chunks == [CallChunk("x", {"n": 1}, "a"), Finished("stop")]


async def test_a_call_without_arguments_keeps_its_place() -> None:
    chunks = await answer(
        stream(
            start(),
            begin(0, "tool_use", id="a", name="now", input={}),
            delta(0, "input_json_delta", partial_json=""),
            stop(0),
            begin(1, "tool_use", id="b", name="x", input={}),
            delta(1, "input_json_delta", partial_json='{"n": 1}'),
            stop(1),
            *ended("tool_use"),
        )
    )
    assert chunks == [CallChunk("now", {}, "a"), CallChunk("x", {"n": 1}, "b"), Finished("stop")]


@pytest.mark.spec("F9")
@pytest.mark.parametrize("arguments", ['{"path": "no', "", '["path"]'])
async def test_a_call_that_the_limit_may_have_cut_is_dropped(arguments: str) -> None:
    events = (
        start(),
        begin(0, "tool_use", id="a", name="x", input={}),
        delta(0, "input_json_delta", partial_json=arguments),
        stop(0),
    )
    assert await answer(stream(*events, *ended("max_tokens"))) == [Finished("max_tokens")]


@pytest.mark.spec("F9")
async def test_a_cut_call_marked_as_complete_is_dropped_if_the_limit_was_reached() -> None:
    """LiteLLM says `tool_use` where its backend said that the limit was reached."""
    block = begin(0, "tool_use", id="a", name="x"), delta(0, "input_json_delta", partial_json='{"a"'), stop(0)
    reply = stream(start(), *block, *ended("tool_use", input_tokens=1, output_tokens=32_000))
    assert await answer(reply) == [Finished("max_tokens", Usage(1, 32_000))]


def call_with(arguments: str) -> Events:
    block = begin(0, "tool_use", name="x"), delta(0, "input_json_delta", partial_json=arguments), stop(0)
    return [*block, *ended("tool_use")]


@pytest.mark.spec("F9")
@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([{"type": "content_block_delta", "index": 0, "delta": 7}], "malformed event"),
        ([begin(0, "text", text=7)], "malformed event"),
        ([begin(0, "tool_use", id="a", name="", input={}), stop(0)], "without a name"),
        ([delta(3, "input_json_delta", partial_json="{}")], "had not begun"),
        (call_with('{"a"'), "an incomplete call of x"),
        (call_with("[1]"), "an incomplete call of x"),
        ([begin(0, "text", text="hi"), stop(0)], "before it was complete"),
        ([begin(0, "text", text="hi"), stop(0), ended("end_turn")[0]], "before it was complete"),
        ([begin(0, "text", text="hi"), stop(0), {"type": "message_stop"}], "before it was complete"),
        ([{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}], "broke off.*Overloaded"),
        ([{"type": "error", "error": {"type": "api_error", "message": "Internal"}}], "broke off.*Internal"),
        ([{"error": {"code": "500", "message": "died"}}], "broke off.*died"),
    ],
)  # fmt: skip
async def test_a_malformed_or_cut_reply_is_broken_and_never_finished(events: Events, words: str) -> None:
    seen: list[Chunk] = []
    with pytest.raises(BrokenStream, match=words):
        await answer(stream(start(), *events), seen)
    assert not any(isinstance(chunk, Finished | CallChunk) for chunk in seen)


async def test_a_document_instead_of_a_stream_breaks_the_reply() -> None:
    with pytest.raises(BrokenStream, match="application/json"):
        await answer({"body": {"type": "message", "content": [{"type": "text", "text": "hi"}]}})


# --- failures ---


def refusal(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}


@pytest.mark.spec("F8")
@pytest.mark.spec("K4")
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, refusal("authentication_error", "invalid x-api-key"), AuthFailed),
        (403, refusal("permission_error", "no access"), AuthFailed),
        (402, refusal("billing_error", "pay first"), QuotaExhausted),
        (400, refusal("invalid_request_error", "Your credit balance is too low"), QuotaExhausted),
        (429, refusal("rate_limit_error", "x", details={"error_code": "enforced_spend_limit_reached"}), QuotaExhausted),
        (429, refusal("rate_limit_error", "too many tokens per minute"), Transient),
        (529, refusal("overloaded_error", "Overloaded"), Transient),
        (500, refusal("api_error", "Internal server error"), Transient),
        (504, refusal("timeout_error", "too slow"), Transient),
        (408, "", Transient),
        (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, Transient),
        (400, refusal("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), ContextTooLong),
        (413, refusal("request_too_large", "Request exceeds the maximum size"), ContextTooLong),
        (400, {"error": {"type": "exceed_context_size_error", "message": "too long", "n_ctx": 512}}, ContextTooLong),
        (404, refusal("not_found_error", "model: claude-9"), UnknownModel),
        (400, {"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}, AuthFailed),
        (400, refusal("invalid_request_error", "messages: text content blocks must be non-empty"), BadRequest),
        (404, "<html><h1>Not here</h1></html>", BadRequest),
    ],
)  # fmt: skip
async def test_every_refusal_is_the_error_that_it_means(status: int, body: Any, error: type[ModelError]) -> None:
    with pytest.raises(ModelError) as refused:
        await answer({"status": status, "body": body})
    assert type(refused.value) is error
    assert "<" not in str(refused.value)


@pytest.mark.spec("F8")
async def test_a_rejected_key_is_explained_and_not_repeated() -> None:
    with pytest.raises(AuthFailed, match="ANTHROPIC_API_KEY") as refused:
        await answer({"status": 401, "body": refusal("authentication_error", f"bad key {KEY}")})
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("key", ["", "a b\nc", "schlüssel"])
def test_an_invalid_key_is_rejected_at_once(key: str) -> None:
    with pytest.raises(AuthFailed, match="ANTHROPIC_API_KEY"):
        AnthropicModel("claude-opus-5-5", Access(base_url="https://x.test", key=key))


async def test_an_error_in_the_stream_about_our_request_keeps_its_meaning() -> None:
    with pytest.raises(QuotaExhausted, match="pay"):
        await answer(stream(start(), begin(0, "text", text="hi"), refusal("billing_error", "pay first")))


async def test_a_rejected_thought_is_left_out_and_the_request_repeated_once() -> None:
    stale = {"status": 400, "body": refusal("invalid_request_error", "thinking is bound to a different conversation")}
    first = {"chunks": [{"thought": "hm", "signature": "s1"}, {"text": "hi"}]}
    async with FakeAnthropic({"replies": [first, stale, {"chunks": [{"text": "again"}]}, stale, stale]}) as fake:
        model = model_at(fake)
        _, signed, *_ = [chunk async for chunk in model.stream(HELLO)]
        assert isinstance(signed, ThoughtChunk)
        reply = ModelMessage((Thought("hm", signed.signature), Text("hi")), model.name)
        later = msgspec.structs.replace(HELLO, messages=(*HELLO.messages, reply, UserMessage((Text("go on"),))))
        assert TextChunk("again") in [chunk async for chunk in model.stream(later)]
        bodies = [msgspec.json.encode(request.body).decode() for request in fake.requests]
        assert '"signature":"s1"' in bodies[1] and "signature" not in bodies[2]
        with pytest.raises(StaleSignature):
            _ = [chunk async for chunk in model.stream(later)]
        assert len(fake.requests) == 5
        await model.close()


# --- the list of models ---


async def test_the_models_are_listed_with_their_limits() -> None:
    data = [{"id": "claude-x", "type": "model", "max_input_tokens": 1000, "max_tokens": 50}, {"id": "claude-y"}]
    async with FakeAnthropic({"replies": [{"body": {"data": data, "has_more": False}}]}) as fake:
        found = await list_models(Access(base_url=fake.url, key=KEY))
        assert fake.requests[0].path == "/v1/models?limit=1000"
    assert found == [
        FoundModel(name="claude-x", window=1000, output=50, tools=True),
        FoundModel(name="claude-y", tools=True),
    ]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"status": 401, "body": refusal("authentication_error", "bad key")}, AuthFailed),
        ({"body": {"data": 7}}, BrokenStream),
        ({"body": "<html>"}, BrokenStream),
    ],
)
async def test_a_list_that_cannot_be_fetched_says_why(reply: dict[str, Any], error: type[ModelError]) -> None:
    async with FakeAnthropic({"replies": [reply]}) as fake:
        with pytest.raises(error):
            await list_models(Access(base_url=fake.url, key=KEY))
