"""What the model asks: yes or no, a text, several things at once; each is answered with what a person types first."""

import re
from collections.abc import Callable

import pytest
from textual.events import Key, Paste
from textual.widgets import Input, OptionList

from assent.config import TerminalSettings
from assent.events import ApprovalAnswered
from assent.front.tui.answer_screens import ReasonScreen
from assent.front.tui.ask_screen import AskScreen
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.main_screen import MainScreen
from assent.front.tui.review import ReviewScreen
from support.app_harness import AppHarness
from support.program import Json, asks_for, says, shell

pytestmark = pytest.mark.spec("G3")

MakeHarness = Callable[..., AppHarness]
DROP: Json = {"question": "Should I drop the old table?", "type": "yesno"}
NAME: Json = {"question": "What should the module be called?", "type": "text"}
BASE: Json = {"question": "Which database?", "options": [{"label": one} for one in ("SQLite", "Postgres", "MySQL")]}
TICK: Json = {**BASE, "question": "Which of them?", "multiSelect": True}
STEPS = {"steps": ["Read it", "Fix it", "Test it"], "summary": "Fix the discount."}
PLAN: Json = {"name": "propose_plan", "id": "plan", "args": STEPS}


def asking(*questions: Json) -> Json:
    return {"name": "ask_user", "id": "ask", "args": {"questions": list(questions)}}


def asked(harness: MakeHarness, *questions: Json, enter: str = "no") -> AppHarness:
    on = harness(asks_for(asking(*questions)), says("Done."))
    on.terminal = TerminalSettings(enter="select" if enter == "select" else "no")
    return on


async def answers(on: AppHarness) -> list[tuple[str, ...] | None]:
    await on.until_idle()
    return [event.answers for event in await on.recorded(ApprovalAnswered)]


def panel_of(on: AppHarness) -> str:
    return "\n".join(line.strip("┃ ") for line in on.shown.splitlines() if line.startswith("┃"))


# --- plans ---

MARKED: Json = {"steps": ["Read `cart.py`", "**Fix** it"], "summary": "## Goal\n\nFix the **discount**:\n\n- once"}


async def test_a_plan_is_read_as_markdown_in_its_question_and_in_the_transcript(harness: MakeHarness):
    plan = {"name": "propose_plan", "id": "plan", "args": MARKED}
    async with harness(asks_for(plan), says("Done.")).open(prompt="go", mode="plan", size=(80, 40)) as on:
        await on.until_asked()
        await on.until_shown("│ Goal", "│ Fix the discount:", "│  • once", "│  • Read cart.py", "│  • Fix it")
        await on.press("1")
        await on.until_idle()
        await on.until_shown("│ Goal", "• once", "○ Read cart.py", "○ Fix it")


async def test_a_plan_that_was_not_accepted_is_read_as_markdown_too(harness: MakeHarness):
    plan = {"name": "propose_plan", "id": "plan", "args": MARKED}
    async with harness(asks_for(plan), says("Done.")).open(prompt="go", mode="plan", size=(80, 40)) as on:
        await on.until_asked()
        await on.press("3")
        await on.until_idle()
        await on.press("ctrl+o")
        await on.until_shown("│ Goal", "• once", "• Fix it", "Keep planning")


async def test_only_the_answers_to_a_plan_have_numbers(harness: MakeHarness):
    async with harness(asks_for(PLAN), says("Done.")).open(prompt="go", mode="plan", size=(80, 40)) as on:
        await on.until_asked()
        numbered = re.findall(r"│ +(\d)\.? +(\w+)", panel_of(on))
        assert numbered == [("1", "Carry"), ("2", "Carry"), ("3", "Keep")]


# --- yes or no ---


async def test_enter_never_says_yes_among_several_questions_unless_it_was_moved_to(harness: MakeHarness):
    async with asked(harness, BASE, DROP).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press("enter")
        await on.until_screen(AskScreen)
        await on.press("2")
        await on.until_shown("(2 of 2)", "1. Yes")
        await on.press("enter")
        await on.until(lambda: isinstance(on.app.screen.focused, Input))  # own words, as at a single question
        await on.press("enter")
        assert await on.recorded(ApprovalAnswered) == []
        await on.press("shift+tab", "down", "enter")
        assert await answers(on) == [("Postgres", "Yes")]


