"""Our requests and the fake's replies against Anthropic's own SDK, which the product itself does not use."""

from collections.abc import Iterator
from typing import Any, cast

import anthropic
import msgspec
import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from assent.models.anthropic.anthropic_model import AnthropicFormat
from assent.models.anthropic.anthropic_provider import ANTHROPIC
from assent.models.anthropic.anthropic_signature import keep_redacted, keep_signature, past_of_reply
from assent.models.anthropic.anthropic_thinking import version_of
from assent.models.model_facts import Prices, context_window
from assent.models.model_protocol import Effort, Request
from assent.parts import Call, Declaration, Media, ModelMessage, Result, Text, Thought, Usage, UserMessage
from support.fake_anthropic import FakeAnthropic
from support.talk import HELLO, PNG, SCHEMA, talk

MODEL = "claude-opus-5-5"


def body(request: Request, model: str = MODEL, longest: int = 128_000) -> dict[str, Any]:
    return msgspec.json.decode(AnthropicFormat(model, longest).encode(request))


def signed_talk(model: str = MODEL) -> Request:
    """A conversation with thoughts that were signed when they were thought."""
    past = past_of_reply(msgspec.structs.replace(talk(model), messages=talk(model).messages[:1]))
    return talk(model, Thought("I look.", keep_signature("s1", past)), Thought("", keep_redacted("xyz", past)))


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def marks(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            fields = cast(dict[str, Any], value)
            yield from [fields] if "cache_control" in fields else []
            for field in fields.values():
                yield from marks(field)
        case list():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from marks(item)
        case _:
            pass


# --- our requests ---


def test_our_request_is_a_request_to_anthropic() -> None:
    sent = body(signed_talk())
    TypeAdapter(MessageCreateParamsStreaming).validate_python(sent)
    assert set(sent) <= set(MessageCreateParamsStreaming.__annotations__)
    assert (sent["model"], sent["stream"], sent["max_tokens"]) == (MODEL, True, 128_000)
    assert sent["system"][0]["text"] == "Be brief."
    assert sent["tools"][0]["name"] == "read_file" and sent["tools"][0]["input_schema"] == SCHEMA


def test_thoughts_go_back_as_they_came_and_calls_come_last() -> None:
    reply = body(signed_talk())["messages"][1]
    assert kinds(reply) == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
    assert reply["content"][0] == {"type": "thinking", "thinking": "I look.", "signature": "s1"}
    assert reply["content"][1] == {"type": "redacted_thinking", "data": "xyz"}


def test_results_carry_their_images_and_say_that_they_are_errors() -> None:
    first, second = body(talk(MODEL))["messages"][2]["content"]
    assert first["content"][0]["text"] == "a picture"
    assert first["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": PNG.data}
    assert "is_error" not in first
    assert second["is_error"] is True and second["content"] == [{"type": "text", "text": "no such file"}]


def test_images_and_documents_go_into_a_prompt_and_other_files_are_named() -> None:
    prompt = UserMessage((*talk(MODEL).messages[0].parts, Media("audio/wav", "AAAA")))  # pyright: ignore[reportArgumentType]
    sent = body(Request(system="", messages=(prompt,)))["messages"][0]
    assert kinds(sent) == ["text", "image", "document", "text"]
    assert "audio/wav" in sent["content"][-1]["text"]


def test_an_id_with_unusual_characters_is_replaced_in_call_and_result() -> None:
    sent = body(talk(MODEL))["messages"]
    made, kept = sent[1]["content"][-1]["id"], sent[1]["content"][-2]["id"]
    assert kept == "c1" and made.replace("_", "").replace("-", "").isalnum() and made != "c.2"
    assert [block["tool_use_id"] for block in sent[2]["content"]] == [kept, made]


def test_roles_alternate_and_results_come_first() -> None:
    messages = (
        UserMessage((Text("a"),)),
        UserMessage((Text("b"), Text(" "))),
        ModelMessage((Call("c1", "x", {}), Text("late"))),
        ModelMessage((Text(""),)),
        UserMessage((Text("wait"), Result("c1", "x", {"output": ""}))),
        UserMessage((Text("go on"),)),
    )
    sent = body(Request(system=" ", messages=messages))
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert [block["text"] for block in sent["messages"][0]["content"]] == ["a", "b"]
    assert kinds(sent["messages"][1]) == ["text", "tool_use"]
    assert kinds(sent["messages"][2]) == ["tool_result", "text", "text"]
    assert "content" not in sent["messages"][2]["content"][0]
    assert "system" not in sent and "tools" not in sent


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    sent = body(Request(system="", messages=(UserMessage((Text("a\ud83d"),)),)))
    assert sent["messages"][0]["content"][0]["text"] == "a\ufffd"


@pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"anyOf": [SCHEMA, {"type": "object"}]}])
def test_a_schema_that_is_not_an_object_becomes_one(schema: dict[str, Any]) -> None:
    sent = body(msgspec.structs.replace(HELLO, tools=(Declaration("x", "d", schema),)))
    found = sent["tools"][0]["input_schema"]
    assert found["type"] == "object" and "anyOf" not in found
    assert found["properties"] == (SCHEMA["properties"] if "anyOf" in schema else {})


