"""Questions that try to get an answer nobody gave, or to reach the terminal behind the screen."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, TextArea

from assent.approval import Approval, Choice, ExecDetails, Question
from assent.events import CallRequest
from assent.front.tui.answer_screens import ArgumentsScreen
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.ask_screen import AskScreen
from assent.front.tui.begun_answers import BegunAnswer
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.question_panel import ApprovalPanel
from assent.front.tui.text_style import TextStyler
from assent.front.tui.themes import LOOKS
from assent.parts import JsonObject
from assent.scheduler.call import AwaitingApproval
from support.waiting import until

pytestmark = pytest.mark.spec("G3")


def waiting(name: str, args: JsonObject | None = None) -> AwaitingApproval:
    approval = Approval(
        id=f"q-{name}",
        digest=f"d-{name}",
        details=ExecDetails(command=f"echo {name}", roots=(), directory="/w", risk="low", risk_reason=""),
        options=("proceed_once", "cancel"),
        why="",
    )
    return AwaitingApproval(
        request=CallRequest(call_id=name, tool="run_shell_command", args=args or {}, prompt_id="p"),
        started_at=0.0,
        approval=approval,
    )


class PanelApp(App[None]):
    CSS = "ApprovalPanel { height: auto; } #question-title, #question-keys { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self.answered: list[str] = []
        guard = KeyGuard(quiet=0.0, settle=0.2)
        self.panel = ApprovalPanel(lambda: TextStyler(LOOKS["dark"].palette), guard, lambda: "me")

    def compose(self) -> ComposeResult:
        yield Input()
        yield self.panel

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        self.answered.append(event.answer.call_id)


async def test_yes_to_all_is_no_yes_to_a_question_that_came_after_the_key() -> None:
    panel_app = PanelApp()
    async with panel_app.run_test(size=(80, 24)) as pilot:
        panel_app.panel.put([waiting("a"), waiting("b")])
        panel_app.panel.focus()
        await pilot.pause()
        await pilot.press("right")
        await until(lambda: panel_app.panel.all_seen)
        await pilot.press("A")
        panel_app.panel.put([waiting("a"), waiting("b"), waiting("c")])
        await until(lambda: not panel_app.panel.deciding)
        await pilot.pause()
        assert "c" not in panel_app.answered


async def test_options_with_the_same_words_do_not_end_the_program() -> None:
    question = Question(question="Which?", type="choice", options=(Choice("x"), Choice("x"), Choice("[bold]\x1b[2J")))
    call = waiting("a")
    panel_app = PanelApp()
    async with panel_app.run_test(size=(80, 24)) as pilot:
        screen = AskScreen(call, KeyGuard(quiet=0.0), AskDraft((question,)))
        chosen: list[object] = []
        panel_app.push_screen(screen, chosen.append)
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert chosen == [("x",)]


async def test_escape_sequences_in_an_argument_are_shown_and_can_be_edited() -> None:
    panel_app = PanelApp()
    hostile = "ls\x1b]52;c;aGk=\x07\u202e#"
    async with panel_app.run_test(size=(80, 24)) as pilot:
        changed: list[object] = []
        screen = ArgumentsScreen(waiting("a", {"command": hostile}), KeyGuard(quiet=0.0), BegunAnswer())
        panel_app.push_screen(screen, changed.append)
        await pilot.pause()
        area = panel_app.screen.query_one(TextArea)
        drawn = "".join(area.render_line(y).text for y in range(area.size.height))
        assert "\x1b" not in drawn and "\u202e" not in drawn and "\\u001b" in drawn
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert changed == [{"command": hostile}]
