"""One reply and its thoughts: rows A5, B1, F1, F9."""

import asyncio
import re

import pytest

from assent.agent.model_caller import Retries
from assent.commands import Compress, Submit
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
from assent.models.bold_subject import split_subject
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import Call, Text, Thought, Usage
from assent.scheduler.call import Failed, Success
from assent.scheduler.ids import CallIds
from support.session_harness import SessionHarness, call, calls, text


@pytest.mark.spec("F1")
async def test_a_turn_streams_content_thoughts_calls_and_its_end_with_usage():
    harness = SessionHarness(
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
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        finished = await harness.until_done()
    thought = next(e.event for e in harness.events if isinstance(e.event, ThoughtDelta))
    assert (thought.subject, thought.description) == ("Looking", "at the notes")
    assert [e.event.text for e in harness.events if isinstance(e.event, TextDelta)] == ["I ", "look.", "Done."]
    first = harness.recorded(ModelReplied)[0]
    assert [type(part) for part in first.parts] == [Thought, Text, Call]
    assert finished.usage == Usage(30, 6)


@pytest.mark.spec("F1")
@pytest.mark.parametrize(
    ("kind", "type_"),
    [("auth", "auth"), ("bad_request", "bad_request"), ("quota", "quota"), ("transient", "unavailable")],
)
async def test_a_model_error_ends_the_turn_with_its_kind_and_text(kind: str, type_: str):
    harness = SessionHarness({"chunks": [{"error": {"kind": kind, "message": "no luck"}}], "repeat": 9})
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        finished = await harness.until_done()
    assert finished.status == "failed" and finished.failure is not None
    assert finished.failure.type == type_
    assert finished.failure.message.startswith("no luck")


@pytest.mark.spec("F1")
@pytest.mark.spec("F8")
async def test_when_the_quota_is_used_up_the_smaller_model_takes_over_and_an_event_says_so():
    harness = SessionHarness({"chunks": [{"error": {"kind": "quota", "message": "no more today"}}]})
    smaller = ScriptedModel(SessionHarness(text("From the small one.")).scenario, "small")
    runner = await harness.open()
    runner._turn_runner._loop._caller._fallback = lambda: smaller  # pyright: ignore[reportPrivateUsage]
    async with runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"
    said = next(e.event for e in harness.events if isinstance(e.event, ModelFallback))
    assert (said.model, said.fallback, said.reason) == ("scripted", "small", "no more today")
    assert harness.recorded(ModelReplied)[0].model == "small"


@pytest.mark.spec("F9")
async def test_a_cut_reply_is_requested_again_and_none_of_its_calls_runs():
    harness = SessionHarness(
        {"chunks": [{"text": "half"}, call("run_note", "a", text="never"), {"cut": True}]},
        calls(call("read_note", "b", text="whole")),
        text("Done."),
    )
    async with await harness.open(mode="yolo") as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"
    assert harness.world.effects == ["whole"]
    retry = next(e.event for e in harness.events if isinstance(e.event, ModelRetry))
    assert retry.attempt == 1
    assert harness.recorded(ModelReplied)[0].parts == (Call("b", "read_note", {"text": "whole"}),)


@pytest.mark.spec("F9")
async def test_an_empty_reply_is_asked_for_again():
    harness = SessionHarness({"chunks": [{"thought": "hm"}]}, text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"


@pytest.mark.spec("F9")
@pytest.mark.spec("F8")
async def test_retries_wait_longer_each_time_and_end():
    harness = SessionHarness({"chunks": [{"cut": True}], "repeat": 20})
    async with await harness.open(retries=Retries(attempts=4, first_delay=1.0)) as runner:
        await harness.send(runner, Submit("go"))
        finished = await harness.until_done()
    assert finished.status == "failed" and finished.failure is not None
    assert finished.failure.type == "broken_stream"
    assert len(harness.model.requests) == 4
    assert [round(delay / 2**place, 0) for place, delay in enumerate(harness.delays)] == [1.0, 1.0, 1.0]


def test_the_providers_own_delay_takes_precedence_unless_it_is_unreasonable():
    retries = Retries(longest_delay=30.0)
    assert retries.delay(1, 7.5) == 7.5
    assert retries.delay(1, 9_999.0) == 60.0
    assert retries.delay(9, None) <= 39.0


@pytest.mark.spec("B1")
async def test_nothing_is_scheduled_before_the_whole_reply_was_read():
    harness = SessionHarness(
        {"chunks": [call("read_note", "a", text="x"), {"pause_ms": 1}, {"text": "after"}]}, text("Done.")
    )
    reached = asyncio.Event()
    release = asyncio.Event()

    async def pause(_: float) -> None:
        reached.set()
        await release.wait()

    runner = await harness.open()
    harness.model._sleep = pause  # pyright: ignore[reportPrivateUsage]
    async with runner:
        await harness.send(runner, Submit("go"))
        await reached.wait()
        assert harness.recorded(CallRequested) == []
        release.set()
        await harness.until_done()
    assert harness.world.effects == ["x"]


@pytest.mark.spec("A5")
async def test_a_missing_call_id_is_generated_and_unique_in_the_session():
    harness = SessionHarness(
        calls(call("read_note", text="x"), call("read_note", text="y")), calls(call("read_note", text="z")), text("ok")
    )
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
    ids = [event.request.call_id for event in harness.recorded(CallRequested)]
    assert len(set(ids)) == 3 and all(id.startswith("read_note-") for id in ids)
    parts = [part for event in harness.recorded(ModelReplied) for part in event.parts if isinstance(part, Call)]
    assert [part.call_id for part in parts] == ids


@pytest.mark.spec("A5")
async def test_a_call_id_that_was_used_before_is_refused_alone():
    harness = SessionHarness(
        calls(call("read_note", "a", text="x"), call("read_note", "a", text="twice")),
        calls(call("read_note", "a", text="again")),
        text("ok"),
    )
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
        states = list(runner.state.calls.values())
    assert harness.world.effects == ["x"]
    assert [type(state) for state in states] == [Success, Failed, Failed]
    assert all(state.failure.type == "duplicate_call_id" for state in states if isinstance(state, Failed))
    assert len(harness.recorded(CallStarted)) == 1


ODD = ("a/b", "..", "%2F", "a b", "ü", "x" * 200, "-v", "a\n")


@pytest.mark.spec("A5")
async def test_a_call_id_that_does_not_fit_into_a_url_is_replaced():
    harness = SessionHarness(calls(*(call("read_note", id, text=id) for id in (*ODD, "fits-1.a_~"))), text("ok"))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
    ids = [event.request.call_id for event in harness.recorded(CallRequested)]
    assert len(set(ids)) == len(ODD) + 1 and ids[-1] == "fits-1.a_~"
    assert all(re.fullmatch("[A-Za-z0-9_][A-Za-z0-9_.~-]{0,127}", id) for id in ids)
    assert sorted(harness.world.effects) == sorted((*ODD, "fits-1.a_~"))


@pytest.mark.spec("A5")
def test_an_odd_call_id_that_comes_again_is_refused_also_after_a_restart():
    first = CallIds().request("a/b", "../x y", {}, "p")
    again = CallIds([first.call_id]).request("a/b", "../x y", {}, "p")
    assert not first.problem and "already used" in again.problem
    assert re.fullmatch("call-[0-9a-f]{24}", first.call_id) and re.fullmatch("call-[0-9a-f]{12}", again.call_id)


@pytest.mark.spec("A5")
async def test_an_id_that_the_model_counts_anew_after_a_compression_gets_another_one():
    """Kimi counts its calls by the conversation that it sees: `functions.read_note:0`, `functions.read_note:1`."""
    again = calls(call("read_note", "functions.read_note:0", text="x"))
    harness = SessionHarness(again, text("A long story. " * 200), text("# Facts"), again, text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
        assert await harness.send(runner, Compress()) == ""
        await harness.send(runner, Submit("again"))
        await harness.until_done(2)
    first, second = [event.request for event in harness.recorded(CallRequested)]
    assert first.call_id != second.call_id and not second.problem
    assert harness.world.effects == ["x", "x"]


@pytest.mark.spec("F5")
async def test_the_same_calls_with_the_same_results_stop_the_turn():
    harness = SessionHarness({"chunks": [call("read_note", text="x"), call("read_note", text="y")], "repeat": 50})
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "loop_detected"
    assert harness.world.effects == ["x", "y"] * 5


@pytest.mark.spec("F5")
async def test_different_calls_are_not_a_loop():
    harness = SessionHarness({"chunks": [call("read_note", text="step {n}")], "repeat": 20}, text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"


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
    assert split_subject(thought) == (subject, description)


async def test_a_bug_in_assent_ends_the_turn_and_is_reported():
    harness = SessionHarness(text("never"))

    def broken(_: object) -> object:
        raise ZeroDivisionError("ours")

    runner = await harness.open()
    harness.model.stream = broken  # pyright: ignore
    async with runner:
        await harness.send(runner, Submit("go"))
        finished = await harness.until_done()
    assert finished.status == "failed" and finished.failure is not None
    assert finished.failure.message == "ZeroDivisionError: ours"
    assert len(harness.recorded(TurnFinished)) == 1
