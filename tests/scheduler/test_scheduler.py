"""Batches, the gate, parallel execution, cancellation: rows B1 to B12."""

import asyncio

import pytest
from msgspec.structs import replace

from assent.events import CallFinished, CallRequested, CallsQueued, CallStarted
from assent.parts import TerminalDisplay
from assent.policy.rules import Rule
from assent.scheduler.call import AwaitingApproval, Cancelled, Failed, Scheduled, Success
from assent.session.log import LogUnavailable
from assent.tools.registry import Registry
from support.doubles import World
from support.scheduler_harness import SchedulerHarness, note_tools


@pytest.mark.spec("B1")
async def test_all_calls_of_a_turn_are_one_batch_and_end_in_request_order():
    harness = SchedulerHarness()
    harness.world.door("late").clear()
    batch = harness.schedule(harness.call("read_note", text="a", door="late"), harness.call("read_note", text="b"))
    await harness.settle()
    harness.world.door("late").set()
    results = await batch.results()
    assert [call.request.args["text"] for call in results] == ["a", "b"]
    assert [type(event) for event in harness.journal.events[:2]] == [CallRequested, CallRequested]


@pytest.mark.spec("B1")
async def test_a_single_call_is_a_batch_too():
    harness = SchedulerHarness()
    (call,) = await harness.scheduler.schedule(harness.call("read_note", text="a")).results()
    assert isinstance(call, Success)


@pytest.mark.spec("B2")
async def test_a_second_batch_waits_for_the_first_and_they_run_in_order():
    harness = SchedulerHarness()
    first = harness.schedule(harness.call("read_note", text="one", door="d"))
    second = harness.schedule(harness.call("read_note", text="two"))
    third = harness.schedule(harness.call("read_note", text="three"))
    await harness.settle()
    assert harness.world.effects == ["one"]
    queued = [event for event in harness.journal.announced if isinstance(event, CallsQueued)]
    assert [event.call_ids for event in queued] == [("c2",), ("c3",)]
    harness.world.door("d").set()
    await asyncio.gather(first.results(), second.results(), third.results())
    assert harness.world.effects == ["one", "two", "three"]


@pytest.mark.spec("B2")
async def test_a_queued_batch_can_be_cancelled_and_never_runs():
    harness = SchedulerHarness()
    first = harness.schedule(harness.call("read_note", text="one", door="d"))
    second = harness.schedule(harness.call("read_note", text="two"))
    await harness.settle()
    harness.scheduler.cancel(second, "not needed any more")
    harness.world.door("d").set()
    await first.results()
    (call,) = await second.results()
    assert isinstance(call, Cancelled)
    assert "not needed any more" in call.result.response["error"]
    assert harness.world.effects == ["one"]


@pytest.mark.spec("B3")
async def test_an_unknown_tool_is_an_error_with_the_nearest_names_and_siblings_go_on():
    harness = SchedulerHarness()
    unknown, known = await harness.schedule(harness.call("read_not"), harness.call("read_note", text="a")).results()
    assert isinstance(unknown, Failed)
    assert unknown.failure.type == "tool_not_registered"
    assert unknown.failure.message.startswith('Tool "read_not" not found. Did you mean one of: "read_note", ')
    assert unknown.failure.message.count('"') == 8
    assert isinstance(known, Success)


@pytest.mark.spec("E2b")
async def test_an_excluded_tool_is_unknown_to_the_model_only():
    world = World()
    registry = Registry(note_tools(world))
    registry.exclude(["read_note"])
    harness = SchedulerHarness(world=world, registry=registry)
    by_model = harness.call("read_note", text="a")
    (refused,) = await harness.schedule(by_model).results()
    assert isinstance(refused, Failed) and refused.failure.type == "tool_not_registered"
    by_person = replace(by_model, call_id="p1", initiator="person", args={"text": "b"})
    (run,) = await harness.schedule(by_person).results()
    assert isinstance(run, Success) and harness.world.effects == ["b"]


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
    harness = SchedulerHarness()
    bad, good = await harness.schedule(
        harness.call("read_note", args=args), harness.call("read_note", text="a")
    ).results()
    assert isinstance(bad, Failed)
    assert bad.failure.type == "invalid_tool_params"
    assert message in bad.failure.message
    assert isinstance(good, Success)


@pytest.mark.spec("B5")
async def test_a_harmless_call_runs_without_asking():
    harness = SchedulerHarness()
    assert await harness.run(harness.call("read_note", text="a")) == ["Success"]
    assert harness.asked() == []


