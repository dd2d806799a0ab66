"""The scripted model: what a scenario can say, and where it goes on after a restart."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    Finished,
    ModelError,
    QuotaExhausted,
    Request,
    TextChunk,
    ThoughtChunk,
    Transient,
)
from assent.models.scripted.scenario import Scenario, parse_scenario
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import Call, Message, ModelMessage, ModelPart, Result, Text, Usage, UserMessage

PROMPT = UserMessage((Text("hello"),))


def scripted(*replies: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(parse_scenario(msgspec.json.encode({"replies": replies}), "of the test", Scenario))


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"chunks": [{"text": text}]} | more


def results(text: str) -> UserMessage:
    return UserMessage((Result("c1", "x", {"output": [text]}),))


async def ask(model: ScriptedModel, *messages: Message) -> list[Chunk]:
    return [chunk async for chunk in model.stream(Request(system="", messages=messages))]


async def text_of(model: ScriptedModel, *messages: Message) -> str:
    return "".join(chunk.text for chunk in await ask(model, *messages) if isinstance(chunk, TextChunk))


# --- what a reply can say ---


@pytest.mark.spec("F1")
async def test_a_reply_is_streamed_as_it_is_written() -> None:
    model = scripted(
        {
            "chunks": [
                {"thought": "hm", "signature": "s"},
                {"text": "a"},
                {"call": {"name": "x", "args": {"y": 1}, "id": "c1"}},
            ],
            "finish": "max_tokens",
            "usage": {"input": 3, "output": 4},
        }
    )
    assert await ask(model, PROMPT) == [
        ThoughtChunk("hm", "s"),
        TextChunk("a"),
        CallChunk("x", {"y": 1}, "c1"),
        Finished("max_tokens", Usage(3, 4)),
    ]


async def test_placeholders_are_filled_in_every_string() -> None:
    call = {"call": {"name": "x{n}", "args": {"a": ["{n}", {"b": "{i}"}], "c": 1}, "id": "id{n}"}}
    model = scripted(say("zero"), {"chunks": [{"text": "{n}.{i} ", "repeat": 2}, call]})
    await ask(model, PROMPT)
    assert await ask(model, PROMPT) == [
        TextChunk("1.0 "),
        TextChunk("1.1 "),
        CallChunk("x1", {"a": ["1", {"b": "0"}], "c": 1}, "id1"),
        Finished("stop"),
    ]


async def test_a_repeated_reply_stands_for_many() -> None:
    model = scripted(say("first"), say("{n}/{i}", repeat=2), say("last"))
    assert [await text_of(model, PROMPT) for _ in range(4)] == ["first", "1/0", "2/1", "last"]


async def test_pauses_use_the_given_sleep_function() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    scenario = msgspec.convert({"replies": [{"chunks": [{"pause_ms": 250}, {"text": "a"}]}]}, Scenario)
    assert await ask(ScriptedModel(scenario, sleep=sleep), PROMPT) == [TextChunk("a"), Finished("stop")]
    assert slept == [0.25]


@pytest.mark.spec("F9")
async def test_a_cut_breaks_the_stream_before_finished() -> None:
    seen: list[Chunk] = []
    with pytest.raises(BrokenStream):
        request = Request(system="", messages=(PROMPT,))
        async for chunk in scripted({"chunks": [{"text": "a"}, {"cut": True}]}).stream(request):
            seen.append(chunk)  # noqa: PERF401 - what came before the error counts
    assert seen == [TextChunk("a")]


@pytest.mark.parametrize(
    ("kind", "error"),
    [("auth", AuthFailed), ("quota", QuotaExhausted), ("transient", Transient), ("bad_request", BadRequest)],
)
async def test_an_error_is_raised_as_its_kind(kind: str, error: type[ModelError]) -> None:
    with pytest.raises(error, match="so it is") as raised:
        await ask(scripted({"chunks": [{"error": {"kind": kind, "message": "so it is"}}]}), PROMPT)
    assert type(raised.value) is error


async def test_a_transient_error_can_say_when_to_retry() -> None:
    with pytest.raises(Transient) as raised:
        await ask(scripted({"chunks": [{"error": {"kind": "transient", "retry_after": 2}}]}), PROMPT)
    assert raised.value.retry_after == 2


async def test_requests_are_kept_for_tests_to_look_at() -> None:
    model = scripted(say("a"))
    await ask(model, PROMPT)
    assert model.requests == [Request(system="", messages=(PROMPT,))]


# --- which reply ---


async def test_a_scenario_that_runs_out_says_so() -> None:
    model = scripted(say("only"))
    await ask(model, PROMPT)
    with pytest.raises(BadRequest, match="exhausted: it has 1 replies"):
        await ask(model, PROMPT)


async def test_a_reply_with_a_condition_is_served_when_it_holds() -> None:
    model = scripted(say("call"), say("sorry", when={"result_contains": "denied"}), say("fine"))
    await ask(model, PROMPT)
    assert await text_of(model, PROMPT, ModelMessage((Text("call"),)), results("it was denied here")) == "sorry"


async def test_a_reply_whose_condition_does_not_hold_is_skipped_for_good() -> None:
    model = scripted(say("call"), say("sorry", when={"result_contains": "denied"}), say("fine"), say("end"))
    await ask(model, PROMPT)
    talk: tuple[Message, ...] = (PROMPT, ModelMessage((Text("call"),)), results("done"))
    assert await text_of(model, *talk) == "fine"
    talk += (ModelMessage((Text("fine"),)), results("denied"))
    assert await text_of(model, *talk) == "end"


async def test_a_condition_looks_only_at_the_newest_results() -> None:
    model = scripted(say("call"), say("go on"), say("sorry", when={"result_contains": "denied"}), say("fine"))
    talk = (PROMPT, ModelMessage((Text("call"),)), results("denied"), ModelMessage((Text("go on"),)), results("done"))
    assert await text_of(model, *talk) == "fine"


async def test_results_that_were_cancelled_before_a_new_prompt_still_count() -> None:
    model = scripted(say("call"), say("sorry", when={"result_contains": "cancelled"}))
    assert await text_of(model, PROMPT, ModelMessage((Text("call"),)), results("cancelled"), PROMPT) == "sorry"


# --- after a restart ---


TOUR = [
    say("zero"),
    {"chunks": [{"text": "half"}, {"cut": True}]},
    {"chunks": [{"error": {"kind": "transient"}}]},
    {"chunks": [{"text": "one"}, {"call": {"name": "x", "id": "c1"}}]},
    say("denied branch", when={"result_contains": "denied"}),
    {"chunks": [{"thought": "says nothing"}]},
    {"chunks": [{"text": "two"}, {"call": {"name": "x", "id": "c1"}}]},
    say("repeated {n}", repeat=2),
    say("sorry {n}", when={"result_contains": "denied"}),
    say("end {n}"),
]


async def play(model: ScriptedModel, talk: list[Message], outcome: str) -> str:
    """One turn as the agent plays it: failures and empty replies are asked for again and leave nothing behind."""
    while True:
        parts: list[ModelPart] = []
        try:
            for chunk in await ask(model, *talk):
                match chunk:
                    case TextChunk(text):
                        parts.append(Text(text))
                    case CallChunk():
                        parts.append(Call("c1", chunk.name, chunk.args))
                    case _:
                        pass
        except Transient:
            continue
        if parts:
            break
    talk.append(ModelMessage(tuple(parts)))
    talk.append(results(outcome) if len(parts) > 1 else PROMPT)
    return "".join(part.text for part in parts if isinstance(part, Text))


@pytest.mark.spec("F11")
@pytest.mark.parametrize("outcome", ["done", "denied"])
async def test_a_scenario_continues_in_a_new_process_where_it_stopped(outcome: str) -> None:
    turns = 7 if outcome == "denied" else 6
    for restart in range(turns):
        unbroken, resumed = scripted(*TOUR), scripted(*TOUR)
        talk: list[Message] = [PROMPT]
        for _ in range(restart):
            await play(unbroken, talk, outcome)
        fork = list(talk)
        rest = [await play(unbroken, talk, outcome) for _ in range(turns - restart)]
        assert [await play(resumed, fork, outcome) for _ in range(turns - restart)] == rest


async def test_a_shortened_conversation_does_not_restart_the_scenario() -> None:
    model = scripted(say("a"), say("b"), say("c"))
    await ask(model, PROMPT)
    await ask(model, PROMPT, ModelMessage((Text("a"),)), PROMPT)
    assert await text_of(model, UserMessage((Text("a summary of it all"),))) == "c"


# --- files ---


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "truncated"),
        ('{"replys": []}', "replys"),
        ('{"replies": [{"chunks": [{"text": "a"}, {"text": 7}]}]}', r"\$\.replies\[0\]\.chunks\[1\]\.text"),
        ('{"replies": [{"chunks": [{"text": "a", "cut": true}]}]}', r"exactly one.*\$\.replies\[0\]\.chunks\[0\]"),
        ('{"replies": [{"chunks": [{}]}]}', r"exactly one of text, thought"),
        ('{"replies": [{"chunks": [{"call": {"args": {}}}]}]}', r"name.*\$\.replies\[0\]\.chunks\[0\]\.call"),
        ('{"replies": [{"chunks": [{"hang": true}]}]}', "hang"),
        ('{"replies": [{"repeat": 0}]}', r"at least 1.*\$\.replies\[0\]"),
        ('{"replies": [{"finish": "STOP"}]}', r"\$\.replies\[0\]\.finish"),
    ],
)
def test_a_bad_file_is_named_with_the_place(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "tour.json"
    path.write_text(content)
    with pytest.raises(BadRequest, match=f"(?s)tour.json.*{words}"):
        ScriptedModel.from_file(path)


def test_a_missing_file_is_reported_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"cannot read the scenario .*tour\.json: No such file"):
        ScriptedModel.from_file(tmp_path / "tour.json")
