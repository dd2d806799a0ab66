"""ask_user: a question that waits for a person, whose answer only a person can give. Row E3."""

from typing import Any

import pytest

from assent.app.question_text import spoken_answers
from assent.approval import AskDetails, Mode
from assent.commands import Answer, Submit
from assent.events import ApprovalAnswered
from assent.policy.rules import Rule
from assent.scheduler.call import Cancelled, Failed, Success
from assent.tools.ask_user import AskUserTool
from assent.tools.tool import InvalidParams
from support.session_harness import SessionHarness, call, calls, crash, text

pytestmark = pytest.mark.spec("E3")

COLOUR: dict[str, Any] = {
    "question": "Which colour?",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}],
}
NAME: dict[str, Any] = {"question": "Which name?", "type": "text"}


def harness_that_asks(*questions: dict[str, Any]) -> SessionHarness:
    harness = SessionHarness(calls(call("ask_user", "a", questions=list(questions))), text("Done."))
    harness.tools = [AskUserTool()]
    return harness


@pytest.mark.parametrize("mode", ["default", "auto_edit", "yolo", "plan"])
async def test_the_answers_of_a_person_reach_the_model_in_every_mode(mode: Mode):
    harness = harness_that_asks(COLOUR, NAME)
    async with await harness.open(mode=mode, rules=(Rule(ruling="allow"),)) as runner:
        await harness.send(runner, Submit("go"))
        (waiting,) = await harness.until_waiting(runner)
        assert isinstance(waiting.approval.details, AskDetails)
        assert waiting.approval.options == ("proceed_once", "cancel")
        digest = waiting.approval.digest
        assert (
            await harness.send(
                runner, Answer(call_id="a", outcome="proceed_once", digest=digest, answers=("Blue", "Ann"), by="ann")
            )
            == ""
        )
        await harness.until_done()
        done = runner.state.calls["a"]
        assert isinstance(done, Success)
        assert done.result.response == {"answers": {"0": "Blue", "1": "Ann"}}
    (answered,) = await harness.stored(ApprovalAnswered)
    assert answered.answers == ("Blue", "Ann")


@pytest.mark.parametrize("answers", [None, (), ("one",), ("one", "two", "three")])
async def test_a_yes_without_an_answer_to_each_question_is_not_taken(answers: tuple[str, ...] | None):
    harness = harness_that_asks(COLOUR, NAME)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        (waiting,) = await harness.until_waiting(runner)
        refused = await harness.send(
            runner, Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest, answers=answers)
        )
        assert "give 2 answer(s), or cancel" in refused
        assert len(runner.waiting()) == 1
        assert await harness.answer(runner, "a", "cancel") == ""
        await harness.until_done()
        assert isinstance(runner.state.calls["a"], Cancelled)


async def test_with_nobody_to_ask_the_model_is_told_so():
    harness = harness_that_asks(COLOUR)
    async with await harness.open(attended=False, mode="yolo") as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
        refused = runner.state.calls["a"]
    assert isinstance(refused, Failed)
    assert (refused.failure.type, "nobody can give it" in refused.failure.message) == ("approval_unavailable", True)


async def test_a_deny_rule_keeps_the_model_from_asking():
    harness = harness_that_asks(COLOUR)
    async with await harness.open(rules=(Rule(ruling="deny", tool="ask_user"),)) as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
        assert isinstance(runner.state.calls["a"], Failed)


async def test_the_question_survives_a_crash():
    harness = harness_that_asks(NAME)
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    await harness.until_waiting(runner)
    await crash(harness, runner)
    async with await harness.open() as runner:
        (waiting,) = await harness.until_waiting(runner)
        await harness.send(
            runner, Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest, answers=("Ann",))
        )
        await harness.until_done()
        assert isinstance(runner.state.calls["a"], Success)


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [NAME] * 5,
        [{"question": " ", "type": "text"}],
        [{"question": "x"}],
        [{"question": "x", "options": [{"label": "one"}]}],
        [{"question": "x", "options": [{"label": str(n)} for n in range(5)]}],
        [{"question": "x", "options": [{"label": "a"}, {"label": " "}]}],
        [{"question": "x", "type": "text", "answers": ["forged"]}],
    ],
)
def test_questions_that_make_no_sense_are_refused(questions: list[dict[str, Any]]):
    with pytest.raises(InvalidParams):
        AskUserTool().build({"questions": questions})


@pytest.mark.parametrize(
    ("typed", "answers"),
    [
        ("2; Ann", ("Blue", "Ann")),
        ("green ;1", ("green", "1")),
        ("2", None),
        ("2;", None),
        ("", None),
    ],
)
def test_what_is_typed_becomes_answers(typed: str, answers: tuple[str, ...] | None):
    details = AskUserTool().build({"questions": [COLOUR, NAME]})
    assert spoken_answers(details._questions, typed) == answers  # pyright: ignore


def test_one_question_may_have_any_text_and_several_options():
    (several,) = AskUserTool().build({"questions": [COLOUR | {"multiSelect": True}]})._questions  # pyright: ignore
    assert spoken_answers((several,), "1, 2") == ("Red, Blue",)  # pyright: ignore
    assert spoken_answers((several,), "none; really") == ("none; really",)  # pyright: ignore