@pytest.mark.spec("B5")
async def test_a_call_that_needs_confirmation_waits_until_it_is_answered():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    assert isinstance(harness.calls()["c1"], AwaitingApproval)
    assert harness.world.effects == []
    await harness.answer("c1")
    await batch.results()
    assert harness.world.effects == ["a"]


@pytest.mark.spec("B5")
async def test_an_exception_while_deciding_is_an_error_and_never_a_yes():
    harness = SchedulerHarness(mode="yolo")
    (call,) = await harness.schedule(harness.call("run_note", text="a", fail="deciding")).results()
    assert isinstance(call, Failed)
    assert call.failure.type == "policy_error"
    assert harness.world.effects == []


@pytest.mark.spec("B6")
async def test_nothing_of_the_batch_runs_while_one_call_waits():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("read_note", text="a"), harness.call("run_note", text="b"))
    await harness.settle()
    assert isinstance(harness.calls()["c1"], Scheduled)
    assert harness.world.effects == []
    await harness.answer("c2")
    await batch.results()
    assert sorted(harness.world.effects) == ["a", "b"]


@pytest.mark.spec("B6")
async def test_when_the_gate_opens_all_calls_run_in_parallel():
    harness = SchedulerHarness()
    batch = harness.schedule(*(harness.call("read_note", text=str(n), door="d") for n in range(5)))
    await harness.settle()
    assert harness.world.running == 5
    harness.world.door("d").set()
    await batch.results()


@pytest.mark.spec("B6")
async def test_no_more_than_max_parallel_calls_run_at_once():
    harness = SchedulerHarness(max_parallel=2)
    batch = harness.schedule(*(harness.call("read_note", text=str(n), door="d") for n in range(5)))
    await harness.settle()
    harness.world.door("d").set()
    await batch.results()
    assert harness.world.most_running == 2


@pytest.mark.spec("B6")
async def test_the_eager_gate_starts_each_call_as_soon_as_it_is_allowed():
    harness = SchedulerHarness(gate="eager")
    batch = harness.schedule(harness.call("run_note", text="asks"), harness.call("read_note", text="a"))
    await harness.settle()
    assert harness.world.effects == ["a"]
    await harness.answer("c1")
    await batch.results()


@pytest.mark.spec("B6")
async def test_the_eager_gate_keeps_the_order_of_calls_that_touch_the_same_thing():
    harness = SchedulerHarness(gate="eager")
    batch = harness.schedule(
        harness.call("read_note", text="one", path="/w/x", door="d"),
        harness.call("read_note", text="two", path="/w/x"),
        harness.call("read_note", text="other", path="/w/y"),
        harness.call("read_note", text="all", path="/w/"),
    )
    await harness.settle()
    assert harness.world.effects == ["one", "other"]
    harness.world.door("d").set()
    await batch.results()
    assert harness.world.effects == ["one", "other", "two", "all"]


@pytest.mark.spec("B7")
async def test_several_calls_wait_at_the_same_time_and_are_answered_in_any_order():
    harness = SchedulerHarness()
    batch = harness.schedule(*(harness.call("run_note", text=str(n)) for n in range(3)))
    await harness.settle()
    assert len(harness.scheduler.waiting()) == 3
    for call_id in ("c3", "c1", "c2"):
        await harness.answer(call_id)
    assert [type(call) for call in await batch.results()] == [Success] * 3


@pytest.mark.spec("B8")
async def test_failure_refusal_and_cancellation_do_not_affect_siblings():
    harness = SchedulerHarness()
    batch = harness.schedule(
        harness.call("read_note", text="tool", fail="tool"),
        harness.call("read_note", text="bug", fail="bug"),
        harness.call("run_note", text="refused"),
        harness.call("run_note", text="cancelled"),
        harness.call("run_note", text="good"),
    )
    await harness.settle()
    await harness.answer("c3", "cancel")
    harness.scheduler.cancel_call("c4", "changed my mind")
    await harness.answer("c5")
    results = await batch.results()
    assert [type(call) for call in results] == [Failed, Failed, Cancelled, Cancelled, Success]
    assert [c.failure.type for c in results if isinstance(c, Failed)] == ["note_failed", "unhandled_exception"]


