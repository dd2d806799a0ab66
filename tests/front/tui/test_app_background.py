"""Background commands in the terminal UI: listed, read, stopped and kept with `/tasks`, or gone with the session."""

import os
import signal
from collections.abc import Callable

import pytest

from assent.events import BackgroundEnded, BackgroundKept, CallFinished
from assent.front.tui.farewell import farewell
from assent.front.tui.lists import ListScreen
from assent.front.tui.quit_screen import QuitScreen
from support.app_harness import AppHarness
from support.program import Json, asks_for, says, shell
from support.waiting import until

pytestmark = pytest.mark.spec("D6")
MakeHarness = Callable[..., AppHarness]


def server(command: str) -> Json:
    call = shell(command)
    return {**call, "args": {**call["args"], "is_background": True}}


async def test_tasks_lists_reads_and_stops_a_background_command(harness: MakeHarness):
    async with harness(asks_for(server("echo listening; exec sleep 1000")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        assert "in the background" in on.shown
        await on.press("y")
        await on.until_idle()
        assert on.app.client is not None
        (one,) = on.app.client.state.background.values()
        assert os.path.exists(f"/proc/{one.pid}")
        await on.until_shown("1 in background (/tasks)")
        await on.types("/tasks\n")
        await on.until_screen(ListScreen)
        await on.until_shown("running")
        await on.press("enter")
        await until(lambda: "listening" in on.shown)
        await on.types("/tasks\n")
        await on.until_screen(ListScreen)
        await on.press("d")
        await on.until_shown("stopped", "Started", " s ago")
        assert not os.path.exists(f"/proc/{one.pid}")
        await on.until(lambda: "in background" not in on.shown)
        assert [event.outcome for event in await on.recorded(BackgroundEnded)] == ["stopped"]


async def test_tasks_keeps_a_command_and_leaving_the_session_does_not_end_it(harness: MakeHarness):
    async with harness(asks_for(server("echo listening; exec sleep 1000")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_idle()
        await on.types("/tasks\n")
        await on.until_screen(ListScreen)
        await on.press("k")
        await on.until_shown("running, kept")
        (kept,) = await on.recorded(BackgroundKept)
        assert on.app.client is not None
        (one,) = on.app.client.state.background.values()
        assert (one.kept, one.output) == (True, kept.path)
    assert os.path.exists(f"/proc/{one.pid}")
    os.kill(one.pid, signal.SIGKILL)


async def test_leaving_the_session_ends_its_background_commands(harness: MakeHarness):
    async with harness(asks_for(server("exec sleep 1000")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_idle()
        assert [event.status for event in await on.recorded(CallFinished)] == ["success"]
        assert on.app.client is not None
        (one,) = on.app.client.state.background.values()
    assert not os.path.exists(f"/proc/{one.pid}")


@pytest.mark.parametrize("keep", [True, False])
async def test_whoever_leaves_is_told_which_commands_ended_with_the_session(harness: MakeHarness, keep: bool):
    on = harness(asks_for(server("exec sleep 1000")), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("y")
        await on.until_idle()
        if keep:
            await on.types("/tasks\n")
            await on.until_screen(ListScreen)
            await on.press("k")
            await on.until_shown("running, kept")
        assert on.app.client is not None
        (one,) = on.app.client.state.background.values()
    told = "1 background command ended with the session; to keep one running, press k in /tasks."
    assert (told in farewell(on.app.link)) is not keep
    if keep:
        os.kill(one.pid, signal.SIGKILL)


LEAVES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("ctrl+d",), "ctrl+d"),
    (("ctrl+c",), "ctrl+c"),
    ((*"/quit", "enter"), "ctrl+c"),
    ((*"exit", "enter"), "ctrl+d"),
)


@pytest.mark.parametrize(("keys", "again"), LEAVES)
async def test_quitting_asks_once_before_it_stops_a_background_command(
    harness: MakeHarness, keys: tuple[str, ...], again: str
):
    async with harness(asks_for(server("exec sleep 1000")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_idle()
        await on.pilot.press(*keys)
        await on.until_screen(QuitScreen)
        await on.until_shown("Leave this session?", "1 background command would be stopped", "/tasks")
        await on.press("escape")
        await on.until(lambda: len(on.app.screen_stack) == 1)
        assert on.app.is_running
        await on.pilot.press(*keys)
        await on.until_screen(QuitScreen)
        await on.pilot.press(again)
        await on.until(lambda: not on.app.is_running)


async def test_a_terminal_that_is_closed_does_not_wait_for_an_answer(harness: MakeHarness):
    async with harness(asks_for(server("exec sleep 1000")), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_idle()
        os.kill(os.getpid(), signal.SIGHUP)
        await on.until(lambda: not on.app.is_running)
