"""Batches, the gate, parallel execution, cancellation: rows B1 to B12."""

import asyncio

import pytest
from msgspec.structs import replace

from assent.events import CallFinished, CallRequested, CallsQueued, CallStarted
from assent.parts import TerminalDisplay
from assent.policy.rules import Rule
from assent.scheduler.call import AwaitingApproval, Cancelled, Failed, Scheduled, Success
from assent.session.log import LogUnavailable
from support.desk import Desk


@pytest.mark.spec("B1")
async def test_all_calls_of_a_turn_are_one_batch_and_end_in_request_order():
    desk = Desk()
    desk.world.door("late").clear()
    batch = desk.schedule(desk.call("read_note", text="a", door="late"), desk.call("read_note", text="b"))
    await desk.settle()
    desk.world.door("late").set()
    results = await batch.results()
    assert [call.request.args["text"] for call in results] == ["a", "b"]
    assert [type(event) for event in desk.journal.events[:2]] == [CallRequested, CallRequested]


@pytest.mark.spec("B1")
async def test_a_single_call_is_a_batch_too():
    desk = Desk()
    (call,) = await desk.scheduler.schedule(desk.call("read_note", text="a")).results()
    assert isinstance(call, Success)


@pytest.mark.spec("B2")
async def test_a_second_batch_waits_for_the_first_and_they_run_in_order():
    desk = Desk()
    first = desk.schedule(desk.call("read_note", text="one", door="d"))
    second = desk.schedule(desk.call("read_note", text="two"))
    third = desk.schedule(desk.call("read_note", text="three"))
    await desk.settle()
    assert desk.world.effects == ["one"]
    queued = [event for event in desk.journal.announced if isinstance(event, CallsQueued)]
    assert [event.call_ids for event in queued] == [("c2",), ("c3",)]
    desk.world.door("d").set()
    await asyncio.gather(first.results(), second.results(), third.results())
    assert desk.world.effects == ["one", "two", "three"]


@pytest.mark.spec("B2")
async def test_a_queued_batch_can_be_cancelled_and_never_runs():
    desk = Desk()
    first = desk.schedule(desk.call("read_note", text="one", door="d"))
    second = desk.schedule(desk.call("read_note", text="two"))
    await desk.settle()
    desk.scheduler.cancel(second, "not needed any more")
    desk.world.door("d").set()
    await first.results()
    (call,) = await second.results()
    assert isinstance(call, Cancelled)
    assert "not needed any more" in call.result.response["error"]
    assert desk.world.effects == ["one"]


@pytest.mark.spec("B3")
async def test_an_unknown_tool_is_an_error_with_the_nearest_names_and_siblings_go_on():
    desk = Desk()
    unknown, known = await desk.schedule(desk.call("read_not"), desk.call("read_note", text="a")).results()
    assert isinstance(unknown, Failed)
    assert unknown.failure.type == "tool_not_registered"
    assert unknown.failure.message.startswith('Tool "read_not" not found. Did you mean one of: "read_note", ')
    assert unknown.failure.message.count('"') == 8
    assert isinstance(known, Success)


@pytest.mark.spec("B4")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "missing required field `text`"),
        ({"text": 3}, "Expected `str`, got `int`"),
        ({"text": ""}, "length >= 1"),
        ({"text": "a", "extra": 1}, "unknown field `extra`"),
    ],
)
async def test_arguments_that_the_schema_refuses_are_an_error_with_the_validators_message(
    args: dict[str, object], message: str
):
    desk = Desk()
    bad, good = await desk.schedule(desk.call("read_note", args=args), desk.call("read_note", text="a")).results()
    assert isinstance(bad, Failed)
    assert bad.failure.type == "invalid_tool_params"
    assert message in bad.failure.message
    assert isinstance(good, Success)


@pytest.mark.spec("B5")
async def test_a_harmless_call_runs_without_asking():
    desk = Desk()
    assert await desk.run(desk.call("read_note", text="a")) == ["Success"]
    assert desk.asked() == []


