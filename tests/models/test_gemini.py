"""The Gemini adapter against a fake on loopback that speaks the real wire format."""

import asyncio
from typing import Any

import pytest

from assent.models.gemini.gemini_model import GeminiModel, list_models
from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    Finished,
    ModelError,
    Request,
    TextChunk,
    ThoughtChunk,
    Transient,
    Withheld,
)
from assent.models.provider import Access, FoundModel
from assent.parts import Text, Usage, UserMessage
from support.fake_gemini import FakeGemini

HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))
KEY = "test-key-123"


async def collect(fake: FakeGemini, into: list[Chunk] | None = None, name: str = "gemini-test") -> list[Chunk]:
    chunks: list[Chunk] = [] if into is None else into
    model = GeminiModel(name, KEY, fake.url)
    try:
        async for chunk in model.stream(HELLO):
            chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
    finally:
        await model.close()
    return chunks


async def answer(reply: dict[str, Any], into: list[Chunk] | None = None) -> list[Chunk]:
    async with FakeGemini({"replies": [reply]}) as fake:
        return await collect(fake, into)


def event(candidate: str) -> dict[str, Any]:
    return {"raw": f'data: {{"candidates":[{candidate}]}}\r\n\r\n'}


# --- a whole reply ---


@pytest.mark.spec("F1")
async def test_a_reply_streams_thoughts_text_and_calls_and_ends_in_finished() -> None:
    chunks = await answer(
        {
            "chunks": [
                {"thought": "**Look** first", "signature": "s1"},
                {"text": "Reading "},
                {"text": "it."},
                {"call": {"name": "read_file", "args": {"path": "ä.txt"}, "id": "c1"}, "signature": "s2"},
                {"call": {"name": "now"}},
            ],
            "usage": {"input": 7, "output": 5, "thoughts": 3, "cached": 2},
        }
    )
    assert chunks == [
        ThoughtChunk("first", "s1", "Look"),
        TextChunk("Reading "),
        TextChunk("it."),
        CallChunk("read_file", {"path": "ä.txt"}, "c1", "s2"),
        CallChunk("now", {}),
        Finished("stop", Usage(7, 5, 3, 2)),
    ]


@pytest.mark.spec("F1")
@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_the_size_of_http_chunks_does_not_matter(size: int) -> None:
    reply = {"chunks": [{"text": "é{i}", "repeat": 3}, {"call": {"name": "x", "args": {"a": [1, None, "ü"]}}}]}
    assert await answer(reply | {"chunk_size": size}) == await answer(reply)


