"""ask_user: a question that waits for a person, whose answer only a person can give. Row E3."""

import re
from typing import Any

import pytest

from assent.app.spoken_answers import NoAnswer, spoken_answer, spoken_answers
from assent.approval import AskDetails, Choice, Mode, Question
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
        assert refused == "the model asks 2 questions here; give 2 answers, or cancel"
        assert len(runner.waiting()) == 1
        assert await harness.answer(runner, "a", "cancel") == ""
        await harness.until_done()
        assert isinstance(runner.state.calls["a"], Cancelled)


async def test_a_yes_without_an_answer_to_the_only_question_is_not_taken():
    harness = harness_that_asks(COLOUR)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        (waiting,) = await harness.until_waiting(runner)
        refused = await harness.send(
            runner, Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest)
        )
        assert refused == "the model asks 1 question here; give 1 answer, or cancel"
        assert await harness.answer(runner, "a", "cancel") == ""
        await harness.until_done()


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
    ],
)
def test_what_is_typed_becomes_answers(typed: str, answers: tuple[str, ...]):
    details = AskUserTool().build({"questions": [COLOUR, NAME]})
    assert spoken_answers(details._questions, typed) == answers  # pyright: ignore


@pytest.mark.parametrize(
    ("typed", "why"),
    [("2", "that is 1 of 2 answers"), ("2;", "(2 of 2) nothing was typed"), ("9; Ann", "there is no option 9")],
)
def test_what_is_wrong_or_missing_is_said_with_the_form(typed: str, why: str):
    details = AskUserTool().build({"questions": [COLOUR, NAME]})
    with pytest.raises(NoAnswer) as refused:
        spoken_answers(details._questions, typed)  # pyright: ignore
    assert why in str(refused.value) and "y 1; words" in str(refused.value)


def test_one_question_may_have_any_text_and_several_options():
    (several,) = AskUserTool().build({"questions": [COLOUR | {"multiSelect": True}]})._questions  # pyright: ignore
    assert spoken_answer(several, "1, 2") == "Red, Blue"  # pyright: ignore
    assert spoken_answer(several, "not now; really") == "not now; really"  # pyright: ignore


FEATURES = Question(
    question="Which features?",
    multi_select=True,
    options=(Choice("Search"), Choice("Coupons"), Choice("Reviews"), Choice("Wishlist")),
)
STORE = Question(question="Where?", options=(Choice("SQLite"), Choice("MySQL"), Choice("N")))
SURE = Question(question="Sure?", type="yesno")
WORDS = Question(question="Name?", type="text")


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        (FEATURES, "1, 3", "Search, Reviews"),
        (FEATURES, "3 1", "Search, Reviews"),
        (FEATURES, "1 and 3", "Search, Reviews"),
        (FEATURES, "1, 3, dark mode", "Search, Reviews, dark mode"),
        (FEATURES, "dark mode, coupons", "Coupons, dark mode"),
        (FEATURES, "1 and dark mode", "Search, dark mode"),
        (FEATURES, "1 and 3 and dark mode", "Search, Reviews, dark mode"),
        (FEATURES, "1, port 80 and no other", "Search, port 80 and no other"),
        (FEATURES, "whatever is quick, really", "whatever is quick, really"),
        (FEATURES, "none", "none of these"),
        (FEATURES, "0", "none of these"),
        (STORE, "mysql", "MySQL"),
        (STORE, "2", "MySQL"),
        (STORE, "n", "N"),
        (STORE, "a file is enough", "a file is enough"),
        (SURE, "y", "Yes"),
        (SURE, "no", "No"),
        (SURE, "after lunch", "after lunch"),
        (WORDS, "core", "core"),
        (WORDS, "12", "12"),
    ],
)
def test_a_number_a_label_or_words_answer_what_the_model_asks(question: Question, typed: str, answer: str):
    assert spoken_answer(question, f" {typed}\n") == answer


@pytest.mark.parametrize(
    ("question", "typed", "why"),
    [
        (FEATURES, "", "nothing was typed; answer with one or more of 1–4, none, or your own words"),
        (FEATURES, "1, 5", "there is no option 5"),
        (FEATURES, "y", "`y` alone answers nothing here"),
        (STORE, "1, 2", "choose one"),
        (STORE, "4", "there is no option 4"),
        (WORDS, "n", "`n` alone answers nothing here; answer with your own words"),
    ],
)
def test_what_may_be_a_slip_is_no_answer(question: Question, typed: str, why: str):
    with pytest.raises(NoAnswer, match=re.escape(why)):
        spoken_answer(question, typed)
