"""One reply and its thoughts: rows A5, B1, F1, F9."""

import asyncio
import re

import pytest

from assent.agent.thoughts import parse_thought
from assent.agent.turn import Retries
from assent.commands import Submit
from assent.events import (
    CallRequested,
    CallStarted,
    ModelFallback,
    ModelReplied,
    ModelRetry,
    TextDelta,
    ThoughtDelta,
    TurnFinished,
)
from assent.models.scripted import ScriptedModel
from assent.parts import Call, Text, Thought, Usage
from assent.scheduler.call import Failed, Success
from assent.scheduler.ids import CallIds
from support.house import House, call, calls, text


@pytest.mark.spec("F1")
async def test_a_turn_streams_content_thoughts_calls_and_its_end_with_usage():
    house = House(
        {
            "chunks": [
                {"thought": "**Looking** at the notes"},
                {"text": "I "},
                {"text": "look."},
                call("read_note", "a", text="x"),
            ],
            "usage": {"input": 10, "output": 5},
        },
        text("Done.", usage={"input": 20, "output": 1}),
    )
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        finished = await house.until_done()
    thought = next(e.event for e in house.events if isinstance(e.event, ThoughtDelta))
    assert (thought.subject, thought.description) == ("Looking", "at the notes")
    assert [e.event.text for e in house.events if isinstance(e.event, TextDelta)] == ["I ", "look.", "Done."]
    first = house.recorded(ModelReplied)[0]
    assert [type(part) for part in first.parts] == [Thought, Text, Call]
    assert finished.usage == Usage(30, 6)


@pytest.mark.spec("F1")
@pytest.mark.parametrize(
    ("kind", "type_"),
    [("auth", "auth"), ("bad_request", "bad_request"), ("quota", "quota"), ("transient", "unavailable")],
)
async def test_a_model_error_ends_the_turn_with_its_kind_and_text(kind: str, type_: str):
    house = House({"chunks": [{"error": {"kind": kind, "message": "no luck"}}], "repeat": 9})
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        finished = await house.until_done()
    assert finished.status == "failed" and finished.failure is not None
    assert (finished.failure.type, finished.failure.message) == (type_, "no luck")


@pytest.mark.spec("F1")
@pytest.mark.spec("F8")
async def test_when_the_quota_is_used_up_the_smaller_model_goes_on_and_it_is_said():
    house = House({"chunks": [{"error": {"kind": "quota", "message": "no more today"}}]})
    smaller = ScriptedModel(House(text("From the small one.")).scenario, "small")
    runner = await house.open()
    runner._work._loop._turn._fallback = lambda: smaller  # pyright: ignore[reportPrivateUsage]
    async with runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"
    said = next(e.event for e in house.events if isinstance(e.event, ModelFallback))
    assert (said.model, said.fallback, said.reason) == ("scripted", "small", "no more today")
    assert house.recorded(ModelReplied)[0].model == "small"


@pytest.mark.spec("F9")
async def test_a_cut_reply_is_asked_for_again_and_no_call_of_it_runs():
    house = House(
        {"chunks": [{"text": "half"}, call("run_note", "a", text="never"), {"cut": True}]},
        calls(call("read_note", "b", text="whole")),
        text("Done."),
    )
    async with await house.open(mode="yolo") as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"
    assert house.world.effects == ["whole"]
    retry = next(e.event for e in house.events if isinstance(e.event, ModelRetry))
    assert retry.attempt == 1
    assert house.recorded(ModelReplied)[0].parts == (Call("b", "read_note", {"text": "whole"}),)


