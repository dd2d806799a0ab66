"""The chat adapter over real sockets: addresses, keys, errors, and servers that do not behave."""

import asyncio
import gzip
import zlib
from typing import Any

import pytest
from openai import AsyncOpenAI

from assent.models.model_choice import open_model
from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    ContextTooLong,
    Finished,
    MediaRefused,
    Model,
    ModelError,
    QuotaExhausted,
    Request,
    TextChunk,
    ThoughtChunk,
    Transient,
    UnknownModel,
)
from assent.models.openai_chat.chat_model import ChatModel
from assent.models.openai_chat.chat_servers import SERVERS
from assent.models.provider import Access
from assent.models.streaming_client import Timeouts
from assent.parts import Declaration, Text, Usage, UserMessage
from support.fake_chat import FakeChat
from support.raw_server import RawServer

KEY = "sk-test-key-1234567890"
HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))
TOOL = Declaration("ls", "Lists.", {"type": "object", "properties": {}})
QUIRKS = {server.name: server.quirks for server in SERVERS}


def model_at(url: str, server: str = "vllm", timeouts: Timeouts | None = None) -> ChatModel:
    access = Access(base_url=f"{url}/v1", provider=server, key=KEY, timeouts=timeouts)
    return ChatModel("m", access, QUIRKS[server], "Get a key at example.org.")


async def collect(model: Model, request: Request = HELLO, into: list[Chunk] | None = None) -> list[Chunk]:
    chunks: list[Chunk] = [] if into is None else into
    try:
        async for chunk in model.stream(request):
            chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
    finally:
        await model.close()
    return chunks


async def answer(*replies: dict[str, Any], request: Request = HELLO, into: list[Chunk] | None = None) -> list[Chunk]:
    async with FakeChat({"replies": list(replies)}) as fake:
        return await collect(model_at(fake.url), request, into)


async def failure(reply: dict[str, Any]) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await answer(reply)
    return raised.value


# --- a whole reply ---


@pytest.mark.spec("F1")
async def test_a_reply_streams_thoughts_text_and_calls_and_ends_in_finished() -> None:
    reply: dict[str, Any] = {
        "chunks": [
            {"thought": "hm"},
            {"text": "Reading "},
            {"text": "it."},
            {"call": {"name": "read_file", "args": {"path": "ä.txt"}, "id": "aaaa"}},
            {"call": {"name": "ls", "id": "bbbb"}},
        ],
        "usage": {"input": 10, "output": 5, "thoughts": 2, "cached": 4},
    }
    assert await answer(reply) == [
        ThoughtChunk("hm"),
        TextChunk("Reading "),
        TextChunk("it."),
        CallChunk("read_file", {"path": "ä.txt"}, "aaaa"),
        CallChunk("ls", {}, "bbbb"),
        Finished("stop", Usage(10, 5, 2, 4)),
    ]