@pytest.mark.parametrize(("typed", "answer"), [("y", "Yes"), ("No", "No"), ("yes, but later", "yes, but later")])
async def test_yes_that_is_typed_among_several_questions_is_the_option(harness: MakeHarness, typed: str, answer: str):
    async with asked(harness, NAME, DROP).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.types("basket\n")
        await on.until_screen(AskScreen)
        await on.types(typed)
        await on.press("enter")
        assert await answers(on) == [("basket", answer)]


@pytest.mark.parametrize("enter", ["no", "select"])
@pytest.mark.parametrize(("key", "answer"), [("y", "Yes"), ("n", "No"), ("1", "Yes"), ("2", "No")])
async def test_to_a_yes_or_no_question_y_and_n_are_the_answers(harness: MakeHarness, key: str, answer: str, enter: str):
    async with asked(harness, DROP, enter=enter).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        assert "No" in panel_of(on) and "no, because" not in panel_of(on) and "decline" in panel_of(on)
        await on.press(key)
        assert await answers(on) == [(answer,)]


async def test_no_to_a_yes_or_no_question_needs_the_whole_question_to_have_been_shown(harness: MakeHarness):
    long: Json = {"question": "\n".join(f"table {number}" for number in range(60)), "type": "yesno"}
    async with asked(harness, long).open(prompt="go") as on:
        await on.until_asked()
        for key in ("n", "y", "2"):
            await on.press(key)
            assert "not shown yet" in on.shown
        assert await on.recorded(ApprovalAnswered) == []


@pytest.mark.parametrize("question", [DROP, BASE, TICK])
async def test_d_declines_whatever_the_model_asks(harness: MakeHarness, question: Json):
    async with asked(harness, question).open(prompt="go") as on:
        await on.until_asked()
        assert "d  decline" in panel_of(on) and "no, because" not in panel_of(on)
        await on.press("d")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert (answer.outcome, answer.answers) == ("cancel", None)


@pytest.mark.parametrize("question", [BASE, TICK])
async def test_n_is_no_answer_where_the_model_does_not_ask_yes_or_no(harness: MakeHarness, question: Json):
    async with asked(harness, question).open(prompt="go") as on:
        await on.until_asked()
        await on.press("n")
        assert on.runner.waiting() and await on.recorded(ApprovalAnswered) == []


async def test_a_plan_is_declined_and_not_answered_with_no(harness: MakeHarness):
    on = harness(asks_for(PLAN), says("Done."))
    async with on.open(prompt="go", mode="plan", size=(80, 30)):
        await on.until_asked()
        assert "d  decline" in panel_of(on) and " no" not in panel_of(on)
        await on.press("n")
        assert on.runner.waiting()
        await on.press("d")
        await on.until_idle()
        assert [event.outcome for event in await on.recorded(ApprovalAnswered)] == ["cancel"]


async def test_a_yes_or_no_question_takes_own_words(harness: MakeHarness):
    async with asked(harness, DROP).open(prompt="go") as on:
        await on.until_asked()
        await on.press("enter")
        await on.until_screen(AskScreen)
        await on.press("enter")  # nothing was typed
        await on.types("after a backup\n")
        assert await answers(on) == [("after a backup",)]


async def test_declining_with_a_reason_asks_why_one_declines(harness: MakeHarness):
    async with asked(harness, DROP).open(prompt="go") as on:
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        assert "You decline to answer" in on.shown and "Enter decline with this reason" in on.shown
        await on.types("ask Ann\n")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert (answer.outcome, answer.reason) == ("cancel", "ask Ann")


# --- a text ---


@pytest.mark.parametrize("enter", ["no", "select"])
@pytest.mark.parametrize(
    "text", ["naming", "yaml_io", "retry", "d", "fast", "1st choice", "/etc", "!important", "v [2]"]
)
async def test_what_one_types_at_a_question_for_a_text_is_the_answer(harness: MakeHarness, text: str, enter: str):
    async with asked(harness, NAME, enter=enter).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        assert on.app.panel.line.has_focus and "your answer" in on.shown
        await on.types(text)
        await on.until_shown(text)
        await on.press("enter")
        assert await answers(on) == [(text,)]
        assert on.app.prompt.is_empty and on.app.prompt.has_focus


