"""Our requests as chat servers want them: checked against OpenAI's own types, and server by server."""

from typing import Any

import msgspec
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from assent.models.model_protocol import Request
from assent.models.openai_chat.chat_ids import WireIds
from assent.models.openai_chat.chat_quirks import Quirks
from assent.models.openai_chat.chat_request import BRIDGE, NO_RESULT, encode_chat
from assent.models.openai_chat.chat_servers import SERVERS
from assent.parts import Call, Declaration, Media, Message, ModelMessage, Result, Text, Thought, UserMessage

QUIRKS = {server.name: server.quirks for server in SERVERS}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
PICTURE = Media("image/png", "aGVsbG8=")
ME = "vllm:m"
TALK = Request(
    system="Be brief.",
    messages=(
        UserMessage((Text("Read a.png"), PICTURE)),
        ModelMessage(
            (
                Thought("hm"),
                Text("Reading."),
                Call("c1", "read_file", {"path": "a.png"}),
                Call("c2", "read_file", {"path": "b.png"}),
            ),
            ME,
        ),
        UserMessage(
            (
                Result("c2", "read_file", {"error": "no such file"}),
                Result("c1", "read_file", {"output": "a picture"}, (PICTURE,)),
                Text("And now?"),
            )
        ),
    ),
    tools=(Declaration("read_file", "Reads a file.", SCHEMA),),
    effort="high",
    max_tokens=1000,
    conversation="s1",
)


def body(request: Request = TALK, server: str = "vllm", model: str = "m", left_out: tuple[str, ...] = ()) -> Any:
    return msgspec.json.decode(encode_chat(request, model, ME, QUIRKS[server], left_out))


def messages(*said: Message, server: str = "vllm") -> list[dict[str, Any]]:
    return body(Request(system="", messages=said), server)["messages"]


# --- the shape ---


@pytest.mark.parametrize("server", ["openai-chat", "vllm", "litellm", "ollama"])
def test_our_request_is_one_to_openai(server: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsStreaming)
    checked: dict[str, Any] = adapter.validate_python(body(server=server), strict=True)
    assert list(checked["messages"])


def test_the_results_of_all_calls_come_first_and_their_media_after() -> None:
    sent = body()["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert [(m["tool_call_id"], m["content"]) for m in sent[3:5]] == [
        ("c1", "a picture"),
        ("c2", '{"error":"no such file"}'),
    ]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
    assert sent[5]["content"] == [picture, {"type": "text", "text": "And now?"}]
    assert sent[1]["content"] == [{"type": "text", "text": "Read a.png"}, picture]


def test_a_call_and_its_text_are_one_message() -> None:
    message = body()["messages"][2]
    assert message["content"] == "Reading." and "reasoning_content" not in message
    assert message["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path":"a.png"}'},
    }
    bare = messages(UserMessage((Text("x"),)), ModelMessage((Call("c1", "a", {}),)))[1]
    assert bare["content"] is None


def test_text_alone_is_a_plain_string() -> None:
    sent = messages(UserMessage((Text("a"), Text(""), Text("b"))), UserMessage((Text("c"),)))
    assert sent == [{"role": "user", "content": "a\n\nb\n\nc"}]


def test_empty_text_is_never_sent() -> None:
    sent = messages(
        UserMessage((Text("hi"),)),
        ModelMessage((Thought("hm"), Text(""))),
        UserMessage((Text(""),)),
        ModelMessage((Call("c1", "a", {}),)),
        UserMessage((Result("c1", "a", {"output": ""}),)),
    )
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[2]["content"] == '{"output":""}'


def test_a_lone_surrogate_is_replaced() -> None:
    broken = "a\ud800b"
    sent = messages(
        UserMessage((Text(broken),)),
        ModelMessage((Call("c1", "a", {"x": broken}),)),
        UserMessage((Result("c1", "a", {"output": broken}),)),
    )
    assert sent[0]["content"] == sent[2]["content"] == "a\ufffdb"
    assert msgspec.json.decode(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"x": "a\ufffdb"}


def test_without_tools_and_options_only_required_fields_are_sent() -> None:
    assert set(body(Request(system="", messages=(UserMessage((Text("hi"),)),)))) == {
        "model",
        "stream",
        "stream_options",
        "messages",
    }