async def test_openais_own_client_understands_the_fake() -> None:
    reply: dict[str, Any] = {
        "chunks": [{"text": "hi"}, {"call": {"name": "ls", "args": {"path": "x"}, "id": "aaaa"}}],
        "usage": {"input": 3, "output": 4},
    }
    async with FakeChat({"replies": [reply]}) as fake, AsyncOpenAI(api_key="k", base_url=f"{fake.url}/v1") as client:
        stream = client.chat.completions.stream(
            model="m", messages=[{"role": "user", "content": "hi"}], stream_options={"include_usage": True}
        )
        async with stream as events:
            whole = await events.get_final_completion()
    message = whole.choices[0].message
    assert message.content == "hi" and message.tool_calls
    assert message.tool_calls[0].function.arguments == '{"path":"x"}' and message.tool_calls[0].id == "aaaa"
    assert whole.choices[0].finish_reason == "tool_calls"
    assert whole.usage and (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (3, 4)


async def test_the_request_goes_to_chat_completions_with_the_key() -> None:
    async with FakeChat({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        await collect(model_at(fake.url))
        request = fake.requests[0]
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "m" and request.body["stream"] is True


async def test_without_a_key_no_header_is_sent() -> None:
    async with FakeChat({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        model = open_model("llamacpp:m", {"LLAMACPP_BASE_URL": fake.url})
        assert model.name == "llamacpp:m"
        await collect(model)
        assert "authorization" not in fake.requests[0].headers
        assert fake.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("", "/openai/v1/chat/completions"),
        ("preview", "/openai/v1/chat/completions?api-version=preview"),
        ("2024-10-21", "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"),
    ],
)
async def test_azure_has_the_deployment_and_the_version_in_its_address(version: str, path: str) -> None:
    async with FakeChat({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        env = {
            "AZURE_OPENAI_ENDPOINT": f"{fake.url}/",
            "AZURE_OPENAI_API_KEY": KEY,
            "AZURE_OPENAI_API_VERSION": version,
        }
        await collect(open_model("azure:my gpt", env))
        request = fake.requests[0]
    assert request.path == path and request.headers["api-key"] == KEY and "authorization" not in request.headers


# --- servers that do not behave ---


async def test_comments_keep_the_connection_alive_and_give_no_chunks() -> None:
    comments = {"raw": ": OPENROUTER PROCESSING\n\n", "repeat": 20}
    assert await answer({"chunks": [comments, {"text": "hi"}, comments]}) == [TextChunk("hi"), Finished("stop")]


@pytest.mark.spec("F9")
async def test_a_server_that_stalls_in_the_middle_breaks_the_stream() -> None:
    chunks: list[Chunk] = []
    async with FakeChat({"replies": [{"chunks": [{"text": "hi"}, {"hang": True}]}]}) as fake:
        with pytest.raises(BrokenStream, match="sent nothing"):
            await collect(model_at(fake.url, timeouts=Timeouts(read=0.2)), into=chunks)
    assert chunks == [TextChunk("hi")]


@pytest.mark.spec("F9")
async def test_a_server_that_dies_in_the_middle_breaks_the_stream() -> None:
    chunks: list[Chunk] = []
    dying: dict[str, Any] = {"chunks": [{"text": "hi"}, {"call": {"name": "ls"}}, {"abort": True}]}
    with pytest.raises(BrokenStream):
        await answer(dying, into=chunks)
    assert chunks == [TextChunk("hi")]


async def test_leaving_the_stream_closes_the_connection() -> None:
    async with FakeChat({"replies": [{"chunks": [{"text": "hi"}, {"hang": True}]}]}) as fake:
        model = model_at(fake.url)
        stream = model.stream(HELLO)
        assert await anext(stream) == TextChunk("hi")
        await stream.aclose()
        async with asyncio.timeout(30):
            await fake.hung_up.wait()
        await model.close()


def whole_reply() -> dict[str, Any]:
    message = {"role": "assistant", "content": "hi"}
    return {"object": "chat.completion", "choices": [{"message": message, "finish_reason": "stop"}]}


async def test_a_plain_json_reply_to_a_stream_request_is_read() -> None:
    assert await answer({"body": whole_reply()}) == [TextChunk("hi"), Finished("stop")]


@pytest.mark.spec("F9")
@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": [{"message": {"content": "h"}}]}, '{"choices": [{"me']
)
async def test_a_plain_json_reply_that_is_not_whole_breaks_the_stream(body: Any) -> None:
    assert isinstance(await failure({"body": body}), BrokenStream)


async def test_a_plain_json_error_with_status_200_is_an_error() -> None:
    error = await failure({"body": {"error": {"message": "no more", "code": "insufficient_quota"}}})
    assert isinstance(error, QuotaExhausted)


async def test_an_html_page_instead_of_a_stream_breaks_it() -> None:
    page = "<html><style>a {}</style><SCRIPT>\nlet a = 1</SCRIPT>sign in</html>"
    error = await failure({"body": page, "headers": {"Content-Type": "text/html"}})
    assert isinstance(error, BrokenStream)
    assert str(error).endswith("sent text/html instead of an event stream: sign in")


EVENTS = (
    b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
)


async def raw(head: bytes, body: bytes) -> list[Chunk]:
    async with RawServer(head + b"\r\nContent-Type: text/event-stream\r\n\r\n" + body) as server:
        return await collect(model_at(f"http://127.0.0.1:{server.port}"))


async def test_http_1_0_ends_with_the_connection() -> None:
    assert await raw(b"HTTP/1.0 200 OK", EVENTS + b"data: [DONE]\n\n") == [TextChunk("hi"), Finished("stop")]


COMPRESSED = {"gzip": gzip.compress(EVENTS), "deflate": zlib.compress(EVENTS), "identity": EVENTS}


@pytest.mark.parametrize("coding", COMPRESSED)
async def test_an_unrequested_compression_is_decoded(coding: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: {coding}".encode()
    assert await raw(head, COMPRESSED[coding]) == [TextChunk("hi"), Finished("stop")]


@pytest.mark.spec("F9")
async def test_a_compressed_reply_cut_anywhere_is_never_finished() -> None:
    whole = COMPRESSED["gzip"]
    for place in range(1, len(whole)):
        with pytest.raises(BrokenStream):
            await raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip", whole[:place])


@pytest.mark.parametrize("coding", ["br", "zstd"])
async def test_an_unknown_content_encoding_breaks_the_stream(coding: str) -> None:
    with pytest.raises(BrokenStream, match=coding):
        await raw(f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}".encode(), EVENTS)


# --- fields that a server refuses ---

PYDANTIC = {
    "object": "error",
    "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs"}]},
}


@pytest.mark.parametrize(
    ("status", "body", "field"),
    [
        (422, PYDANTIC, "stream_options"),
        (400, {"error": {"message": "Extra inputs are not permitted, field: 'stream_options'"}}, "stream_options"),
        (400, {"error": {"message": "Unknown parameter: 'reasoning_effort'."}}, "reasoning_effort"),
        (400, {"error": {"message": 'think value "high" is not supported for this model'}}, "reasoning_effort"),
        (400, {"error": {"message": '"m" does not support thinking'}}, "reasoning_effort"),
    ],
)
async def test_a_rejected_field_is_left_out_from_then_on(status: int, body: Any, field: str) -> None:
    request = Request(system="", messages=HELLO.messages, effort="high")
    good = {"chunks": [{"text": "hi"}]}
    async with FakeChat({"replies": [{"status": status, "body": body}, good, good]}) as fake:
        model = model_at(fake.url)
        for _ in range(2):
            assert [chunk async for chunk in model.stream(request)] == [TextChunk("hi"), Finished("stop")]
        await model.close()
        assert [field in sent.body for sent in fake.requests] == [True, False, False]


async def test_the_limit_is_sent_under_its_other_name_if_the_first_is_rejected() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    refusal = {"status": 400, "body": {"error": {"message": said, "param": "max_tokens"}}}
    async with FakeChat({"replies": [refusal, {"chunks": [{"text": "hi"}]}]}) as fake:
        await collect(model_at(fake.url), Request(system="", messages=HELLO.messages, max_tokens=9))
        assert fake.requests[1].body["max_completion_tokens"] == 9 and "max_tokens" not in fake.requests[1].body


async def test_a_server_that_rejects_everything_is_asked_only_a_few_times() -> None:
    said = "stream_options max_tokens max_completion_tokens reasoning_effort"
    refusal = {"status": 400, "body": {"error": {"message": said}}, "repeat": 50}
    request = Request(system="", messages=HELLO.messages, max_tokens=9, effort="low")
    async with FakeChat({"replies": [refusal]}) as fake:
        with pytest.raises(BadRequest):
            await collect(model_at(fake.url), request)
        assert len(fake.requests) == 5


async def test_a_conversation_that_is_too_long_is_not_sent_again() -> None:
    said = "This model's maximum context length is 8192 tokens, max_tokens included. stream_options"
    async with FakeChat({"replies": [{"status": 400, "body": {"error": {"message": said}}}]}) as fake:
        with pytest.raises(ContextTooLong):
            await collect(model_at(fake.url))
        assert len(fake.requests) == 1


# --- errors ---


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "bad key"}}, AuthFailed),
        (400, {"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}, AuthFailed),
        (402, {"error": {"message": "credits", "code": 402}}, QuotaExhausted),
        (429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}, QuotaExhausted),
        (429, {"error": {"message": "slow down"}}, Transient),
        (400, {"error": {"message": "x", "code": "tool_use_failed", "failed_generation": "<"}}, Transient),
        (498, {"error": {"message": "capacity"}}, Transient),
        (503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, Transient),
        (408, "", Transient),
        (500, {"error": {"message": "image input is not supported - hint: provide the mmproj"}}, MediaRefused),
        (400, {"error": {"type": "exceed_context_size_error", "message": "x", "n_ctx": 512}}, ContextTooLong),
        (400, {"error": {"message": "ContextWindowExceededError: x", "code": "400"}}, ContextTooLong),
        (404, {"error": {"message": 'model "m" not found, try pulling it first'}}, UnknownModel),
        (400, {"error": {"message": "Invalid model name passed in model=m", "code": "400"}}, UnknownModel),
        (400, {"error": {"message": "m does not support tools"}}, BadRequest),
        (404, "<html><body><h1>Not Found</h1></body></html>", BadRequest),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "bad"}]}, BadRequest),
    ],
)
async def test_errors_have_the_right_type(status: int, body: Any, kind: type[ModelError]) -> None:
    error = await failure({"status": status, "body": body})
    assert type(error) is kind
    assert "<" not in str(error) or kind is Transient
    assert str(error).strip()