@pytest.mark.spec("B9")
async def test_a_batch_ends_only_when_every_call_is_terminal_and_each_end_is_recorded():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("read_note", text="a"), harness.call("read_note", text="b", door="d"))
    pending = asyncio.ensure_future(batch.results())
    await harness.settle()
    assert not pending.done()
    harness.world.door("d").set()
    await pending
    assert [event.call_id for event in harness.recorded(CallFinished)] == ["c1", "c2"]


@pytest.mark.spec("B10")
async def test_cancelling_the_batch_ends_waiting_and_executing_calls_and_keeps_output_and_proposal():
    harness = SchedulerHarness(gate="eager")
    batch = harness.schedule(
        harness.call("read_note", text="runs", door="never", print="half of the output"),
        harness.call("edit_note", path="/w/f", content="new"),
    )
    await harness.settle()
    harness.scheduler.cancel(batch, "The user cancelled the turn.")
    executing, waiting = await batch.results()
    assert isinstance(executing, Cancelled) and isinstance(waiting, Cancelled)
    assert executing.display == TerminalDisplay("half of the output")
    assert executing.result.response["output"] == "half of the output"
    assert waiting.approval is not None and waiting.approval.details.new == "new"  # pyright: ignore
    assert harness.world.files == {}


@pytest.mark.spec("B10")
async def test_nothing_starts_after_a_cancel():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a"), harness.call("run_note", text="b"))
    await harness.settle()
    await harness.answer("c1")
    harness.scheduler.cancel(batch, "stop")
    await batch.results()
    assert harness.recorded(CallStarted) == []
    assert harness.world.effects == []


@pytest.mark.spec("B11")
async def test_always_releases_every_other_waiting_call_that_the_grant_covers():
    harness = SchedulerHarness()
    batch = harness.schedule(
        harness.call("run_note", text="same"),
        harness.call("run_note", text="same"),
        harness.call("run_note", text="other"),
    )
    await harness.settle()
    await harness.answer("c1", "proceed_always")
    await harness.settle()
    assert [call.request.call_id for call in harness.scheduler.waiting()] == ["c3"]
    await harness.answer("c3", "cancel")
    assert [type(call) for call in await batch.results()] == [Success, Success, Cancelled]


@pytest.mark.spec("B12")
async def test_with_nobody_to_ask_what_would_ask_is_refused_with_a_clear_reason():
    harness = SchedulerHarness(attended=False)
    asks, reads = await harness.schedule(
        harness.call("run_note", text="a"), harness.call("read_note", text="b")
    ).results()
    assert isinstance(asks, Failed)
    assert asks.failure.type == "approval_unavailable"
    assert "nobody can give it" in asks.failure.message
    assert isinstance(reads, Success)
    assert harness.world.effects == ["b"]


@pytest.mark.spec("B12")
async def test_with_nobody_to_ask_what_a_rule_allows_still_runs():
    harness = SchedulerHarness(attended=False, rules=[Rule(ruling="allow", tool="run_note", argument="a")])
    assert await harness.run(harness.call("run_note", text="a"), harness.call("run_note", text="ab")) == [
        "Success",
        "Failed",
    ]


@pytest.mark.spec("E4")
async def test_a_call_that_the_person_started_is_not_asked_but_a_deny_rule_still_holds():
    harness = SchedulerHarness(rules=[Rule(ruling="deny", tool="run_note", argument="forbidden")])
    mine = harness.call("run_note", text="mine")
    forbidden = harness.call("run_note", text="forbidden")
    for name, request in (("Success", mine), ("Failed", forbidden)):
        started = replace(request, initiator="person")
        assert await harness.run(started) == [name]
    assert harness.world.effects == ["mine"]


@pytest.mark.spec("E4")
async def test_a_mode_says_what_the_model_may_do_not_what_the_person_may():
    harness = SchedulerHarness(mode="plan")
    mine, by_model = harness.call("run_note", text="mine"), harness.call("run_note", text="by the model")
    assert await harness.run(replace(mine, initiator="person")) == ["Success"]
    assert await harness.run(by_model) == ["Failed"]
    assert harness.world.effects == ["mine"]


async def test_a_journal_that_cannot_write_stops_the_batch_before_any_effect():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a"), harness.call("run_note", text="b"))
    await harness.settle()
    harness.journal.broken = LogUnavailable("the disk is full")
    with pytest.raises(LogUnavailable):
        await harness.answer("c1")
    with pytest.raises(LogUnavailable):
        await harness.answer("c2")
    with pytest.raises(LogUnavailable):
        await batch.results()
    assert harness.world.effects == []
