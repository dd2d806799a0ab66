"""Answers by mouse: the keys of a question, the options of the model's questions, and the lists above them."""

from collections.abc import Callable
from typing import Literal

import pytest

from assent.config import TerminalSettings
from assent.events import ApprovalAnswered
from assent.front.tui.ask_screen import AskScreen
from assent.front.tui.scope_screen import ScopeScreen
from support.app_harness import AppHarness
from support.program import Json, asks_for, says, shell

pytestmark = pytest.mark.spec("G3")

MakeHarness = Callable[..., AppHarness]
CANARY = shell("echo x >> canary")
OPTIONS = [{"label": "Red"}, {"label": "Blue"}, {"label": "Black"}]
ONE: Json = {"question": "Which one?", "options": OPTIONS}
MANY: Json = {"question": "Which ones?", "multiSelect": True, "options": OPTIONS}


def asking(*questions: Json) -> Json:
    return {"name": "ask_user", "id": "ask", "args": {"questions": list(questions)}}


async def click_on(on: AppHarness, words: str) -> None:
    row, line = next((row, line) for row, line in enumerate(on.shown.splitlines()) if words in line)
    await on.pilot.click(offset=(line.index(words) + 1, row))
    await on.settle()


async def answers(on: AppHarness) -> list[tuple[str, ...] | None]:
    return [event.answers for event in await on.recorded(ApprovalAnswered)]


@pytest.mark.parametrize("enter", ["no", "select"])
async def test_an_answer_can_be_clicked(harness: MakeHarness, enter: Literal["no", "select"]):
    on = harness(asks_for(CANARY), says("Done."))
    on.terminal = TerminalSettings(enter=enter)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        await click_on(on, "yes, once")
        await on.until_idle()
        assert [event.outcome for event in await on.recorded(ApprovalAnswered)] == ["proceed_once"]


async def test_a_click_right_after_the_question_appeared_answers_nothing(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    async with on.open(prompt="go"):
        await on.until_asked()
        on.guard.quiet = 1_000
        await click_on(on, "yes, once")
        assert "That was too fast" in on.shown and await on.recorded(ApprovalAnswered) == []


async def test_the_second_click_of_a_double_click_takes_nothing_from_the_list_that_it_opens(harness: MakeHarness):
    on = harness(asks_for(shell("touch made")), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await click_on(on, "always…")
        await on.until_screen(ScopeScreen)
        on.guard.quiet = 1_000
        await click_on(on, "1. This session")
        assert isinstance(on.app.screen, ScopeScreen) and await on.recorded(ApprovalAnswered) == []
        on.guard.quiet = 0
        await click_on(on, "1. This session")
        await on.until_idle()
        assert [event.outcome for event in await on.recorded(ApprovalAnswered)] == ["proceed_always"]


async def test_the_option_of_a_question_of_the_model_can_be_clicked_where_it_is_listed(harness: MakeHarness):
    async with harness(asks_for(asking(ONE)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await click_on(on, "Blue")
        await on.until_idle()
        assert await answers(on) == [("Blue",)]


async def test_where_one_click_is_no_complete_answer_it_opens_the_answers(harness: MakeHarness):
    async with harness(asks_for(asking(ONE, MANY)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await click_on(on, "Blue")
        await on.until_screen(AskScreen)
        assert on.runner.waiting()


async def test_a_click_ticks_where_several_can_be_ticked(harness: MakeHarness):
    async with harness(asks_for(asking(ONE, MANY)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_screen(AskScreen)
        await click_on(on, "2. Blue")
        for words in ("Black", "Red", "Blue", "Red"):
            await click_on(on, f"] {words}")
        await on.until_shown("1. [ ] Red", "2. [x] Blue", "3. [x] Black")
        await on.press("enter")
        await on.until_idle()
        assert await answers(on) == [("Blue", "Blue, Black")]


def place_of(on: AppHarness, words: str) -> tuple[int, int]:
    return next((line.index(words) + 1, row) for row, line in enumerate(on.shown.splitlines()) if words in line)


async def test_a_click_that_gives_the_question_the_keyboard_answers_nothing(harness: MakeHarness):
    pause = {"chunks": [{"text": "Wait."}, {"pause_ms": 50}, {"call": CANARY}]}
    async with harness(pause, says("Done.")).open(size=(80, 30)) as on:
        await on.app.submit("go")
        await on.types("a message")
        await on.until_shown("Tab to answer")
        there = place_of(on, "Tab to answer")
        for offset in (there, (there[0] + 8, there[1])):
            await on.pilot.click(offset=offset)
            await on.until_shown("yes, once")
            assert await on.recorded(ApprovalAnswered) == []
            await on.press("escape")
            await on.until_shown("Tab to answer")
        on.guard.quiet = 1_000
        await on.pilot.click(offset=there)  # the first click of two gives it the keyboard
        await on.until_shown("yes, once")
        await click_on(on, "yes, once")
        await on.until_shown("That was too fast")
        assert await on.recorded(ApprovalAnswered) == []
