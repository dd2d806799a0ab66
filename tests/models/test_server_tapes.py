"""What servers and gateways are known to send, as recorded or as their sources say: one tape for each habit.

`test_odd_streams` has what every format must survive; here are the habits of single servers.
"""

from typing import Any

import msgspec
import pytest

from assent.models.model_protocol import (
    BrokenStream,
    CallChunk,
    Chunk,
    ContextTooLong,
    Finished,
    ModelError,
    QuotaExhausted,
    TextChunk,
    ThoughtChunk,
    Transient,
    UnknownModel,
    Withheld,
)
from assent.parts import FinishReason
from support.tape_events import (
    ARGS,
    ONE_CALL,
    TEXT,
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
)
from support.wire_formats import FORMATS

pytestmark = pytest.mark.spec("K1")
Json = Any
Tape = tuple[str, list[Json], list[Chunk]]
"""The wire format, the events, and what they mean."""
TWO_CALLS: list[Chunk] = [CallChunk("f", {"x": 1}, "a"), CallChunk("g", {"y": 2}, "b"), Finished("stop")]
SAFE = {"hate": {"filtered": False, "severity": "safe"}}


def ended(reason: FinishReason, said: str = "") -> list[Chunk]:
    return [TextChunk("hi"), Finished(reason, said=said)]


def fragment(index: int | None, call_id: str | None, name: str | None, arguments: Json, **more: Json) -> Json:
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}, **more}


def fragments(*parts: Json) -> Json:
    return chat_delta(tool_calls=list(parts))