class Person:
    """Someone who types, and the times at which they do."""

    def __init__(self, on: AppHarness) -> None:
        self._on = on
        self._now = 0.0
        on.guard = KeyGuard(lambda: self._now, quiet=0.6, settle=0)

    async def presses(self, key: str, at: float) -> None:
        self._now = at
        event = Key(key, key if len(key) == 1 else None)
        event.time = at
        self._on.app.post_message(event)
        await self._on.settle()


async def test_typing_that_was_under_way_when_a_text_was_asked_for_goes_on_in_the_message(harness: MakeHarness):
    on = asked(harness, NAME)
    person = Person(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        for place, key in enumerate("fix"):
            await person.presses(key, at=0.1 + place / 10)
        await person.presses("enter", at=0.5)
        await on.until(lambda: on.runner.state.queued)
        assert [queued.text for queued in on.runner.state.queued] == ["fix"]
        assert await on.recorded(ApprovalAnswered) == [] and on.app.panel.line.value == ""


async def test_after_a_pause_fast_typing_is_the_answer(harness: MakeHarness):
    on = asked(harness, NAME)
    person = Person(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        for place, key in enumerate(["y", "a", "m", "l", "enter"]):
            await person.presses(key, at=1.0 + place / 50)
        assert await answers(on) == [("yaml",)]


async def test_an_enter_or_a_paste_that_was_under_way_answers_nothing(harness: MakeHarness):
    on = asked(harness, NAME)
    person = Person(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        on.app.panel.line.value = "from before"
        await person.presses("enter", at=0.3)
        await on.until_shown("too fast to be an answer")
        paste = Paste("rm -rf x\ny\n")
        paste.time = 0.4
        on.app.panel.line.post_message(paste)
        await on.until(lambda: "rm -rf x" in on.app.prompt.text)
        assert await on.recorded(ApprovalAnswered) == [] and on.app.panel.line.value == "from before"


async def test_a_paste_of_several_lines_is_one_answer_and_sends_nothing_by_itself(harness: MakeHarness):
    async with asked(harness, NAME).open(prompt="go") as on:
        await on.until_asked()
        on.app.panel.line.post_message(Paste("the cart\nmodule\n"))
        await on.until(lambda: on.app.panel.line.value == "the cart module")
        assert await on.recorded(ApprovalAnswered) == []


async def test_a_question_for_a_text_leaves_the_keyboard_to_someone_who_types(harness: MakeHarness):
    pause = {"chunks": [{"text": "Wait."}, {"pause_ms": 50}, {"call": asking(NAME)}]}
    async with harness(pause, says("Done.")).open() as on:
        await on.app.submit("go")
        await on.types("a message")
        await on.until(lambda: on.runner.waiting())
        await on.settle()
        assert on.app.prompt.has_focus and "Tab to answer" in on.shown
        await on.press("tab")
        await on.types("cart\n")
        assert await answers(on) == [("cart",)]
        assert on.app.prompt.text == "a message"


async def test_from_the_line_down_leads_to_the_keys_and_esc_to_the_message(harness: MakeHarness):
    async with asked(harness, NAME).open(prompt="go") as on:
        await on.until_asked()
        await on.types("dra")
        assert "↓  decline" in panel_of(on) and "Esc  back" in panel_of(on)
        await on.press("escape")
        assert on.app.prompt.has_focus
        await on.press("tab")
        await on.types("ft")
        assert on.app.panel.line.value == "draft", "what was typed is kept"
        await on.press("down")
        assert on.app.panel.has_focus and "d  decline" in panel_of(on)
        await on.press("y")
        assert on.app.panel.line.has_focus
        await on.press("down", "d")
        await on.until_idle()
        assert [event.outcome for event in await on.recorded(ApprovalAnswered)] == ["cancel"]


async def test_a_long_question_for_a_text_must_be_shown_to_its_end(harness: MakeHarness):
    long: Json = {"question": "\n".join(f"line {number}" for number in range(30)), "type": "text"}
    async with asked(harness, long).open(prompt="go") as on:
        await on.until_asked()
        await on.types("cart\n")
        await on.until_shown("not shown yet")
        await on.press("pagedown", "pagedown", "pagedown", "pagedown", "enter")
        assert await answers(on) == [("cart",)]


async def test_the_first_of_several_questions_can_be_a_text_that_is_typed_at_once(harness: MakeHarness):
    async with asked(harness, NAME, DROP).open(prompt="go") as on:
        await on.until_asked()
        assert "(1 of 2) What should the module be called?" in on.shown and "answer 1 of 2" in panel_of(on)
        await on.types("yaml\n")
        await on.until_screen(AskScreen)
        await on.press("2")
        assert await answers(on) == [("yaml", "No")]


async def test_between_questions_the_keyboard_follows_what_is_asked(harness: MakeHarness):
    on = harness({"chunks": [{"call": shell("echo x >> canary")}, {"call": asking(NAME)}]}, says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked(2)
        while on.app.panel.line.has_focus:
            await on.press("right")
        assert on.app.panel.has_focus
        await on.press("right")
        assert on.app.panel.line.has_focus
        await on.press("left")  # nothing was typed
        assert on.app.panel.has_focus and "canary" in panel_of(on)
        await on.press("right")
        await on.types("cart\n")
        await on.until_asked(1)
        assert on.app.panel.has_focus and not on.app.panel.line.display
        await on.press("n")
        await on.until_idle()


async def test_ctrl_c_stops_the_turn_and_leaves_half_an_answer_in_the_message(harness: MakeHarness):
    async with asked(harness, NAME).open(prompt="go") as on:
        await on.until_asked()
        await on.types("cart two")
        await on.press("ctrl+c")
        await on.until_idle()
        assert on.app.prompt.text == "cart two" and on.app.prompt.has_focus


async def test_ctrl_d_in_the_empty_line_quits_and_keeps_the_question(harness: MakeHarness):
    async with asked(harness, NAME).open(prompt="go") as on:
        await on.until_asked()
        await on.press("ctrl+d")
        await on.until(lambda: not on.app.is_running)
        assert on.app.return_code == 0


# --- several questions ---


async def test_esc_goes_back_one_question_and_keeps_the_answers(harness: MakeHarness):
    async with asked(harness, BASE, TICK, DROP).open(prompt="go", size=(100, 30)) as on:
        await on.until_asked()
        await on.press("enter")
        await on.until_screen(AskScreen)
        assert "Esc back, answers are kept" in on.shown
        await on.press("tab")
        await on.types("CockroachDB\n")
        await on.until_shown("(2 of 3)", "Esc back one")
        await on.press("2", "3", "enter")
        await on.until_shown("(3 of 3)")
        await on.press("escape")
        await on.until_shown("(2 of 3)", "[ ] SQLite", "[x] Postgres", "[x] MySQL")
        await on.press("escape")
        await on.until_shown("(1 of 3)", "CockroachDB")
        await on.types(" 2\n")  # the field with the words has the keyboard
        await on.until_shown("(2 of 3)")
        await on.press("2", "enter", "1")
        assert await answers(on) == [("CockroachDB 2", "MySQL", "Yes")]


async def test_a_number_for_several_questions_opens_the_answers_with_its_option_highlighted(harness: MakeHarness):
    async with asked(harness, BASE, DROP).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press("2")
        await on.until_screen(AskScreen)
        assert on.app.screen.query_one(OptionList).highlighted == 1
        assert await on.recorded(ApprovalAnswered) == []
        await on.press("enter", "2")
        assert await answers(on) == [("Postgres", "No")]


async def test_a_number_for_several_questions_ticks_its_option(harness: MakeHarness):
    async with asked(harness, TICK, DROP).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press("2")
        await on.until_screen(AskScreen)
        await on.press("enter", "n", "enter")
        assert await answers(on) == [("Postgres", "No")]


@pytest.mark.parametrize("questions", [(BASE,), (BASE, DROP), (TICK, DROP), (TICK,)])
async def test_numbers_in_quick_succession_answer_nothing_and_are_no_message(
    harness: MakeHarness, questions: tuple[Json, ...]
):
    on = asked(harness, *questions)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        on.app.panel.guard.settle = on.app.panel.guard.quiet = 600
        for key in (*"1201", "enter"):
            on.app.post_message(Key(key, key if len(key) == 1 else None))
        await on.settle()
        assert on.app.prompt.is_empty and on.app.panel.has_focus
        assert await on.recorded(ApprovalAnswered) == []


async def test_a_number_that_begins_a_message_is_kept(harness: MakeHarness):
    async with asked(harness, BASE, DROP).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        on.app.panel.guard.settle = on.app.panel.guard.quiet = 600
        for key in "2024 was good":
            on.app.post_message(Key("space" if key == " " else key, key))
        await on.until(lambda: on.app.prompt.text == "2024 was good")


async def test_an_option_that_was_chosen_is_highlighted_when_one_comes_back(harness: MakeHarness):
    async with asked(harness, BASE, DROP).open(prompt="go") as on:
        await on.until_asked()
        await on.press("enter")
        await on.until_screen(AskScreen)
        await on.press("3", "escape", "enter", "2")
        assert await answers(on) == [("MySQL", "No")]


@pytest.mark.parametrize("close", [("ctrl+c",), ("escape", "escape", "escape")])
async def test_answers_are_kept_while_the_dialog_is_closed(harness: MakeHarness, close: tuple[str, ...]):
    async with asked(harness, BASE, NAME, DROP).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press("enter")
        await on.until_screen(AskScreen)
        await on.press("2")
        await on.types("cart\n")
        await on.until_shown("(3 of 3)")
        await on.press("tab")
        await on.types("not yet")
        await on.press(*close)
        await on.until_screen(MainScreen)
        await on.until_shown("2 of 3 given")
        await on.press("enter")
        await on.until_screen(AskScreen)
        if len(close) > 1:
            await on.press("enter", "enter")
            await on.press("tab")
        else:
            await on.press("shift+tab", "tab")
        await on.until_shown("(3 of 3)", "not yet")
        on.app.screen.query_one(Input).focus()
        await on.press("end")
        await on.types("!\n")
        assert await answers(on) == [("Postgres", "cart", "not yet!")]


# --- several ticks ---


@pytest.mark.parametrize("enter", ["no", "select"])
async def test_a_question_says_that_several_options_can_be_ticked(harness: MakeHarness, enter: str):
    async with asked(harness, TICK, enter=enter).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        assert "1–3  tick one or more" in panel_of(on) and "answer" in panel_of(on)


async def ticking(on: AppHarness) -> None:
    await on.until_asked()
    await on.press("enter")
    await on.until_screen(AskScreen)


async def test_own_words_are_added_to_what_is_ticked(harness: MakeHarness):
    async with asked(harness, TICK).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        await on.press("1", "3", "tab")
        await on.types("plus DuckDB\n")
        assert await answers(on) == [("SQLite, MySQL, plus DuckDB",)]


async def test_words_that_are_shown_count_wherever_enter_is_pressed(harness: MakeHarness):
    async with asked(harness, TICK).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        await on.press("tab")
        await on.types("plus DuckDB")
        await on.press("shift+tab", "2", "enter")
        assert await answers(on) == [("Postgres, plus DuckDB",)]


@pytest.mark.parametrize("question", [BASE, TICK])
async def test_what_one_types_in_the_list_are_own_words(harness: MakeHarness, question: Json):
    async with asked(harness, question).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        await on.types("or 2 of DuckDB\n")
        assert await answers(on) == [("or 2 of DuckDB",)]


@pytest.mark.parametrize("question", [BASE, TICK])
async def test_no_letter_of_own_words_is_lost_while_the_focus_moves(harness: MakeHarness, question: Json):
    async with asked(harness, question).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        for character in "dark mode, 2 of them":
            on.app.post_message(Key("space" if character == " " else character, character))  # as a fast terminal does
        await on.until(lambda: on.app.screen.query_one(Input).value == "dark mode, 2 of them")
        assert "[x]" not in on.shown and await on.recorded(ApprovalAnswered) == []


@pytest.mark.parametrize("question", [BASE, TICK])
async def test_pasted_text_in_the_list_are_own_words(harness: MakeHarness, question: Json):
    async with asked(harness, question).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        on.app.post_message(Paste("dark\nmode"))
        await on.until(lambda: on.app.screen.query_one(Input).value == "dark mode")
        await on.press("enter")
        assert await answers(on) == [("dark mode",)]


@pytest.mark.parametrize("question", [BASE, TICK])
async def test_typing_that_was_under_way_when_the_list_appeared_neither_ticks_nor_answers(
    harness: MakeHarness, question: Json
):
    on = asked(harness, question)
    person = Person(on)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        await person.presses("y", at=1.0)
        await on.until_screen(AskScreen)
        for place, key in enumerate(["e", "s", "space", "1", "space", "o", "enter"]):
            await person.presses(key, at=1.1 + place / 10)
        await on.until_shown("chooses nothing here")
        assert "[x]" not in on.shown and on.app.screen.query_one(Input).value == ""
        assert await on.recorded(ApprovalAnswered) == []


async def test_enter_with_nothing_ticked_says_what_it_would_answer_and_does_so_the_second_time(harness: MakeHarness):
    async with asked(harness, TICK).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        await on.press("down", "enter")
        await on.until_shown("Nothing is ticked. Press Enter again to answer “none of these”")
        assert await on.recorded(ApprovalAnswered) == []
        await on.press("enter")
        assert await answers(on) == [("none of these",)]


@pytest.mark.parametrize("enter", ["no", "select"])
async def test_a_number_at_the_question_opens_the_list_and_ticks(harness: MakeHarness, enter: str):
    async with asked(harness, TICK, enter=enter).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        assert "2  Postgres" in panel_of(on) and "2. decline" not in panel_of(on)
        await on.press("2")
        await on.until_screen(AskScreen)
        assert "[x] Postgres" in on.shown and on.shown.count("[x]") == 1
        await on.press("3", "enter")
        assert await answers(on) == [("Postgres, MySQL",)]


async def test_a_double_enter_does_not_answer_with_none(harness: MakeHarness):
    on = asked(harness, TICK)
    person = Person(on)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        await person.presses("enter", at=1.0)
        await on.until_screen(AskScreen)
        await person.presses("enter", at=2.0)
        await on.until_shown("Nothing is ticked")
        await person.presses("enter", at=2.2)
        await on.until_shown("too fast to be an answer")
        assert await on.recorded(ApprovalAnswered) == []
        await person.presses("2", at=3.0)
        await on.until_shown("Enter takes what is ticked")
        await person.presses("enter", at=4.0)
        assert await answers(on) == [("Postgres",)]


async def test_a_double_enter_in_the_empty_line_does_not_answer_with_none(harness: MakeHarness):
    on = asked(harness, TICK)
    person = Person(on)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        await person.presses("enter", at=1.0)
        await on.until_screen(AskScreen)
        await person.presses("tab", at=2.0)
        await person.presses("enter", at=3.0)
        await on.until_shown("Nothing is ticked")
        await person.presses("enter", at=3.2)
        await on.until_shown("too fast to be an answer")
        assert await on.recorded(ApprovalAnswered) == []
        await person.presses("enter", at=5.0)
        assert await answers(on) == [("none of these",)]


async def test_enter_in_the_empty_line_takes_what_is_ticked(harness: MakeHarness):
    async with asked(harness, TICK).open(prompt="go", size=(80, 30)) as on:
        await ticking(on)
        await on.press("2", "tab", "enter")
        assert await answers(on) == [("Postgres",)]


# --- with a list to select from ---


async def test_with_enter_select_the_options_are_the_list(harness: MakeHarness):
    async with asked(harness, BASE, enter="select").open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        shown = panel_of(on)
        for number, words in enumerate(("SQLite", "Postgres", "MySQL", "own words", "decline"), start=1):
            assert shown.count(f"{number}. {words}") == 1 and shown.count(f"{number}.") == 1
        assert "› 1. SQLite" in shown
        await on.press("down")
        assert "› 2. Postgres" in panel_of(on) and panel_of(on).count("›") == 1
        await on.press("enter")
        assert await answers(on) == [("Postgres",)]


@pytest.mark.parametrize(("number", "answer"), [("3", ("MySQL",)), ("5", None)])
async def test_with_enter_select_a_number_means_the_row_with_that_number(
    harness: MakeHarness, number: str, answer: tuple[str, ...] | None
):
    async with asked(harness, BASE, enter="select").open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press(number)
        assert await answers(on) == [answer]


async def test_with_enter_select_own_words_and_declining_come_after_the_options(harness: MakeHarness):
    async with asked(harness, BASE, enter="select").open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press("up", "up", "up")
        assert "› 4. own words" in panel_of(on) and panel_of(on).count("›") == 1
        await on.press("enter")
        await on.until_screen(AskScreen)
        await on.types("CockroachDB\n")
        assert await answers(on) == [("CockroachDB",)]


async def test_with_enter_select_a_plan_is_accepted_with_its_row(harness: MakeHarness):
    on = harness(asks_for(PLAN), says("Done."))
    on.terminal = TerminalSettings(enter="select")
    async with on.open(prompt="go", mode="plan", size=(80, 40)):
        await on.until_asked()
        assert "› 1. Carry it out" in panel_of(on) and "5. decline (d)" in panel_of(on)
        await on.press("down", "enter")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.answers == ("Carry it out, with edits that run without asking",)


async def test_with_enter_select_several_questions_have_numbers_only_at_the_answers(harness: MakeHarness):
    async with asked(harness, BASE, DROP, enter="select").open(prompt="go", size=(80, 40)) as on:
        await on.until_asked()
        assert "› 1. answer (y)" in panel_of(on) and "2. decline (d)" in panel_of(on)
        assert "1  " not in panel_of(on) and "·  SQLite" in panel_of(on)
        await on.press("enter")
        await on.until_screen(AskScreen)


async def test_with_enter_select_a_long_list_follows_what_is_selected(harness: MakeHarness):
    options = [{"label": f"Number {one}", "description": "long " * 100} for one in "abcd"]
    async with asked(harness, {"question": "Which?", "options": options}, enter="select").open(
        prompt="go", size=(80, 24)
    ) as on:
        await on.until_asked()
        for one in "bcd":
            await on.press("down")
            assert any("›" in line and f"Number {one}" in line for line in on.shown.splitlines())


async def test_with_enter_select_the_rows_can_be_clicked(harness: MakeHarness):
    async with asked(harness, DROP, enter="select").open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        row, line = next((row, line) for row, line in enumerate(on.shown.splitlines()) if "2. No (n)" in line)
        await on.pilot.click(offset=(line.index("No") + 1, row))
        assert await answers(on) == [("No",)]


# --- around the question ---


async def test_the_queue_says_what_sends_it_wherever_the_keyboard_is(harness: MakeHarness):
    on = harness({"chunks": [{"text": "Working."}, {"pause_ms": 600_000}]}, asks_for(shell("echo x >> canary")))
    async with on.open(prompt="first"):
        await on.until_shown("Working.")
        await on.say("second")
        await on.until_shown("⋯ second")
        await on.press("escape")
        await on.until_shown("held: Enter sends · ↑ edits the last one")
        await on.app.submit("go")
        await on.until_asked()
        assert "held: Tab, then Enter sends" in on.shown and "edits the last one" not in on.shown
        await on.press("tab")
        await on.until_shown("held: Enter sends")


async def test_an_answer_on_the_whole_screen_is_told_where_to_answer(harness: MakeHarness):
    async with harness(asks_for(shell("echo x >> canary"))).open(prompt="go") as on:
        await on.until_asked()
        await on.press("f")
        await on.until_screen(ReviewScreen)
        await on.until_shown("all seen")
        await on.press("y")
        await on.until_shown("Nothing is answered here. Esc goes back to the question.")
        await on.press("slash")
        await on.types("echo y")
        assert "Nothing is answered" not in on.app.screen.query_one(Input).value
        assert await on.recorded(ApprovalAnswered) == []
