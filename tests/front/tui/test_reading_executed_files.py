"""What a command would run can be read from its question: exactly the content that a yes covers, or why it is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.events import ApprovalAnswered
from assent.front.tui.main_screen import MainScreen
from assent.front.tui.viewer import ViewerScreen
from support.app_harness import AppHarness
from support.program import asks_for, says, shell

MakeHarness = Callable[..., AppHarness]

pytestmark = pytest.mark.spec("G3")


def with_script(harness: MakeHarness, text: str, command: str = "sh ./build.sh") -> AppHarness:
    on = harness(asks_for(shell(command)), says("Done."))
    (on.folder / "build.sh").write_text(text)
    return on


async def test_o_opens_the_file_that_a_command_runs(harness: MakeHarness):
    on = with_script(harness, "echo one\ntouch canary\n")
    async with on.open(prompt="go", size=(100, 40)):
        await on.until_asked()
        assert "build.sh (new)" in on.shown and "read what it runs" in on.shown
        await on.press("o")
        await on.until_screen(ViewerScreen)
        await on.until_shown("What the command would run", str(on.folder / "build.sh")[:60], "echo one", "touch canary")
        assert "changed since" not in on.shown
        await on.press("escape")
        await on.until_screen(MainScreen)
        await on.press("y")
        await on.until_idle()
        assert (on.folder / "canary").exists()


async def test_it_is_said_if_the_file_has_changed_since_the_question(harness: MakeHarness):
    on = with_script(harness, "echo one\n")
    async with on.open(prompt="go", size=(100, 40)):
        await on.until_asked()
        (on.folder / "build.sh").write_text("echo two\n")
        await on.press("o")
        await on.until_screen(ViewerScreen)
        await on.until_shown("It has changed since this was asked.", "echo two")


async def test_what_is_gone_or_no_text_is_said_and_hidden_characters_are_shown(harness: MakeHarness):
    on = with_script(harness, "echo \u202eone\x1b[2J\n", "sh ./build.sh; sh ./gone.sh; sh ./binary.sh")
    (on.folder / "gone.sh").write_text("gone")
    (on.folder / "binary.sh").write_bytes(b"\0\1")
    async with on.open(prompt="go", size=(100, 40)):
        await on.until_asked()
        (call,) = on.runner.waiting()
        assert isinstance(call.approval.details, ExecDetails)
        assert [Path(file.path).name for file in call.approval.details.executes] == ["build.sh", "gone.sh", "binary.sh"]
        (on.folder / "gone.sh").unlink()
        await on.press("o")
        await on.until_screen(ViewerScreen)
        await on.until_shown("<U+202E>", "\\x1b", "It no longer exists.", "It is not text (2 bytes).")


async def test_what_is_typed_after_closing_it_with_q_answers_nothing(harness: MakeHarness):
    on = with_script(harness, "echo one\n")
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("o")
        await on.until_screen(ViewerScreen)
        on.guard.quiet = 1e9
        await on.press("q")
        await on.until_screen(MainScreen)
        await on.press("y")
        await on.until_shown("too fast to be an answer")
        assert await on.recorded(ApprovalAnswered) == []


async def test_where_a_command_runs_no_file_an_o_is_typed(harness: MakeHarness):
    async with harness(asks_for(shell("touch canary")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        assert "read what it runs" not in on.shown
        await on.press("o", "k")
        assert on.app.prompt.text == "ok"