AZURE: list[Json] = [
    {"choices": [], "id": "", "model": "", "prompt_filter_results": [{"content_filter_results": SAFE}]},
    chat_delta(role="assistant", content="", refusal=None),
    {"choices": [{"index": 0, "delta": {"content": "hi"}, "content_filter_results": SAFE, "logprobs": None}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "content_filter_results": {}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": None, "content_filter_offsets": {"check_offset": 44}}]},
    "[DONE]",
]
GROQ = [
    chat_delta(role="assistant", content="") | {"x_groq": {"id": "req_1"}},
    chat_delta(content="hi"),
    chat_end("stop", x_groq={"id": "req_1", "usage": {"queue_time": 0.1, "prompt_tokens": 5, "completion_tokens": 2}}),
    "[DONE]",
]
OPENROUTER = [
    chat_delta(content="", reasoning="hm", reasoning_details=[{"type": "reasoning.text", "text": "hm", "index": 0}]),
    chat_delta(content="hi", reasoning=None, reasoning_details=[]),
    chat_end(native_finish_reason="end_turn"),
]
DEEPSEEK = [
    chat_delta(role="assistant", content=None, reasoning_content=""),
    chat_delta(content=None, reasoning_content="hm"),
    chat_delta(content="hi", reasoning_content=None),
    chat_end(usage={"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}),
]
PERPLEXITY = [
    {"choices": [{"index": 0, "delta": {"content": "h"}, "message": {"role": "assistant", "content": "h"}}]},
    {"choices": [{"index": 0, "delta": {"content": "i"}, "message": {"content": "hi"}, "finish_reason": "stop"}]},
]
INTERLEAVED = [
    fragments(fragment(0, "a", "f", "")),
    fragments(fragment(1, "b", "g", "")),
    fragments(fragment(0, None, None, '{"x":')),
    fragments(fragment(1, None, None, '{"y":')),
    fragments(fragment(0, None, None, "1}"), fragment(1, None, None, "2}")),
    chat_end("tool_calls"),
]
GOOGLE_COMPATIBLE = [
    fragments(fragment(0, "a", "f", '{"x":1}', type="function", extra_content={"google": {"thought_signature": "s"}})),
    fragments(fragment(0, "b", "g", '{"y":2}', type="function")),
    chat_end("stop"),
]
LEGACY = [
    chat_delta(function_call={"name": "read_file", "arguments": ""}),
    chat_delta(function_call={"arguments": TEXT[:5]}),
    chat_delta(function_call={"arguments": TEXT[5:]}),
    chat_end("function_call"),
]
MISTRAL = [
    chat_delta(content=[{"type": "text", "text": "h"}, {"type": "reference", "reference_ids": [1]}]),
    chat_delta(content=[{"type": "text", "text": "i"}]),
    chat_end(),
]
USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 2,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
CHAT: dict[str, Tape] = {
    "Azure with filter results": ("chat", AZURE, hi()),
    "Groq with usage in its own field": ("chat", GROQ, hi(input=5, output=2)),
    "OpenRouter with one thought in two fields": ("chat", OPENROUTER, [ThoughtChunk("hm"), *hi()]),
    "DeepSeek with nulls and its own cache": ("chat", DEEPSEEK, [ThoughtChunk("hm"), *hi(input=5, output=2, cached=3)]),
    "Perplexity with the text so far": ("chat", PERPLEXITY, [TextChunk("h"), TextChunk("i"), Finished("stop")]),
    "Mistral with references": ("chat", MISTRAL, [TextChunk("h"), TextChunk("i"), Finished("stop")]),
    "calls that take turns": ("chat", INTERLEAVED, TWO_CALLS),
    "Google's chat, where all calls have one index": ("chat", GOOGLE_COMPATIBLE, TWO_CALLS),
    "the old function_call in pieces": ("chat", LEGACY, [CallChunk("read_file", ARGS), Finished("stop")]),
    "usage in a last chunk": (
        "chat",
        [chat_delta(content="hi"), chat_end(), {"choices": [], "usage": USAGE}, "[DONE]"],
        hi(input=9, output=1, thoughts=1, cached=4),
    ),
    "no object but an empty list": (
        "chat",
        [chat_call(arguments=[]), chat_end("tool_calls")],
        [CallChunk("read_file", {}, "c1"), Finished("stop")],
    ),
    "an id in every piece": (
        "chat",
        [chat_call(arguments=TEXT[:4]), chat_call(arguments=TEXT[4:]), chat_end()],
        ONE_CALL,
    ),
    "a line of three megabytes": (
        "chat",
        [chat_delta(content="x" * 3_000_000), chat_end()],
        [TextChunk("x" * 3_000_000), Finished("stop")],
    ),
    "an empty finish reason": ("chat", [chat_delta(content="hi"), chat_end(""), chat_end("stop")], hi()),
    "Gemini's word for the end": ("chat", [chat_delta(content="hi"), chat_end("STOP")], hi()),
    "TGI's word for the end": ("chat", [chat_delta(content="hi"), chat_end("eos_token")], hi()),
    "Cohere's word for the end": ("chat", [chat_delta(content="hi"), chat_end("COMPLETE")], hi()),
    "Bedrock's word for a call": ("chat", [chat_call(), chat_end("tool_use")], ONE_CALL),
    "GLM's word for a filter": (
        "chat",
        [chat_delta(content="hi"), chat_end("sensitive")],
        ended("safety", "sensitive"),
    ),
}
OTHERS: dict[str, Tape] = {
    "messages: blocks that never stop, all with one index": (
        "messages",
        [
            block(0, "tool_use", id="a", name="f", input={}),
            block_delta(0, "input_json_delta", partial_json='{"x":1}'),
            block(0, "tool_use", id="b", name="g", input={}),
            block_delta(0, "input_json_delta", partial_json='{"y":2}'),
            *message_end("tool_use"),
        ],
        TWO_CALLS,
    ),
    "messages: zeros at the end for what was counted at the start": (
        "messages",
        [
            {"type": "message_start", "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 3}}},
            block(0, text="hi"),
            *message_end(input_tokens=0, output_tokens=2, cache_read_input_tokens=0),
        ],
        hi(input=10, output=2, cached=3),
    ),
    "messages: a search on the server, with citations": (
        "messages",
        [
            block(0, "server_tool_use", id="s", name="web_search", input={}),
            block_delta(0, "input_json_delta", partial_json='{"query":"x"}'),
            {"type": "content_block_stop", "index": 0},
            block(1, "web_search_tool_result", tool_use_id="s", content=[{"type": "web_search_result", "url": "u"}]),
            {"type": "content_block_stop", "index": 1},
            block(2, text=""),
            {"type": "ping"},
            block_delta(2, "text_delta", text="hi"),
            block_delta(2, "citations_delta", citation={"type": "web_search_result_location"}),
            *message_end("end_turn", output_tokens=2, server_tool_use={"web_search_requests": 1}),
        ],
        hi(output=2),
    ),
    "messages: no object but an empty list": (
        "messages",
        [
            block(0, "tool_use", id="c1", name="read_file", input=[]),
            block_delta(0, "input_json_delta", partial_json=TEXT),
            *message_end("tool_use"),
        ],
        ONE_CALL,
    ),
    "messages: OpenAI's word for a call": (
        "messages",
        [block(0, "tool_use", id="c1", name="read_file", input=ARGS), *message_end("tool_calls")],
        ONE_CALL,
    ),
    "responses: a call that only the last event has": (
        "responses",
        [said("hi"), done(message("m1", "hi")), completed(message("m1", "hi"), item())],
        [TextChunk("hi"), *ONE_CALL],
    ),
    "responses: a call that begins and ends only in the last event": (
        "responses",
        [
            said("hi"),
            {"type": "response.output_item.added", "item": item(arguments="")},
            {"type": "response.function_call_arguments.done", "item_id": "f1", "arguments": TEXT},
            completed(message("m1", "hi"), item()),
        ],
        [TextChunk("hi"), *ONE_CALL],
    ),
    "responses: calls with other ids at the end": (
        "responses",
        [done(item()), completed(item("f9", call_id="c9"))],
        ONE_CALL,
    ),
    "responses: an object as the delta of an unknown event": (
        "responses",
        [{"type": "response.reasoning.delta", "item_id": "r", "delta": {"text": "x"}}, said("hi"), completed()],
        hi(),
    ),
    "responses: tools of others": (
        "responses",
        [
            {"type": "response.web_search_call.searching", "item_id": "w", "output_index": 0},
            done({"type": "custom_tool_call", "id": "x", "call_id": "c", "name": "n", "input": "raw"}),
            done({"type": "reasoning", "id": "r", "summary": None, "content": None, "encrypted_content": "e"}),
            said("hi"),
            {"type": "response.output_text.annotation.added", "annotation": {"type": "url_citation"}},
            completed(),
        ],
        [ThoughtChunk("", "e"), *hi()],
    ),
    "gemini: no object but an empty list": (
        "gemini",
        [gemini(gemini_call(args=[], id="c1"), finish="STOP")],
        [CallChunk("read_file", {}, "c1"), Finished("stop")],
    ),
    "gemini: an end in every event": (
        "gemini",
        [gemini({"text": "h"}, finish="STOP"), gemini({"text": "i"}, finish="STOP")],
        [TextChunk("h"), TextChunk("i"), Finished("stop")],
    ),
    "gemini: parts that nobody asked for": (
        "gemini",
        [
            gemini(
                {"inlineData": {"mimeType": "image/png", "data": "x"}},
                {"executableCode": {}},
                {"text": "hi"},
                finish="STOP",
            )
        ],
        hi(),
    ),
}
TAPES = CHAT | OTHERS


@pytest.mark.parametrize("habit", TAPES)
async def test_a_habit_of_a_server_changes_nothing(habit: str) -> None:
    wire, sent, expected = TAPES[habit]
    assert await events(wire, *sent) == expected


CUT: dict[str, Tape] = {
    "chat: length": ("chat", [chat_delta(content="hi"), chat_end("length"), chat_end("stop")], ended("max_tokens")),
    "chat: filter": (
        "chat",
        [chat_delta(content="hi"), chat_end("content_filter"), chat_end("stop")],
        ended("safety", "content_filter"),
    ),
    "gemini": ("gemini", [gemini({"text": "hi"}, finish="MAX_TOKENS"), gemini(finish="STOP")], ended("max_tokens")),
    "messages": (
        "messages",
        [
            block(0, text="hi"),
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
            *message_end("end_turn"),
        ],
        ended("max_tokens"),
    ),
    "responses": ("responses", [said("hi"), completed(status="incomplete")], ended("other", "incomplete")),
}


@pytest.mark.spec("K4")
@pytest.mark.parametrize("tape", CUT)
async def test_a_reply_that_was_cut_is_not_complete_because_a_gateway_adds_another_end(tape: str) -> None:
    wire, sent, expected = CUT[tape]
    assert await events(wire, *sent) == expected


@pytest.mark.parametrize("given", [[1], ["x"], [{}]])
async def test_a_list_with_anything_in_it_is_no_object(given: Json) -> None:
    with pytest.raises(BrokenStream):
        await events("chat", chat_call(arguments=given), chat_end("tool_calls"))


def error(code: str, words: str, **more: Json) -> Json:
    return {"error": {"message": words, "code": code, **more}}


FAILURES: dict[str, tuple[str, str, Json, type[ModelError]]] = {
    "Azure's filter": ("chat", "400 X", error("content_filter", "The prompt was filtered."), Withheld),
    "OpenAI's filter": ("responses", "400 X", error("invalid_prompt", "Your prompt was flagged."), Withheld),
    "a deployment that Azure lacks": ("chat", "404 X", error("DeploymentNotFound", "It does not exist."), UnknownModel),
    "a list from Google's chat": ("chat", "429 X", [error("429", "Quota.", status="RESOURCE_EXHAUSTED")], Transient),
    "a call that Groq cannot read": (
        "chat",
        "400 X",
        error("tool_use_failed", "Failed to call."),
        Transient,
    ),
    "DeepSeek without balance": (
        "chat",
        "402 X",
        error("invalid_request", "Insufficient Balance"),
        QuotaExhausted,
    ),
    "llama-server that loads": ("chat", "503 X", error("503", "Loading model"), Transient),
    "vLLM's window": (
        "chat",
        "400 X",
        {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400},
        ContextTooLong,
    ),
    "Ollama without the model": ("chat", "404 X", error("", 'model "x" not found, try pulling it first'), UnknownModel),
}


TOO_LONG = {
    "LM Studio": "However, the model is loaded with context length of only 4096 tokens",
    "vLLM": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 500000 tokens.",
    "Bedrock": "Input is too long for requested model.",
    "Together": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000",
    "Moonshot": "Invalid request: Your request exceeded model token limit: 8192",
    "Zhipu": "Prompt exceeds max length",
    "Qwen": "Range of input length should be [1, 129024]",
}


@pytest.mark.spec("K4")
@pytest.mark.parametrize("server", TOO_LONG)
async def test_the_errors_of_all_servers_for_a_conversation_that_is_too_long_are_recognised(server: str) -> None:
    body = msgspec.json.encode({"error": {"message": TOO_LONG[server]}})
    with pytest.raises(ContextTooLong):
        await read("chat", response(body, "400 X", "application/json"))


@pytest.mark.spec("K4")
@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("name", ["", "event: error\r\n"])
async def test_an_error_that_comes_as_an_event_is_told_in_words(wire: str, name: str) -> None:
    sent = f'{name}data: {{"error": {{"message": "It broke", "code": "500"}}}}\r\n\r\ndata: [DONE]\r\n\r\n'
    with pytest.raises(Transient, match=r"^the provider is not available \(500\): It broke$"):
        await read(wire, response(sent.encode(), "500 X"))


PER_MINUTE = (
    "Request too large for gpt-4 in organization org-1 on tokens per min (TPM): Limit 10000, Requested 15000. The "
    "input or output tokens must be reduced in order to run successfully. Visit https://example.org/account/rate-limits."
)
GROQ_PER_MINUTE = (
    "Request too large for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 12000, Requested 13055, "
    "please reduce your message size and try again."
)
TOO_LARGE = {
    "OpenAI, more than a minute's tokens": ("429 X", error("rate_limit_exceeded", PER_MINUTE)),
    "Groq, more than a minute's tokens": ("413 X", error("rate_limit_exceeded", GROQ_PER_MINUTE)),
    "Google, too many bytes": ("400 X", error("400", "Request payload size exceeds the limit: 20971520 bytes.")),
    "nginx, too many bytes": ("413 X", "<h1>413 Request Entity Too Large</h1>"),
}


@pytest.mark.spec("K4")
@pytest.mark.parametrize("server", TOO_LARGE)
@pytest.mark.parametrize("wire", FORMATS)
async def test_a_request_that_can_never_pass_is_not_waited_for(wire: str, server: str) -> None:
    """It is too long, however little was used before: compressed, it may pass."""
    status, said = TOO_LARGE[server]
    with pytest.raises(ContextTooLong):
        await read(wire, response(as_line(said), status, "application/json"))


@pytest.mark.spec("K4")
@pytest.mark.parametrize(
    ("wire", "error"),
    [
        ("chat", {"type": "invalid_request_error", "code": "model_not_found", "message": "no such model"}),
        ("messages", {"type": "not_found_error", "message": "model: x"}),
    ],
)
async def test_an_unknown_model_is_not_asked_for_again_although_the_status_is_200(wire: str, error: Json) -> None:
    body = msgspec.json.encode({"type": "error", "error": error})
    with pytest.raises(UnknownModel):
        await read(wire, response(body, kind="application/json"))


@pytest.mark.spec("K4")
@pytest.mark.parametrize("habit", FAILURES)
async def test_a_failure_is_understood_whoever_tells_it(habit: str) -> None:
    wire, status, body, expected = FAILURES[habit]
    with pytest.raises(expected):
        await read(wire, response(msgspec.json.encode(body), status, "application/json"))