@pytest.mark.spec("B5")
async def test_a_call_that_needs_confirmation_waits_until_it_is_answered():
    desk = Desk()
    batch = desk.schedule(desk.call("run_note", text="a"))
    await desk.settle()
    assert isinstance(desk.calls()["c1"], AwaitingApproval)
    assert desk.world.effects == []
    await desk.answer("c1")
    await batch.results()
    assert desk.world.effects == ["a"]


@pytest.mark.spec("B5")
async def test_an_exception_while_deciding_is_an_error_and_never_a_yes():
    desk = Desk(mode="yolo")
    (call,) = await desk.schedule(desk.call("run_note", text="a", fail="deciding")).results()
    assert isinstance(call, Failed)
    assert call.failure.type == "policy_error"
    assert desk.world.effects == []


@pytest.mark.spec("B6")
async def test_nothing_of_the_batch_runs_while_one_call_waits():
    desk = Desk()
    batch = desk.schedule(desk.call("read_note", text="a"), desk.call("run_note", text="b"))
    await desk.settle()
    assert isinstance(desk.calls()["c1"], Scheduled)
    assert desk.world.effects == []
    await desk.answer("c2")
    await batch.results()
    assert sorted(desk.world.effects) == ["a", "b"]


@pytest.mark.spec("B6")
async def test_when_the_gate_opens_all_calls_run_in_parallel():
    desk = Desk()
    batch = desk.schedule(*(desk.call("read_note", text=str(n), door="d") for n in range(5)))
    await desk.settle()
    assert desk.world.running == 5
    desk.world.door("d").set()
    await batch.results()


@pytest.mark.spec("B6")
async def test_no_more_than_max_parallel_calls_run_at_once():
    desk = Desk(max_parallel=2)
    batch = desk.schedule(*(desk.call("read_note", text=str(n), door="d") for n in range(5)))
    await desk.settle()
    desk.world.door("d").set()
    await batch.results()
    assert desk.world.most_running == 2


@pytest.mark.spec("B6")
async def test_the_eager_gate_starts_each_call_as_soon_as_it_is_allowed():
    desk = Desk(gate="eager")
    batch = desk.schedule(desk.call("run_note", text="asks"), desk.call("read_note", text="a"))
    await desk.settle()
    assert desk.world.effects == ["a"]
    await desk.answer("c1")
    await batch.results()


@pytest.mark.spec("B6")
async def test_the_eager_gate_keeps_the_order_of_calls_that_touch_the_same_thing():
    desk = Desk(gate="eager")
    batch = desk.schedule(
        desk.call("read_note", text="one", path="/w/x", door="d"),
        desk.call("read_note", text="two", path="/w/x"),
        desk.call("read_note", text="other", path="/w/y"),
        desk.call("read_note", text="all", path="/w/"),
    )
    await desk.settle()
    assert desk.world.effects == ["one", "other"]
    desk.world.door("d").set()
    await batch.results()
    assert desk.world.effects == ["one", "other", "two", "all"]


@pytest.mark.spec("B7")
async def test_several_calls_wait_at_the_same_time_and_are_answered_in_any_order():
    desk = Desk()
    batch = desk.schedule(*(desk.call("run_note", text=str(n)) for n in range(3)))
    await desk.settle()
    assert len(desk.scheduler.waiting()) == 3
    for call_id in ("c3", "c1", "c2"):
        await desk.answer(call_id)
    assert [type(call) for call in await batch.results()] == [Success] * 3


@pytest.mark.spec("B8")
async def test_failure_refusal_and_cancellation_leave_siblings_alone():
    desk = Desk()
    batch = desk.schedule(
        desk.call("read_note", text="tool", fail="tool"),
        desk.call("read_note", text="bug", fail="bug"),
        desk.call("run_note", text="refused"),
        desk.call("run_note", text="cancelled"),
        desk.call("run_note", text="good"),
    )
    await desk.settle()
    await desk.answer("c3", "cancel")
    desk.scheduler.cancel_call("c4", "changed my mind")
    await desk.answer("c5")
    results = await batch.results()
    assert [type(call) for call in results] == [Failed, Failed, Cancelled, Cancelled, Success]
    assert [c.failure.type for c in results if isinstance(c, Failed)] == ["note_failed", "unhandled_exception"]


