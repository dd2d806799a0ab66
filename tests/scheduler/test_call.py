"""The seven states and the table: rows A1 to A4."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.app.wording import took
from assent.approval import Approval, Decision, ExecDetails
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    ApprovalRequested,
    CallFinished,
    CallOutput,
    CallProcess,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    Event,
)
from assent.parts import Failure, Result
from assent.scheduler.call import (
    TRANSITIONS,
    AwaitingApproval,
    Cancelled,
    Executing,
    Failed,
    IllegalTransition,
    Scheduled,
    Success,
    Terminal,
    ToolCall,
    Validating,
    advance,
    begin,
    status,
)
from support.scheduler_harness import SchedulerHarness

REQUEST = CallRequest(call_id="c", tool="tool", args={"a": 1}, prompt_id="s########0")
APPROVAL = Approval(
    id="a",
    digest="d",
    details=ExecDetails(command="ls", roots=("ls",), directory="/w", risk="low", risk_reason="x"),
    options=("proceed_once", "cancel"),
    why="why",
)
DECISION = Decision(source="rule", reason="a rule")
RESULT = Result("c", "tool", {"output": "x"})

EVENTS: dict[str, Event] = {
    "asked": ApprovalRequested("c", APPROVAL),
    "answered": ApprovalAnswered(call_id="c", approval_id="a", outcome="proceed_once", by="ann"),
    "modifying": ApprovalModifying("c", "ann"),
    "scheduled": CallScheduled("c", DECISION),
    "started": CallStarted("c", "d"),
    "output": CallOutput("c", "text"),
    "process": CallProcess("c", 7),
    "success": CallFinished(call_id="c", status="success", result=RESULT),
    "error": CallFinished(call_id="c", status="error", result=RESULT, failure=Failure("t", "m")),
    "cancelled": CallFinished(call_id="c", status="cancelled", result=RESULT),
}
STATES: dict[str, ToolCall] = {
    "validating": Validating(REQUEST, 1.0),
    "awaiting_approval": AwaitingApproval(request=REQUEST, started_at=1.0, approval=APPROVAL),
    "scheduled": Scheduled(REQUEST, 1.0, DECISION),
    "executing": Executing(request=REQUEST, started_at=1.0, decision=DECISION),
    "success": Success(request=REQUEST, started_at=1.0, decision=DECISION, result=RESULT, display=None, duration_ms=5),
    "error": Failed(request=REQUEST, started_at=1.0, result=RESULT, failure=Failure("t", "m"), duration_ms=5),
    "cancelled": Cancelled(request=REQUEST, started_at=1.0, result=RESULT, duration_ms=5),
}
LEGAL = {
    ("validating", "asked"): "awaiting_approval",
    ("validating", "scheduled"): "scheduled",
    ("validating", "error"): "error",
    ("validating", "cancelled"): "cancelled",
    ("awaiting_approval", "asked"): "awaiting_approval",
    ("awaiting_approval", "answered"): "awaiting_approval",
    ("awaiting_approval", "modifying"): "awaiting_approval",
    ("awaiting_approval", "scheduled"): "scheduled",
    ("awaiting_approval", "error"): "error",
    ("awaiting_approval", "cancelled"): "cancelled",
    ("scheduled", "asked"): "awaiting_approval",
    ("scheduled", "scheduled"): "scheduled",
    ("scheduled", "started"): "executing",
    ("scheduled", "error"): "error",
    ("scheduled", "cancelled"): "cancelled",
    ("executing", "output"): "executing",
    ("executing", "process"): "executing",
    ("executing", "success"): "success",
    ("executing", "error"): "error",
    ("executing", "cancelled"): "cancelled",
}


@pytest.mark.spec("A1")
def test_there_are_seven_states_each_with_the_data_it_needs():
    assert [status(state) for state in STATES.values()] == list(STATES)
    assert set(TRANSITIONS) == {type(state) for state in STATES.values()}
    fields = {name: set(state.__struct_fields__) for name, state in STATES.items()}
    assert "approval" in fields["awaiting_approval"]
    assert {"pid", "output"} <= fields["executing"]
    assert all({"result", "duration_ms"} <= fields[name] for name in ("success", "error", "cancelled"))
    assert not any("pid" in fields[name] for name in STATES if name != "executing")


@pytest.mark.spec("A1")
@pytest.mark.parametrize("state", STATES.values(), ids=list(STATES))
def test_a_state_cannot_be_changed(state: ToolCall):
    with pytest.raises(AttributeError):
        state.started_at = 2.0  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.spec("A2")
@pytest.mark.parametrize(("state", "event"), list(itertools.product(STATES, EVENTS)))
def test_only_what_the_table_allows_is_possible(state: str, event: str):
    expected = LEGAL.get((state, event))
    if expected is None:
        with pytest.raises(IllegalTransition):
            advance(STATES[state], EVENTS[event])
    else:
        assert status(advance(STATES[state], EVENTS[event])) == expected


@pytest.mark.spec("A2")
@given(st.lists(st.sampled_from(list(EVENTS))))
def test_whatever_comes_a_terminal_state_never_changes(events: list[str]):
    call: ToolCall = begin(CallRequested(REQUEST), 1.0)
    for event in events:
        before = call
        try:
            call = advance(call, EVENTS[event])
        except IllegalTransition:
            assert call is before
        if isinstance(before, Terminal):
            assert call is before


@pytest.mark.spec("A1")
def test_an_executing_call_keeps_only_the_newest_output():
    call = advance(advance(STATES["executing"], CallOutput("c", "x" * 70_000)), CallOutput("c", "end"))
    assert isinstance(call, Executing)
    assert len(call.output) == 64_000 and call.output.endswith("xend")


@pytest.mark.spec("A3")
async def test_every_transition_is_announced_in_order_and_the_last_has_the_duration():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    harness.timer += 1.5
    await harness.answer("c1")
    await batch.results()
    kinds = [type(event) for event in harness.journal.events]
    assert kinds == [CallRequested, ApprovalRequested, ApprovalAnswered, CallScheduled, CallStarted, CallFinished]
    assert harness.recorded(CallFinished)[0].duration_ms == 1500


async def test_waiting_for_a_person_does_not_count_as_the_calls_own_time():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    harness.timer += 90
    await harness.answer("c1")
    (finished,) = await batch.results()
    assert isinstance(finished, Success)
    assert (finished.duration_ms, finished.ran_ms) == (90_000, 0)
    assert took(finished) == "0 ms"


@pytest.mark.spec("A3")
def test_events_are_immutable_snapshots():
    event = EVENTS["scheduled"]
    with pytest.raises(AttributeError):
        event.call_id = "other"  # pyright: ignore
    assert msgspec.json.encode(event) == msgspec.json.encode(EVENTS["scheduled"])


@pytest.mark.spec("A4")
async def test_a_finished_call_still_has_its_request_its_outcome_and_its_start():
    harness = SchedulerHarness()
    request = harness.call("run_note", text="a")
    batch = harness.schedule(request)
    await harness.settle()
    await harness.answer("c1", "proceed_once", by="ann")
    (call,) = await batch.results()
    assert call.request == msgspec.structs.replace(request, about="note a")
    assert (call.request.prompt_id, call.request.initiator) == ("s########0", "model")
    assert call.started_at == 1000.0
    assert call.decision is not None
    assert (call.decision.source, call.decision.outcome, call.decision.by) == ("person", "proceed_once", "ann")


@pytest.mark.spec("A3")
@pytest.mark.parametrize("jump", [-3600.0, 3600.0, 1e9])
async def test_a_duration_is_what_really_went_by_when_the_clock_is_set(jump: float):
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("run_note", text="a", door="d"))
    await harness.settle()
    harness.now, harness.timer = harness.now + jump, harness.timer + 2
    await harness.answer("c1")
    await harness.settle()
    harness.now, harness.timer = harness.now - 2 * jump, harness.timer + 3
    harness.world.door("d").set()
    (finished,) = await batch.results()
    assert isinstance(finished, Success)
    assert (finished.duration_ms, finished.ran_ms) == (5000, 3000)


@pytest.mark.parametrize(("jump", "before"), [(60.0, 60_000), (-60.0, 0), (1e9, 0)])
async def test_a_call_from_before_a_restart_counts_by_the_clock_unless_that_was_set(jump: float, before: int):
    harness = SchedulerHarness()
    harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    waiting = harness.calls()["c1"]
    later = SchedulerHarness()
    later.now = harness.now + jump
    batch = later.scheduler.restore([waiting])
    await later.settle()
    later.timer += 1
    await later.answer("c1")
    (finished,) = await batch.results()
    assert finished.duration_ms == before + 1000


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
async def test_an_approval_waits_as_long_as_it_says_when_the_clock_is_set(jump: float):
    harness = SchedulerHarness(approval_ttl=60)
    harness.schedule(harness.call("run_note", text="a"))
    await harness.settle()
    max_wait = harness.scheduler._transitions.max_wait  # pyright: ignore[reportPrivateUsage]
    task = harness.scheduler._tasks["c1"]  # pyright: ignore[reportPrivateUsage]
    harness.now, harness.timer = harness.now + jump, harness.timer + 20
    assert max_wait(task, harness.approval("c1")) == 40
