"""The terminal UI around the questions: prompts, the queue, cancelling, modes, sessions, and what goes wrong."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.events import AppFocus

from assent.app import lookup
from assent.app.identity import me
from assent.app.lookup import has_begun
from assent.commands import SetMode, Submit
from assent.config import Settings
from assent.events import ChatCompressed, Envelope, ModeChanged, ModelReplied, PromptSubmitted
from assent.front.tui.farewell import farewell
from assent.front.tui.local_host import LocalHost
from assent.front.tui.mode_cycle import MODES
from assent.front.tui.small_screens import PageScreen, ReviewScreen
from assent.front.tui.transcript_model import NoteItem
from assent.session.log import Fence, LogUnavailable, SessionInfo, SessionLog
from assent.session.sqlite_log import SqliteLog
from support.app_harness import AppHarness
from support.fake_catalog import FakeCatalog
from support.program import asks_for, read, says, shell, write
from support.waiting import WAIT_LIMIT

MakeHarness = Callable[..., AppHarness]
CANARY = shell("echo x >> canary")
SLOW = {"chunks": [{"text": "Once upon"}, {"pause_ms": 600_000}]}


@pytest.mark.spec("G2")
async def test_a_reply_appears_while_it_is_still_coming_with_a_spinner_and_the_time(harness: MakeHarness):
    async with harness(SLOW).open(prompt="tell") as on:
        await on.until_shown("❯ tell", "✦ Once upon", "Esc to cancel")
        assert any(sign in on.shown for sign in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")


@pytest.mark.spec("G2")
async def test_live_output_of_a_command_is_shown_with_its_newest_lines(harness: MakeHarness):
    on = harness(asks_for(shell("echo begun; cat fifo; echo ended")), says("Done."))
    os.mkfifo(on.folder / "fifo")
    async with on.open(mode="yolo", prompt="go"):
        await on.until_shown("▸ run_shell_command", "│ begun")
        with (on.folder / "fifo").open("w"):
            pass
        await on.until_idle()
        await on.until_shown("✓ run_shell_command", "Done.")
        assert "│ begun" in on.shown and "│ ended" in on.shown


# --- what is told ---


async def test_a_change_of_the_session_is_told_once(harness: MakeHarness):
    async with harness(says("One. " * 900), says("Two."), says("A summary.")).open(prompt="one") as on:
        await on.until_idle()
        await on.say("two")
        await on.until_shown("✦ Two.")
        await on.until_idle()
        for command, told in (
            ("/mode plan", "Mode is now plan: only reads, changes nothing"),
            ("/rename Fine", "now called “Fine”"),
            ("/compress", "The conversation was compressed: about"),
            ("/compress", "Not done: the model could not summarise"),
        ):
            items = on.app.transcript.transcript_model.items
            before = len(items)
            assert await on.app.context.commands.run(command, on.app.context)
            notes = [item.text for item in items[before:] if isinstance(item, NoteItem)]
            assert len(notes) == 1 and told in notes[0], notes


@pytest.mark.spec("F6")
async def test_the_footer_shows_how_full_the_context_window_is_before_and_after_a_compression(harness: MakeHarness):
    replies = (
        says(" ".join(map(str, range(1_200))), usage={"input": 4_000, "output": 1_000}),
        says("Two.", usage={"input": 6_000, "output": 10}),
        says("A summary.", usage={"input": 2_000, "output": 10}),
    )
    on = harness(*replies, settings=Settings(context_window=10_000, compression_threshold=0))
    async with on.open(prompt="one", size=(120, 24)) as on:
        await on.until_shown("5.0k tokens · context 50%")
        await on.say("two")
        await on.until_shown("11.0k tokens · context 60%")
        await on.say("/compress")
        await on.until_shown("(12% of the context window), ", " now (<1%).")
        await on.until_shown("context 48%")
        (event,) = await on.recorded(ChatCompressed)
    assert event.window == 10_000 and event.tokens_before - event.tokens_after > 1_000


@pytest.mark.spec("F6")
async def test_in_a_narrow_window_the_footer_keeps_the_mode_and_the_context(harness: MakeHarness):
    on = harness(
        says("One.", usage={"input": 9_000}), settings=Settings(context_window=10_000, compression_threshold=0)
    )
    async with on.open(prompt="one", size=(50, 24), mode="plan") as on:
        await on.until_shown("plan: read only", "context 90%")
        assert "tokens" not in on.shown.splitlines()[-1]


@pytest.mark.spec("K3")
async def test_keys_that_others_can_read_are_told_at_the_start(harness: MakeHarness):
    on = harness(says("Hello."))
    keys = Path(on.env["ASSENT_HOME"], "keys.json")
    keys.parent.mkdir()
    keys.write_text("{}")
    keys.chmod(0o644)
    async with on.open(size=(160, 24)) as on:
        await on.until_shown("can be read by other users: chmod 600")


async def test_ones_own_acts_are_told_as_ones_own_and_recorded_exactly(harness: MakeHarness):
    async with harness().open() as on:
        await on.press("shift+tab")
        await on.until_shown("(set by you)")
        log, session = await on.host.log(), on.runner.state.session
        await log.put(session, "bobs", SetMode("default", by="bob@pid7"))
        await on.until_shown("(set by bob)")
        mine, theirs = [event.by for event in await on.recorded(ModeChanged)]
        assert (mine, theirs) == (me(), "bob@pid7")


@pytest.mark.spec("F7", "I4")
async def test_an_agents_file_that_is_not_trusted_is_named_and_trusted_with_a_command(harness: MakeHarness):
    on = harness(says("Hello."))
    (on.folder / "AGENTS.md").write_text("Always answer in rhymes.\n")
    async with on.open():
        await on.until_shown("Not used, because it is not trusted: AGENTS.md.", "/trust")
        await on.say("/trust")
        await on.until_screen(ReviewScreen)
        await on.until_shown("Always answer in rhymes.", "y trust them as they are")
        await on.press("escape")
        assert on.host.untrusted() is not None
        await on.say("/trust")
        await on.until_screen(ReviewScreen)
        await on.press("y")
        await on.until_shown("Trusted as it is now.")
        assert on.host.untrusted() is None
        assert [source.problem for source in on.runner.state.context] == [""]


@pytest.mark.spec("F7", "I4")
async def test_clear_names_what_is_not_trusted_like_every_start(harness: MakeHarness):
    on = harness()
    async with on.open():
        (on.folder / "AGENTS.md").write_text("Always answer in rhymes.\n")
        await on.say("/clear")
        await on.until_shown("This is a new session.", "Not used, because it is not trusted: AGENTS.md.", "/trust")


@pytest.mark.spec("G5")
async def test_clear_keeps_the_mode_the_model_and_the_effort_but_not_yolo(harness: MakeHarness):
    on = harness(says("Hello."))
    (on.folder / "other.json").write_bytes((on.folder.parent / "scenario.json").read_bytes())
    other = f"scripted:{on.folder}/other.json"
    async with on.open(mode="plan"):
        first = on.runner.state.session
        for line in (f"/model {other}", "/effort high", "/clear"):
            await on.say(line)
        await on.until(lambda: on.app.client is not None and on.runner.state.session != first)
        await on.until_shown("This is a new session.")
        state = on.runner.state
        assert (state.mode, state.model, state.effort) == ("plan", other, "high")
        await on.say("/mode yolo")
        await on.until_shown("Run everything without asking?")
        await on.press("down", "enter")
        await on.until_shown("yolo: everything runs")
        await on.say("/clear")
        await on.until_shown("It is not in yolo mode: that is for one session.")
        assert (on.runner.state.mode, on.runner.state.model) == ("default", other)


# --- keys ---


@pytest.mark.spec("C6")
async def test_shift_tab_goes_through_the_modes_but_never_to_yolo(harness: MakeHarness):
    async with harness().open() as on:
        for shown in ("auto_edit: edits run", "auto_try: ", "contained: ", "plan: read only", "· default ·"):
            await on.press("shift+tab")
            await on.until_shown(shown)
            await on.until(lambda shown=shown: on.app.modes.wished is None and on.runner.state.mode in shown)
        modes = [event.mode for event in await on.recorded(ModeChanged)]
        assert modes == ["auto_edit", "auto_try", "contained", "plan", "default"]


@pytest.mark.spec("C6")
async def test_only_the_mode_that_is_reached_takes_effect(harness: MakeHarness):
    async with harness().open() as on:
        on.app.modes.pause = 1e6
        await on.press(*["shift+tab"] * 4)
        await on.until_shown("plan: read only")
        assert await on.recorded(ModeChanged) == []
        await on.say("go")
        await on.until_idle()
        assert [event.mode for event in await on.recorded(ModeChanged)] == ["plan"]


@pytest.mark.spec("C6")
@pytest.mark.parametrize("presses", [1, 2, 3, 4])
async def test_a_mode_chosen_with_shift_tab_answers_no_open_question(harness: MakeHarness, presses: int):
    """On the way to `plan` lie modes that would allow what is asked, and `plan` refuses it."""
    async with harness(asks_for(write("notes.txt", "x")), says("Done.")).open(prompt="go", size=(100, 30)) as on:
        await on.until_asked()
        for mode in MODES[1 : presses + 1]:
            await on.press("shift+tab")
            await on.until_shown(f"default → {mode}", f"{mode} takes effect once you have answered")
        assert await on.recorded(ModeChanged) == [] and on.runner.waiting()
        await on.press("y")
        await on.until_idle()
        await on.until(lambda: on.runner.state.mode == MODES[presses])
        assert (on.folder / "notes.txt").exists()
        assert [event.mode for event in await on.recorded(ModeChanged)] == [MODES[presses]]


@pytest.mark.spec("C6")
async def test_a_mode_that_waits_is_given_up_by_going_all_the_way_round(harness: MakeHarness):
    async with harness(asks_for(write("notes.txt", "x")), says("Done.")).open(prompt="go", size=(100, 30)) as on:
        await on.until_asked()
        await on.press(*["shift+tab"] * 4)
        await on.until_shown("default → plan")
        await on.press("shift+tab")
        await on.until_shown("· default ·")
        await on.press("n")
        await on.until_idle()
        assert await on.recorded(ModeChanged) == []


@pytest.mark.spec("C6")
async def test_the_mode_command_also_answers_what_waits_and_replaces_a_mode_that_waits(harness: MakeHarness):
    async with harness(asks_for(write("notes.txt", "x")), says("Done.")).open(prompt="go", size=(100, 30)) as on:
        await on.until_asked()
        await on.press(*["shift+tab"] * 4)
        await on.until_shown("default → plan")
        await on.press("escape")
        await on.say("/mode auto_edit")
        await on.until_idle()
        assert (on.folder / "notes.txt").exists()
        assert [event.mode for event in await on.recorded(ModeChanged)] == ["auto_edit"]


async def test_the_prompt_is_edited_in_the_persons_editor(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "and more" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    async with harness().open() as on:
        await on.types("hello ")
        await on.press("ctrl+g")
        await on.until(lambda: on.app.prompt.text == "hello and more")


@pytest.mark.spec("F4", "G1")
async def test_a_command_of_the_person_runs_and_its_result_stays_here(harness: MakeHarness):
    async with harness().open() as on:
        await on.types("!echo $((6*7))\n")
        await on.until_shown("✓ run_shell_command", "│ 42")
        assert not on.runner.state.history()


@pytest.mark.spec("E4")
async def test_the_output_of_a_persons_command_is_given_to_the_model_if_wanted(harness: MakeHarness):
    async with harness(says("I see.")).open() as on:
        await on.say("/include")
        await on.until_shown("There is nothing to include yet")
        await on.types("!seq 2\n")
        await on.until_shown("│ 2")
        await on.say("/include")
        await on.until(lambda: on.app.prompt.text == "$ seq 2\n1\n2\n")
        await on.types("Which?\n")
        await on.until_idle()
        assert [event.text for event in await on.recorded(PromptSubmitted)] == ["$ seq 2\n1\n2\nWhich?"]
        await on.types("!seq 20\n")
        await on.until_shown("│ 20")
        await on.say("/include")
        await on.until(lambda: on.app.prompt.text == "[Pasted text #1: 21 lines]")
        on.app.prompt.load("")
        await on.types("!cd .\n")
        await on.until(lambda: "✓ run_shell_command  cd ." in on.shown)
        await on.say("/include")  # the last one, even though it printed nothing
        await on.until(lambda: on.app.prompt.text == "$ cd .\n")


@pytest.mark.spec("F4")
async def test_a_command_of_the_person_is_a_line_for_the_shell_also_where_the_models_would_be_bounded(
    harness: MakeHarness,
):
    """A pipe is waited for, and nothing is passed over: nobody is protected from what they typed."""
    on = harness()
    os.mkfifo(on.folder / "pipe")
    pipe = os.open(on.folder / "pipe", os.O_RDWR)
    os.write(pipe, b"through the pipe\n")
    (on.folder / ".env").write_text("a line of mine\n")
    async with on.open():
        await on.types("!head -n 1 pipe\n")
        await on.until_shown("✓ run_shell_command", "│ through the pipe")
        await on.types("!grep -rh line .\n")
        await on.until_shown("│ a line of mine")
    os.close(pipe)


# --- sessions ---


async def kept_sessions(on: AppHarness) -> list[str]:
    log = SqliteLog(Path(on.env["ASSENT_HOME"]))
    try:
        return [info.id for info in await log.sessions()]
    finally:
        await log.close()


async def until_only(on: AppHarness, session: str) -> None:
    """A session is removed while the next one is already on the screen."""
    async with asyncio.timeout(WAIT_LIMIT):
        while await kept_sessions(on) != [session]:  # noqa: ASYNC110 (another log tells nobody)
            await asyncio.sleep(0.01)


@pytest.mark.spec("F11")
async def test_a_session_in_which_nothing_was_said_is_not_kept(harness: MakeHarness):
    on = harness(says("Hello."))
    async with on.open():
        first = on.runner.state.session
        await on.press("shift+tab")  # a mode alone is no conversation
        await on.say("/clear")
        await on.until(lambda: on.app.client is not None and on.runner.state.session != first)
        await on.until_shown("This is a new session.")
        assert "/resume" not in on.shown
        await until_only(on, on.runner.state.session)
        await on.say("hi")
        await on.until_idle()
        second = on.runner.state.session
        await on.say("/clear")
        await on.until_shown("/resume", second)
        assert on.runner.state.session != second
    assert await kept_sessions(on) == [second]


async def test_a_session_with_a_command_of_ones_own_is_kept(harness: MakeHarness):
    on = harness()
    async with on.open():
        await on.types("!echo one\n")
        await on.until_shown("✓ run_shell_command")
        session = on.runner.state.session
    assert await kept_sessions(on) == [session]
    assert farewell(on.app.link) == [f"Continue with: assent --resume {session}"]


async def test_what_is_sent_from_elsewhere_in_the_last_moment_is_not_lost(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
):
    on = harness()

    async def looks_and_then_comes_a_prompt(log: SessionLog, info: SessionInfo) -> bool:
        begun = await has_begun(log, info)
        await log.put(info.id, "k", Submit("hi", by="someone else"))
        return begun

    monkeypatch.setattr(lookup, "has_begun", looks_and_then_comes_a_prompt)
    async with on.open():
        session = on.runner.state.session
    assert await kept_sessions(on) == [session]


async def test_a_session_is_resumed_with_its_history_and_its_question(harness: MakeHarness):
    on = harness(asks_for(CANARY, text="I need this."), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        session = on.runner.state.session
    assert on.app.link.left_session == session and on.app.link.left_waiting == 1
    again = harness(asks_for(CANARY, text="I need this."), says("Done."))
    async with again.open(session=session):
        await again.until_asked()
        await again.until_shown("❯ go", "I need this.", "▌ echo x >> canary")
        await again.press("y")
        await again.until_idle()
        assert (again.folder / "canary").exists()


async def test_another_session_is_opened_and_the_first_one_kept(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="hi") as on:
        await on.until_shown("✦ Hello.")
        first = on.runner.state.session
        await on.say("/clear")
        await on.until_gone("✦ Hello.")
        await on.app.link.switch(None)
        assert on.runner.state.session != first
        await on.app.link.switch(first)
        await on.until_shown("❯ hi", "✦ Hello.")


async def test_a_session_whose_folder_is_gone_says_so_at_once(harness: MakeHarness):
    on = harness(says("Hello."))
    async with on.open(prompt="hi"):
        await on.until_idle()
        session = on.runner.state.session
    later = harness()
    later.folder.rmdir()
    async with later.open(session=session):
        await later.until_shown("✦ Hello.", "The folder of this session no longer exists", "cart")


async def test_instead_of_the_newest_session_that_is_open_elsewhere_the_next_one_is_resumed(harness: MakeHarness):
    on = harness(says("Hello."), says("Again."))
    async with on.open(prompt="first"):
        await on.until_idle()
        first = on.runner.state.session
        await on.app.link.switch(None)
        await on.app.submit("second")
        await on.until_idle()
        other = harness()
        async with other.open(session="latest", size=(140, 30)):
            await other.until_shown("Skipped “second”", "it is open in another process")
            assert other.runner.state.session == first
            await other.say("/sessions")
            await other.until_shown("○  second", "●  first")


async def test_a_session_that_is_open_elsewhere_is_refused_with_a_word(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="hi") as on:
        await on.until_idle()
        other = harness()
        async with other.open(session=on.runner.state.session, size=(300, 30)):
            await other.until_shown("The session cannot be opened", "Choose another with /sessions", "no session · ")
            await other.say("anyone?")
            await other.until(lambda: other.shown.count("✗ The session cannot be opened") == 2)  # once for each Enter
            assert other.app.prompt.text == "anyone?" and "No session is open" not in other.shown
            await other.say("/sessions")
            await other.until_shown("Enter open")
            await other.press("escape")
            await other.say("/help")
            await other.until_shown("Help: commands and keys")


async def test_whoever_chooses_a_session_that_is_open_elsewhere_stays_where_they_are(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="hi") as on:
        await on.until_idle()
        other = harness(says("Mine."), says("Again."))
        async with other.open(prompt="mine") as here:
            await here.until_idle()
            await here.app.link.switch(on.runner.state.session)
            await here.until_shown("You stay in this session", "in another process", "✦ Mine.")
            await here.say("go on")
            await here.until_shown("✦ Again.")


class Failing:
    """Opens sessions, but not the first few times."""

    def __init__(self, opens: Callable[..., Any], times: int) -> None:
        self._opens, self._left = opens, times

    async def __call__(self, *args: Any) -> Any:
        self._left -= 1
        if self._left >= 0:
            raise OSError("no disk")
        return await self._opens(*args)


async def test_if_a_session_cannot_be_opened_the_one_before_is_opened_again(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
):
    async with harness(says("Hello."), says("Again.")).open(prompt="hi") as on:
        await on.until_idle()
        session = on.runner.state.session
        monkeypatch.setattr(on.app.host, "open", Failing(on.app.host.open, times=1))
        await on.app.link.switch(None)
        await on.until_shown("You are back where you were. The session", "no disk", "✦ Hello.")
        await on.say("go on")
        await on.until_shown("✦ Again.")
        assert on.runner.state.session == session


async def test_if_that_cannot_be_opened_either_the_next_message_opens_it(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
):
    async with harness(says("Hello."), says("Again.")).open(prompt="hi") as on:
        await on.until_idle()
        monkeypatch.setattr(on.app.host, "open", Failing(on.app.host.open, times=2))
        await on.app.link.switch(None)
        await on.until_shown("The session cannot be opened", "no session · ")
        assert "You are back" not in on.shown
        await on.say("go on")
        await on.until_shown("✦ Again.")


@pytest.mark.parametrize("line", ["/clear", "/fork"])
async def test_leaving_a_session_in_which_something_runs_needs_a_yes(harness: MakeHarness, line: str):
    on = harness(asks_for(shell("echo begun; cat fifo")), says("Done."))
    os.mkfifo(on.folder / "fifo")
    async with on.open(mode="yolo", prompt="go"):
        await on.until_shown("│ begun")
        session = on.runner.state.session
        await on.say(line)
        await on.until_shown("Leave this session?", "The running turn would be stopped. Questions and")
        await on.press("enter")
        await on.until_gone("Leave this session?")
        assert on.runner.state.session == session and on.runner.state.open_prompt is not None
        await on.say(line)
        await on.until_shown("Leave this session?")
        await on.press("down", "enter")
        await on.until(lambda: on.runner.state.session != session)


async def test_leaving_a_session_that_only_waits_needs_no_yes(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        session = on.runner.state.session
        await on.press("tab")
        await on.say("/clear")
        await on.until(lambda: on.runner.state.session != session)


async def test_whoever_chooses_a_session_that_does_not_exist_stays_where_they_are(harness: MakeHarness):
    async with harness(says("Hello.")).open(prompt="hi") as on:
        await on.until_idle()
        await on.app.link.switch("20200101-000000-0000")
        await on.until_shown("You stay in this session: there is no session", "✦ Hello.")


async def test_a_mode_that_was_chosen_for_later_is_kept_by_whoever_stays(harness: MakeHarness):
    async with harness(asks_for(CANARY), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        on.app.modes.wished = "plan"
        await on.app.link.switch("20200101-000000-0000")
        assert on.app.modes.wished == "plan"


@pytest.mark.spec("J10")
async def test_after_going_back_it_is_said_which_files_were_left_alone(harness: MakeHarness):
    async with harness(asks_for(write("a.txt", "new\n")), says("Done.")).open(mode="auto_edit", prompt="go") as on:
        await on.until_idle()
        await on.say("/rewind")
        await on.until_shown("Go back to before")
        await on.press("enter")
        await on.until_shown("These file changes would be undone")
        (on.folder / "a.txt").write_text("mine\n")
        await on.press("y")
        await on.until_shown("Left as they are", "a.txt")
        await on.until_gone("✦ Done.")
        await on.until_shown("Left as they are")
        assert (on.folder / "a.txt").read_text() == "mine\n"


async def test_settings_of_a_folder_that_is_not_trusted_are_named(harness: MakeHarness):
    on = harness()
    settings = on.folder / ".assent" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('[servers.notes]\ncommand = ["notes"]\n')
    async with on.open():
        await on.until_shown("settings.toml is not used", "untrusted")


def make_repository(folder: Path) -> None:
    for command in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", folder, *command], check=True)


async def test_the_branch_in_the_last_line_follows_the_repository(harness: MakeHarness):
    on = harness(asks_for(shell("git checkout -q -b feature")), says("Done."))
    make_repository(on.folder)
    async with on.open(mode="yolo", size=(200, 30)):
        await on.until_shown("(trunk)")
        await on.say("go")
        await on.until_shown("(feature)")
        (on.folder / ".git" / "HEAD").write_text("ref: refs/heads/elsewhere\n")
        on.app.post_message(AppFocus())
        await on.until_shown("(elsewhere)")


# --- what goes wrong ---


@pytest.mark.spec("F8")
async def test_without_a_key_the_person_is_told_how_to_get_one_and_goes_on(harness: MakeHarness):
    async with harness(model="gemini-2.5-pro").open(prompt="hi") as on:
        await on.until_shown("needs a key", "aistudio.google.com/apikey")
        await on.types("!echo still here\n")
        await on.until_shown("│ still here")


@pytest.mark.spec("F8")
@pytest.mark.spec("K2")
async def test_a_missing_key_is_told_at_the_start_not_after_the_first_prompt(harness: MakeHarness):
    async with harness(model="claude-opus-5-5").open() as on:
        await on.until_shown("Anthropic needs a key", "assent login anthropic")


@pytest.mark.spec("K2")
async def test_a_server_of_this_machine_is_found_when_there_is_nothing_else(tmp_path: Path):
    answers = {
        "/v1/models": {"data": [{"id": "qwen", "owned_by": "llamacpp"}]},
        "/props": {"chat_template_caps": {"supports_tools": True}},
    }
    async with FakeCatalog(answers) as fake:
        on = AppHarness(tmp_path / "project", tmp_path / "home")
        on.host = LocalHost(str(tmp_path / "project"), Settings(), on.env | {"LLAMACPP_BASE_URL": fake.url})
        async with on.open():
            await on.until_shown("llamacpp:qwen answers from now on")


async def test_a_failed_call_says_why_and_the_model_goes_on(harness: MakeHarness):
    async with harness(asks_for(read("nowhere.txt")), says("It is not there.")).open(prompt="go") as on:
        await on.until_shown("✗ read_file", "It is not there.")


async def test_a_command_that_cannot_be_recorded_is_said_aloud(harness: MakeHarness, monkeypatch: pytest.MonkeyPatch):
    async with harness(says("never")).open() as on:
        log = await on.host.log()

        async def full(*_: object) -> bool:
            raise LogUnavailable("the disk is full")

        monkeypatch.setattr(log, "put", full)
        await on.say("hello")
        await on.until_shown("This could not be sent: the disk is full")
        assert on.app.prompt.text == "hello"  # nobody has to type it again


async def test_a_lost_session_is_said_aloud(harness: MakeHarness, monkeypatch: pytest.MonkeyPatch):
    async with harness(says("never")).open() as on:
        log = await on.host.log()

        def full(*_: object) -> "asyncio.Future[None]":
            failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            failed.set_exception(LogUnavailable("the disk is full"))
            return failed

        monkeypatch.setattr(log, "append", full)
        await on.runner.send(Submit("hello", by="bob"))
        await on.until_shown("can no longer be followed: the disk is full")


@pytest.mark.spec("G2")
async def test_a_session_that_was_lost_goes_on_with_the_next_message(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
):
    async with harness(says("Half a reply"), says("It goes on.")).open() as on:
        log = await on.host.log()
        append = log.append

        def fails_at_the_reply(fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
            if not any(isinstance(envelope.event, ModelReplied) for envelope in envelopes):
                return append(fence, envelopes)
            failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            failed.set_exception(LogUnavailable("the disk is full"))
            return failed

        monkeypatch.setattr(log, "append", fails_at_the_reply)
        await on.say("hello")
        await on.until_shown("can no longer be followed: the disk is full")
        assert on.shown.index("Half a reply") < on.shown.index("can no longer be followed")
        monkeypatch.setattr(log, "append", append)
        await on.say("continue")
        await on.until_shown("It goes on.")


async def test_events_go_on_behind_a_screen(harness: MakeHarness):
    async with harness(says("Hello."), asks_for(CANARY)).open(prompt="hi") as on:
        await on.until_idle()
        await on.app.push_screen(PageScreen("A page", Content("words")))
        await on.app.submit("go")
        await on.until(lambda: on.runner.waiting())
        await on.settle()
        assert not on.app.panel.body.seen  # nobody could see it
        await on.press("escape")
        await on.settle()
        assert on.app.panel.body.seen
        await on.press("n")
        await on.until_idle()


# --- the transcript ---


@pytest.mark.spec("G2")
async def test_what_the_app_says_during_a_long_reply_is_noticed(harness: MakeHarness):
    """It stands above the reply, which fills the screen."""
    long = {"chunks": [{"text": "line {i}\n\n", "repeat": 40}, {"pause_ms": 600_000}]}
    async with harness(long).open(prompt="go") as on:
        await on.until_shown("line 39")
        await on.say("/nosuch")
        await on.until_shown("Unknown command /nosuch", "line 39")
        await on.say("/stats")
        await on.until_shown("Above this reply")


async def test_the_transcript_follows_the_end_until_one_scrolls_up(harness: MakeHarness):
    text = "\n\n".join(f"paragraph {number}" for number in range(60))
    async with harness(says(text), says("The end.")).open(prompt="go") as on:
        await on.until_shown("paragraph 59")
        await on.press("pageup", "pageup")
        assert "paragraph 59" not in on.shown
        top = on.app.transcript.scroll_offset.y
        await on.app.submit("more")
        await on.until_idle()
        on.app.transcript.redraw_now()
        await on.settle()
        assert on.app.transcript.scroll_offset.y == top
        on.app.transcript.focus()
        await on.press("end")
        await on.until_shown("The end.")


@pytest.mark.spec("G2")
async def test_calls_are_chosen_and_opened_with_keys_and_clicks(harness: MakeHarness):
    calls = asks_for(shell("seq 101 109 #one", "a"), shell("seq 201 209 #two", "b"))
    async with harness(calls, says("Done.")).open(mode="yolo", prompt="go", size=(80, 40)) as on:
        await on.until_shown("✓ run_shell_command", "Done.", "… 4 lines above", "109", "209")
        assert "│ 101" not in on.shown and "│ 201" not in on.shown
        await on.press("ctrl+up", "enter")
        assert "│ 201" in on.shown
        await on.press("up", "space")
        assert "│ 101" in on.shown
        await on.press("j", "enter")
        assert "│ 201" not in on.shown
        row = next(y for y, line in enumerate(on.shown.splitlines()) if "one" in line and "run_shell_command" in line)
        await on.pilot.click(offset=(5, row))
        await on.settle()
        assert "│ 101" not in on.shown


async def test_scrolling_up_brings_older_items(harness: MakeHarness):
    async with harness(*(says(f"answer {number}.") for number in range(60))).open() as on:
        for number in range(60):
            await on.app.submit(f"question {number}")
        await on.until(lambda: on.runner.state.prompts == 60 and on.runner.state.open_prompt is None)
        await on.until_shown("answer 59.")
        on.app.transcript.focus()
        await on.press("home", "home")
        await on.until_shown("question 0", "answer 0.")
