"""The replies of OpenAI's Responses API, and of servers that speak it in their own way."""

from typing import Any

import msgspec
import pytest

from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    ContextTooLong,
    Finished,
    MediaRefused,
    ModelError,
    QuotaExhausted,
    TextChunk,
    ThoughtChunk,
    Transient,
    UnknownModel,
    Withheld,
)
from assent.models.openai.responses_model import ResponsesModel, list_models
from assent.models.provider import Access
from assent.parts import ModelMessage, Text, Thought, Usage, UserMessage
from support.fake_responses import FakeResponses
from support.talk import HELLO

KEY = "test-key-123"
PHASE = '{"phase":"commentary"}'


def model_at(fake: FakeResponses, name: str = "gpt-6.1-sol") -> ResponsesModel:
    return ResponsesModel(name, Access(base_url=fake.url, key=KEY))


async def answer(reply: dict[str, Any], into: list[Chunk] | None = None, limit: int | None = None) -> list[Chunk]:
    chunks: list[Chunk] = [] if into is None else into
    async with FakeResponses({"replies": [reply]}) as fake:
        model = model_at(fake)
        try:
            async for chunk in model.stream(msgspec.structs.replace(HELLO, max_tokens=limit)):
                chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
        finally:
            await model.close()
    return chunks


def stream(*events: dict[str, Any] | str) -> dict[str, Any]:
    """A reply of exactly these events, without `event:` lines, as LiteLLM sends it."""
    lines = [event if isinstance(event, str) else msgspec.json.encode(event).decode() for event in events]
    return {"stream": "".join(f"data: {line}\n\n" for line in lines)}


def added(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "item": {"type": kind, **fields}}


