"""What the transcript shows before anyone asks for more: steps, changes, output, long prompts, and news below."""

from collections.abc import Callable

import pytest

from assent.app.person_calls import undo_command
from assent.events import CallFinished, TurnFinished
from assent.front.tui.answer_screens import ReasonScreen
from assent.front.tui.bars import StatusLine
from assent.front.tui.scrollback import print_lines
from assent.front.tui.steps_in_work import StepsInWork
from assent.front.tui.todo_view import TodoView
from assent.front.tui.transcript import NEW_BELOW
from assent.parts import Result, TodosDisplay
from support.app_harness import AppHarness
from support.program import asks_for, says, shell, write

MakeHarness = Callable[..., AppHarness]
HANGS = {"chunks": [{"text": "Now I wait"}, {"pause_ms": 600_000}]}
PASTE = "\n".join(f"log line {number}" for number in range(200))


def todos(*steps: tuple[str, str], id: str = "t") -> dict[str, object]:
    listed = [{"description": description, "status": status} for description, status in steps]
    return {"name": "write_todos", "args": {"todos": listed}, "id": id}


PLAN = todos(("Read the code", "completed"), ("Fix the bug", "in_progress"), ("Run the tests", "pending"))
DONE = todos(("Read the code", "completed"), ("Fix the bug", "completed"), ("Run the tests", "completed"), id="u")

# --- steps ---


@pytest.mark.spec("G2")
async def test_the_models_steps_stay_on_the_screen_while_it_works_through_them(harness: MakeHarness):
    long = "\n\n".join(f"paragraph {number}" for number in range(60))
    replies = (asks_for(PLAN), {"chunks": [{"text": long}, {"pause_ms": 600_000}]})
    async with harness(*replies).open(prompt="go", size=(80, 40)) as on:
        await on.until_shown("paragraph 59", "✓ Read the code", "▸ Fix the bug", "○ Run the tests", "1 of 3 done")


@pytest.mark.spec("G2")
async def test_a_low_screen_shows_only_the_current_step(harness: MakeHarness):
    async with harness(asks_for(PLAN), HANGS).open(prompt="go", size=(80, 23)) as on:
        await on.until_shown("▸ Fix the bug · 1 of 3 done")
        assert "○ Run the tests" not in on.shown


@pytest.mark.spec("G2")
async def test_steps_that_are_all_done_leave_the_screen_and_stay_in_the_transcript(harness: MakeHarness):
    async with harness(asks_for(PLAN), asks_for(DONE), says("Finished.")).open(prompt="go", size=(80, 40)) as on:
        await on.until_idle()
        await on.until_shown("Finished.", "│ ✓ Run the tests")
        assert not on.app.query_one(TodoView).display
        assert on.shown.count("Run the tests") == 1  # only the newest list


@pytest.mark.spec("G2")
async def test_unfinished_steps_leave_the_screen_after_a_turn_that_does_not_touch_them(harness: MakeHarness):
    async with harness(asks_for(PLAN), says("One."), says("Two."), HANGS).open(size=(80, 40)) as on:
        for prompt in ("go", "something else"):
            await on.app.submit(prompt)
            await on.until_idle()
        await on.app.submit("and something else")
        await on.until_shown("Now I wait")
        assert on.runner.state.todos and not on.app.query_one(TodoView).display


def test_steps_are_current_until_the_end_of_a_turn_that_does_not_touch_them():
    steps, ended = StepsInWork(), TurnFinished("p", "completed")
    changed = CallFinished(
        call_id="c", status="success", result=Result("c", "write_todos", {}), display=TodosDisplay(())
    )
    seen: list[bool] = []
    for event in (changed, ended, ended, changed):
        steps.apply(event)
        seen.append(steps.current)
    assert seen == [True, True, False, True]


async def test_the_status_line_says_that_a_command_runs_and_not_what_the_model_thought_before(harness: MakeHarness):
    call = {"chunks": [{"thought": "**Thinking hard** about it."}, {"call": shell("sleep 1000")}]}
    async with harness(call).open(prompt="go", mode="yolo") as on:
        await on.until_shown("Running", "Esc to cancel")
        assert "Thinking hard" not in str(on.app.query_one(StatusLine).render())


@pytest.mark.spec("G2")
async def test_a_question_leaves_one_line_for_the_steps(harness: MakeHarness):
    async with harness(asks_for(PLAN), asks_for(shell("make deploy"))).open(prompt="go", size=(80, 40)) as on:
        await on.until_asked()
        await on.until_shown("▸ Fix the bug · 1 of 3 done")
        assert "○ Run the tests" not in on.shown


@pytest.mark.spec("G2")
async def test_the_answers_to_a_question_of_the_model_are_shown(harness: MakeHarness):
    question = {"name": "ask_user", "args": {"questions": [{"question": "Which name?", "type": "text"}]}, "id": "q"}
    async with harness(asks_for(question), says("Thanks.")).open(prompt="go") as on:
        await on.until_asked()
        await on.types("cart")
        await on.press("enter")
        await on.until_shown("Thanks.", "│ Which name?", "│   cart")


