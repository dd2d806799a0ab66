"""Our wire format against the types of Google's own SDK, which the product itself does not use."""

from typing import Any

import msgspec
import pytest
from google.genai import types

from assent.http.body import ChunkedBody
from assent.models.gemini.gemini_model import GeminiModel
from assent.models.gemini.gemini_request import NO_SIGNATURE, encode_request
from assent.models.model_protocol import Effort, Request
from assent.models.sse import SseDecoder
from assent.parts import Call, Declaration, Media, ModelMessage, Result, Text, Thought, UserMessage
from support.fake_gemini import FakeGemini

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SIGNATURE = "c2lnbmVk"  # base64, as on the wire
TALK = Request(
    system="Be brief.",
    messages=(
        UserMessage((Text("Read a.png"), Media("image/png", "aGVsbG8="))),
        ModelMessage(
            (
                Thought("only for people"),
                Thought("signed", SIGNATURE),
                Text("Reading."),
                Call("c1", "read_file", {"path": "a.png"}, SIGNATURE),
                Call("c2", "read_file", {"path": "b.png"}),
            )
        ),
        UserMessage(
            (
                Result("c1", "read_file", {"output": "a picture"}, (Media("image/png", "aGVsbG8="),)),
                Result("c2", "read_file", {"error": "no such file"}),
            )
        ),
    ),
    tools=(Declaration("read_file", "Reads a file.", SCHEMA),),
)


def body(request: Request = TALK, model: str = "gemini-2.5-flash") -> dict[str, Any]:
    return msgspec.json.decode(encode_request(request, model))


def test_our_contents_are_contents_to_google() -> None:
    first, second, third = [types.Content.model_validate(content) for content in body()["contents"]]
    assert (first.role, second.role, third.role) == ("user", "model", "user")
    assert first.parts and second.parts and third.parts
    assert [part.text for part in second.parts] == ["signed", "Reading.", None, None]
    assert [part.thought for part in second.parts] == [True, None, None, None]
    assert [part.thought_signature for part in second.parts] == [b"signed", None, b"signed", None]
    call, answer = second.parts[2].function_call, third.parts[0].function_response
    assert call and (call.id, call.name, call.args) == ("c1", "read_file", {"path": "a.png"})
    assert answer and (answer.id, answer.name, answer.response) == ("c1", "read_file", {"output": "a picture"})


def test_media_travel_beside_what_they_belong_to() -> None:
    first, _, third = [types.Content.model_validate(content) for content in body()["contents"]]
    assert first.parts and first.parts[1].inline_data and first.parts[1].inline_data.data == b"hello"
    assert third.parts and len(third.parts) == 3
    assert third.parts[1].inline_data and third.parts[1].inline_data.mime_type == "image/png"


def test_our_tools_and_settings_are_theirs() -> None:
    sent = body()
    tool = types.Tool.model_validate(sent["tools"][0])
    assert tool.function_declarations and tool.function_declarations[0].parameters_json_schema == SCHEMA
    settings = types.GenerateContentConfig.model_validate(sent["generationConfig"])
    assert settings.thinking_config and settings.thinking_config.include_thoughts is True
    system = types.Content.model_validate(sent["systemInstruction"])
    assert system.parts and system.parts[0].text == "Be brief."


def test_the_body_has_no_field_that_is_not_theirs() -> None:
    assert set(body()) == {"contents", "systemInstruction", "tools", "generationConfig"}


def test_an_empty_message_is_left_out() -> None:
    empty = Request(
        system="",
        messages=(UserMessage((Text("hi"),)), ModelMessage((Thought("hm"), Text(""))), UserMessage((Text("?"),))),
    )
    sent = body(empty)
    assert [content["role"] for content in sent["contents"]] == ["user", "user"]
    assert "systemInstruction" not in sent and "tools" not in sent