def done(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": {"type": kind, **fields}}


def text(delta: str, item_id: str = "m") -> dict[str, Any]:
    return {"type": "response.output_text.delta", "item_id": item_id, "delta": delta}


def summary(delta: str, index: int = 0) -> dict[str, Any]:
    return {
        "type": "response.reasoning_summary_text.delta",
        "item_id": "r",
        "summary_index": index,
        "delta": delta,
    }


def call(arguments: str, call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    return done("function_call", id="fc_1", call_id=call_id, name="read_file", arguments=arguments, **fields)


def completed(**fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": [], **fields}}


def incomplete(reason: str) -> dict[str, Any]:
    details = {"incomplete_details": {"reason": reason}}
    return {"type": "response.incomplete", "response": {"status": "incomplete", **details}}


def failed(code: str, message: str) -> dict[str, Any]:
    return {"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": message}}}


# --- a whole reply ---


@pytest.mark.spec("F1")
@pytest.mark.spec("K1")
async def test_a_reply_streams_thoughts_text_and_calls_and_ends_in_finished() -> None:
    chunks = await answer(
        {
            "chunks": [
                {"thought": "**Loo"},
                {"thought": "k**\n\nfirst", "signature": "gAAA"},
                {"text": "Reading "},
                {"text": "it."},
                {"call": {"name": "read_file", "args": {"path": "ä.txt"}, "id": "c1"}},
                {"call": {"name": "now", "id": "c2"}},
            ],
            "usage": {"input": 7, "output": 5, "thoughts": 3, "cached": 2, "cache_written": 1},
        }
    )
    assert chunks == [
        ThoughtChunk("first", subject="Look"),
        ThoughtChunk("", "gAAA"),
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


async def test_the_key_goes_in_a_header_and_so_do_organisation_and_project() -> None:
    async with FakeResponses({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        env = {"OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1"}
        model = ResponsesModel("gpt-6.1-sol", Access(base_url=f"{fake.url}/v1", key=KEY, env=env))
        _ = [chunk async for chunk in model.stream(HELLO)]
        await model.close()
        received = fake.requests[0]
    assert received.path == "/v1/responses"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert (received.headers["openai-organization"], received.headers["openai-project"]) == ("org-1", "proj-1")


async def test_the_signature_is_that_of_the_finished_thought() -> None:
    chunks = await answer(
        stream(
            {"type": "response.created", "response": {"status": "in_progress"}},
            added("reasoning", id="r", encrypted_content="half"),
            summary("hm"),
            done("reasoning", id="r", encrypted_content="whole", summary=[{"type": "summary_text", "text": "hm"}]),
            text("hi"),
            {"type": "response.something.new", "item": {"type": "new"}, "delta": "x"},
            done("message", id="m", content=[{"type": "output_text", "text": "hi"}], phase="commentary"),
            completed(),
            "[DONE]",
        )
    )
    assert chunks == [
        ThoughtChunk("hm"),
        ThoughtChunk("", "whole"),
        TextChunk("hi"),
        TextChunk("", PHASE),
        Finished("stop"),
    ]


async def test_an_empty_signature_is_none() -> None:
    """llama.cpp; all items end together, and none of them has a number."""
    chunks = await answer(
        stream(
            {"type": "response.reasoning_text.delta", "item_id": "r", "delta": "hm"},
            added("function_call", id="fc_1", call_id="c1", name="read_file", arguments=""),
            added("function_call", id="fc_2", call_id="c2", name="read_file", arguments=""),
            done("reasoning", id="r", encrypted_content="", summary=[], content=[{"text": "hm"}]),
            call('{"path": "a"}', "c1"),
            call('{"path": "b"}', "c2"),
            completed(),
        )
    )
    calls = [CallChunk("read_file", {"path": name}, call_id) for name, call_id in (("a", "c1"), ("b", "c2"))]
    assert chunks == [ThoughtChunk("hm"), *calls, Finished("stop")]


async def test_every_part_of_a_summary_with_a_subject_is_a_thought_of_its_own() -> None:
    pieces = (
        summary("**One**"),
        summary("\n\n"),
        summary("a"),
        summary("b", 1),
        summary("**T", 2),
        summary("wo** c", 2),
    )
    chunks = await answer(stream(*pieces, done("reasoning", id="r", encrypted_content="s"), text("x"), completed()))
    assert chunks == [
        ThoughtChunk("", subject="One"),
        ThoughtChunk("a"),
        ThoughtChunk("\n\nb"),
        ThoughtChunk("c", subject="Two"),
        ThoughtChunk("", "s"),
        TextChunk("x"),
        Finished("stop"),
    ]


@pytest.mark.parametrize("pieces", [["**", "bold but not closed"], ["*", "x"], ["*"], ["no ", "**subject**"]])
async def test_what_only_begins_like_a_subject_is_text(pieces: list[str]) -> None:
    chunks = await answer(stream(*map(summary, pieces), done("reasoning", id="r"), text("x"), completed()))
    thoughts = [chunk for chunk in chunks if isinstance(chunk, ThoughtChunk)]
    assert "".join(thought.text for thought in thoughts) == "".join(pieces)
    assert not any(thought.subject for thought in thoughts)


async def test_items_that_come_without_deltas_are_read_at_their_end() -> None:
    chunks = await answer(
        stream(
            done("reasoning", id="r", summary=[{"type": "summary_text", "text": "**Look** first"}]),
            done("message", id="m", content=[{"type": "output_text", "text": "hi"}]),
            done("web_search_call", id="w", status="completed"),
            completed(),
        )
    )
    assert chunks == [ThoughtChunk("first", subject="Look"), TextChunk("hi"), Finished("stop")]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", "max_tokens"), ("content_filter", "safety"), ("steered", "other"), ("new", "other")],
)
async def test_reasons_for_an_incomplete_reply_are_translated(reason: str, finish: str) -> None:
    assert (await answer(stream(text("hi"), incomplete(reason))))[-1] == Finished(finish, said=reason)  # pyright: ignore[reportArgumentType]


async def test_a_refusal_is_text_that_ends_for_safety() -> None:
    refused = {"type": "response.refusal.delta", "item_id": "m", "delta": "I cannot."}
    assert await answer(stream(refused, completed())) == [TextChunk("I cannot."), Finished("safety")]
    with pytest.raises(Withheld, match=r"withheld.*content_filter"):
        await answer(stream(incomplete("content_filter")))


# --- calls ---


@pytest.mark.spec("F9")
@pytest.mark.parametrize("arguments", ['{"path": "no', "", '["path"]', "{}"])
async def test_a_call_that_the_limit_may_have_cut_is_dropped(arguments: str) -> None:
    status = {"status": "incomplete"} if arguments == "{}" else {}
    chunks = await answer(stream(call(arguments, **status), incomplete("max_output_tokens")))
    assert chunks == [Finished("max_tokens", said="max_output_tokens")]


@pytest.mark.spec("F9")
async def test_a_cut_call_breaks_a_completed_reply_unless_the_limit_was_reached() -> None:
    """llama.cpp calls a reply completed that its limit has cut."""
    reply = stream(call('{"path": "no'), completed(usage={"input_tokens": 5, "output_tokens": 24}))
    with pytest.raises(BrokenStream, match="an incomplete call of read_file"):
        await answer(reply)
    with pytest.raises(BrokenStream, match="an incomplete call of read_file"):
        await answer(reply, limit=25)
    assert await answer(reply, limit=24) == [Finished("max_tokens", Usage(5, 24))]


@pytest.mark.spec("F9")
@pytest.mark.parametrize(
    ("events", "words"),
    [
        (["{oops"], "malformed event"),
        (["[]"], "malformed event"),
        (["[" * 100_000], "malformed event"),
        ([{"type": "response.output_text.delta", "delta": 7}], "malformed event"),
        ([done("function_call", call_id="c", arguments="{}")], "without a name"),
        ([added("function_call", call_id="c", name="x"), completed()], "began a call"),
        ([text("hi")], "before it was complete"),
        ([text("hi"), "[DONE]"], "before it was complete"),
        ([text("hi"), failed("server_error", "died"), "[DONE]"], "broke off.*died"),
        ([text("hi"), {"type": "error", "code": None, "message": "gone"}], "broke off.*gone"),
        ([{"type": "error", "code": "rate_limit_exceeded", "message": "slow"}], "broke off.*slow"),
        ([{"error": {"code": "500", "message": "died"}}], "broke off.*died"),
    ],
)
async def test_a_malformed_or_cut_reply_is_broken_and_never_finished(
    events: list[dict[str, Any] | str], words: str
) -> None:
    seen: list[Chunk] = []
    with pytest.raises(BrokenStream, match=words):
        await answer(stream(*events), seen)
    assert not any(isinstance(chunk, Finished | CallChunk) for chunk in seen)


# --- failures ---


async def test_a_failed_reply_says_how_long_to_wait() -> None:
    limited = failed("rate_limit_exceeded", "Rate limit reached for gpt on tokens. Please try again in 28ms.")
    with pytest.raises(BrokenStream) as broken:
        await answer(stream(text("hi"), limited))
    assert broken.value.retry_after == pytest.approx(0.028)


@pytest.mark.parametrize(
    ("code", "message", "error"),
    [
        ("context_length_exceeded", "Your input exceeds the context window of this model.", ContextTooLong),
        ("insufficient_quota", "You exceeded your current quota.", QuotaExhausted),
        ("invalid_prompt", "Your prompt was flagged.", Withheld),
        ("cyber_policy", "Not allowed.", Withheld),
        ("unsupported_image_media_type", "Only png.", MediaRefused),
    ],
)
async def test_an_error_in_the_stream_about_our_request_keeps_its_meaning(
    code: str, message: str, error: type[ModelError]
) -> None:
    with pytest.raises(ModelError) as refused:
        await answer(stream(text("hi"), failed(code, message)))
    assert type(refused.value) is error


def refusal(code: str, message: str = "no", kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code, "param": None}}


@pytest.mark.spec("F8")
@pytest.mark.spec("K4")
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, refusal("invalid_api_key"), AuthFailed),
        (429, refusal("insufficient_quota"), QuotaExhausted),
        (429, refusal("rate_limit_exceeded", "slow down"), Transient),
        (503, refusal("", "overloaded", "server_error"), Transient),
        (500, "event: error\ndata: {}\n\n", Transient),
        (400, refusal("context_length_exceeded"), ContextTooLong),
        (400, refusal("invalid_image_format"), MediaRefused),
        (404, refusal("model_not_found"), UnknownModel),
        (400, refusal("unsupported_parameter", "Unsupported parameter: temperature"), BadRequest),
        (404, "<html><h1>Not here</h1></html>", BadRequest),
    ],
)
async def test_every_refusal_is_the_error_that_it_means(status: int, body: Any, error: type[ModelError]) -> None:
    with pytest.raises(ModelError) as refused:
        await answer({"status": status, "body": body})
    assert type(refused.value) is error
    assert "<" not in str(refused.value)


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"Retry-After": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0), ({"retry-after-ms": "1500"}, 1.5)]
)
async def test_a_wait_may_be_a_date_or_milliseconds(headers: dict[str, str], seconds: float) -> None:
    with pytest.raises(Transient) as refused:
        await answer({"status": 429, "headers": headers, "body": refusal("rate_limit_exceeded")})
    assert refused.value.retry_after == seconds