@pytest.mark.spec("G2")
async def test_an_accepted_plan_stays_in_the_transcript_when_the_list_of_steps_changes(harness: MakeHarness):
    args = {"summary": "Shipping is added twice.", "steps": ["Read the code", "Fix the bug"]}
    plan = {"name": "propose_plan", "args": args, "id": "p"}
    async with harness(asks_for(plan), asks_for(DONE), says("Finished.")).open(prompt="go", mode="plan") as on:
        await on.until_asked()
        await on.press("1")
        await on.until_shown("Finished.", "│ Shipping is added twice.", "│ ○ Fix the bug", "│ ✓ Fix the bug")


@pytest.mark.spec("G2")
async def test_what_was_said_to_a_plan_is_shown(harness: MakeHarness):
    plan = {"name": "propose_plan", "args": {"steps": ["Read the code"]}, "id": "p"}
    async with harness(asks_for(plan), says("I go on.")).open(prompt="go", mode="plan") as on:
        await on.until_asked()
        await on.press("3")
        await on.until_shown("I go on.", "Keep planning")


# --- output ---


@pytest.mark.spec("G2")
async def test_a_finished_command_shows_the_end_of_its_output(harness: MakeHarness):
    async with harness(asks_for(shell("seq 1 5000")), says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_shown("Done.", "│ … 4,995 lines above", "│ 4996", "│ 5000")


@pytest.mark.spec("G2")
async def test_a_command_that_failed_shows_more_of_the_end_of_its_output(harness: MakeHarness):
    async with harness(asks_for(shell("seq 1 50; exit 3")), says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_shown("Done.", "exit 3", "│ … 38 lines above", "│ 39", "│ 50")


@pytest.mark.spec("G2")
async def test_a_long_output_that_is_expanded_shows_its_beginning_and_its_end(harness: MakeHarness):
    async with harness(asks_for(shell("seq 1 5000")), says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_shown("Done.")
        await on.press("ctrl+o")
        await on.until_shown("│ 4999", "│ 5000")
        lines = [strip.text.strip() for strip in on.app.transcript.lines]
        assert any(line.endswith("│ 1") for line in lines) and "4,60" in "".join(line for line in lines if "…" in line)


@pytest.mark.spec("G2")
async def test_a_change_that_was_made_is_shown(harness: MakeHarness):
    new = "".join(f"line {number}\n" for number in range(40))
    async with harness(asks_for(write("notes.txt", new)), says("Done.")).open(
        mode="auto_edit", prompt="go", size=(80, 40)
    ) as on:
        await on.until_shown("Done.", "+ line 0", "+ line 14", "more lines")
        assert "line 39" not in on.shown


# --- prompts ---


@pytest.mark.spec("G1")
async def test_a_long_paste_stays_one_line_in_the_transcript_and_can_be_expanded(harness: MakeHarness):
    async with harness(says("I see.")).open() as on:
        on.app.prompt.paste(PASTE)
        await on.types(" why?")
        await on.press("enter")
        await on.until_shown("I see.", "❯ [Pasted text #1: 200 lines] why?")
        assert on.shown.count("log line") == 0
        await on.press("ctrl+o")
        assert "log line 199 why?" in on.shown


@pytest.mark.spec("G1")
async def test_a_long_prompt_of_a_resumed_session_is_one_line(harness: MakeHarness):
    async with harness(says("I see.")).open(prompt=f"Why this?\n{PASTE}") as on:
        await on.until_shown("I see.", "❯ Why this?", "… 200 more lines")
        assert "log line" not in on.shown


# --- the place in the transcript ---


@pytest.mark.spec("G2")
async def test_whoever_reads_above_is_told_of_news_below_and_gets_there(harness: MakeHarness):
    text = "\n\n".join(f"paragraph {number}" for number in range(60))
    async with harness(says(text), says("The end."), says("Really.")).open(prompt="go") as on:
        await on.until_shown("paragraph 59")
        await on.press("pageup", "pageup")
        assert NEW_BELOW not in on.shown
        await on.app.submit("more")
        await on.until_shown(NEW_BELOW)
        await on.press("ctrl+end")
        await on.until_shown("The end.")
        assert NEW_BELOW not in on.shown


@pytest.mark.spec("G2")
async def test_sending_goes_to_the_end(harness: MakeHarness):
    text = "\n\n".join(f"paragraph {number}" for number in range(60))
    async with harness(says(text), says("The end.")).open(prompt="go") as on:
        await on.until_shown("paragraph 59")
        await on.press("pageup", "pageup")
        await on.say("more")
        await on.until_shown("❯ more", "The end.")


# --- after quitting ---


@pytest.mark.spec("G2")
async def test_the_conversation_stays_in_the_terminal_after_quitting(
    harness: MakeHarness, capsys: pytest.CaptureFixture[str]
):
    async with harness(asks_for(shell("echo hello")), says("**Bold** words.")).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        lines = on.app.last_lines()
    print_lines(lines)
    printed = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in printed if "run_shell_command" not in line] == [
        "❯ go",
        "",
        "  │ hello",
        "",
        "✦ Bold words.",
    ]
    assert any("✓ run_shell_command  echo hello" in line for line in printed)


@pytest.mark.spec("G2")
async def test_of_a_long_conversation_the_end_stays(harness: MakeHarness):
    text = "\n\n".join(f"paragraph {number}" for number in range(400))
    async with harness(says("At first."), says(text)).open(prompt="go") as on:
        await on.until_idle()
        await on.app.submit("more")
        await on.until(lambda: on.runner.state.prompts == 2 and on.runner.state.open_prompt is None)
        lines = [strip.text for strip in on.app.last_lines()]
        assert lines[-1].strip() == "paragraph 399" and not any("At first." in line for line in lines)


@pytest.mark.spec("G2")
async def test_nothing_stays_of_a_session_without_a_word(harness: MakeHarness):
    async with harness().open() as on:
        assert on.app.last_lines() == []


# --- replies that were cut off ---


@pytest.mark.spec("G2")
async def test_a_reply_that_was_cut_off_at_the_output_limit_says_so(harness: MakeHarness):
    cut = {"chunks": [{"text": "And so it goes on and"}], "finish": "max_tokens"}
    async with harness(cut).open(prompt="tell me everything") as on:
        await on.until_shown("And so it goes on and", "output limit")


async def test_a_command_without_output_takes_one_line(harness: MakeHarness):
    async with harness(asks_for(shell("true")), says("Done.")).open(prompt="go") as on:
        await on.until_shown("Done.")
        assert "│" not in on.shown


async def test_a_call_that_was_allowed_says_that_it_waits_its_turn(harness: MakeHarness):
    async with harness(asks_for(shell("touch a"), shell("touch b", "b")), says("Done.")).open(prompt="go") as on:
        await on.until_asked(2)
        await on.press("y")
        await on.until(lambda: len(on.runner.waiting()) == 1)
        await on.until_shown("waiting for its turn", "waiting for an answer")
        await on.press("y")
        await on.until_idle()
        assert "waiting for its turn" not in on.shown


async def test_the_reason_for_a_no_stands_below_the_call(harness: MakeHarness):
    async with harness(asks_for(shell("touch a")), says("As you wish.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        await on.types("use the other branch\n")
        await on.until_shown("⊘ run_shell_command", "│ no: use the other branch", "As you wish.")


@pytest.mark.spec("J10")
async def test_going_back_names_the_commands_whose_effects_stay(harness: MakeHarness):
    async with harness(asks_for(shell("touch a"), shell("ls", "b")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_idle()
        await on.say("/rewind")
        await on.until_shown("Go back to before")
        await on.press("enter")
        await on.until_shown("What this command did would stay:", "  touch a")


async def test_a_command_of_the_person_that_prints_nothing_shows_no_empty_line(harness: MakeHarness):
    async with harness().open() as on:
        await on.types("!cd .\n")
        await on.until_shown("✓ run_shell_command  cd .")
        await on.settle()
        assert "│" not in on.shown


# --- endings ---


@pytest.mark.spec("G2")
async def test_a_turn_that_is_cancelled_after_a_refused_one_is_called_cancelled(harness: MakeHarness):
    async with harness(asks_for(shell("make deploy")), HANGS).open(prompt="go") as on:
        await on.until_asked()
        await on.press("n")
        await on.until_shown("Refused, so the turn ends here")
        await on.say("go on")
        await on.until_shown("Now I wait")
        await on.press("escape")
        await on.until_shown("Cancelled. What was done is kept.")
        assert on.shown.count("Refused, so") == 1


@pytest.mark.spec("G2")
async def test_a_long_change_that_is_undone_is_shortened_like_every_change(harness: MakeHarness):
    long = "".join(f"line {number}\n" for number in range(300))
    async with harness(asks_for(write("a.txt", long)), says("Done.")).open(mode="auto_edit", prompt="go") as on:
        await on.until_idle()
        await on.app.send(undo_command("write", "ann"))
        await on.until(lambda: not (on.folder / "a.txt").exists())
        await on.until_shown("✓ undo", "more lines")  # otherwise its beginning would be far above


@pytest.mark.spec("G2")
async def test_the_text_of_the_conversation_marks_a_command_that_failed(harness: MakeHarness):
    async with harness(asks_for(shell("exit 2")), says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        assert "! run_shell_command  exit 2  (exit 2)" in on.app.reading().conversation().text