def test_a_signature_goes_back_even_on_an_empty_text() -> None:
    sent = body(Request(system="", messages=(ModelMessage((Text("", SIGNATURE),)),)))
    assert sent["contents"][0]["parts"] == [{"text": "", "thoughtSignature": SIGNATURE}]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini-4-argon", [NO_SIGNATURE, None]),
        ("gemini-3-pro", [NO_SIGNATURE, None]),
        ("gemini-2.5-pro", [None, None]),
    ],
)
def test_a_call_of_another_model_is_sent_to_gemini_3_with_a_placeholder_signature(
    model: str, expected: list[str | None]
) -> None:
    calls = ModelMessage((Call("c1", "x", {}), Call("c2", "x", {})))
    parts = body(Request(system="", messages=(calls,)), model)["contents"][0]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == expected


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-2.5-pro", None, {"includeThoughts": True}),
        ("gemini-2.5-pro", "none", {"includeThoughts": True, "thinkingBudget": 128}),
        ("gemini-2.5-flash", "none", {"includeThoughts": True, "thinkingBudget": 0}),
        ("gemini-2.5-flash", "high", {"includeThoughts": True, "thinkingBudget": 16_384}),
        ("gemini-3-pro-preview", "medium", {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-3.8-flash", "none", {"includeThoughts": True, "thinkingLevel": "minimal"}),
        ("gemini-4-argon", "max", {"includeThoughts": True, "thinkingLevel": "high"}),
        ("gemini-2.0-flash", "high", None),
        ("gemma-3-27b-it", "high", None),
        ("smollm2", "high", {"includeThoughts": True}),
    ],
)
def test_each_model_is_asked_to_think_in_its_own_way(
    model: str, effort: Effort | None, thinking: dict[str, Any] | None
) -> None:
    settings = body(msgspec.structs.replace(TALK, effort=effort), model).get("generationConfig", {})
    types.GenerateContentConfig.model_validate(settings)
    assert settings.get("thinkingConfig") == thinking


def test_the_output_limit_is_sent_if_requested() -> None:
    assert body(msgspec.structs.replace(TALK, max_tokens=99))["generationConfig"]["maxOutputTokens"] == 99


def test_a_schema_loses_the_keywords_that_google_refuses() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "title": "Params",
        "properties": {
            "title": {"type": "string", "title": "Title", "format": "uri"},
            "n": {"type": "array", "items": {"type": "integer", "exclusiveMinimum": 0, "format": "int32"}},
            "kind": {"const": "a", "default": {"title": 1}},
        },
        "required": ["title"],
    }
    sent = body(msgspec.structs.replace(TALK, tools=(Declaration("x", "d", schema),)))
    assert sent["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "n": {"type": "array", "items": {"type": "integer", "format": "int32"}},
            "kind": {"enum": ["a"], "default": {"title": 1}},
        },
        "required": ["title"],
    }


async def test_what_the_fake_sends_is_a_reply_to_google() -> None:
    chunks: list[dict[str, Any]] = [
        {"thought": "hm", "signature": SIGNATURE},
        {"text": "hi"},
        {"call": {"name": "x", "args": {"a": 1}, "id": "c1"}},
    ]
    async with FakeGemini({"replies": [{"chunks": chunks, "usage": {"input": 3, "output": 4}}]}) as fake:
        model = GeminiModel("gemini-test", "key", fake.url)
        _ = [chunk async for chunk in model.stream(TALK)]
        await model.close()
        _, _, framed = bytes(fake.sent).partition(b"\r\n\r\n")
    events = SseDecoder().feed(ChunkedBody().feed(framed))
    replies = [types.GenerateContentResponse.model_validate(msgspec.json.decode(event.data)) for event in events]
    assert [reply.text for reply in replies[1:2]] == ["hi"]
    assert replies[2].function_calls and replies[2].function_calls[0].args == {"a": 1}
    last = replies[-1]
    assert last.candidates and last.candidates[0].finish_reason is types.FinishReason.STOP
    assert last.usage_metadata and last.usage_metadata.prompt_token_count == 3


def test_every_finish_reason_google_knows_is_understood() -> None:
    """A reason that appears in a new SDK must be sorted by a person; until then it counts as "other"."""
    from assent.models.gemini.gemini_reply import BLOCKED, MALFORMED

    other = {"FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "OTHER", "NO_IMAGE", "IMAGE_OTHER", "CONTINUATION"}
    assert {reason.value for reason in types.FinishReason} == BLOCKED | MALFORMED | other
