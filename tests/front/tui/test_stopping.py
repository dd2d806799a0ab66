"""Being busy, stopping and leaving: the queue, Esc, Ctrl-C, Ctrl-D, and where typed keys go."""

import os
from collections.abc import Callable

import pytest

from assent.events import CallFinished, PromptSubmitted, TurnFinished
from support.app_harness import AppHarness
from support.program import asks_for, says, shell, write

MakeHarness = Callable[..., AppHarness]
CANARY = shell("echo x >> canary")
SLOW = {"chunks": [{"text": "Once upon"}, {"pause_ms": 600_000}]}


@pytest.mark.spec("G4")
async def test_what_is_sent_while_busy_waits_visibly_and_up_takes_it_back(harness: MakeHarness):
    async with harness(SLOW, says("Second.")).open(prompt="first") as on:
        await on.until_shown("Once upon")
        await on.say("second")
        await on.say("third")
        await on.until_shown("⋯ second", "⋯ third", "edits the last one")
        await on.press("up")
        await on.until_gone("⋯ third")
        assert on.app.prompt.text == "third"
        await on.press("ctrl+c")  # stops the turn, and leaves what is typed
        await on.until_shown("‖ second", "held: Enter sends")
        await on.press("ctrl+c")
        assert on.app.prompt.is_empty
        await on.press("enter")
        await on.until_shown("Second.")
        await on.until_idle()
        assert [event.text for event in await on.recorded(PromptSubmitted)] == ["first", "second"]


@pytest.mark.spec("G4", "B10")
async def test_escape_cancels_the_turn_and_keeps_what_was_done(harness: MakeHarness):
    on = harness(asks_for(write("one.txt", "1\n", "w")), asks_for(shell("echo begun; cat fifo")))
    os.mkfifo(on.folder / "fifo")
    async with on.open(mode="yolo", prompt="go"):
        await on.until_shown("│ begun")
        await on.press("escape")
        await on.until_shown("Cancelled. What was done is kept.")
        assert (on.folder / "one.txt").read_text() == "1\n"
        finished = {event.call_id: event for event in await on.recorded(CallFinished)}
        assert (finished["run"].status, finished["run"].result.response["output"][:5]) == ("cancelled", "begun")
        assert [event.status for event in await on.recorded(TurnFinished)] == ["cancelled"]


@pytest.mark.parametrize("said", [[], [{"text": "Once upon"}]])
async def test_thoughts_stay_when_escape_cancels_the_turn_and_when_the_session_is_opened_again(
    harness: MakeHarness, said: list[dict[str, str]]
):
    pause = {"pause_ms": 600_000}
    async with harness({"chunks": [{"thought": "**Looking** around"}, *said, pause]}).open(prompt="go") as on:
        await on.until_shown("✻ Looking", *(one["text"] for one in said))
        await on.press("escape")
        await on.until_shown("Cancelled. What was done is kept.")
        assert "✻ Looking" in on.shown
        session = on.app.context.session
        await on.app.link.switch(None)
        await on.app.link.switch(session)
        await on.until_shown("✻ Looking", "Cancelled.")


@pytest.mark.spec("F3")
async def test_escape_at_a_question_first_leaves_it_and_then_cancels_the_turn(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("never said")).open(prompt="go") as on:
        await on.until_asked()
        await on.until_shown("Esc twice to cancel")
        await on.press("escape")
        assert on.app.prompt.has_focus and on.runner.waiting()
        assert "Tab to answer" in on.shown and "Esc to cancel" in on.shown
        await on.press("tab")
        assert on.app.panel.has_focus
        await on.press("tab")
        assert on.app.prompt.has_focus
        await on.press("tab", "escape", "f2")
        assert on.app.panel.has_focus
        await on.press("escape", "escape")
        await on.until_shown("Cancelled. What was done is kept.")
        assert "never said" not in on.shown and not (on.folder / "canary").exists()


async def test_escape_cancels_a_command_of_ones_own(harness: MakeHarness):
    on = harness()
    async with on.open():
        await on.press("!")
        await on.types("while :; do sleep 300; done\n")
        await on.until_shown("Running", "Esc to cancel")
        await on.press("escape")
        await on.until(lambda: not on.runner.state.pending())
        assert [event.status for event in await on.recorded(CallFinished)] == ["cancelled"]


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_the_last_lines_of_an_interrupted_command_stay_in_sight(harness: MakeHarness, key: str):
    on = harness(asks_for(shell("seq -f 'step %g' 1 30; cat fifo")))
    os.mkfifo(on.folder / "fifo")
    async with on.open(mode="yolo", prompt="go", size=(80, 40)):
        await on.until_shown("│ step 30")
        await on.press(key)
        await on.until_shown("Cancelled. What was done is kept.")
        await on.until_shown("lines above", "│ step 29", "│ step 30")


async def test_ctrl_c_clears_what_is_typed_and_twice_quits(harness: MakeHarness):
    async with harness().open() as on:
        await on.types("hello")
        await on.press("ctrl+c")
        assert on.app.prompt.is_empty
        await on.press("up")
        assert on.app.prompt.text == "hello", "nothing is lost"
        await on.press("ctrl+c")
        assert on.app.prompt.is_empty
        await on.press("ctrl+c")
        await on.until_shown("Press Ctrl-C again to quit")
        await on.press("ctrl+c")
        assert on.app.return_code == 0 or not on.app.is_running