@pytest.mark.spec("F9")
async def test_an_empty_reply_is_asked_for_again():
    house = House({"chunks": [{"thought": "hm"}]}, text("Done."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"


@pytest.mark.spec("F9")
@pytest.mark.spec("F8")
async def test_retries_wait_longer_each_time_and_end_some_day():
    house = House({"chunks": [{"cut": True}], "repeat": 20})
    async with await house.open(retries=Retries(attempts=4, first_delay=1.0)) as runner:
        await house.send(runner, Submit("go"))
        finished = await house.until_done()
    assert finished.status == "failed" and finished.failure is not None
    assert finished.failure.type == "broken_stream"
    assert len(house.model.requests) == 4
    assert [round(delay / 2**place, 0) for place, delay in enumerate(house.delays)] == [1.0, 1.0, 1.0]


def test_the_providers_own_delay_goes_first_unless_it_is_unreasonable():
    retries = Retries(longest_delay=30.0)
    assert retries.delay(1, 7.5) == 7.5
    assert retries.delay(1, 9_999.0) == 60.0
    assert retries.delay(9, None) <= 39.0


@pytest.mark.spec("B1")
async def test_nothing_is_scheduled_before_the_whole_reply_was_read():
    house = House({"chunks": [call("read_note", "a", text="x"), {"pause_ms": 1}, {"text": "after"}]}, text("Done."))
    reached = asyncio.Event()
    release = asyncio.Event()

    async def pause(_: float) -> None:
        reached.set()
        await release.wait()

    runner = await house.open()
    house.model._sleep = pause  # pyright: ignore[reportPrivateUsage]
    async with runner:
        await house.send(runner, Submit("go"))
        await reached.wait()
        assert house.recorded(CallRequested) == []
        release.set()
        await house.until_done()
    assert house.world.effects == ["x"]


@pytest.mark.spec("A5")
async def test_a_missing_call_id_is_made_up_and_unique_for_the_session():
    house = House(
        calls(call("read_note", text="x"), call("read_note", text="y")), calls(call("read_note", text="z")), text("ok")
    )
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_done()
    ids = [event.request.call_id for event in house.recorded(CallRequested)]
    assert len(set(ids)) == 3 and all(id.startswith("read_note-") for id in ids)
    parts = [part for event in house.recorded(ModelReplied) for part in event.parts if isinstance(part, Call)]
    assert [part.call_id for part in parts] == ids


@pytest.mark.spec("A5")
async def test_a_call_id_that_was_used_before_is_refused_alone():
    house = House(
        calls(call("read_note", "a", text="x"), call("read_note", "a", text="twice")),
        calls(call("read_note", "a", text="again")),
        text("ok"),
    )
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_done()
        states = list(runner.state.calls.values())
    assert house.world.effects == ["x"]
    assert [type(state) for state in states] == [Success, Failed, Failed]
    assert all(state.failure.type == "duplicate_call_id" for state in states if isinstance(state, Failed))
    assert len(house.recorded(CallStarted)) == 1


ODD = ("a/b", "..", "%2F", "a b", "ü", "x" * 200, "-v", "a\n")


@pytest.mark.spec("A5")
async def test_a_call_id_that_fits_into_no_address_is_replaced_by_one_of_ours():
    house = House(calls(*(call("read_note", id, text=id) for id in (*ODD, "fits-1.a_~"))), text("ok"))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_done()
    ids = [event.request.call_id for event in house.recorded(CallRequested)]
    assert len(set(ids)) == len(ODD) + 1 and ids[-1] == "fits-1.a_~"
    assert all(re.fullmatch("[A-Za-z0-9_][A-Za-z0-9_.~-]{0,127}", id) for id in ids)
    assert sorted(house.world.effects) == sorted((*ODD, "fits-1.a_~"))


@pytest.mark.spec("A5")
def test_an_odd_call_id_that_comes_again_is_refused_also_after_a_restart():
    first = CallIds().request("a/b", "../x y", {}, "p")
    again = CallIds([first.call_id]).request("a/b", "../x y", {}, "p")
    assert not first.problem and "used before" in again.problem
    assert re.fullmatch("call-[0-9a-f]{24}", first.call_id) and re.fullmatch("call-[0-9a-f]{12}", again.call_id)


@pytest.mark.spec("F5")
async def test_the_same_calls_with_the_same_results_stop_the_turn():
    house = House({"chunks": [call("read_note", text="x"), call("read_note", text="y")], "repeat": 50})
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "loop_detected"
    assert house.world.effects == ["x", "y"] * 5


@pytest.mark.spec("F5")
async def test_calls_that_differ_are_no_loop():
    house = House({"chunks": [call("read_note", text="step {n}")], "repeat": 20}, text("Done."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"


@pytest.mark.parametrize(
    ("thought", "subject", "description"),
    [
        ("**Subject:** text", "Subject:", "text"),
        ("**Only subject**", "Only subject", ""),
        ("only description", "", "only description"),
        ("**Two\nlines** text", "Two\nlines", "text"),
        ("**First** and **second**", "First", "and **second**"),
        ("before **Subject** after", "Subject", "before  after"),
        ("**unclosed text", "", "**unclosed text"),
        ("**** rest", "", "rest"),
        ("", "", ""),
    ],
)
@pytest.mark.spec("F1")
def test_a_thought_is_a_bold_subject_and_the_rest(thought: str, subject: str, description: str):
    assert parse_thought(thought) == (subject, description)


async def test_a_bug_in_our_own_code_ends_the_turn_and_is_told():
    house = House(text("never"))

    def broken(_: object) -> object:
        raise ZeroDivisionError("ours")

    runner = await house.open()
    house.model.stream = broken  # pyright: ignore
    async with runner:
        await house.send(runner, Submit("go"))
        finished = await house.until_done()
    assert finished.status == "failed" and finished.failure is not None
    assert finished.failure.message == "ZeroDivisionError: ours"
    assert len(house.recorded(TurnFinished)) == 1
