"""Narrow and low terminals: the mode, the help and every answer stay within reach."""

from collections.abc import Callable

import pytest
from textual.binding import Binding
from textual.content import Content

from assent.approval import Mode
from assent.front.tui.answer_keys import ANSWER_WORDS, ANSWERS
from assent.front.tui.bars import Facts, FootLine
from assent.front.tui.hanging import hanging
from assent.front.tui.key_list import key_sections
from assent.front.tui.prompt.prompt_input import PromptInput
from assent.front.tui.prompt.readline_area import ReadlineArea
from assent.front.tui.question_panel import ApprovalPanel
from assent.front.tui.review import ReviewScreen
from assent.front.tui.slash.help_page import help_document
from assent.front.tui.slash.slash_registry import SlashRegistry
from assent.front.tui.stats import Tally, session_stats
from assent.front.tui.terminal_app import AssentApp
from assent.front.tui.text_style import TextStyler
from assent.front.tui.themes import LOOKS
from assent.front.tui.transcript import Transcript
from assent.front.tui.viewer import ViewerScreen
from support.app_harness import AppHarness
from support.program import Json, asks_for, shell

pytestmark = pytest.mark.spec("G5")
MakeHarness = Callable[..., AppHarness]
STYLER = TextStyler(LOOKS["dark"].palette)
PLACES = (AssentApp, PromptInput, ReadlineArea, ApprovalPanel, Transcript, ViewerScreen, ReviewScreen)


# --- help ---


def drawn_help(width: int) -> list[str]:
    document = help_document(SlashRegistry().commands(), key_sections(AssentApp.BINDINGS))
    return [strip.text.rstrip() for strip in document.draw(STYLER, width)]


def test_every_key_is_described() -> None:
    bindings = [each for place in PLACES for each in place.BINDINGS if isinstance(each, Binding)]
    assert [each.key for each in bindings if not each.description] == []
    assert set("".join(ANSWER_WORDS)) >= ANSWERS - set("2345678")


@pytest.mark.parametrize("width", [36, 76, 116])
def test_help_lists_every_command_and_key_at_every_width(width: int) -> None:
    lines = drawn_help(width)
    whole = " ".join(" ".join(lines).split())
    for command in SlashRegistry().commands():
        assert command.call in whole and command.help in whole
    for section, keys in key_sections(AssentApp.BINDINGS).items():
        assert section in lines
        for key, meaning in keys.items():
            assert key in whole and meaning in whole
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(("width", "column"), [(36, 4), (76, 30)])
def test_what_a_command_does_starts_in_the_same_column(width: int, column: int) -> None:
    text = "Quit; what is waiting for you is kept"
    line = next(line for line in drawn_help(width) if text[:20] in line)
    assert line.index(text[:20]) == column


# --- the last line ---


@pytest.mark.parametrize("width", [24, 30, 40, 60, 80, 120])
@pytest.mark.parametrize("mode", ["default", "auto_edit", "auto_try", "plan", "yolo"])
def test_the_mode_and_the_questions_are_always_shown(width: int, mode: Mode) -> None:
    facts = Facts(
        model="a-model-with-a-long-name", mode=mode, folder="/srv/projects/website", branch="feature/long",
        tokens=123_456, context=0.42, cost="$1.23", waiting=2, servers="mcp: notes failed",
    )  # fmt: skip
    line = FootLine(lambda: STYLER).line(facts, width).plain
    assert mode in line and "2 questions" in line
    assert len(line) <= width


# --- questions ---


