"""What a call brings back is masked before it is recorded; what was asked for, and what edits are made from, is not."""

import asyncio

import pytest

from assent.approval import ExecDetails
from assent.events import CallFinished, CallOutput
from assent.parts import PlainDisplay, TerminalDisplay
from assent.scheduler.masking import NOTE
from assent.tools.tool import Invocation, Live, Permit, ToolResult
from support.doubles import ReadNote, RunNote
from support.scheduler_harness import SchedulerHarness

pytestmark = pytest.mark.spec("I3")

TOKEN = "ghp_" + "a1B2" * 9
MARK = "[secret: GitHub token]"


async def finished(harness: SchedulerHarness, **args: object) -> CallFinished:
    batch = harness.schedule(harness.call("run_note", "c", args))
    await harness.settle()
    await harness.answer("c")
    await batch.results()
    (event,) = (event for event in harness.journal.events if isinstance(event, CallFinished))
    return event


async def test_a_result_is_recorded_without_its_secrets_and_the_model_is_told():
    event = await finished(SchedulerHarness(), text=f"show {TOKEN}")
    assert event.result.response == {"output": f"noted show {MARK}", "masked": NOTE}
    assert event.display == PlainDisplay(f"show {MARK}")


async def test_what_was_asked_for_and_approved_stays_as_it_is():
    harness = SchedulerHarness()
    await finished(harness, text=f"show {TOKEN}")
    (call,) = harness.calls().values()
    assert call.request.args == {"text": f"show {TOKEN}"}
    assert isinstance(call.approval.details, ExecDetails)  # pyright: ignore
    assert call.approval.details.command == f"show {TOKEN}"  # pyright: ignore
    assert harness.world.effects == [f"show {TOKEN}"]


async def test_live_output_is_masked_as_it_comes():
    harness = SchedulerHarness()
    await finished(harness, text="show", print=f"it is {TOKEN}\n")
    assert [event.text for event in harness.journal.announced if isinstance(event, CallOutput)] == [f"it is {MARK}\n"]


class _InPieces(Invocation):
    def describe(self) -> str:
        return "in pieces"

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        for piece in ("it is ", TOKEN[:10], TOKEN[10:]):
            live.output(piece)
        await asyncio.Event().wait()
        raise AssertionError


async def test_the_output_of_a_cancelled_call_is_masked_also_where_its_pieces_cut_a_secret(
    monkeypatch: pytest.MonkeyPatch,
):
    def invocation(*_: object) -> Invocation:
        return _InPieces()

    monkeypatch.setattr(ReadNote, "invocation", invocation)
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("read_note", "c", text="x"))
    await harness.settle()
    harness.scheduler.cancel(batch, "enough")
    await batch.results()
    (event,) = (event for event in harness.journal.events if isinstance(event, CallFinished))
    assert event.display == TerminalDisplay(f"it is {MARK}")
    assert TOKEN not in str(event.result.response)


@pytest.mark.parametrize("fail", ["tool", "bug"])
async def test_a_failure_is_masked_like_a_result(fail: str):
    harness = SchedulerHarness()
    event = await finished(harness, text="show", print=f"{TOKEN}\n", fail=fail)
    assert event.failure is not None
    assert event.display == TerminalDisplay(f"{MARK}\n")


async def test_an_exact_tool_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(RunNote, "exact", True)
    event = await finished(SchedulerHarness(), text=f"show {TOKEN}")
    assert event.result.response == {"output": f"noted show {TOKEN}"}