# --- the cache ---


def test_tools_system_and_the_growing_conversation_are_cached() -> None:
    sent = body(signed_talk())
    assert len(list(marks(sent))) == 4
    assert "cache_control" in sent["tools"][-1] and "cache_control" in sent["system"][-1]
    assert ["cache_control" in message["content"][-1] for message in sent["messages"]] == [True, False, True]


def test_a_longer_conversation_begins_with_the_same_bytes() -> None:
    """All but the marks, which move."""

    def prefix(request: Request, messages: int) -> bytes:
        sent = body(request)
        for marked in list(marks(sent)):
            del marked["cache_control"]
        return msgspec.json.encode([sent["tools"], sent["system"], sent["messages"][:messages]])

    short = signed_talk()
    more = (*short.messages, ModelMessage((Text("So."),), MODEL), UserMessage((Text("go on"),)))
    assert prefix(short, 3) == prefix(msgspec.structs.replace(short, messages=more), 3)
    assert len(list(marks(body(msgspec.structs.replace(short, messages=more))))) == 4


# --- thinking ---


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "sent_effort"),
    [
        ("claude-opus-5-5", None, {"type": "adaptive", "display": "summarized"}, None),
        ("claude-opus-5-5", "minimal", {"type": "adaptive", "display": "summarized"}, "low"),
        ("claude-opus-5-5", "max", {"type": "adaptive", "display": "summarized"}, "max"),
        ("claude-opus-5-5", "none", {"type": "adaptive", "display": "summarized"}, "low"),
        ("claude-fable-5", "none", {"type": "adaptive", "display": "summarized"}, "low"),
        ("claude-mythos-preview", "high", {"type": "adaptive", "display": "summarized"}, "high"),
        ("claude-sonnet-5-5", "none", {"type": "between_tools"}, None),
        ("claude-sonnet-5", "none", {"type": "disabled"}, None),
        ("claude-haiku-5-5", "none", {"type": "disabled"}, None),
        ("claude-sonnet-4-6", "xhigh", {"type": "adaptive", "display": "summarized"}, "high"),
        ("claude-haiku-4-5-20251001", None, {"type": "enabled", "budget_tokens": 8192}, None),
        ("claude-haiku-4-5", "high", {"type": "enabled", "budget_tokens": 16_384}, None),
        ("claude-haiku-4-5", "none", None, None),
        ("claude-3-7-sonnet-latest", "low", {"type": "enabled", "budget_tokens": 4096}, None),
        ("claude-3-5-haiku-latest", "high", None, None),
        ("smollm2", "high", None, None),
    ],
)
def test_each_model_is_asked_to_think_in_its_own_way(
    model: str, effort: Effort | None, thinking: dict[str, Any] | None, sent_effort: str | None
) -> None:
    sent = body(msgspec.structs.replace(HELLO, effort=effort), model)
    TypeAdapter(MessageCreateParamsStreaming).validate_python(sent)
    assert sent.get("thinking") == thinking
    assert sent.get("output_config", {}).get("effort") == sent_effort


@pytest.mark.parametrize(("wanted", "sent", "budget"), [(4000, 4000, 2000), (1500, 1500, None), (99_999, 64_000, 8192)])
def test_a_budget_leaves_room_for_the_reply(wanted: int, sent: int, budget: int | None) -> None:
    found = body(msgspec.structs.replace(HELLO, max_tokens=wanted), "claude-haiku-4-5", 64_000)
    assert found["max_tokens"] == sent
    assert found.get("thinking", {}).get("budget_tokens") == budget


def test_a_model_with_a_budget_does_not_think_in_the_middle_of_a_turn_of_another() -> None:
    """It would want to see the thoughts before the calls, and there are none that it could read."""
    own = signed_talk("claude-haiku-4-5")
    assert "thinking" in body(own, "claude-haiku-4-5")
    assert "thinking" not in body(talk("gpt-6.1-sol"), "claude-haiku-4-5")
    again = (*talk("gpt-6.1-sol").messages, ModelMessage((Text("So."),)), UserMessage((Text("and now?"),)))
    assert "thinking" in body(msgspec.structs.replace(own, messages=again), "claude-haiku-4-5")


def no_thoughts(request: Request, model: str = MODEL) -> bool:
    return not any("thinking" in kind for message in body(request, model)["messages"] for kind in kinds(message))


def test_thoughts_go_back_to_no_other_model() -> None:
    assert not no_thoughts(signed_talk())
    assert no_thoughts(signed_talk("claude-sonnet-5-5"))
    assert no_thoughts(signed_talk(), "claude-sonnet-5-5")
    assert no_thoughts(talk("gemini-4-argon", Thought("hm", "c2lnbmVk")))
    assert no_thoughts(talk(MODEL, Thought("not signed"), Thought("not ours", "x")))