async def test_an_error_of_unknown_shape_is_quoted() -> None:
    assert "messages" in str(await failure({"status": 422, "body": {"detail": [{"loc": ["body", "messages"]}]}}))


async def test_an_error_sent_as_an_event_stream_is_recognised() -> None:
    headers = {"Content-Type": "text/event-stream"}
    error = await failure({"status": 500, "headers": headers, "body": 'data: {"error": {"message": "x"}}\n\n'})
    assert type(error) is Transient


async def test_the_delay_is_reported() -> None:
    error = await failure({"status": 429, "headers": {"Retry-After": "7"}, "body": {"error": {"message": "x"}}})
    assert isinstance(error, Transient) and error.retry_after == 7


async def test_a_rejected_key_comes_with_advice_where_to_get_one() -> None:
    assert "Get a key at example.org." in str(await failure({"status": 401, "body": {"error": {"message": "x"}}}))


@pytest.mark.parametrize("reply", [{"status": 401}, {"status": 200}])
async def test_a_key_echoed_in_an_error_is_masked(reply: dict[str, Any]) -> None:
    assert KEY not in str(await failure(reply | {"body": {"error": {"message": f"key {KEY} is bad", "code": 401}}}))


async def test_a_key_echoed_in_a_stream_is_masked() -> None:
    event = {"raw": f'data: {{"error": {{"message": "key {KEY} is bad", "code": 401}}}}\n\n'}
    error = await failure({"chunks": [event]})
    assert isinstance(error, AuthFailed) and KEY not in str(error)


def test_a_key_with_invalid_characters_is_rejected() -> None:
    with pytest.raises(AuthFailed, match="groq"):
        open_model("groq:m", {"GROQ_API_KEY": "a\nb"})


# --- calls written as text ---


@pytest.mark.parametrize(("server", "is_call"), [("llamacpp", True), ("deepseek", False)])
async def test_a_written_call_counts_only_for_servers_that_do_not_parse_calls(server: str, is_call: bool) -> None:
    written = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    request = Request(system="", messages=HELLO.messages, tools=(TOOL,))
    async with FakeChat({"replies": [{"chunks": [{"text": written}]}]}) as fake:
        chunks = await collect(model_at(fake.url, server), request)
    assert chunks[0] == (CallChunk("ls", {}) if is_call else TextChunk(written))
