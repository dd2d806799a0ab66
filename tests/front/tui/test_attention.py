"""How a question makes itself noticed, and how it is answered with `enter = "select"`. Rows N5, G3."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assent.config import BadSettings, Notice, TerminalSettings, parse_settings
from assent.events import ApprovalAnswered
from assent.front.tui.attention import RESTORE_TITLE, SAVE_TITLE, notice, one_title
from assent.front.tui.key_guard import KeyGuard
from support.app_harness import AppHarness
from support.program import asks_for, says, shell, write

MakeHarness = Callable[..., AppHarness]
CANARY = shell("echo x >> canary")


@pytest.mark.spec("N5")
@pytest.mark.parametrize(
    ("kind", "sequence"),
    [
        ("osc9", "\x1b]9;Assent: Change a.py\x07"),
        ("osc777", "\x1b]777;notify;Assent;Change a.py\x07"),
        ("osc99", "\x1b]99;;Assent: Change a.py\x1b\\"),
        ("bell", ""),
    ],
)
def test_each_kind_of_notification_is_one_sequence(kind: Notice, sequence: str):
    assert notice(kind, "Change a.py") == sequence


def test_a_name_cannot_end_the_sequence_or_add_another():
    shown = one_title("Change a\x07\x1b]2;evil\x07;x" + "y" * 200)
    assert shown.isprintable() and ";" not in shown and len(shown) <= 60


def test_settings_that_do_not_exist_are_refused(tmp_path: Path):
    with pytest.raises(BadSettings):
        parse_settings(b'[terminal]\nenter = "yes"\n', tmp_path / "settings.toml")


async def selecting(harness: MakeHarness) -> AppHarness:
    on = harness(asks_for(CANARY), says("Done."))
    on.terminal = TerminalSettings(enter="select")
    return on


@pytest.mark.spec("G3")
async def test_with_enter_select_the_arrows_move_and_enter_takes_what_is_selected(harness: MakeHarness):
    on = await selecting(harness)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        await on.until_shown("› 1. yes, once (y)", "no (n)")
        await on.press("down")
        await on.until_shown("› 2.")
        await on.press("up", "enter")
        await on.until_idle()
        assert (on.folder / "canary").exists()


@pytest.mark.spec("G3")
async def test_with_enter_select_a_number_takes_its_answer(harness: MakeHarness):
    on = await selecting(harness)
    async with on.open(prompt="go", size=(80, 30)):
        await on.until_asked()
        no = next(line for line in on.shown.splitlines() if "no (n)" in line).split(".")[0].strip("┃ ›")
        await on.press(no)
        await on.until(lambda: not on.runner.waiting())
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.outcome == "cancel" and not (on.folder / "canary").exists()


@pytest.mark.spec("G3")
async def test_where_the_list_has_no_room_enter_means_no_and_says_so(harness: MakeHarness):
    on = await selecting(harness)
    async with on.open(prompt="go", size=(60, 16)):
        await on.until_asked()
        await on.until_shown("no (Enter)")
        await on.press("enter")
        await on.until(lambda: not on.runner.waiting())
        (answer,) = await on.recorded(ApprovalAnswered)
        assert answer.outcome == "cancel"


async def test_by_default_enter_still_means_no_and_says_so(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        assert "no (Enter)" in on.shown and "›" not in on.shown


# --- the terminal's title ---


def titled(on: AppHarness) -> list[str]:
    """What is written to the terminal from now on."""
    written: list[str] = []
    on.app.write_to_terminal = written.append  # type: ignore[method-assign]
    return written


@pytest.mark.spec("N5")
async def test_whoever_quits_at_a_question_has_the_title_of_the_terminal_back(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    on.terminal = TerminalSettings(notify=("title",))
    async with on.open():
        written = titled(on)
        await on.say("go")
        await on.until_asked()
        assert SAVE_TITLE + "\x1b]2;? Run a command (risk: medium)\x07" in written
        await on.press("ctrl+d")
        await on.until(lambda: RESTORE_TITLE in written)  # while the terminal can still be written to


@pytest.mark.spec("N5")
async def test_the_title_is_that_of_the_question_on_the_screen(harness: MakeHarness):
    on = harness(asks_for(CANARY, write("a.txt", "a\n")), says("Done."))
    on.terminal = TerminalSettings(notify=("title",))
    async with on.open():
        written = titled(on)
        await on.say("go")
        await on.until_asked(2)
        await on.press("y")
        await on.until_asked(1)
        await on.until(lambda: any("? Create " in one for one in written))
        assert sum(SAVE_TITLE in one for one in written) == 1


# --- the end of a long turn ---


@pytest.mark.spec("N5")
@pytest.mark.parametrize(("took", "silent", "told"), [(95, 95, True), (95, 3, False), (20, 20, False)])
async def test_whoever_went_away_during_a_long_turn_is_told_that_it_is_over(
    harness: MakeHarness, took: float, silent: float, told: bool
):
    """`silent`: seconds without a key at the end of it."""
    now = 100.0
    on = harness(asks_for(shell("while [ ! -e go ]; do sleep 0.02; done")), says("Done."))
    on.terminal = TerminalSettings(notify=("osc9",))
    on.guard = KeyGuard(lambda: now, quiet=0, settle=0)
    async with on.open():
        written = titled(on)
        await on.say("go")
        await on.until_asked()
        await on.press("y")
        await on.until(lambda: not on.runner.waiting())
        now += took - silent
        await on.press("pagedown", "x")
        now += silent
        (on.folder / "go").touch()
        await on.until_idle()
        await on.settle()
        assert written == (["\x1b]9;Assent: Turn ended after 1 min 35 s\x07"] if told else [])