def test_the_same_model_is_known_by_its_long_name() -> None:
    assert not no_thoughts(signed_talk(f"anthropic:{MODEL}"))


def compressed(request: Request) -> Request:
    return msgspec.structs.replace(request, messages=(UserMessage((Text("a summary"),)), *request.messages[1:]))


@pytest.mark.parametrize(
    "change",
    [
        {"messages": compressed(signed_talk()).messages},
        {"system": "Be long."},
        {"tools": (*signed_talk().tools, Declaration("y", "d", SCHEMA))},
    ],
    ids=["conversation", "system", "tools"],
)
def test_no_thought_goes_back_when_what_was_before_it_has_changed(change: dict[str, Any]) -> None:
    assert no_thoughts(msgspec.structs.replace(signed_talk(), **change))


def test_thoughts_since_a_compression_go_back() -> None:
    short = compressed(signed_talk())
    newer = ModelMessage((Thought("new", keep_signature("s2", past_of_reply(short))), Text("So.")), MODEL)
    sent = body(msgspec.structs.replace(short, messages=(*short.messages, newer, UserMessage((Text("go on"),)))))
    assert [kinds(message) for message in sent["messages"]][1:4:2] == [
        ["text", "tool_use", "tool_use"],
        ["thinking", "text"],
    ]


@pytest.mark.parametrize(
    ("model", "version"),
    [("claude-opus-4-20250514", (4, 0)), ("claude-haiku-4-5@20251001", (4, 5)), ("claude-3-haiku-20240307", (3, 0))],
)
def test_a_name_contains_the_version(model: str, version: tuple[int, int]) -> None:
    assert version_of(model) == version


# --- the fake, as Anthropic's own client sees it ---


async def test_what_the_fake_sends_is_a_reply_to_anthropic() -> None:
    chunks: list[dict[str, Any]] = [
        {"thought": "hm", "signature": "s1"},
        {"text": "h"},
        {"text": "i"},
        {"call": {"name": "x", "args": {"a": [1, "ü"]}, "id": "c1"}},
    ]
    usage = {"input": 9, "output": 4, "thoughts": 2, "cached": 3}
    async with FakeAnthropic({"replies": [{"chunks": chunks, "usage": usage}]}) as fake:
        client = anthropic.AsyncAnthropic(api_key="key", base_url=fake.url, max_retries=0)
        async with client.messages.stream(
            model="claude-x", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        ) as stream:
            message = await stream.get_final_message()
        await client.close()
    thought, text, call = message.content
    assert (thought.type, text.type, call.type) == ("thinking", "text", "tool_use")
    assert thought.type == "thinking" and (thought.thinking, thought.signature) == ("hm", "s1")
    assert text.type == "text" and text.text == "hi"
    assert call.type == "tool_use" and (call.id, call.name, call.input) == ("c1", "x", {"a": [1, "ü"]})
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 6, 6)


async def test_errors_of_the_fake_are_errors_to_anthropic() -> None:
    overloaded = {"chunks": [{"error": {"kind": "transient", "message": "later"}}]}
    async with FakeAnthropic({"replies": [overloaded]}) as fake:
        client = anthropic.AsyncAnthropic(api_key="key", base_url=fake.url, max_retries=0)
        with pytest.raises(anthropic.APIStatusError) as refused:
            await client.messages.create(
                model="claude-x", max_tokens=9, messages=[{"role": "user", "content": "hi"}], stream=True
            )
        await client.close()
    assert refused.value.status_code == 529


def test_every_stop_reason_anthropic_knows_is_understood() -> None:
    """A reason that appears in a new SDK must be sorted by a person; until then it counts as "other"."""
    from typing import get_args

    from anthropic.types import StopReason

    sorted_out = "end_turn max_tokens stop_sequence tool_use pause_turn refusal model_context_window_exceeded"
    assert set(get_args(StopReason)) == set(sorted_out.split())


# --- what is known without asking ---


def test_prices_and_windows_are_known() -> None:
    assert context_window("claude-haiku-4-5-20251001") == 200_000
    assert context_window("claude-opus-5-5") == 1_000_000
    million = Usage(input=1_000_000, output=1_000_000, cached=200_000, cache_written=100_000)
    assert Prices().cost("claude-opus-5-5", million) == pytest.approx(0.7 * 4 + 0.2 * 0.2 + 0.1 * 5 + 20)
    assert Prices().cost("claude-haiku-5-5", Usage(input=100_000)) == pytest.approx(0.01)
    assert Prices().cost("claude-haiku-5-5", Usage(input=100_001)) == pytest.approx(0.0500005)
    assert Prices().cost("claude-opus-9", Usage(input=1)) is None
    assert ANTHROPIC.prices_as_of and ANTHROPIC.prices_source