async def test_the_key_goes_in_a_header_and_never_in_the_address() -> None:
    async with FakeGemini({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        await collect(fake, name="models/gemini-2.5-flash")
        received = fake.requests[0]
    assert received.path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY


async def test_a_name_cannot_leave_its_place_in_the_path() -> None:
    async with FakeGemini({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        await collect(fake, name="../x?key=y#z")
        assert fake.requests[0].path == "/v1beta/models/..%2Fx%3Fkey%3Dy%23z:streamGenerateContent?alt=sse"


async def test_a_text_that_is_only_a_signature_is_kept() -> None:
    chunks = await answer({"chunks": [{"text": "hi"}, {"text": "", "signature": "s"}]})
    assert chunks[:2] == [TextChunk("hi"), TextChunk("", "s")]


async def test_unknown_fields_and_parts_are_ignored() -> None:
    strange = (
        '{"content":{"role":"model","parts":[{"executableCode":{"code":"1"}},{"text":"hi","new":1}]},"newer":[{}]}'
    )
    chunks = await answer(
        {"chunks": [event(strange), {"raw": 'data: {"somethingElse":true}\r\n\r\n'}, {"raw": ": ping\n\n"}]}
    )
    assert chunks == [TextChunk("hi"), Finished("stop")]


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "max_tokens"),
        ("CONTINUATION", "max_tokens"),
        ("SAFETY", "safety"),
        ("PROHIBITED_CONTENT", "safety"),
        ("RECITATION", "safety"),
        ("OTHER", "other"),
        ("SOMETHING_NEW", "other"),
    ],
)
async def test_finish_reasons_are_translated(wire: str, reason: str) -> None:
    chunks = await answer({"chunks": [{"text": "hi"}], "wire_finish": wire})
    assert isinstance(chunks[-1], Finished) and chunks[-1].reason == reason


async def test_the_tokens_of_tools_of_google_count_as_input() -> None:
    usage = '{"promptTokenCount":7,"toolUsePromptTokenCount":5,"candidatesTokenCount":2}'
    candidate = '{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}'
    chunks = await answer({"stream": f'data: {{"candidates":[{candidate}],"usageMetadata":{usage}}}\n\n'})
    assert chunks[-1] == Finished("stop", Usage(12, 2))


async def test_the_models_are_listed_with_their_limits() -> None:
    agent = {"name": "models/gemini-x", "inputTokenLimit": 1000, "outputTokenLimit": 50}
    models = [agent | {"supportedGenerationMethods": ["generateContent"]}, {"name": "models/embedding"}]
    async with FakeGemini({"replies": [{"body": {"models": models}}]}) as fake:
        found = await list_models(Access(base_url=fake.url, key=KEY))
        assert fake.requests[0].path == "/v1beta/models?pageSize=1000"
        assert fake.requests[0].headers["x-goog-api-key"] == KEY
    assert found == [FoundModel(name="gemini-x", window=1000, output=50)]


# --- replies that must not be used ---


@pytest.mark.spec("F9")
@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ({"raw": "data: {oops\r\n\r\n"}, "malformed event"),
        ({"raw": "data: []\r\n\r\n"}, "malformed event"),
        ({"raw": 'data: {"candidates":{"x":1}}\r\n\r\n'}, "malformed event"),
        ({"raw": "data: " + "[" * 100_000 + "\r\n\r\n"}, "malformed event"),
        ({"raw": 'data: {"x":' + "[" * 100_000 + "\r\n\r\n"}, "malformed event"),
        (event('{"content":{"parts":[{"text":7}]}}'), "malformed event"),
        (event('{"content":{"parts":[{"functionCall":{"name":"x","args":"a"}}]}}'), "an incomplete call"),
        (event('{"content":{"parts":[{"functionCall":{"name":7}}]}}'), "malformed event"),
        (event('{"content":{"parts":[{"functionCall":{"args":{}}}]}}'), "without a name"),
        (event('{"content":{"parts":[{"functionCall":{"name":"","args":{}}}]}}'), "without a name"),
        (event('{"content":{"parts":[{"functionCall":{"name":"x","willContinue":true}}]}}'), "an incomplete call"),
        (
            event('{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad call"}'),
            "malformed tool call.*bad call",
        ),
        (event('{"finishReason":"UNEXPECTED_TOOL_CALL"}'), "malformed tool call"),
        ({"error": {"kind": "transient", "message": "overloaded"}}, "broke off.*overloaded"),
        ({"cut": True}, "ended before it was complete"),
        ({"abort": True}, "in the middle of its reply"),
    ],
)
async def test_a_malformed_or_cut_reply_is_broken_and_never_finished(chunk: dict[str, Any], words: str) -> None:
    seen: list[Chunk] = []
    call = {"call": {"name": "rm", "args": {"path": "/"}}}
    with pytest.raises(BrokenStream, match=words):
        await answer({"chunks": [call, chunk]}, seen)
    assert not any(isinstance(chunk, Finished) for chunk in seen)


@pytest.mark.spec("F9")
async def test_half_an_event_after_the_finish_reason_breaks_the_reply() -> None:
    done = event('{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}')
    with pytest.raises(BrokenStream, match="before it was complete"):
        await answer({"chunks": [done, {"raw": 'data: {"candidates"'}, {"cut": True}]})


async def test_an_html_page_instead_of_a_stream_is_reported() -> None:
    reply = {"chunks": [{"raw": "<html>sign in to the hotel</html>"}], "headers": {"Content-Type": "text/html"}}
    with pytest.raises(BrokenStream, match="sent text/html"):
        await answer(reply)


