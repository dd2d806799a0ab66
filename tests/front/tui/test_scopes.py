"""How far "always" reaches: only what has been on the screen in full can be granted."""

from collections.abc import Callable

import pytest
from textual.widgets import OptionList

from assent.events import ApprovalAnswered, GrantAdded
from assent.front.tui.scope_screen import UNREAD, ScopeScreen
from support.app_harness import AppHarness
from support.program import asks_for, says, shell

pytestmark = [pytest.mark.spec("G3"), pytest.mark.spec("J4")]

MakeHarness = Callable[..., AppHarness]
SAVE = shell("git add -A && git commit -m wip")
LONG = shell(f"mkdir {' '.join(f'some/rather/long/folder-{n}' for n in range(60))}")


async def open_scopes(on: AppHarness) -> ScopeScreen:
    await on.until_asked()
    while "unseen" in on.shown:
        await on.press("pagedown")
    await on.press("a")
    await on.until_screen(ScopeScreen)
    assert isinstance(on.app.screen, ScopeScreen)
    return on.app.screen


def line_of(on: AppHarness, text: str) -> int:
    return next((y for y, line in enumerate(on.shown.splitlines()) if text in line), -1)


async def test_the_reach_comes_first(harness: MakeHarness):
    async with harness(asks_for(SAVE)).open(prompt="go", size=(120, 50)) as on:
        await open_scopes(on)
        await on.until_shown(
            "1. This session: Exactly `git add -A`", "3. This folder, from now on: Exactly `git add -A`"
        )
        await on.press("escape", "n")
        await on.until_idle()


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (40, 12)])
async def test_the_number_of_a_scope_that_was_not_shown_only_scrolls_to_it(harness: MakeHarness, size: tuple[int, int]):
    async with harness(asks_for(SAVE), says("Done.")).open(prompt="go", size=size) as on:
        screen = await open_scopes(on)
        scopes = screen.call.approval.scopes
        last = str(len(scopes))
        assert f"{last}. " not in on.shown
        await on.press(last)
        assert await on.recorded(ApprovalAnswered) == [] and on.app.screen is screen
        await on.until_shown(f"{last}. Everywhere, from now on")
        while on.app.screen is screen:
            await on.press(last)
        await on.until_idle()
        assert [event.grant.id for event in await on.recorded(GrantAdded)] == [scopes[-1].id]


async def test_enter_grants_a_scope_only_after_its_last_line(harness: MakeHarness):
    async with harness(asks_for(LONG), says("Done.")).open(prompt="go", size=(80, 24)) as on:
        screen = await open_scopes(on)
        options = screen.query_one(OptionList)
        assert options.virtual_size.height > 3 * options.size.height
        await on.press("enter")
        await on.until_shown(UNREAD[:20])
        assert await on.recorded(ApprovalAnswered) == []
        while on.app.screen is screen:
            before = options.scroll_offset.y
            await on.press("enter")
            assert on.app.screen is not screen or options.scroll_offset.y > before
        await on.until_idle()
        assert len(await on.recorded(GrantAdded)) == 1


async def test_a_click_on_a_scope_whose_end_is_hidden_grants_nothing(harness: MakeHarness):
    async with harness(asks_for(LONG)).open(prompt="go", size=(80, 24)) as on:
        screen = await open_scopes(on)
        y = line_of(on, "1. This session")
        await on.pilot.click(offset=(12, y))
        await on.settle()
        assert on.app.screen is screen and await on.recorded(ApprovalAnswered) == []
        await on.until_shown(UNREAD[:20])


async def test_what_was_shown_before_the_window_became_narrower_must_be_shown_again(harness: MakeHarness):
    async with harness(asks_for(SAVE)).open(prompt="go", size=(240, 40)) as on:
        screen = await open_scopes(on)
        last = len(screen.call.approval.scopes)
        await on.until_shown(f"{last}. Everywhere")
        await on.pilot.resize_terminal(60, 16)
        await on.until(lambda: f"{last}. Every" not in on.shown)
        await on.settle()
        await on.press(str(last))
        assert on.app.screen is screen and await on.recorded(ApprovalAnswered) == []
