"""A command that asks for input, in the terminal UI: shown, answered by the person, and recorded nowhere."""

from collections.abc import Callable
from hashlib import sha256

import pytest
from textual.widgets import Static

from assent.app.call_states import Executing
from assent.events import CallFinished
from assent.front.tui import input_panel
from assent.front.tui.input_panel import InputPanel
from assent.process.supervisor_client import AVAILABLE
from support.app_harness import AppHarness
from support.program import asks_for, says, shell
from support.waiting import until

pytestmark = [
    pytest.mark.spec("D2"),
    pytest.mark.skipif(not AVAILABLE, reason="only Linux has a supervisor"),
]

MakeHarness = Callable[..., AppHarness]
SECRET = "xyzzy-42-plugh"
LOGIN = 'read -rs -p "Password: " word; echo "typed: $word"; printf %s "$word" | sha256sum'


def is_asked(on: AppHarness, prompt: str) -> bool:
    """Whether the panel itself shows it, not only the live output."""
    return prompt in str(on.app.input_panel.query_one("#input-question", Static).render())


async def test_a_password_is_typed_in_a_hidden_field_and_recorded_nowhere(harness: MakeHarness):
    async with harness(asks_for(shell(LOGIN)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until_shown("A running command is waiting for your input", "Password:")
        panel = on.app.input_panel
        assert panel.line.password
        await on.until(lambda: panel.line.has_focus)
        await on.until_shown("What you type is hidden, and neither recorded nor")
        await on.types(SECRET)
        assert SECRET not in on.shown
        await on.press("enter")
        await on.until_idle()
        assert not panel.display and on.app.prompt.has_focus
        assert SECRET not in on.shown
        assert sha256(SECRET.encode()).hexdigest() in str((await on.recorded(CallFinished))[0].result)
    files = [path for path in on.folder.parent.rglob("*") if path.is_file()]
    assert any(b"Password: " in path.read_bytes() for path in files), "the log is among them"
    assert not any(SECRET.encode() in path.read_bytes() for path in files)


async def test_a_password_that_is_asked_for_at_once_is_not_typed_into_a_message(harness: MakeHarness):
    """`sudo` asks within milliseconds after the yes, and whoever sees it starts to type."""
    on = harness(asks_for(shell(LOGIN)), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("y")
        on.guard.quiet = 1e9
        await on.until(lambda: on.app.input_panel.line.has_focus)
        await on.until_shown("Esc back", "Esc twice to cancel")
        await on.press("enter")
        assert on.app.input_panel.display, "an Enter that was under way sends nothing"
        await on.types(f"{SECRET}\n")
        await on.until_idle()
        assert on.app.prompt.is_empty
        assert sha256(SECRET.encode()).hexdigest() in str((await on.recorded(CallFinished))[0].result)


TWICE = 'read -rs -p "New password: " a; sleep 0.5; read -rs -p "Again: " b; [ "$a" = "$b" ] && echo the same'


async def test_a_password_that_is_typed_again_at_once_is_not_typed_into_a_message(harness: MakeHarness):
    on = harness(asks_for(shell(TWICE)), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("y")
        await on.until(lambda: on.app.input_panel.line.has_focus)
        await on.types(f"{SECRET}\n{SECRET}")
        assert SECRET not in on.shown
        assert on.app.prompt.is_empty
        await on.until(lambda: is_asked(on, "Again:"))
        await on.press("enter")
        await on.until_idle()
        assert "the same" in str((await on.recorded(CallFinished))[0].result)
        assert on.app.prompt.is_empty and on.app.prompt.has_focus


COUNTDOWN = """
import hashlib, sys, threading, time
def count():
    for left in range(1000):
        if left: time.sleep(0.4)
        sys.stdout.write(f"\\rName (default in {999 - left} s): "); sys.stdout.flush()
threading.Thread(target=count, daemon=True).start()
print(hashlib.sha256(sys.stdin.readline().strip().encode()).hexdigest())
"""
PARTS = ("correct", " horse", " battery")
JOBS = '(n=0; until [ -e stop ]; do echo "cc $((n += 1))"; sleep 0.4; done) & {}; touch stop; wait'


@pytest.mark.parametrize(
    "command",
    [
        JOBS.format('read -rs -p "Password: " a; printf %s "$a" | sha256sum'),
        JOBS.format('read -r -p "Name: " a; printf %s "$a" | sha256sum'),
        f"python3 -c '{COUNTDOWN}'",
    ],
    ids=["hidden", "shown", "countdown"],
)
async def test_what_one_types_survives_what_the_command_prints_meanwhile(harness: MakeHarness, command: str):
    async with harness(asks_for(shell(command)), says("Done.")).open(prompt="go", size=(80, 30)) as on:
        await on.until_asked()
        await on.press("pagedown", "y")
        await on.until(lambda: on.app.input_panel.line.has_focus)
        for part in PARTS:
            await on.types(part)
            before = printed(on)
            await on.until(lambda before=before: printed(on) > before + 30)
            assert on.app.input_panel.line.has_focus and on.app.prompt.is_empty
        assert on.app.input_panel.line.value == "".join(PARTS)
        await sent(on)
        await on.until_idle()
        assert sha256("".join(PARTS).encode()).hexdigest() in str((await on.recorded(CallFinished))[0].result)
        assert on.app.prompt.is_empty and on.app.prompt.has_focus


def printed(on: AppHarness) -> int:
    """How much the running command has printed."""
    assert on.app.client is not None
    return sum(len(call.output) for call in on.app.client.state.calls.values() if isinstance(call, Executing))


async def sent(on: AppHarness) -> None:
    """Whenever the command is in the middle of asking again, Enter waits."""
    while on.app.input_panel.line.value:
        await on.press("enter")


async def test_the_input_leaves_if_the_command_does_not_ask_again(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(input_panel, "AGAIN_SECONDS", 0.1)
    on = harness(asks_for(shell('read -p "Name: " a; until [ -e go-on ]; do sleep 0.05; done')), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("y")
        await on.until(lambda: on.app.input_panel.line.has_focus)
        await on.types("Ann\n")
        await on.until(lambda: on.app.prompt.has_focus and not on.app.input_panel.display)
        (on.folder / "go-on").touch()
        await on.until_idle()


class HandTimer:
    """Goes off when the test says so, unless it was stopped."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.stopped = False
        self._callback = callback

    def stop(self) -> None:
        self.stopped = True

    def go_off(self) -> None:
        if not self.stopped:
            self._callback()


async def test_a_command_that_has_asked_again_gets_all_the_time_anew(
    harness: MakeHarness, monkeypatch: pytest.MonkeyPatch
):
    timers: list[HandTimer] = []

    def set_timer(_panel: InputPanel, _delay: float, callback: Callable[[], None]) -> HandTimer:
        timers.append(HandTimer(callback))
        return timers[-1]

    monkeypatch.setattr(InputPanel, "set_timer", set_timer)
    command = 'read -r -p "Name: " a; read -r -p "Version: " b; until [ -e go-on ]; do sleep 0.05; done'
    async with harness(asks_for(shell(command)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        for prompt in ("Name:", "Version:"):
            await on.until(lambda prompt=prompt: is_asked(on, prompt))
            await on.until(lambda: on.app.input_panel.line.has_focus)
            await on.types("1\n")
            await on.until(lambda: is_asked(on, input_panel.SENT))
        timers[0].go_off()
        assert on.app.input_panel.display and on.app.input_panel.line.has_focus
        timers[-1].go_off()
        await on.until(lambda: on.app.prompt.has_focus and not on.app.input_panel.display)
        (on.folder / "go-on").touch()
        await on.until_idle()


async def test_a_person_who_is_typing_a_message_is_told_where_the_text_goes(harness: MakeHarness):
    async with harness(asks_for(shell(LOGIN)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        on.app.prompt.load("a message")
        await on.press("y")
        on.app.prompt.focus()
        await on.until_shown("A running command is waiting", "Tab to type it here")
        assert on.app.prompt.has_focus
        on.app.prompt.clear()
        await on.press("tab")
        await on.until_shown("Esc back")
        await on.types(f"{SECRET}\n")
        await on.until_idle()


async def test_ctrl_d_ends_the_input_of_a_command(harness: MakeHarness):
    command = shell('read -r -p "Go on? [y/N] " word || echo ended')
    async with harness(asks_for(command), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await until(lambda: on.app.input_panel.display)
        assert not on.app.input_panel.line.password
        await on.until(lambda: on.app.input_panel.line.has_focus)
        await on.press("ctrl+d")
        await on.until_idle()
        assert "ended" in str((await on.recorded(CallFinished))[0].result)


async def test_esc_leaves_the_command_waiting_and_f2_returns_to_it(harness: MakeHarness):
    command = shell('read -r -p "Name: " word; echo "got ${#word}"')
    async with harness(asks_for(command), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await until(lambda: on.app.input_panel.display)
        await on.until(lambda: on.app.input_panel.line.has_focus)
        await on.press("escape")
        assert on.app.prompt.has_focus and on.app.input_panel.display
        await on.press("f2")
        await on.types("Ada\n")
        await on.until_idle()
        assert "got 3" in str((await on.recorded(CallFinished))[0].result)


async def test_the_second_question_of_a_command_is_shown_while_it_is_answered(harness: MakeHarness):
    command = shell('read -r -p "Name: " a; read -r -p "Version: " b; echo "${#a}${#b}"')
    async with harness(asks_for(command), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        for prompt, answer in (("Name:", "my-shop"), ("Version:", "1.0")):
            await on.until(lambda prompt=prompt: is_asked(on, prompt))
            await on.until(lambda: on.app.input_panel.line.has_focus)
            await on.until_shown("Esc back")
            await on.types(answer)
            assert answer in on.shown and "hidden" not in on.shown
            await on.press("enter")
        await on.until_idle()
        assert "73" in str((await on.recorded(CallFinished))[0].result)


async def test_what_is_being_typed_is_hidden_once_the_program_switches_the_echo_off(harness: MakeHarness):
    script = 'printf "Enter it: "; until [ -e go ]; do sleep 0.02; done; stty -echo; read -r a; echo "${#a}"'
    async with harness(asks_for(shell(script)), says("Done.")).open(prompt="go") as on:
        await on.until_asked()
        await on.press("y")
        await on.until(lambda: on.app.input_panel.line.has_focus)
        await on.types("abc")
        assert "abc" in on.shown
        (on.folder / "go").touch()
        await on.until_shown("What you type is hidden")
        assert "abc" not in on.shown and on.app.input_panel.line.value == "abc"
        await on.types("de\n")
        await on.until_idle()
        assert "5" in str((await on.recorded(CallFinished))[0].result)
