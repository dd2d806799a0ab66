"""Our requests and the fake's replies against OpenAI's own SDK, which the product itself does not use."""

from typing import Any

import msgspec
import openai
import pytest
from openai.types.responses import ResponseInputParam
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from assent.models.model_facts import Prices, context_window
from assent.models.model_protocol import Effort, Request
from assent.models.openai.openai_provider import OPENAI
from assent.models.openai.responses_model import ResponsesFormat
from assent.parts import Declaration, Media, ModelMessage, Text, Thought, Usage, UserMessage
from support.fake_responses import FakeResponses
from support.talk import HELLO, PNG, SCHEMA, talk

MODEL = "gpt-6.1-sol"
PHASE = '{"phase":"commentary"}'


def body(request: Request, model: str = MODEL) -> dict[str, Any]:
    return msgspec.json.decode(ResponsesFormat(model).encode(request))


def items(request: Request, model: str = MODEL) -> list[dict[str, Any]]:
    return body(request, model)["input"]


def signed_talk(model: str = MODEL) -> Request:
    return talk(model, Thought("only for people"), Thought("", "gAAA"), Text("Well. ", PHASE))


# --- our requests ---


def test_our_request_is_a_request_to_openai() -> None:
    sent = body(signed_talk())
    allowed = {name for kind in ResponseCreateParamsStreaming.__mro__ for name in getattr(kind, "__annotations__", {})}
    allowed |= set(ResponseCreateParamsStreaming.__required_keys__ | ResponseCreateParamsStreaming.__optional_keys__)
    assert set(sent) <= allowed
    named = [item | {"id": "rs_1"} if item["type"] == "reasoning" else item for item in sent["input"]]
    TypeAdapter(ResponseInputParam).validate_python(named)  # without an id, because nothing is stored
    assert (sent["model"], sent["stream"], sent["store"]) == (MODEL, True, False)
    assert sent["instructions"] == "Be brief." and sent["prompt_cache_key"] == "chat-7"
    assert sent["include"] == ["reasoning.encrypted_content"]
    tool = sent["tools"][0]
    assert (tool["type"], tool["name"], tool["parameters"], tool["strict"]) == ("function", "read_file", SCHEMA, False)


def test_thoughts_and_phases_go_back_in_their_places() -> None:
    sent = items(signed_talk())
    assert [item["type"] for item in sent] == [
        "message",
        "reasoning",
        "message",
        "message",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
    ]
    assert sent[1] == {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    assert (sent[2]["content"], sent[2]["phase"]) == ("Well. ", "commentary")
    assert sent[3] == {"type": "message", "role": "assistant", "content": "Reading."}
    assert sent[4]["arguments"] == '{"path":"a.png"}'


def test_a_phase_that_arrives_after_its_text_is_attached_to_it() -> None:
    reply = ModelMessage((Text("Well. "), Text("", PHASE), Text("So."), Text("", '{"phase":"final_answer"}')), MODEL)
    sent = items(Request(system="", messages=(reply,)))
    assert [(item["content"], item["phase"]) for item in sent] == [("Well. ", "commentary"), ("So.", "final_answer")]


def test_results_carry_their_images_and_say_that_they_are_errors() -> None:
    *_, first, second = items(talk(MODEL))
    assert first["output"] == [
        {"type": "input_text", "text": "a picture"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG.data}", "detail": "auto"},
    ]
    assert second["output"] == '{"error":"no such file"}'


def test_images_and_documents_go_into_a_prompt_and_other_files_are_named() -> None:
    prompt = UserMessage((*talk(MODEL).messages[0].parts, Text(""), Media("audio/wav", "AAAA")))  # pyright: ignore[reportArgumentType]
    content = items(Request(system="", messages=(prompt,)))[0]["content"]
    assert [part["type"] for part in content] == ["input_text", "input_image", "input_file", "input_text"]
    assert content[2]["file_data"].startswith("data:application/pdf;base64,") and "audio/wav" in content[3]["text"]


def test_an_id_with_unusual_characters_is_replaced_in_call_and_result() -> None:
    ids = [item["call_id"] for item in items(talk(MODEL)) if "call_id" in item]
    assert ids[:2] == ids[2:] and ids[0] == "c1" and "." not in ids[1]


def test_a_conversation_with_claude_loses_its_thoughts_and_keeps_its_ids() -> None:
    sent = items(talk("claude-opus-5-5", Thought("hm", '{"past":"x","signature":"s"}')))
    assert "reasoning" not in [item["type"] for item in sent]
    assert next(item["call_id"] for item in sent if item["type"] == "function_call") == "c1"
    assert "signature" not in msgspec.json.encode(sent).decode()


def test_thoughts_go_back_to_no_other_model() -> None:
    assert "reasoning" not in [item["type"] for item in items(signed_talk("gpt-6-luna"))]
    assert "reasoning" in [item["type"] for item in items(signed_talk(f"openai:{MODEL}"))]


@pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"anyOf": [SCHEMA, {"type": "object"}]}])
def test_a_schema_that_is_not_an_object_becomes_one(schema: dict[str, Any]) -> None:
    sent = body(msgspec.structs.replace(HELLO, tools=(Declaration("x", "d", schema),)))
    found = sent["tools"][0]["parameters"]
    assert found["type"] == "object" and "properties" in found and "anyOf" not in found


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gpt-6.1-sol", None, {"summary": "auto"}),
        ("gpt-6.1-sol", "max", {"summary": "auto", "effort": "max"}),
        ("gpt-6.1-sol", "minimal", {"summary": "auto", "effort": "none"}),
        ("gpt-5.2", "max", {"summary": "auto", "effort": "xhigh"}),
        ("gpt-5.1-codex", "xhigh", {"summary": "auto", "effort": "high"}),
        ("gpt-5", "none", {"summary": "auto", "effort": "minimal"}),
        ("o3-mini", "max", {"summary": "auto", "effort": "high"}),
        ("codex-mini-latest", "none", {"summary": "auto", "effort": "low"}),
        ("gpt-4.1", "high", None),
        ("gpt-5-chat-latest", "high", None),
        ("smollm2", "high", None),
    ],
)
def test_each_model_is_asked_to_think_as_it_can(model: str, effort: Effort | None, sent: dict[str, Any] | None) -> None:
    found = body(msgspec.structs.replace(HELLO, effort=effort), model)
    assert found.get("reasoning") == sent
    assert ("include" in found) == (sent is not None)