@pytest.mark.spec("G3")
@pytest.mark.parametrize("size", [(40, 12), (40, 20), (36, 14), (80, 24)])
async def test_every_answer_is_on_the_screen(harness: MakeHarness, size: tuple[int, int]):
    call = shell("make deploy && curl -X POST https://example.com/hook")
    async with harness(asks_for(call)).open(prompt="go", size=size) as on:
        await on.until_asked()
        await on.until_shown("yes, once", "change arguments", "no (Enter)", "no, because…", "> ", "default")


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (80, 24), (80, 16)])
async def test_what_is_typed_stays_on_the_screen_below_a_long_question(harness: MakeHarness, size: tuple[int, int]):
    """Messages that are sent meanwhile take lines of the question, not those of the input."""
    steps: Json = {"name": "write_todos", "args": {"todos": [{"description": "Deploy", "status": "in_progress"}]}}
    replies = asks_for(steps), asks_for(shell("make deploy\n" * 20))
    async with harness(*replies).open(prompt="go", size=size) as on:
        await on.until_asked()
        await on.say("first message")
        await on.say("second message")
        await on.until(lambda: len(on.runner.state.queued) == 2)
        await on.types("half of the third")
        await on.until_shown("> half of the third", "default", "second message", "make deploy")
        await on.press("ctrl+j", *"abc", "ctrl+j", *"def")
        await on.until_shown("  def", "default", "make deploy")


async def test_while_the_model_works_a_low_screen_shows_it_and_how_to_cancel(harness: MakeHarness):
    streaming: Json = {"chunks": [{"text": "Once upon"}, {"pause_ms": 600_000}]}
    async with harness(streaming).open(prompt="tell", size=(40, 12)) as on:
        await on.until_shown("✦ Once upon", "Esc to cancel")
        rows = on.app.query_one(Transcript).size.height
        await on.press("escape")
        await on.until_gone("Esc to cancel")
        await on.until(lambda: on.app.query_one(Transcript).size.height == rows + 1)


async def test_lines_that_the_answers_push_away_have_not_been_seen(harness: MakeHarness):
    """The keys of a question take several lines at this width, which is known only when they are drawn."""
    said = "Deploys what is here to the servers that people use"
    args = {"command": "make deploy TARGET=prod", "description": said}
    call: Json = {"name": "run_shell_command", "args": args, "id": "c"}
    async with harness(asks_for(call)).open(prompt="go", size=(40, 20)) as on:
        await on.until_asked()
        await on.until_shown("lines unseen")
        await on.press("y")
        await on.until_shown("not shown yet")
        await on.press("pagedown", "pagedown")
        await on.until_gone("unseen")
        await on.until_shown("Asked because")


async def test_lines_that_the_hint_pushes_away_have_not_been_reviewed(harness: MakeHarness):
    call = shell("make deploy TARGET=prod")
    async with harness(asks_for(call)).open(prompt="go", size=(36, 10)) as on:
        await on.until_asked()
        await on.press("f")
        await on.until_screen(ReviewScreen)
        await on.until_shown("unseen")
        await on.press("space", "space")
        await on.until_shown("all seen")


async def test_a_review_without_wrapping_has_not_shown_the_ends_of_lines(harness: MakeHarness):
    async with harness(asks_for(shell(f"make {'x' * 4000}"))).open(prompt="go", size=(80, 24)) as on:
        await on.until_asked()
        await on.press("f")
        await on.until_screen(ReviewScreen)
        await on.press("w", "G")
        await on.until_shown("unseen")
        await on.press("y")
        await on.until_shown("Nothing is answered here")
        await on.press("u", "u", "u", "u")
        await on.until_shown("u next unseen" if "unseen" in on.shown else "Esc back, to answer")
        await on.until_shown("all seen")


# --- text that must be wrapped ---


def test_an_indented_line_wraps_below_itself():
    rows = [row.plain.rstrip() for row in hanging(Content("  Session  20261118-140005-e2d05b3801da84d3\nplain"), 36)]
    assert rows == ["  Session", "    20261118-140005-e2d05b3801da84d3", "plain"]


@pytest.mark.parametrize("width", [24, 39, 79])
def test_the_figures_of_a_session_keep_their_indent(width: int):
    page = session_stats(Tally())
    rows = [row.plain.rstrip() for row in hanging(page, width)]
    assert max(map(len, rows)) <= width
    assert "".join("".join(rows).split()) == "".join(page.plain.split())
    assert width < 39 or "  waiting for you            0.0 s" in rows


@pytest.mark.parametrize("size", [(40, 20), (60, 24)])
async def test_how_to_cancel_is_never_cut_off(harness: MakeHarness, size: tuple[int, int]):
    async with harness(asks_for(shell("make deploy"))).open(prompt="go", size=size) as on:
        await on.until_asked()
        await on.until_shown("Waiting", "Esc twice to cancel")
