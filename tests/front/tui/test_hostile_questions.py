"""Questions that try to get an answer nobody gave, or to reach the terminal behind the screen."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, TextArea

from assent.approval import Approval, Choice, ExecDetails, Question
from assent.events import CallRequest
from assent.front.tui.answers import ArgumentsScreen, AskScreen
from assent.front.tui.approval import ApprovalPanel
from assent.front.tui.guard import KeyGuard
from assent.front.tui.ink import Ink
from assent.front.tui.themes import LOOKS
from assent.parts import JsonObject
from assent.scheduler.call import AwaitingApproval
from support.waiting import until

pytestmark = pytest.mark.spec("G3")


def waiting(name: str, args: JsonObject | None = None) -> AwaitingApproval:
    approval = Approval(
        id=f"q-{name}",
        digest=f"d-{name}",
        details=ExecDetails(f"echo {name}", (), "/w", "low", ""),
        options=("proceed_once", "cancel"),
        why="",
    )
    return AwaitingApproval(
        request=CallRequest(call_id=name, tool="run_shell_command", args=args or {}, prompt_id="p"),
        started_at=0.0,
        approval=approval,
    )


class Desk(App[None]):
    CSS = "ApprovalPanel { height: auto; } #question-title, #question-keys { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self.answered: list[str] = []
        guard = KeyGuard(quiet=0.0, settle=0.2)
        self.panel = ApprovalPanel(lambda: Ink(LOOKS["dark"].palette), guard, lambda: "me")

    def compose(self) -> ComposeResult:
        yield Input()
        yield self.panel

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        self.answered.append(event.answer.call_id)


async def test_yes_to_all_is_no_yes_to_a_question_that_came_after_the_key() -> None:
    desk = Desk()
    async with desk.run_test(size=(80, 24)) as pilot:
        desk.panel.put([waiting("a"), waiting("b")])
        desk.panel.focus()
        await pilot.pause()
        await pilot.press("right")
        await until(lambda: desk.panel.all_seen)
        await pilot.press("A")
        desk.panel.put([waiting("a"), waiting("b"), waiting("c")])
        await until(lambda: not desk.panel.deciding)
        await pilot.pause()
        assert "c" not in desk.answered


async def test_options_with_the_same_words_do_not_end_the_program() -> None:
    question = Question(question="Which?", type="choice", options=(Choice("x"), Choice("x"), Choice("[bold]\x1b[2J")))
    call = waiting("a")
    desk = Desk()
    async with desk.run_test(size=(80, 24)) as pilot:
        screen = AskScreen(call, KeyGuard(quiet=0.0), (question,))
        chosen: list[object] = []
        desk.push_screen(screen, chosen.append)
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert chosen == [("x",)]


async def test_escape_sequences_in_an_argument_are_shown_and_can_be_edited() -> None:
    desk = Desk()
    hostile = "ls\x1b]52;c;aGk=\x07\u202e#"
    async with desk.run_test(size=(80, 24)) as pilot:
        changed: list[object] = []
        desk.push_screen(ArgumentsScreen(waiting("a", {"command": hostile}), KeyGuard(quiet=0.0)), changed.append)
        await pilot.pause()
        area = desk.screen.query_one(TextArea)
        drawn = "".join(area.render_line(y).text for y in range(area.size.height))
        assert "\x1b" not in drawn and "\u202e" not in drawn and "\\u001b" in drawn
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert changed == [{"command": hostile}]
