"""Answering in the terminal UI: every key of the question does what it says, on real sessions with real tools."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import TextArea

from assent.commands import Answer, RevokeGrant
from assent.events import ApprovalAnswered, ApprovalRequested, CallFinished, GrantAdded
from assent.front.tui.answer_screens import (
    AnswerBox,
    AnswerScreen,
    ArgumentsScreen,
    ReasonScreen,
)
from assent.front.tui.ask_screen import AskScreen
from assent.front.tui.scope_screen import ScopeScreen
from assent.sandbox.bubblewrap import bubblewrap
from support.app_harness import AppHarness
from support.program import Json, asks_for, replace, says, shell, write

pytestmark = pytest.mark.spec("G3")

MakeHarness = Callable[..., AppHarness]
CANARY = shell("echo x >> canary")


@pytest.mark.spec("C2")
async def test_y_runs_it_once(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        assert "echo x >> canary" in on.shown and not (on.folder / "canary").exists()
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "canary").read_text() == "x\n"
        assert [event.outcome for event in await on.recorded(ApprovalAnswered)] == ["proceed_once"]
        await on.until_shown("✓ run_shell_command", "Done.")
        assert on.app.prompt.has_focus and not on.app.panel.display


@pytest.mark.spec("C2")
@pytest.mark.parametrize("key", ["n", "enter"])
async def test_no_is_the_default_and_runs_nothing(harness: MakeHarness, key: str):
    async with harness(asks_for(CANARY), says("never said")).open(prompt="go") as on:
        await on.until_asked()
        await on.press(key)
        await on.until_idle()
        assert not (on.folder / "canary").exists()
        assert [event.outcome for event in await on.recorded(ApprovalAnswered)] == ["cancel"]
        await on.until_shown("⊘ run_shell_command")
        assert "never said" not in on.shown


@pytest.mark.parametrize("rows", [40, 16])
async def test_the_second_word_is_asked_right_above_the_question(harness: MakeHarness, rows: int):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go", size=(80, rows)) as on:
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        box = on.app.screen.query_one(AnswerBox).region
        assert box.y >= 0 and box.bottom == max(on.app.panel.region.y, box.height)


@pytest.mark.spec("C2")
async def test_r_says_no_with_a_reason_for_the_model(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Then the other one.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        await on.press("enter")  # no reason yet
        await on.until_screen(ReasonScreen)
        await on.types("use the other file\n")
        await on.until_idle()
        await on.until_shown("Then the other one.")  # a reason is an answer: the model goes on
        assert [event.reason for event in await on.recorded(ApprovalAnswered)] == ["use the other file"]
        assert not (on.folder / "canary").exists()


async def test_a_reason_that_was_begun_is_there_again_and_also_if_it_is_asked_again(harness: MakeHarness):
    on = harness(asks_for(replace("notes.txt", "two", "three")), says("Then four."))
    (on.folder / "notes.txt").write_text("one\ntwo\n")
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        await on.types("make it fo")
        await on.press("escape")
        (on.folder / "notes.txt").write_text("zero\none\ntwo\n")
        await on.press("y")  # does not count: it is asked again
        await on.until(lambda: "zero" in on.shown)
        await on.settle()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        await on.types("ur\n")
        await on.until_shown("Then four.")
        assert [event.reason for event in await on.recorded(ApprovalAnswered)][-1] == "make it four"
        assert "was not sent" not in on.shown


async def test_what_was_begun_and_not_sent_is_told_when_the_call_is_decided(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        await on.types("the other one")
        await on.press("escape", "i")
        await on.until_screen(ArgumentsScreen)
        await on.types("2")
        await on.press("escape", "y")
        await on.until_shown("Your reason was not sent: the other one", "not sent: echo x >> canary2", "Done.")
        assert (on.folder / "canary").exists()


async def test_an_edit_of_the_arguments_is_there_again_even_if_it_is_not_valid_yet(harness: MakeHarness):
    args = {"allow_multiple": False, "file_path": "notes.txt", "old_string": "x", "new_string": "y"}
    on = harness(asks_for({"name": "replace", "args": args, "id": "edit"}), says("Done."))
    (on.folder / "notes.txt").write_text("x\n")
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("i")
        await on.until_screen(ArgumentsScreen)
        await on.press("tab", "down", "tab", "ctrl+a", "ctrl+k")
        await on.types("notes.txt.new")
        await on.press("tab", "up", "tab", "backspace", "escape", "i")
        await on.until_screen(ArgumentsScreen)
        await on.until_shown("allow_multiple: fals", "file_path: notes.txt.new")
        await on.press("ctrl+s")
        await on.until_shown("this must be JSON")
        assert on.app.screen.query_one(TextArea).text == "fals"


async def test_what_was_saved_in_the_editor_is_there_again_if_it_could_not_be_used(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    on = harness(asks_for(replace("notes.txt", "two", "three")), says("Done."))
    notes, opened = on.folder / "notes.txt", tmp_path / "opened"
    notes.write_text("one\ntwo\n")
    make_editor(monkeypatch, tmp_path, f'cp "$1" {opened}; echo more >> "$1"; echo zero > {notes}')
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("e")
        await on.until_shown("Not done: old_string was not found")
        await on.until_gone("editing it")
        await on.press("e")
        await on.until(lambda: opened.read_text() == "one\nthree\nmore\n")
        await on.until_gone("editing it")
        await on.press("n")
        await on.until_shown("What you saved in the editor was not used:", "more")


@pytest.mark.spec("C2", "B11")
async def test_a_asks_how_far_and_the_grant_covers_the_next_call(harness: MakeHarness):
    adds = shell("python3 add.py"), shell("python3 add.py", "two")
    on = harness(asks_for(adds[0]), asks_for(adds[1]), says("Done."))
    (on.folder / "add.py").write_text("print('x', file=open('canary', 'a'))")
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("a")
        await on.until_screen(ScopeScreen)
        await on.press("escape")
        assert on.app.panel.call is not None and on.app.panel.has_focus
        await on.press("a")
        await on.until_screen(ScopeScreen)
        await on.press("enter")
        await on.until_idle()
        assert (on.folder / "canary").read_text() == "x\nx\n"
        assert len(await on.recorded(ApprovalRequested)) == 1
        (added,) = await on.recorded(GrantAdded)
        await on.until_shown("Granted: ")
        await on.runner.send(RevokeGrant(added.grant.id, by="bob"))
        await on.until_shown("Revoked by bob: ", added.grant.reach[:20])


async def test_where_a_is_not_offered_it_says_why(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        why = 'No "always" here: it contains a redirection'
        assert on.shown.count(why) == 1
        await on.press("a")
        await on.until(lambda: on.shown.count(why) == 2)
        assert on.app.panel.display and not (on.folder / "canary").exists()


@pytest.mark.spec("J4")
async def test_always_in_this_folder_holds_in_the_next_session(harness: MakeHarness):
    run = shell("touch canary")
    on = harness(asks_for(run), says("Done."))
    async with on.open(prompt="go", size=(240, 30)):
        await on.until_asked()
        await on.press("a")
        await on.until_screen(ScopeScreen)
        await on.until_shown("Always allow:", "from now on:")
        scopes = on.runner.waiting()[0].approval.scopes
        place = next(place for place, scope in enumerate(scopes, start=1) if scope.lasts == "folder")
        await on.press(str(place))
        await on.until_idle()
        (on.folder / "canary").unlink()
        await on.say("/clear")
        await on.until_shown("This is a new session.")
        await on.say("again")
        await on.until_shown("Done.")
        assert (on.folder / "canary").exists() and await on.recorded(ApprovalRequested) == []


@pytest.mark.parametrize(("key", "outcome"), [("s", "proceed_always_server"), ("t", "proceed_always_tool")])
async def test_s_and_t_are_for_servers_only(harness: MakeHarness, key: str, outcome: str):
    async with harness(asks_for(CANARY)).open(prompt="go") as on:
        await on.until_asked()
        await on.press(key)
        assert await on.recorded(ApprovalAnswered) == []  # a command has no server


@pytest.mark.spec("F3")
async def test_after_a_no_it_is_said_when_the_model_hears_of_it(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("never said")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("n")
        await on.until_shown("Refused, so the turn ends here.")
        assert "Cancelled." not in on.shown


@pytest.mark.spec("J6", "C4")
async def test_i_changes_any_argument_and_asks_again_with_it(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("i")
        await on.until_screen(ArgumentsScreen)
        await on.types("2")  # at the end, as in the line of a shell
        await on.press("ctrl+s")
        await on.until_shown("echo x >> canary2", "the proposal was changed by hand")
        assert not (on.folder / "canary2").exists()
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "canary2").read_text() == "x\n"
        assert not (on.folder / "canary").exists()


@pytest.mark.spec("C4", "C9")
async def test_a_command_edited_inline_is_judged_anew(harness: MakeHarness):
    async with harness(asks_for(shell("make " + "word " * 30 + "end")), says("Done.")).open(
        prompt="go", size=(60, 24)
    ) as on:
        await on.until_asked()
        await on.press("i")
        await on.until_screen(ArgumentsScreen)
        await on.press("ctrl+a", "ctrl+k")  # to the end of the line, however it is wrapped
        assert on.app.screen.query_one(TextArea).text == ""
        await on.press("ctrl+y")
        assert on.app.screen.query_one(TextArea).text.endswith(" end")
        await on.press("ctrl+a", "ctrl+k")
        await on.types("rm -rf /")
        await on.press("ctrl+s")
        await on.until_shown("Run a command (risk: high)")
        assert "word" not in on.app.panel.call.request.args["command"]  # pyright: ignore[reportOptionalMemberAccess]
        assert await on.recorded(CallFinished) == []


async def test_code_is_shown_once_and_what_the_model_says_of_it(harness: MakeHarness):
    code = "\n".join(f"print('line {number}')" for number in range(12))
    run: Json = {
        "name": "run_shell_command",
        "id": "run",
        "args": {"command": f'python3 -c "{code}"', "description": "Prints twelve lines"},
    }
    async with harness(asks_for(run)).open(prompt="go", size=(100, 40)) as on:
        await on.until_asked()
        panel = "\n".join(line for line in on.shown.splitlines() if line.startswith("┃"))
        assert panel.count("print('line 9')") == 1
        assert "the model says: Prints twelve lines" in panel


ONE: Json = {"question": "Which one?", "options": [{"label": "Red"}, {"label": "Blue"}]}
MANY: Json = {
    "question": "Which ones?",
    "multiSelect": True,
    "options": [{"label": c} for c in ("Red", "Blue", "Black")],
}


def asking(*questions: Json) -> Json:
    return {"name": "ask_user", "id": "ask", "args": {"questions": list(questions)}}


async def test_a_number_answers_a_question_of_the_model(harness: MakeHarness):
    async with harness(asks_for(asking(ONE)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.until_shown("1  Red", "2  Blue", "1–2")
        await on.press("3")
        assert on.runner.waiting()
        await on.press("2")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.answers == ("Blue",)


async def test_enter_at_a_question_of_the_model_opens_the_answers_and_refuses_nothing(harness: MakeHarness):
    async with harness(asks_for(asking(ONE, ONE)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("enter")
        await on.until_screen(AskScreen)
        await on.press("2", "1")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.answers == ("Blue", "Red")


async def test_several_options_are_ticked_by_number_and_space(harness: MakeHarness):
    async with harness(asks_for(asking(MANY)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_screen(AskScreen)
        await on.press("3", "up", "space", "1", "1")
        await on.until_shown("1. [ ] Red", "2. [x] Blue", "3. [x] Black")
        await on.press("enter")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.answers == ("Blue, Black",)


LONG: Json = {
    "question": f"Which of them, given {'everything that we know about it and ' * 3}the end of the question?",
    "options": [{"label": "Red", "description": f"it is {'very ' * 20}warm"}, {"label": "Blue"}],
}


@pytest.mark.parametrize("size", [(80, 24), (40, 20)])
async def test_a_long_question_of_the_model_is_shown_with_all_its_words(harness: MakeHarness, size: tuple[int, int]):
    async with harness(asks_for(asking(ONE, LONG)), says("Done.")).open(prompt="go", size=size) as on:
        await on.until_asked()
        await on.press("y")  # although not all of the panel was shown: each question is shown again
        await on.until_screen(AskScreen)
        await on.press("1")
        await on.until_shown(
            "(2 of 2)",
            "end of the",
            "question?",
            "1. Red: it is very",
            "very warm",
            "2. Blue",
            "another answer",
            "Esc back",
        )


async def test_the_description_of_an_option_is_shown_beside_it(harness: MakeHarness):
    described: Json = {"question": "Which?", "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}]}
    async with harness(asks_for(asking(described)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.until_shown("1  Red: warm", "2  Blue")


async def test_ticking_and_enter_need_one_pause_and_not_several(harness: MakeHarness):
    on = harness(asks_for(asking(MANY)), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("y")
        await on.until_screen(AskScreen)
        on.guard.quiet = 1e9
        await on.press("2", "enter")
        assert on.runner.waiting(), "typing answers nothing"
        on.guard.quiet = 0
        await on.press("2", "3")
        on.guard.quiet = 1e9
        await on.press("enter")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.answers == ("Black",)


@pytest.mark.spec("J6")
async def test_an_argument_that_is_no_text_must_be_json(harness: MakeHarness):
    args = {"allow_multiple": False, "file_path": "notes.txt", "old_string": "x", "new_string": "y"}
    on = harness(asks_for({"name": "replace", "args": args, "id": "edit"}), says("Done."))
    (on.folder / "notes.txt").write_text("x\n")
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("i")
        await on.until_screen(ArgumentsScreen)
        await on.press("end")
        await on.types("x")
        await on.press("ctrl+s")
        await on.until_shown("this must be JSON")
        await on.press("backspace", "tab", "down", "down", "down")  # to the last of the arguments
        await on.until_shown("new_string: y")
        await on.press("tab", "end", "backspace", "z", "ctrl+s")
        await on.until_shown("the proposal was changed by hand")
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == "z\n"


@pytest.mark.spec("J8")
@pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")
async def test_what_a_trial_prints_is_shown_while_it_runs(harness: MakeHarness):
    async with harness(asks_for(shell("echo so far; touch canary; tail -f /dev/null"))).open(
        prompt="go", size=(100, 40)
    ) as on:
        await on.until_asked()
        await on.press("t")
        await on.until_shown("being tried in a copy", "printed in a trial", "│ so far")
        await on.press("n")
        await on.until_idle()
        assert not (on.folder / "canary").exists()


@pytest.mark.spec("J7", "J8", "J10")
@pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")
async def test_undo_and_rewind_name_the_files_that_trials_changed_and_undo_each_of_them(harness: MakeHarness):
    tried = [asks_for(shell(f"touch {name}; echo x >> {name}", name)) for name in ("one.txt", "two.txt")]
    async with harness(*tried, says("Done.")).open(prompt="go", size=(100, 40)) as on:
        for name in ("one.txt", "two.txt"):
            await on.until_shown(f"touch {name}", "try it first")
            await on.press("t")
            await on.until_shown("apply this")
            await on.press("y")
        await on.until_idle()
        await on.say("/undo")
        await on.until_shown("Undo a change", "two.txt", "one.txt")
        await on.press("escape")
        (on.folder / "two.txt").write_text("mine\n")
        await on.say("/rewind")
        await on.until_shown("Go back to before", "2 files changed since")
        await on.press("enter")
        await on.until_shown("would stay:", "touch two.txt", "left as they are:", "would be undone:", "+ one.txt")
        staying = on.shown.partition("would stay:")[2].partition("left as they are:")[0]
        assert "two.txt" in staying and "one.txt" not in staying
        await on.press("y")
        await on.until(lambda: not (on.folder / "one.txt").exists())
        assert (on.folder / "two.txt").read_text() == "mine\n"


# --- edits ---

LINES = [f"line {number}\n" for number in range(40)]
OLD = "".join(LINES)


def changed(*numbers: int) -> str:
    return "".join(f"new {number}\n" if number in numbers else line for number, line in enumerate(LINES))


async def edited(harness: MakeHarness, content: str) -> AppHarness:
    on = harness(asks_for(write("notes.txt", content)), says("Done."))
    (on.folder / "notes.txt").write_text(OLD)
    return on


@pytest.mark.spec("J6")
async def test_only_the_chosen_parts_of_an_edit_are_written(harness: MakeHarness):
    on = await edited(harness, changed(3, 20, 37))
    async with on.open(prompt="go", size=(80, 50)):
        await on.until_asked()
        await on.press("right_square_bracket", "space")
        assert "▶[ ] part 2 of 3" in on.shown and "yes, these parts" in on.shown
        assert "always" not in on.shown
        await on.press("a")  # always would mean all of it
        assert await on.recorded(ApprovalAnswered) == []
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == changed(3, 37)
        assert "edited before it ran" in on.shown


@pytest.mark.spec("J6")
async def test_a_part_with_changes_that_are_apart_can_be_split(harness: MakeHarness):
    on = await edited(harness, changed(3, 5, 20))
    async with on.open(prompt="go", size=(80, 50)):
        await on.until_asked()
        assert "part 1 of 2" in on.shown
        await on.press("s")
        assert "▶[x] part 1 of 3" in on.shown and "s  split it" not in on.shown
        await on.press("s")
        assert "This part cannot be split" in on.shown
        await on.press("right_square_bracket", "space", "y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == changed(3, 20)
        assert "edited before it ran" in on.shown


@pytest.mark.spec("J6")
async def test_a_part_that_was_left_out_is_split_into_pieces_that_are_left_out(harness: MakeHarness):
    on = await edited(harness, changed(3, 5, 7, 20))
    async with on.open(prompt="go", size=(80, 50)):
        await on.until_asked()
        await on.press("space", "s", "right_square_bracket", "space", "y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == changed(5, 20)


@pytest.mark.spec("J3", "J6")
async def test_a_split_part_is_not_written_over_what_has_changed_since(harness: MakeHarness):
    on = await edited(harness, changed(3, 5))
    async with on.open(prompt="go", size=(80, 50)):
        await on.until_asked()
        await on.press("s")
        (on.folder / "notes.txt").write_text(OLD + "mine\n")
        await on.press("space", "y")
        await on.until_shown("the file has changed since it was shown")
        assert (on.folder / "notes.txt").read_text() == OLD + "mine\n"


@pytest.mark.spec("J6")
async def test_no_part_at_all_is_no_yes(harness: MakeHarness):
    on = await edited(harness, changed(3, 37))
    async with on.open(prompt="go", size=(80, 50)):
        await on.until_asked()
        await on.press("space", "right_square_bracket", "space", "y")
        assert "No part is selected" in on.shown
        assert await on.recorded(ApprovalAnswered) == []
        await on.press("left_square_bracket", "space", "y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == changed(3)


async def test_v_shows_an_edit_side_by_side_where_there_is_room(harness: MakeHarness):
    on = await edited(harness, changed(3))
    async with on.open(prompt="go", size=(120, 40)):
        await on.until_asked()
        assert "side by side" in on.shown
        await on.press("v")
        assert any("- line 3" in row and "+ new 3" in row for row in on.shown.splitlines())
        await on.press("v")
        assert not any("- line 3" in row and "+ new 3" in row for row in on.shown.splitlines())


def make_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *lines: str) -> None:
    path = tmp_path / "editor.sh"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(path))
    monkeypatch.delenv("VISUAL", raising=False)


@pytest.mark.spec("C3")
async def test_e_opens_the_editor_and_asks_again_with_what_was_saved(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    make_editor(monkeypatch, tmp_path, 'echo mine > "$1"')
    on = harness(asks_for(write("notes.txt", "the model's\n")), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("e")
        await on.until_shown("+ mine")
        assert not (on.folder / "notes.txt").exists()
        await on.settle()
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == "mine\n"


@pytest.mark.spec("C3")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("true", "Nothing was changed"),
        ("exit 3", "The editor ended with exit code 3"),
        ("kill -9 $$", "The editor was ended by signal 9"),
        ('rm "$1"', "The text could not be edited"),
        ("", "/nonexistent/editor was not found"),
    ],
)
async def test_an_editor_that_saves_nothing_leaves_the_question(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, said: str
):
    make_editor(monkeypatch, tmp_path, line)
    if not line:
        monkeypatch.setenv("EDITOR", "/nonexistent/editor")
    async with harness(asks_for(write("notes.txt", "the model's\n")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("e")
        await on.until_shown(said)
        await on.until(lambda: "editing it" not in on.shown)
        await on.press("y")
        await on.until_idle()
        assert ("Nothing was changed" in on.shown) == (line == "true"), "one message says it"
        assert (on.folder / "notes.txt").read_text() == "the model's\n"


# --- several ---


@pytest.mark.spec("B7")
async def test_several_questions_are_gone_through_with_the_arrows(harness: MakeHarness):
    calls = asks_for(shell("echo 1 >> canary", "one"), shell("echo 2 >> canary", "two"))
    async with harness(calls, says("Done.")).open(prompt="go") as on:
        await on.until_asked(2)
        assert "1 of 2" in on.shown
        await on.press("right")
        assert "2 of 2" in on.shown and "▌ echo 2 >> canary" in on.shown
        await on.press("y")
        await on.until_asked(1)
        await on.press("n")
        await on.until_idle()
        assert (on.folder / "canary").read_text() == "2\n"


async def test_yes_to_all_needs_all_to_have_been_shown(harness: MakeHarness):
    calls = asks_for(shell("echo 1 >> canary", "one"), shell("echo 2 >> canary", "two"))
    async with harness(calls, says("Done.")).open(prompt="go") as on:
        await on.until_asked(2)
        await on.press("A")
        assert "each shown to its end" in on.shown
        assert await on.recorded(ApprovalAnswered) == []
        await on.press("right", "A")
        await on.until_idle()
        assert sorted((on.folder / "canary").read_text()) == ["\n", "\n", "1", "2"]


# --- what the model asks ---


ASKED: Json = {
    "name": "ask_user",
    "id": "ask",
    "args": {
        "questions": [
            {"question": "Which one?", "options": [{"label": "Red"}, {"label": "Blue"}]},
            {"question": "Its name?", "type": "text"},
        ]
    },
}


async def test_the_models_questions_are_answered_one_after_the_other(harness: MakeHarness):
    async with harness(asks_for(ASKED), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        assert "Which one?" in on.shown
        await on.press("i")  # its arguments are not ours to change
        assert not isinstance(on.app.screen, AnswerScreen)
        await on.press("y")
        await on.until_screen(AskScreen)
        await on.press("down", "enter")
        await on.until_shown("(2 of 2) Its name?")
        await on.types("Rex\n")
        await on.until_idle()
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.answers == ("Blue", "Rex")


# --- someone else ---


@pytest.mark.spec("C10")
async def test_when_another_client_answers_the_question_closes_and_says_who(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        (call,) = on.runner.waiting()
        log = await on.host.log()
        session = on.runner.state.session
        await log.put(
            session,
            "bobs",
            Answer(call_id=call.request.call_id, outcome="proceed_once", digest=call.approval.digest, by="bob"),
        )
        await on.until_shown("Answered by bob: yes.")
        await on.until_idle()
        assert not on.app.panel.display and on.app.prompt.has_focus
        assert (on.folder / "canary").exists()


async def test_approvals_says_which_question_is_answered_already(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go", size=(120, 30)) as on:
        await on.until_asked()
        session, (call,) = on.runner.state.session, on.runner.waiting()
        await on.press("escape")
        await on.say("/clear")
        await on.until_shown("This is a new session.")
        log = await on.host.log()
        answer = Answer(call_id=call.request.call_id, outcome="cancel", digest=call.approval.digest, by="bob")
        await log.put(session, "bobs", answer)
        await on.say("/approvals")
        await on.until_shown("echo x >> canary", "answered by bob; the session takes the answer when it is open")
        assert "assent answer" not in on.shown


@pytest.mark.spec("J3", "C10")
async def test_it_is_said_if_the_answer_of_someone_else_did_not_count(harness: MakeHarness):
    on = harness(asks_for(replace("notes.txt", "two", "three")), says("Done."))
    (on.folder / "notes.txt").write_text("one\ntwo\n")
    async with on.open(prompt="go", size=(120, 40)):
        await on.until_asked()
        (on.folder / "notes.txt").write_text("zero\none\ntwo\n")
        (call,) = on.runner.waiting()
        answer = Answer(call_id=call.request.call_id, outcome="proceed_once", digest=call.approval.digest, by="bob")
        await (await on.host.log()).put(on.runner.state.session, "bobs", answer)
        await on.until_shown("Answered by bob: yes.", "The answer by bob did not count: what it would do has changed")
        await on.settle()
        await on.press("y")
        await on.until_idle()
        assert on.shown.count("did not count") == 1


@pytest.mark.spec("C10")
async def test_an_answer_under_way_closes_when_someone_was_faster(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go") as on:
        await on.until_asked()
        await on.press("r")
        await on.until_screen(ReasonScreen)
        await on.types("becau")
        (call,) = on.runner.waiting()
        log = await on.host.log()
        session = on.runner.state.session
        await log.put(
            session,
            "bobs",
            Answer(call_id=call.request.call_id, outcome="cancel", digest=call.approval.digest, by="bob@pid7"),
        )
        await on.until(lambda: not isinstance(on.app.screen, AnswerScreen))
        await on.until_shown("Answered by bob: no.", "Your reason was not sent: becau")
        assert [event.by for event in await on.recorded(ApprovalAnswered)] == ["bob@pid7"], "the record has exactly who"


@pytest.mark.spec("J3")
async def test_an_edit_whose_file_changed_meanwhile_is_asked_again(harness: MakeHarness):
    on = harness(asks_for(replace("notes.txt", "two", "three")), says("Done."))
    (on.folder / "notes.txt").write_text("one\ntwo\n")
    async with on.open(prompt="go"):
        await on.until_asked()
        (on.folder / "notes.txt").write_text("zero\none\ntwo\n")
        await on.press("y")
        await on.until(lambda: "zero" in on.shown)
        await on.settle()
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == "zero\none\nthree\n"
        assert [event.status for event in await on.recorded(CallFinished)] == ["success"]
