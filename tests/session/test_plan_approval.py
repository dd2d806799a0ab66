"""Leaving plan mode by accepting the plan, which becomes the to-do list. Row C6."""

import pytest

from assent.commands import Answer, Submit
from assent.events import ModeChanged
from assent.parts import Result
from assent.session.runner import Runner
from assent.tools.declared import PLAN as NAME
from assent.tools.propose_plan import ProposePlanTool
from support.session_harness import SessionHarness, call, calls, text

pytestmark = pytest.mark.spec("C6")

PLAN = calls(call(NAME, "p", steps=["Read cart.py", "Fix the discount"], summary="A small fix."))


async def decide(harness: SessionHarness, runner: Runner, answer: str) -> None:
    (waiting,) = await harness.until_waiting(runner)
    digest = waiting.approval.digest
    given = Answer(call_id="p", outcome="proceed_once", digest=digest, answers=(answer,), by="ann")
    assert await harness.send(runner, given) == ""
    await harness.until_done()


def planning(*replies: dict[str, object]) -> SessionHarness:
    harness = SessionHarness(*replies)
    harness.tools = [ProposePlanTool()]
    return harness


@pytest.mark.parametrize(
    ("answer", "mode"),
    [("Carry it out", "default"), ("Carry it out, with edits that run without asking", "auto_edit")],
)
async def test_an_accepted_plan_ends_plan_mode_and_becomes_the_list_of_steps(answer: str, mode: str):
    harness = planning(PLAN, text("Done."))
    async with await harness.open(mode="plan") as runner:
        await harness.send(runner, Submit("fix it"))
        await decide(harness, runner, answer)
        assert runner.state.mode == mode
        assert [todo.description for todo in runner.state.todos] == ["Read cart.py", "Fix the discount"]
        assert [(event.mode, event.by) for event in harness.recorded(ModeChanged)] == [(mode, "ann")]
    first, second = harness.model.requests
    assert NAME in [tool.name for tool in first.tools] and NAME not in [tool.name for tool in second.tools]


@pytest.mark.parametrize(
    ("answer", "told"), [("Keep planning", "continue planning"), ("also the docs", "also the docs")]
)
async def test_any_other_answer_goes_back_to_the_model_which_plans_on(answer: str, told: str):
    harness = planning(PLAN, text("A better plan."))
    async with await harness.open(mode="plan") as runner:
        await harness.send(runner, Submit("fix it"))
        await decide(harness, runner, answer)
        assert runner.state.mode == "plan" and runner.state.todos == ()
    (result,) = [part for part in harness.model.requests[1].messages[-1].parts if isinstance(part, Result)]
    assert told in result.response["answer"]


async def test_outside_plan_mode_the_model_is_not_told_of_the_tool():
    harness = planning(text("Hello."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("hi"))
        await harness.until_done()
    assert NAME not in [tool.name for tool in harness.model.requests[0].tools]
