"""Compression: the older part of a conversation becomes a summary; no call is lost. Rows F6, F1."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.agent import tokens
from assent.agent.compression import EMPTY, INTRODUCTION, LATEST, NOT_SMALLER, NOTHING, cut_position
from assent.commands import CancelTurn, Compress, Submit
from assent.events import (
    Attached,
    CallFinished,
    CallRequest,
    CallRequested,
    ChatCompressed,
    Envelope,
    ModelReplied,
    PromptSubmitted,
    SessionCreated,
)
from assent.parts import Call, Message, ModelMessage, Result, Text, UserMessage
from assent.session.fork import fork_session
from assent.session.state import UNDERSTOOD, SessionState, fold
from support.house import House, call, calls, text

pytestmark = pytest.mark.spec("F6")

LONG = "A long story. " * 200


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


# --- asked for by a person ---


async def test_of_what_a_prompt_brought_along_the_summary_is_made_from_the_ends():
    house = House(text("Seen."), text("# Wishes\nNone."))
    attached = Attached("a.txt", parts=(Text("begin" + "x" * 100_000 + "end"),))

    async def load() -> tuple[Attached, ...]:
        return (attached,)

    house.options["load_mentions"] = lambda text, policy: load()  # pyright: ignore
    async with await house.open() as runner:
        await house.send(runner, Submit("read @a.txt"))
        await house.until_done()
        assert await house.send(runner, Compress()) == ""
    (transcript,) = texts(house.model.requests[1].messages)
    assert "User: read @a.txt\nNamed by the user: " in transcript
    assert "begin" in transcript and "end" in transcript
    assert len(transcript) < 6_000


@pytest.mark.spec("F1")
async def test_the_older_part_becomes_a_summary_and_the_newest_stays_word_for_word():
    house = House(text(LONG), text("Short."), text("# Wishes\nA story."), text("Yes."))
    async with await house.open() as runner:
        for count, prompt in enumerate(("tell", "more"), start=1):
            await house.send(runner, Submit(prompt))
            await house.until_done(count)
        assert await house.send(runner, Compress(by="ann")) == ""
        history = texts(runner.state.history())
        await house.send(runner, Submit("go on"))
        await house.until_done(3)
    (done,) = house.recorded(ChatCompressed)
    assert history == [f"{INTRODUCTION}\n\n# Wishes\nA story.", UNDERSTOOD.parts[0].text, "more", "Short."]  # pyright: ignore
    assert (done.replaced, done.by, done.problem) == (2, "ann", "")
    assert done.tokens_before > 700 > 100 > done.tokens_after
    summary_request, next_request = house.model.requests[2:]
    (transcript,) = texts(summary_request.messages)
    assert transcript == f"<transcript>\nUser: tell\nAgent: {LONG}\n</transcript>"
    assert summary_request.tools == ()
    assert texts(next_request.messages) == [*history, "go on"]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (text(LONG * 2), NOT_SMALLER),
        (text(" "), EMPTY),
        ({"chunks": [{"error": {"kind": "bad_request", "message": "no"}}]}, "the model could not summarise: no"),
    ],
)
async def test_what_does_not_help_leaves_the_conversation_as_it_is_and_says_so(reply: dict[str, object], problem: str):
    house = House(text(LONG), reply)
    async with await house.open() as runner:
        await house.send(runner, Submit("tell"))
        await house.until_done()
        before = runner.state.history()
        assert await house.send(runner, Compress()) == problem
        assert runner.state.history() == before
    assert [event.problem for event in house.recorded(ChatCompressed)] == [problem]


async def test_an_empty_conversation_has_nothing_to_compress():
    house = House()
    async with await house.open() as runner:
        assert await house.send(runner, Compress()) == NOTHING
    assert house.model.requests == []


async def test_it_waits_for_the_end_of_the_turn_and_prompts_wait_for_it():
    house = House(calls(call("run_note", "a", text="x")), text(LONG), text("# Wishes"), text("Last."))
    async with await house.open() as runner:
        await house.send(runner, Submit("first"))
        await house.until_waiting(runner)
        await runner.send(Compress())
        await runner.send(Submit("second"))
        await house.answer(runner, "a")
        await house.until_done(2)
    order = [type(e.event) for e in house.events if isinstance(e.event, PromptSubmitted | ChatCompressed)]
    assert order == [PromptSubmitted, ChatCompressed, PromptSubmitted]


async def test_it_can_be_cancelled_and_the_session_goes_on():
    house = House(text(LONG), {"chunks": [{"pause_ms": 1}, {"text": "never"}]}, text("Here."))
    begun = asyncio.Event()

    async def pause(_: float) -> None:
        begun.set()
        await asyncio.Event().wait()

    runner = await house.open()
    house.model._sleep = pause  # pyright: ignore[reportPrivateUsage]
    async with runner:
        await house.send(runner, Submit("tell"))
        await house.until_done()
        key = await runner.send(Compress())
        await begun.wait()
        assert await house.send(runner, CancelTurn()) == ""
        await house.until(lambda: house._taken(key))  # pyright: ignore[reportPrivateUsage]
        await house.send(runner, Submit("still there?"))
        assert (await house.until_done(2)).status == "completed"
    assert house.recorded(ChatCompressed) == []
    assert house._taken(key).problem == "cancelled"  # pyright: ignore


async def test_cancelled_before_it_has_begun_it_is_taken_too_and_the_session_goes_on():
    house = House(text(LONG), text("Here."))
    async with await house.open() as runner:
        await house.send(runner, Submit("tell"))
        await house.until_done()
    await house.log.put(house.session, "k", Compress())
    await house.log.put(house.session, "c", CancelTurn())
    async with await house.open() as runner:
        await house.until(lambda: house._taken("k"))  # pyright: ignore[reportPrivateUsage]
        await house.send(runner, Submit("still there?"))
        assert (await house.until_done(2)).status == "completed"
    assert house._taken("k").problem == "cancelled"  # pyright: ignore
    assert house.recorded(ChatCompressed) == []


# --- by itself ---


async def test_a_long_conversation_is_compressed_in_the_middle_of_a_turn_and_the_request_is_kept():
    house = House(
        {"chunks": [call("read_note", "a", text=LONG)], "usage": {"input": 600, "output": 10}},
        {"chunks": [call("read_note", "b", text="y")], "usage": {"input": 2_000, "output": 10}},
        text("# Facts\nx", usage={"input": 300, "output": 20}),
        text("Done.", usage={"input": 200, "output": 5}),
    )
    house.options["compress_above"] = 1_500
    async with await house.open() as runner:
        await house.send(runner, Submit("Please read."))
        finished = await house.until_done()
        assert runner.state.tokens < 1_500
    (done,) = house.recorded(ChatCompressed)
    assert done.prompt_id.endswith("########0")
    assert finished.status == "completed" and finished.usage.input == 3_100
    last = house.model.requests[-1].messages
    assert texts(last)[0] == f"{INTRODUCTION}\n\n# Facts\nx\n\n{LATEST}\nPlease read."
    calls_left = [part.call_id for message in last for part in message.parts if isinstance(part, Call)]
    results_left = [part.call_id for message in last for part in message.parts if isinstance(part, Result)]
    assert calls_left == results_left == ["b"]


async def test_after_a_failure_it_is_not_tried_before_every_request():
    house = House(
        {"chunks": [call("read_note", "a", text=LONG)], "usage": {"input": 100}},
        {"chunks": [call("read_note", "b", text="x")], "usage": {"input": 1_000}},
        text(LONG * 9),
        *({"chunks": [call("read_note", f"d{n}", text="x")], "usage": {"input": 1_000}} for n in range(3)),
        text("Done."),
    )
    house.options["compress_above"] = 800
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"
    assert [event.problem for event in house.recorded(ChatCompressed)] == [NOT_SMALLER]


async def test_no_request_is_spent_when_all_that_is_long_is_new():
    house = House({"chunks": [call("read_note", "a", text=LONG)]}, text("Done."))
    house.options["compress_above"] = 100
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"
    assert len(house.model.requests) == 2 and house.recorded(ChatCompressed) == []


async def test_without_a_limit_nothing_is_compressed():
    house = House({"chunks": [call("read_note", "a", text="x")], "usage": {"input": 10**9}}, text("Done."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_done()
    assert house.recorded(ChatCompressed) == []


# --- afterwards ---


async def test_a_resumed_and_a_forked_session_remember_the_summary():
    house = House(text(LONG), text("# Wishes"))
    async with await house.open() as runner:
        await house.send(runner, Submit("tell"))
        await house.until_done()
        await house.send(runner, Compress())
        before = runner.state.history()
    assert texts(before)[0] == f"{INTRODUCTION}\n\n# Wishes"
    copy = await fork_session(house.log, house.session)
    for session in (house.session, copy):
        state = fold(session, await house.log.read(session))
        assert state.history() == before


# --- where it may be cut ---


def reply(*call_ids: str) -> tuple[ModelMessage, UserMessage]:
    return (
        ModelMessage(tuple(Call(id, "t", {}) for id in call_ids)),
        UserMessage(tuple(Result(id, "t", {"output": "x" * 100}) for id in call_ids)),
    )


def test_the_cut_is_never_between_a_call_and_its_result():
    prompt = UserMessage((Text("p"),))
    history: list[Message] = [prompt]
    for number in range(10):
        history += reply(f"a{number}", f"b{number}")
        cut = cut_position(history)
        assert not isinstance(history[cut].parts[0], Result)
        assert cut < len(history), "the newest calls stay until the model has answered their results"
    history.append(ModelMessage((Text("x" * 100_000),)))
    assert cut_position(history) == len(history)


@given(
    batches=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    answered=st.integers(0, 20),
    replaced=st.integers(0, 20),
)
def test_the_fold_keeps_every_call_that_has_no_result(batches: list[int], answered: int, replaced: int):
    """Whatever an event says: calls and results stay together, and nothing unanswered goes."""
    events: list[object] = [
        SessionCreated(folder="/w", model="m", mode="default", version="1"),
        PromptSubmitted("p", "go", "ann"),
    ]
    ids: list[str] = []
    for number, size in enumerate(batches):
        mine = [f"{number}-{place}" for place in range(size)]
        parts = tuple(Call(id, "t", {}) for id in mine) or (Text("said"),)
        events.append(ModelReplied(prompt_id="p", model="m", parts=parts, finish="stop"))
        events += [CallRequested(CallRequest(call_id=id, tool="t", args={}, prompt_id="p")) for id in mine]
        ids += mine
    for id in ids[:answered]:
        events.append(CallFinished(call_id=id, status="cancelled", result=Result(id, "t", {"output": "x"})))
    events.append(ChatCompressed(prompt_id="p", replaced=replaced, summary="summary", tokens_before=10, tokens_after=5))
    state = SessionState("s")
    for seq, event in enumerate(events, start=1):
        state.apply(Envelope(seq, 0.0, "s", event))  # pyright: ignore
    history = state.history()
    left = [part.call_id for message in history for part in message.parts if isinstance(part, Call)]
    results = [part.call_id for message in history for part in message.parts if isinstance(part, Result)]
    assert left == results
    assert set(ids[answered:]) <= set(left)
    assert [type(message) for message in history[:1]] == [UserMessage]


def test_estimates_are_near_what_providers_count():
    assert tokens.of_text("a" * 400) == 101
    assert 140 <= tokens.of_text("字" * 100) <= 160
