"""Sessions are found by what was said in them, and renamed and deleted while they are closed."""

from collections.abc import Callable

import pytest

from assent.app.session_management import delete_session, rename_session, search_sessions
from assent.front.tui.lists import ListScreen
from assent.front.tui.small_screens import LineScreen
from assent.session.log import SessionBusy
from support.app_harness import AppHarness
from support.program import says

MakeHarness = Callable[..., AppHarness]
pytestmark = pytest.mark.spec("G5")


async def test_a_session_is_found_by_what_was_said_in_it_and_opened(harness: MakeHarness):
    on = harness(says("Because it is night."), says("Fine."))
    async with on.open(prompt="Why is it dark?"):
        await on.until_idle()
        first = on.runner.state.session
        await on.say("/clear")
        await on.until(lambda: on.app.client is not None and on.runner.state.session != first)
        await on.until_shown("This is a new session.")
        await on.app.submit("And now?")
        await on.until_idle()
        await on.say("/sessions")
        await on.until_screen(ListScreen)
        await on.until_shown("search what was said")
        await on.press("s")
        await on.until_screen(LineScreen)
        await on.types("IS IT dark\n")
        await on.until_shown("… Why is it dark? …")
        await on.press("enter")
        await on.until(lambda: on.app.client is not None and on.runner.state.session == first)


async def test_a_closed_session_is_renamed_and_deleted_and_an_open_one_is_not(harness: MakeHarness):
    on = harness(says("Hello."))
    async with on.open(prompt="hi"):
        await on.until_idle()
        log, session = await on.host.log(), on.runner.state.session
        with pytest.raises(SessionBusy):
            await rename_session(log, session, "Mine", "ann")
        with pytest.raises(SessionBusy):
            await delete_session(on.env, log, session)
        await on.say("/clear")
        await on.until(lambda: on.app.client is not None and on.runner.state.session != session)
        await rename_session(log, session, "Mine", "ann")
        await rename_session(log, session, "  ", "ann")  # nobody would see it
        assert (await log.info(session)).title == "Mine"
        assert [found.info.id for found in await search_sessions(log, "HELLO")] == [session]
        await delete_session(on.env, log, session)
        assert await search_sessions(log, "hello") == []


async def test_the_list_says_why_the_open_session_is_not_deleted(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="hi") as on:
        await on.until_idle()
        await on.say("/sessions")
        await on.until_screen(ListScreen)
        await on.until_shown("search what was said")
        await on.press("d")
        await on.until(lambda: bool(on.app.screen.query("Toast")))
        await on.until_shown("This session is open.")