def test_a_tool_schema_that_is_not_a_plain_object_becomes_one() -> None:
    odd: dict[str, Any] = {"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]}
    sent = body(Request(system="", messages=(), tools=(Declaration("t", "d", odd), Declaration("u", "d", {}))))
    first, second = (tool["function"]["parameters"] for tool in sent["tools"])
    assert first == {"type": "object", "properties": {"b": {}, "a": {}}}
    assert second == {"type": "object", "properties": {}}


# --- calls and results that do not fit together ---


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    sent = messages(ModelMessage((Call("c1", "a", {}), Call("c2", "a", {}))), UserMessage((Result("c2", "a", {}),)))
    assert [(message["role"], message.get("content")) for message in sent[1:]] == [("tool", NO_RESULT), ("tool", "{}")]
    assert messages(ModelMessage((Call("c1", "a", {}),)))[-1]["content"] == NO_RESULT


def test_a_result_without_a_call_is_sent_as_text() -> None:
    sent = messages(UserMessage((Result("gone", "ls", {"output": "a.txt"}), Text("go on"))))
    assert sent == [{"role": "user", "content": "The result of ls: a.txt\n\ngo on"}]


def test_the_same_id_in_two_turns_is_sent_as_two() -> None:
    turn = (ModelMessage((Call("same", "a", {}),)), UserMessage((Result("same", "a", {"output": "x"}),)))
    sent = messages(*turn, *turn)
    ids = [(message["tool_calls"][0]["id"], answer["tool_call_id"]) for message, answer in (sent[0:2], sent[2:4])]
    assert ids[0] == ("same", "same")
    assert ids[1][0] == ids[1][1] != "same"


# --- ids ---


def test_an_id_that_servers_reject_is_replaced_by_one_derived_from_it() -> None:
    made = WireIds("short").take("read_file-" + "x" * 40)
    assert len(made) <= 40 and made == WireIds("short").take("read_file-" + "x" * 40)
    assert WireIds("short").take("functions.ls:0") != "functions.ls:0"
    assert WireIds("short").take("call_AB-1") == "call_AB-1"


def test_mistral_gets_nine_letters_and_digits_and_the_same_for_the_result() -> None:
    sent = messages(*TALK.messages[1:], server="mistral")
    ids = [call["id"] for call in sent[0]["tool_calls"]]
    assert all(len(wire_id) == 9 and wire_id.isalnum() for wire_id in ids) and len(set(ids)) == 2
    assert [message["tool_call_id"] for message in sent[1:3]] == ids
    assert WireIds("nine").take("abcDEF123") == "abcDEF123"


# --- what servers want back, and what they do not get ---


def test_deepseek_gets_its_thoughts_back_with_the_calls_they_led_to() -> None:
    own = ModelMessage((Thought("h"), Thought("m"), Call("c1", "a", {})), ME)
    foreign = ModelMessage((Thought("secret"), Call("c2", "a", {})), "claude-opus-5-5")
    answer = ModelMessage((Thought("hm"), Text("done")), ME)
    between = UserMessage((Text("x"),))
    sent = messages(own, between, foreign, between, answer, server="deepseek")
    replies = [message for message in sent if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in replies] == ["hm", "", None]


def test_openrouter_gets_the_details_back_as_they_came() -> None:
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    signed = Thought("", msgspec.json.encode(details).decode())
    sent = messages(ModelMessage((Thought("hm"), signed, Call("c1", "a", {})), ME), server="openrouter")
    assert sent[0]["reasoning_details"] == details
    other = messages(ModelMessage((Thought("hm"), signed, Text("x")), "openrouter:other"), server="openrouter")
    assert "reasoning_details" not in other[0]
    odd = messages(ModelMessage((Thought("hm", "not json"), Text("x")), ME), server="openrouter")
    assert "reasoning_details" not in odd[0]


def test_thoughts_and_signatures_go_to_no_other_provider() -> None:
    claude = ModelMessage(
        (Thought("secret", "sig"), Text("hi", "sig"), Call("toolu_1", "a", {}, "sig")), "claude-opus-5-5"
    )
    for server in QUIRKS:
        sent = msgspec.json.encode(messages(claude, server=server)).decode()
        assert "secret" not in sent and "sig" not in sent
    assert messages(claude)[0]["tool_calls"][0]["id"] == "toolu_1"


def test_mistral_has_the_model_speak_between_a_tool_and_the_user() -> None:
    sent = messages(*TALK.messages[1:], server="mistral")
    assert [message["role"] for message in sent] == ["assistant", "tool", "tool", "assistant", "user"]
    assert sent[3]["content"] == BRIDGE


def test_a_pdf_is_sent_if_the_server_accepts_it_and_named_otherwise() -> None:
    pdf = UserMessage((Media("application/pdf", "aGVsbG8="), Media("audio/wav", "x")))
    file, note = messages(pdf, server="openai-chat")[0]["content"]
    assert file["type"] == "file" and file["file"]["file_data"] == "data:application/pdf;base64,aGVsbG8="
    assert note["type"] == "text" and "audio/wav" in note["text"]
    assert "application/pdf" in messages(pdf)[0]["content"]


# --- options ---


def test_the_limit_has_the_name_that_the_server_knows() -> None:
    assert body()["max_tokens"] == 1000
    assert body(server="openai-chat")["max_completion_tokens"] == 1000
    assert body(left_out=("max_tokens",))["max_completion_tokens"] == 1000
    assert body(server="groq", left_out=("max_completion_tokens",))["max_tokens"] == 1000
    both = body(left_out=("max_tokens", "max_completion_tokens"))
    assert "max_tokens" not in both and "max_completion_tokens" not in both


@pytest.mark.parametrize(
    ("server", "field", "value"),
    [
        ("vllm", "reasoning_effort", "high"),
        ("openrouter", "reasoning", {"effort": "high"}),
        ("deepseek", "thinking", {"type": "enabled"}),
        ("mistral", "reasoning_effort", None),
    ],
)
def test_the_effort_is_sent_in_the_servers_field(server: str, field: str, value: object) -> None:
    assert body(server=server).get(field) == value


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-5.2", "high"),
        ("gpt-5.4", None),
        ("gpt-5.6-mini", "none"),
        ("gpt-6.1-sol", "none"),
        ("gpt-4o", "high"),
        ("o3", "high"),
    ],
)
def test_newer_models_of_openai_do_not_think_with_tools_here(model: str, effort: str | None) -> None:
    assert body(server="openai-chat", model=model).get("reasoning_effort") == effort


def test_what_was_refused_is_left_out() -> None:
    assert "stream_options" not in body(left_out=("stream_options",))
    assert "stream_options" not in body(server="mistral")
    assert "reasoning_effort" not in body(left_out=("reasoning_effort",))


def test_only_openai_gets_the_conversation_id() -> None:
    assert body(server="openai-chat")["prompt_cache_key"] == "s1"
    assert "prompt_cache_key" not in body()


def test_the_defaults_are_those_of_an_unknown_server() -> None:
    assert QUIRKS["openai_chat"] == Quirks()