def test_the_output_limit_is_sent_if_requested() -> None:
    assert body(msgspec.structs.replace(HELLO, max_tokens=99))["max_output_tokens"] == 99
    assert "max_output_tokens" not in body(HELLO) and "prompt_cache_key" not in body(HELLO)


# --- the fake, as OpenAI's own client sees it ---


async def test_what_the_fake_sends_is_a_reply_to_openai() -> None:
    chunks: list[dict[str, Any]] = [
        {"thought": "hm", "signature": "gAAA"},
        {"text": "h"},
        {"text": "i"},
        {"call": {"name": "x", "args": {"a": [1, "ü"]}, "id": "c1"}},
    ]
    usage = {"input": 9, "output": 4, "thoughts": 2, "cached": 3}
    async with FakeResponses({"replies": [{"chunks": chunks, "usage": usage}]}) as fake:
        client = openai.AsyncOpenAI(api_key="key", base_url=fake.url, max_retries=0)
        async with client.responses.stream(model="gpt-x", input=[{"role": "user", "content": "hi"}]) as stream:
            kinds = [event.type async for event in stream]
            response = await stream.get_final_response()
        await client.close()
    assert "response.output_text.delta" in kinds and "response.function_call_arguments.delta" in kinds
    thought, message, call = response.output
    assert thought.type == "reasoning" and thought.encrypted_content == "gAAA"
    assert message.type == "message" and response.output_text == "hi"
    assert call.type == "function_call" and (call.call_id, call.arguments) == ("c1", '{"a":[1,"ü"]}')
    assert response.status == "completed" and response.usage and response.usage.output_tokens == 6


async def test_errors_of_the_fake_are_errors_to_openai() -> None:
    busy = {"chunks": [{"error": {"kind": "transient", "message": "later"}}]}
    async with FakeResponses({"replies": [busy]}) as fake:
        client = openai.AsyncOpenAI(api_key="key", base_url=fake.url, max_retries=0)
        with pytest.raises(openai.InternalServerError, match="later"):
            await client.responses.create(model="gpt-x", input=[{"role": "user", "content": "hi"}], stream=True)
        await client.close()


# --- what is known without asking ---


def test_prices_and_windows_are_known() -> None:
    assert context_window("gpt-6.1-sol") == 1_050_000
    usage = Usage(input=200_000, output=100_000, cached=100_000)
    assert Prices().cost("gpt-6.1-sol", usage) == pytest.approx(0.1 * 2 + 0.1 * 0.1 + 0.1 * 10)
    assert Prices().cost("gpt-6.1-sol", Usage(input=300_000, output=100_000)) == pytest.approx(0.3 * 4 + 0.1 * 15)
    assert Prices().cost("gpt-5", Usage(input=1)) is None
    assert OPENAI.prices_as_of and OPENAI.prices_source