async def test_a_reply_withheld_before_any_text_is_an_error() -> None:
    with pytest.raises(Withheld, match=r"withheld its reply \(SAFETY\)"):
        await answer({"chunks": [{"thought": "hm"}], "wire_finish": "SAFETY"})


async def test_a_blocked_prompt_is_told() -> None:
    blocked = {"raw": 'data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}\r\n\r\n'}
    with pytest.raises(Withheld, match=r"rejected this prompt \(PROHIBITED_CONTENT\)"):
        await answer({"chunks": [blocked, {"cut": True}]})


@pytest.mark.parametrize(("kind", "error"), [("bad_request", BadRequest), ("auth", AuthFailed)])
async def test_an_error_within_the_stream_keeps_its_meaning(kind: str, error: type[ModelError]) -> None:
    with pytest.raises(error, match="so it is"):
        await answer({"chunks": [{"text": "a"}, {"error": {"kind": kind, "message": "so it is"}}]})


# --- failures before the stream ---


@pytest.mark.spec("F8")
async def test_a_rejected_key_is_explained_and_not_repeated() -> None:
    with pytest.raises(AuthFailed, match="GEMINI_API_KEY") as refused:
        await answer({"status": 401, "body": {"error": {"code": 401, "message": f"bad key {KEY}"}}})
    assert KEY not in str(refused.value)


@pytest.mark.spec("F8")
async def test_a_key_of_one_letter_does_not_garble_error_messages() -> None:
    reply = {"status": 400, "body": {"error": {"code": 400, "message": "so it is"}}}
    async with FakeGemini({"replies": [reply]}) as fake:
        model = GeminiModel("gemini-test", "s", fake.url)
        with pytest.raises(ModelError, match="so it is"):
            await anext(aiter(model.stream(HELLO)))
        await model.close()


@pytest.mark.spec("F8")
@pytest.mark.parametrize("key", ["", "a b\nc", "schlüssel"])
def test_an_invalid_key_is_rejected_at_once(key: str) -> None:
    with pytest.raises(AuthFailed, match="GEMINI_API_KEY"):
        GeminiModel("gemini-test", key)


async def test_after_a_failure_the_same_connection_serves_the_next_request() -> None:
    overloaded = {"chunks": [{"error": {"kind": "transient", "message": "overloaded"}}]}
    async with FakeGemini({"replies": [overloaded, {"chunks": [{"text": "hi"}]}]}) as fake:
        model = GeminiModel("gemini-test", KEY, fake.url)
        with pytest.raises(Transient, match="overloaded"):
            _ = [chunk async for chunk in model.stream(HELLO)]
        assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("hi"), Finished("stop")]
        assert fake.connections == 1
        await model.close()


# --- letting go ---


async def test_cancelling_the_consumer_closes_the_connection() -> None:
    async with FakeGemini(
        {"replies": [{"chunks": [{"text": "a"}, {"hang": True}]}, {"chunks": [{"text": "b"}]}]}
    ) as fake:
        model = GeminiModel("gemini-test", KEY, fake.url)
        first = asyncio.Event()

        async def consume() -> None:
            async for _ in model.stream(HELLO):
                first.set()

        task = asyncio.create_task(consume())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await fake.hung_up.wait()
        assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("b"), Finished("stop")]
        await model.close()


async def test_a_consumer_that_stops_listening_closes_the_connection() -> None:
    async with FakeGemini({"replies": [{"chunks": [{"text": "a"}, {"hang": True}]}]}) as fake:
        model = GeminiModel("gemini-test", KEY, fake.url)
        async for _ in model.stream(HELLO):
            break
        await fake.hung_up.wait()
        await model.close()


async def test_a_consumer_that_stops_at_finished_keeps_the_connection() -> None:
    async with FakeGemini({"replies": [{"chunks": [{"text": "a"}], "repeat": 2}]}) as fake:
        model = GeminiModel("gemini-test", KEY, fake.url)
        for _ in range(2):
            async for chunk in model.stream(HELLO):
                if isinstance(chunk, Finished):
                    break
        assert fake.connections == 1
        await model.close()