@pytest.mark.spec("G4")
@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_stopping_a_turn_holds_the_queue_until_enter(harness: MakeHarness, key: str):
    async with harness(SLOW, says("Now this."), says("Second.")).open(prompt="first") as on:
        await on.until_shown("Once upon")
        await on.say("second")
        await on.until_shown("⋯ second")
        await on.press(key)
        await on.until_shown("Cancelled. What was done is kept.", "‖ second")
        await on.until_idle()
        await on.say("first this")
        await on.until_shown("Now this.", "‖ second")
        await on.until_idle()
        await on.press("enter")
        await on.until_shown("Second.")
        said = [event.text for event in await on.recorded(PromptSubmitted)]
        assert said == ["first", "first this", "second"]


@pytest.mark.spec("G4")
async def test_only_an_empty_input_offers_to_take_a_message_back(harness: MakeHarness):
    """Otherwise, Up recalls a copy of it, and it would be sent twice."""
    async with harness(SLOW).open(prompt="first") as on:
        await on.until_shown("Once upon")
        await on.say("second")
        await on.until_shown("⋯ second", "↑ edits the last one")
        await on.types("half")
        await on.until_gone("↑ edits the last one")
        await on.press(*["backspace"] * 4)
        await on.until_shown("↑ edits the last one")
        await on.press("up")
        await on.until(lambda: on.app.prompt.text == "second" and not on.runner.state.queued)


@pytest.mark.spec("G4")
async def test_ctrl_s_lets_the_model_read_a_message_at_its_next_step(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("As you wish.")).open(prompt="first") as on:
        await on.until_asked()
        await on.press("escape")
        await on.types("only the tests")
        await on.press("ctrl+s")
        await on.until_shown("↪ only the tests", "read at the next step")
        await on.press("tab", "y")
        await on.until_shown("❯ only the tests", "As you wish.")
        await on.until_idle()
        first, second = await on.recorded(PromptSubmitted)
        assert first.prompt_id == second.prompt_id


async def test_ctrl_c_stops_a_turn_that_waits_for_an_answer(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("never said")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("ctrl+c")
        await on.until_shown("Cancelled. What was done is kept.")
        assert not (on.folder / "canary").exists() and on.app.is_running


async def test_ctrl_c_closes_a_screen_before_it_stops_anything(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go") as on:
        await on.until_asked()
        await on.press("r", "ctrl+c")
        assert on.runner.waiting() and on.app.panel.call is not None
        await on.until(lambda: len(on.app.screen_stack) == 1)


async def test_ctrl_d_quits_and_leaves_the_question_open(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go") as on:
        await on.until_asked()
        await on.press("ctrl+d")
        await on.until(lambda: not on.app.is_running)
    assert on.app.link.left_waiting == 1


async def test_ctrl_d_deletes_what_is_typed_and_asks_again_while_something_runs(harness: MakeHarness):
    async with harness(SLOW).open(prompt="tell") as on:
        await on.until_shown("Once upon")
        await on.types("ab")
        await on.press("left", "ctrl+d")
        assert on.app.prompt.text == "a"
        await on.press("backspace", "ctrl+d")
        await on.until_shown("Press Ctrl-D again")
        await on.press("ctrl+d")
        await on.until(lambda: not on.app.is_running)


@pytest.mark.spec("G4")
async def test_messages_left_in_the_queue_are_held_when_the_session_is_opened_again(harness: MakeHarness):
    async with harness(SLOW).open(prompt="first") as on:
        await on.until_shown("Once upon")
        await on.say("second")
        await on.say("third")
        await on.until_shown("⋯ second", "⋯ third")
        await on.press("ctrl+d", "ctrl+d")
        await on.until(lambda: not on.app.is_running)
    async with harness(SLOW, says("Second.")).open(session=on.app.link.left_session) as again:
        await again.until_shown("‖ second", "‖ third", "held: Enter sends", "↑ edits the last one")
        assert [event.text for event in await again.recorded(PromptSubmitted)] == ["first"]
        await again.press("up")
        await again.until_gone("‖ third")
        assert again.app.prompt.text == "third"
        await again.press("ctrl+c", "enter")
        await again.until_shown("Second.")
        assert [event.text for event in await again.recorded(PromptSubmitted)] == ["first", "second"]


@pytest.mark.parametrize("word", ["exit", "quit"])
async def test_exit_leaves_and_is_not_sent_to_the_model(harness: MakeHarness, word: str):
    async with harness(says("never said")).open() as on:
        await on.say(word)
        await on.until(lambda: not on.app.is_running)
    assert on.app.link.left_session == ""


async def test_a_click_in_the_transcript_does_not_take_the_keys_from_the_input(harness: MakeHarness):
    async with harness(says("Hello there.")).open(prompt="hi") as on:
        await on.until_shown("Hello there.")
        await on.pilot.click("#transcript", offset=(3, 1))
        await on.types("just kidding")
        assert on.app.prompt.text == "just kidding"


async def test_keys_that_the_transcript_does_not_use_go_to_the_input(harness: MakeHarness):
    async with harness(says("Hello there.")).open(prompt="hi") as on:
        await on.until_shown("Hello there.")
        await on.press("ctrl+up")
        assert on.app.transcript.has_focus
        await on.types("what?")
        assert on.app.prompt.has_focus and on.app.prompt.text == "what?"
