"""The viewer: any output, file or question on the whole screen; search, wrapping, marking, copying."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.events import Key
from textual.strip import Strip
from textual.widgets import Input

from assent.app.call_states import Success
from assent.app.output_folders import WholeText, output_file
from assent.approval import Decision
from assent.events import CallRequest
from assent.front.tui.documents import call_document, code_blocks
from assent.front.tui.long_text import LongText
from assent.front.tui.review import ReviewScreen
from assent.front.tui.seen_lines import SeenLines
from assent.front.tui.viewer import ViewerScreen
from assent.parts import Result, TerminalDisplay
from support.app_harness import AppHarness
from support.program import asks_for, says, shell, write

MakeHarness = Callable[..., AppHarness]
pytestmark = pytest.mark.spec("G2")
COUNTS = asks_for(shell("seq -f 'number %g' 1 5000"))


async def open_viewer(on: AppHarness, command: str = "/view") -> ViewerScreen:
    await on.until_idle()
    await on.say(command)
    await on.until_screen(ViewerScreen)
    screen = on.app.screen
    assert isinstance(screen, ViewerScreen)
    return screen


async def test_the_end_of_a_long_output_is_one_key_away(harness: MakeHarness):
    async with harness(COUNTS, says("Done.")).open(mode="yolo", prompt="go") as on:
        await open_viewer(on)
        await on.until_shown("number 1", "of 5,00")
        await on.press("G")
        await on.until_shown("number 5000", "5,001 of 5,001 lines" if "5,001" in on.shown else "5,000 of 5,000 lines")
        await on.press("g")
        await on.until_shown("number 1")
        await on.press("q")
        assert not isinstance(on.app.screen, ViewerScreen)


async def test_the_viewer_finds_text_and_goes_on_to_the_next(harness: MakeHarness):
    async with harness(COUNTS, says("Done.")).open(mode="yolo", prompt="go") as on:
        viewer = await open_viewer(on)
        await on.press("slash")
        await on.types("NUMBER 49\n")
        await on.until_shown("match 1 of 111", "number 49")
        await on.press("n")
        await on.until_shown("match 2 of 111", "number 490")
        await on.press("N", "N")
        await on.until_shown("match 111 of 111", "number 4999")
        await on.press("slash", *"nowhere", "enter")
        await on.until_shown("'nowhere' was not found.")
        assert not viewer.lines.found


# --- output that is too long for the log ---

VERY_LONG = asks_for(
    shell("seq -f 'number %g' 1 30000; echo ghp_$(printf 'a1B2%.0s' 1 2 3 4 5 6 7 8 9); seq -f 'number %g' 30001 60000")
)


def kept_file(on: AppHarness) -> Path:
    (path,) = (Path(on.env["ASSENT_HOME"]) / "outputs" / on.app.context.session).iterdir()
    return path


async def test_all_of_a_very_long_output_is_read_and_searched_with_its_secrets_masked(harness: MakeHarness):
    async with harness(VERY_LONG, says("Done.")).open(mode="yolo", prompt="go") as on:
        viewer = await open_viewer(on)
        await on.until_shown("number 1", "of 60,00")
        await on.press("slash", *"number 30000", "enter")
        await on.until_shown("match 1 of 1", "number 29999", "number 30000", "number 30001", "[secret: GitHub token]")
        await on.press("slash", *"number 2", "enter")
        await on.until_shown("of 11,111")
        await on.press("G")
        await on.until_shown("number 60000")
        assert "omitted" not in viewer.lines.document.text and "ghp_" not in viewer.lines.document.text


async def test_what_is_searched_for_before_all_is_read_is_found_afterwards(harness: MakeHarness):
    async with harness(VERY_LONG, says("Done.")).open(mode="yolo", prompt="go") as on:
        whole = on.host.whole_output
        may_read = asyncio.Event()

        async def late(session: str, call_id: str) -> WholeText | None:
            await may_read.wait()
            return await whole(session, call_id)

        with patch.object(on.host, "whole_output", late):
            viewer = await open_viewer(on)
            await on.until_shown("reading all of it …")
            await on.press("slash", *"number 30000", "enter")
            await on.until_shown("'number 30000' was not found.")
            await on.press("G")
            may_read.set()
            await on.until(lambda: "reading" not in on.shown)
        await on.until_shown("match 1 of 1", "number 30000")
        assert len(viewer.lines.found) == 1


async def test_the_end_of_a_very_long_output_stays_in_sight_when_all_of_it_has_been_read(harness: MakeHarness):
    async with harness(VERY_LONG, says("Done.")).open(mode="yolo", prompt="go") as on:
        may_read = asyncio.Event()
        whole = on.host.whole_output

        async def late(session: str, call_id: str) -> WholeText | None:
            await may_read.wait()
            return await whole(session, call_id)

        with patch.object(on.host, "whole_output", late):
            await open_viewer(on)
            await on.press("G")
            await on.until_shown("number 60000", "reading all of it …")
            may_read.set()
            await on.until_shown("number 60000", "60,003 of 60,003 lines")


async def test_the_viewer_says_if_the_file_with_all_of_an_output_is_gone(harness: MakeHarness):
    async with harness(VERY_LONG, says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        kept_file(on).unlink()
        await open_viewer(on)
        await on.until_shown("number 1", "Not all of it can be shown: the file with all of it is gone.")
        await on.press("q")
        await on.say("/copy output")
        await on.until_shown("too long to copy")


async def test_the_file_of_an_output_is_viewed_by_its_path_also_in_a_fork(harness: MakeHarness):
    async with harness(VERY_LONG, says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        path = kept_file(on)
        await open_viewer(on, f"/view {path}")
        await on.until_shown("run_shell_command", "of 60,00")
        await on.press("q")
        await on.app.link.switch(await on.host.fork(on.app.context.session))
        path.unlink()
        await open_viewer(on, f"/view {path}")
        await on.until_shown("of 60,00")


async def test_other_files_that_are_kept_for_the_session_are_viewed_but_not_those_of_another(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="hi") as on:
        await on.until_idle()
        outputs = Path(on.env["ASSENT_HOME"]) / "outputs"
        for session in (on.app.context.session, "another"):
            (outputs / session).mkdir(parents=True)
            (outputs / session / "kept-run.txt").write_text("served at noon\n")
        await open_viewer(on, f"/view {outputs}/{on.app.context.session}/kept-run.txt")
        await on.until_shown("served at noon")
        await on.press("q")
        await on.say(f"/view {outputs}/another/kept-run.txt")
        await on.until_shown("outside")
        await on.say(f"/view {outputs}/{on.app.context.session}/lost.txt")
        await on.until_shown("lost.txt is gone.")


async def test_copying_a_very_long_output_says_how_long_it_is_and_what_to_do(harness: MakeHarness):
    async with harness(VERY_LONG, says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        await on.say("/copy output")
        await on.until_shown("too long to copy (768,916", "marks lines and c copies them.")
        assert not on.app.clipboard


def finished(shown: str) -> Success:
    request = CallRequest(call_id="run", prompt_id="p", tool="run_shell_command", args={})
    return Success(
        request=request,
        started_at=0,
        decision=Decision(source="rule", reason=""),
        result=Result("run", "run_shell_command", {}),
        display=TerminalDisplay(shown),
        duration_ms=1,
    )


END = "tail\n" * 100 + "last"


@pytest.mark.parametrize(
    ("kept", "end"),
    [
        (WholeText(f"first\nmiddle\n{END}\n"), "tail\nlast\n[the sandbox refused a host]"),
        (WholeText("first\nmid", is_cut=True), "mid\n... [no more was kept; the end of the output follows] ..."),
    ],
)
async def test_notes_follow_the_whole_output_and_so_does_its_end_if_not_all_was_kept(kept: WholeText, end: str):
    gap = f"... [7 characters omitted; all of it is in /x/{output_file('run')}] ..."
    call = finished(f"first\n{gap}\n{END}\n[the sandbox refused a host]\n")

    async def keeps(call_id: str) -> WholeText:
        return kept

    document = call_document(call, keeps)
    assert document.whole is not None
    text = (await document.whole()).text
    assert end in text and text.endswith("tail\nlast\n[the sandbox refused a host]")


@pytest.mark.parametrize("width", [2, 9, 10, 11, 200])
def test_every_character_of_a_long_text_is_on_some_row_and_no_row_is_too_wide(width: int):
    lines = ["", "short", "exactly te", "x" * 35, "新的一行" * 9, "e\u0301 🙂 mixed", "a\tb"]
    rows = LongText("\n".join(lines) + "\n").drawn([Strip([Segment("above")])], width)
    assert rows[0].text == "above" and len(list(rows)) == len(rows)
    assert "".join(row.text for row in rows[1:]) == "".join(lines).expandtabs().replace("a" + " " * 11, "a" + " " * 7)
    assert max(cell_len(row.text) for row in rows[1:]) <= width


def test_a_long_text_is_searched_across_its_rows():
    rows = LongText(f"Needle\nxxxxxNEEDLE{'y' * 30}needle needle\n").drawn([], 8)
    found = rows.rows_with("needle")
    assert found[:2] == [0, 1] and [rows[place].text for place in found[2:]] == ["yneedle ", "needle"]


async def test_long_lines_wrap_until_one_says_otherwise(harness: MakeHarness):
    line = "x" * 70 + "MIDDLE" + "y" * 70 + "END"
    async with harness(asks_for(shell(f"echo {line}")), says("Done.")).open(mode="yolo", prompt="go") as on:
        await open_viewer(on)
        await on.until_shown("END")
        await on.press("w")
        assert "yEND" not in on.shown
        await on.press(*["right"] * 11)
        await on.until_shown("yEND")
        await on.press("w")
        await on.until_shown("xxx", "END")


async def test_a_file_is_shown_with_its_colours_and_numbers(harness: MakeHarness):
    on = harness(says("Hello."))
    (on.folder / "cart.py").write_text("def total():\n    return 0\n")
    async with on.open(prompt="hi"):
        await open_viewer(on, "/view cart.py")
        await on.until_shown("cart.py", "1 def total():", "2     return 0", "2 of 2 lines")


@pytest.mark.parametrize(("name", "text"), [("a.txt", "one\ntwo\n"), ("a.txt", "one\ntwo"), ("a.py", "a = 1\nb = 2\n")])
async def test_a_line_break_at_the_end_of_a_file_begins_no_line(harness: MakeHarness, name: str, text: str):
    on = harness(says("Hello."))
    (on.folder / name).write_text(text)
    async with on.open(prompt="hi"):
        await open_viewer(on, f"/view {name}")
        await on.until_shown("2 of 2 lines")


async def test_a_file_that_cannot_be_shown_is_said(harness: MakeHarness):
    on = harness(says("Hello."))
    (on.folder / "picture").write_bytes(b"\x89PNG\0\0")
    async with on.open(prompt="hi"):
        await on.until_idle()
        await on.say("/view picture")
        await on.until_shown("picture is not text.")
        await on.say("/view ../../etc/passwd")
        await on.until_shown("outside")


async def test_a_call_that_is_selected_is_viewed_and_copied_with_a_key(harness: MakeHarness):
    async with harness(COUNTS, says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        await on.until_shown("Done.")
        await on.press("ctrl+up", "v")
        await on.until_screen(ViewerScreen)
        await on.until_shown("number 1", "run_shell_command")
        await on.press("q", "c")
        assert on.app.clipboard.startswith("number 1\nnumber 2\n")


async def test_a_click_on_the_lines_left_out_shows_them(harness: MakeHarness):
    async with harness(COUNTS, says("Done.")).open(mode="yolo", prompt="go") as on:
        await on.until_shown("Done.", "… 4,99")
        row = next(y for y, line in enumerate(on.shown.splitlines()) if "│ …" in line)
        await on.pilot.click(offset=(8, row))
        await on.until_screen(ViewerScreen)
        await on.until_shown("number 1")


async def test_lines_are_marked_and_copied_with_keys(harness: MakeHarness):
    async with harness(COUNTS, says("Done.")).open(mode="yolo", prompt="go") as on:
        await open_viewer(on)
        await on.press("slash", *"number 20", "enter")
        viewer = on.app.screen
        assert isinstance(viewer, ViewerScreen)
        viewer.lines.scroll_to(y=viewer.lines.found[0], animate=False, immediate=True)
        await on.press("m", "down", "down", "c")
        assert on.app.clipboard == "number 20\nnumber 21\nnumber 22"
        await on.until_shown("Copied 3 lines.")


async def test_marking_begins_at_the_match_if_it_is_on_the_screen(harness: MakeHarness):
    async with harness(COUNTS, says("Done.")).open(mode="yolo", prompt="go") as on:
        viewer = await open_viewer(on)
        await on.press("slash", *"number 20", "enter")
        await on.press("m", "down", "c")
        assert on.app.clipboard == "number 20\nnumber 21"
        viewer.lines.scroll_to(y=1000, animate=False, immediate=True)
        await on.press("m", "c")
        assert on.app.clipboard == viewer.lines.lines[1000].text


@pytest.mark.spec("G1")
async def test_the_conversation_is_searched(harness: MakeHarness):
    replies = [says(f"The answer {number} is forty-two.") for number in range(30)]
    async with harness(*replies).open() as on:
        for number in range(30):
            await on.app.submit(f"question {number}")
        await on.until(lambda: on.runner.state.prompts == 30 and on.runner.state.open_prompt is None)
        await on.press("f3")
        await on.until_screen(ViewerScreen)
        await on.types("answer 3 is\n")
        await on.until_shown("match 1 of 1", "The answer 3 is forty-two.", "question 3")


# --- copying ---

ANSWER = "Do this:\n\n```sh\nmake test\n```\n\nor this:\n\n```python\nprint(1)\n```\n"


@pytest.mark.parametrize(
    ("command", "copied"),
    [
        ("/copy", ANSWER.strip()),
        ("/copy answer", ANSWER.strip()),
        ("/copy code", "print(1)"),
        ("/copy code 1", "make test"),
        ("/copy command", "echo hello"),
        ("/copy output", "hello"),
    ],
)
async def test_an_answer_a_code_block_a_command_and_its_output_are_copied(
    harness: MakeHarness, command: str, copied: str
):
    async with harness(asks_for(shell("echo hello")), says(ANSWER)).open(mode="yolo", prompt="go") as on:
        await on.until_idle()
        await on.say(command)
        await on.until_shown("Copied")
        assert on.app.clipboard.strip() == copied


async def test_what_is_copied_holds_nothing_that_a_terminal_obeys(harness: MakeHarness):
    async with harness(says("```\nls\x1b[2J\x07\u202e\n```")).open(prompt="go") as on:
        await on.until_idle()
        await on.say("/copy code")
        await on.until_shown("Copied")
        assert on.app.clipboard == "ls"


async def test_text_selected_with_the_mouse_is_copied_and_ctrl_c_does_not_quit(harness: MakeHarness):
    async with harness(says("Select this sentence.")).open(prompt="go") as on:
        await on.until_idle()
        await on.until_shown("✦ Select this sentence.")
        row = next(y for y, line in enumerate(on.shown.splitlines()) if "Select" in line)
        await on.pilot.mouse_down(offset=(3, row))
        await on.pilot.hover(offset=(8, row))
        await on.pilot.mouse_up(offset=(8, row))
        await on.settle()
        assert on.app.clipboard == "Select"
        await on.press("ctrl+c")
        assert "again to quit" not in on.shown and not on.app.screen.selections


async def test_ctrl_c_copies_what_is_selected_in_the_input(harness: MakeHarness):
    async with harness().open() as on:
        on.app.prompt.load("keep this")
        await on.press("ctrl+shift+left", "ctrl+c")
        assert on.app.clipboard == "this" and on.app.prompt.text == "keep this"
        await on.press("ctrl+c")
        assert on.app.prompt.text == ""


def test_fenced_blocks_of_any_kind_are_found():
    text = "~~~\na\n~~~\n````md\n```\nb\n```\n````\n  ```py\nc\n  ```\n```\nunfinished"
    assert code_blocks(text) == ["a", "```\nb\n```", "c"]


# --- typing ---


async def test_no_letter_is_lost_between_the_transcript_and_the_input(harness: MakeHarness):
    async with harness().open() as on:
        on.app.transcript.focus()
        await on.settle()
        for character in "now check vim":
            on.app.transcript.post_message(Key("space" if character == " " else character, character))
        await on.until(lambda: on.app.prompt.text == "now check vim")


async def test_keys_that_the_transcript_does_not_use_go_to_the_input(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="go") as on:
        await on.until_idle()
        await on.pilot.click(offset=(5, 2))
        await on.types("just typing")
        assert on.app.prompt.text == "just typing"
        await on.press("ctrl+up")
        await on.types("! x")
        assert on.app.prompt.text == "just typing! x"


# --- reviewing a long question ---


async def test_a_long_change_is_reviewed_on_the_whole_screen_and_then_answered(harness: MakeHarness):
    new = "".join(f"line {number}\n" for number in range(150))
    async with harness(asks_for(write("notes.txt", new)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.until_shown("unseen: PgDn, or f for the whole screen")
        await on.press("y")
        await on.until_shown("not shown yet")
        await on.press("f")
        await on.until_screen(ReviewScreen)
        await on.until_shown("unseen")
        await on.press("G")
        await on.until_shown("line 149", "unseen")  # what was jumped over has not been seen
        for _ in range(20):
            if "all seen" not in on.shown:
                await on.press("u")
        await on.until_shown("all seen")
        await on.press("escape")
        assert on.app.panel.body.seen
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == new


async def test_a_review_that_was_left_early_approves_nothing(harness: MakeHarness):
    new = "".join(f"line {number}\n" for number in range(150))
    async with harness(asks_for(write("notes.txt", new)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("f")
        await on.until_screen(ReviewScreen)
        await on.press("G", "escape", "y")
        await on.until_shown("not shown yet")
        assert not on.app.panel.body.seen and not (on.folder / "notes.txt").exists()


def test_lines_that_were_jumped_over_are_not_seen():
    seen = SeenLines(100)
    seen.look(0, 10)
    seen.look(90, 10)
    assert (seen.unseen, seen.next_unseen(), seen.all) == (80, 10, False)
    seen.look(10, 40)
    assert (seen.unseen, seen.next_unseen()) == (40, 50)
    seen.look(45, 60)
    assert seen.all and seen.next_unseen() is None


def test_lines_that_disappear_at_once_are_not_seen_but_those_that_stayed_are():
    time = 0.0
    seen = SeenLines(20, lambda: time)
    seen.look(0, 20)
    seen.look(0, 15)
    assert seen.unseen == 5
    time = 5.0
    seen.look(0, 10)
    assert seen.unseen == 5, "who resizes the terminal later has seen what was there"
    seen.look(15, 5)
    assert seen.all


def test_what_lies_outside_of_the_text_is_not_counted():
    seen = SeenLines(5)
    seen.look(3, 40)
    assert seen.unseen == 3 and seen.next_unseen() == 0
    seen.look(-2, 2)
    assert seen.unseen == 3


async def test_what_is_typed_right_after_the_key_for_the_search_is_searched_for(harness: MakeHarness):
    async with harness(says("A dog in the fog.")).open(prompt="go") as on:
        await on.until_idle()
        for key in ("f3", *"gwfoG q"):
            on.app.post_message(Key("space" if key == " " else key, key if len(key) == 1 else None))
        await on.until(lambda: on.app.screen.query(Input) and on.app.screen.query_one(Input).value == "gwfoG q")
        assert on.app.prompt.is_empty
        await on.types("gG")
        await on.until(lambda: on.app.screen.query_one(Input).value == "gwfoG qgG")


async def test_what_is_typed_right_after_the_slash_in_a_viewer_is_searched_for(harness: MakeHarness):
    on = harness(says("Hello."))
    (on.folder / "cart.py").write_text("amount = 1\n")
    async with on.open(prompt="go"):
        await on.until_idle()
        await open_viewer(on, "/view cart.py")
        for key in "/amwg/":
            on.app.post_message(Key("slash" if key == "/" else key, key))
        await on.until(lambda: on.app.screen.query_one(Input).value == "amwg/")
        assert isinstance(on.app.screen, ViewerScreen) and on.app.screen.lines.mark is None