@pytest.mark.spec("F8")
async def test_a_rejected_key_is_explained_and_not_repeated() -> None:
    with pytest.raises(AuthFailed, match="OPENAI_API_KEY") as refused:
        await answer({"status": 401, "body": refusal("invalid_api_key", f"Incorrect API key provided: {KEY}")})
    assert KEY not in str(refused.value)


async def test_a_rejected_thought_is_left_out_and_the_request_repeated_once() -> None:
    stale = {"status": 400, "body": refusal("invalid_encrypted_content", "could not be decrypted")}
    thoughts = ModelMessage((Thought("hm", "gAAA"), Text("hi")), "gpt-6.1-sol")
    later = msgspec.structs.replace(HELLO, messages=(*HELLO.messages, thoughts, UserMessage((Text("go on"),))))
    async with FakeResponses({"replies": [stale, {"chunks": [{"text": "again"}]}]}) as fake:
        model = model_at(fake)
        assert TextChunk("again") in [chunk async for chunk in model.stream(later)]
        await model.close()
        kinds = [[item["type"] for item in request.body["input"]] for request in fake.requests]
    assert kinds == [["message", "reasoning", "message", "message"], ["message", "message", "message"]]


# --- the list of models ---


async def test_a_gateway_may_have_models_of_any_name() -> None:
    async with FakeResponses({"replies": [{"body": {"data": [{"id": "gpt-6.1-sol"}, {"id": "smollm2"}]}}]}) as fake:
        found = await list_models(Access(base_url=f"{fake.url}/v1", key=KEY))
        assert fake.requests[0].path == "/v1/models"
    assert [model.name for model in found] == ["gpt-6.1-sol", "smollm2"]


async def test_of_openai_itself_only_models_for_agents_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["gpt-6.1-sol", "gpt-6-realtime", "gpt-image-2", "text-embedding-3", "o3", "o3-deep-search", "codex-mini"]
    async with FakeResponses({"replies": [{"body": {"data": [{"id": name} for name in names]}}]}) as fake:
        monkeypatch.setattr("assent.models.openai.responses_model.BASE_URL", fake.url)
        found = await list_models(Access(base_url=fake.url, key=KEY))
    assert [model.name for model in found] == ["gpt-6.1-sol", "o3", "codex-mini"]