@pytest.mark.spec("B9")
async def test_a_batch_ends_only_when_every_call_is_terminal_and_each_end_is_recorded():
    desk = Desk()
    batch = desk.schedule(desk.call("read_note", text="a"), desk.call("read_note", text="b", door="d"))
    pending = asyncio.ensure_future(batch.results())
    await desk.settle()
    assert not pending.done()
    desk.world.door("d").set()
    await pending
    assert [event.call_id for event in desk.recorded(CallFinished)] == ["c1", "c2"]


@pytest.mark.spec("B10")
async def test_cancelling_the_batch_ends_waiting_and_executing_calls_and_keeps_output_and_proposal():
    desk = Desk(gate="eager")
    batch = desk.schedule(
        desk.call("read_note", text="runs", door="never", print="half of the output"),
        desk.call("edit_note", path="/w/f", content="new"),
    )
    await desk.settle()
    desk.scheduler.cancel(batch, "The user cancelled the turn.")
    executing, waiting = await batch.results()
    assert isinstance(executing, Cancelled) and isinstance(waiting, Cancelled)
    assert executing.display == TerminalDisplay("half of the output")
    assert executing.result.response["output"] == "half of the output"
    assert waiting.approval is not None and waiting.approval.details.new == "new"  # pyright: ignore
    assert desk.world.files == {}


@pytest.mark.spec("B10")
async def test_nothing_starts_after_a_cancel():
    desk = Desk()
    batch = desk.schedule(desk.call("run_note", text="a"), desk.call("run_note", text="b"))
    await desk.settle()
    await desk.answer("c1")
    desk.scheduler.cancel(batch, "stop")
    await batch.results()
    assert desk.recorded(CallStarted) == []
    assert desk.world.effects == []


@pytest.mark.spec("B11")
async def test_always_releases_every_other_waiting_call_that_the_grant_covers():
    desk = Desk()
    batch = desk.schedule(
        desk.call("run_note", text="same"),
        desk.call("run_note", text="same"),
        desk.call("run_note", text="other"),
    )
    await desk.settle()
    await desk.answer("c1", "proceed_always")
    await desk.settle()
    assert [call.request.call_id for call in desk.scheduler.waiting()] == ["c3"]
    await desk.answer("c3", "cancel")
    assert [type(call) for call in await batch.results()] == [Success, Success, Cancelled]


@pytest.mark.spec("B12")
async def test_with_nobody_to_ask_what_would_ask_is_refused_with_a_clear_reason():
    desk = Desk(attended=False)
    asks, reads = await desk.schedule(desk.call("run_note", text="a"), desk.call("read_note", text="b")).results()
    assert isinstance(asks, Failed)
    assert asks.failure.type == "approval_unavailable"
    assert "nobody is there to give it" in asks.failure.message
    assert isinstance(reads, Success)
    assert desk.world.effects == ["b"]


@pytest.mark.spec("B12")
async def test_with_nobody_to_ask_what_a_rule_allows_still_runs():
    desk = Desk(attended=False, rules=[Rule(ruling="allow", tool="run_note", argument="a")])
    assert await desk.run(desk.call("run_note", text="a"), desk.call("run_note", text="ab")) == ["Success", "Failed"]


@pytest.mark.spec("E4")
async def test_a_call_that_the_person_started_is_not_asked_but_a_deny_rule_still_holds():
    desk = Desk(rules=[Rule(ruling="deny", tool="run_note", argument="forbidden")])
    mine = desk.call("run_note", text="mine")
    forbidden = desk.call("run_note", text="forbidden")
    for name, request in (("Success", mine), ("Failed", forbidden)):
        started = replace(request, initiator="person")
        assert await desk.run(started) == [name]
    assert desk.world.effects == ["mine"]


async def test_a_journal_that_cannot_write_stops_the_batch_before_any_effect():
    desk = Desk()
    batch = desk.schedule(desk.call("run_note", text="a"), desk.call("run_note", text="b"))
    await desk.settle()
    desk.journal.broken = LogUnavailable("the disk is full")
    with pytest.raises(LogUnavailable):
        await desk.answer("c1")
    with pytest.raises(LogUnavailable):
        await desk.answer("c2")
    with pytest.raises(LogUnavailable):
        await batch.results()
    assert desk.world.effects == []
