"""The list of completions above the input, and the line of a search."""

import asyncio
from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.prompt.prompt_box import PromptBox
from assent.front.tui.prompt.prompt_input import PromptInput
from support.keys import AtKeys

FILES = ["src/", "src/app.py", "src/a b.txt", "README.md", "docs/", "docs/app.md"]


class Things:
    """What can be completed here."""

    def __init__(self) -> None:
        self.paths: Sequence[str] = FILES
        self.files_asked = 0
        self.files_there = asyncio.Event()
        self.files_there.set()
        self.broken = False
        self.elsewhere: list[Candidate] = []
        """Commands that someone else knows."""
        self.learned: list[Candidate] = []
        self.commands_asked = 0

    def commands(self) -> Sequence[Candidate]:
        own = [Candidate("help", "What can be done"), Candidate("model", "[red]Which[/] model"), Candidate("mode")]
        return [*own, *self.learned]

    async def learn_commands(self) -> bool:
        self.commands_asked += 1
        before, self.learned = self.learned, self.elsewhere
        return before != self.learned

    async def arguments(self, command: str, typed: str) -> Sequence[Candidate]:
        return await self._later() if command == "model" else [Candidate("plan"), Candidate("yolo")]

    async def _later(self) -> Sequence[Candidate]:
        await self.files_there.wait()
        return [Candidate("gemini-pro"), Candidate("gemini-flash")]

    async def files(self) -> Sequence[str]:
        self.files_asked += 1
        await self.files_there.wait()
        if self.broken:
            raise OSError("gone")
        return self.paths


class BoxApp(App[None]):
    CSS = "#rest { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.things = Things()
        self.now = 100.0
        self.box = PromptBox(self.things, "Ask something")
        self.box.completions.clock = lambda: self.now
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("transcript", id="rest")
        yield self.box

    def on_mount(self) -> None:
        self.box.input.focus()

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        self.sent.append(message.text)


class Typing(AtKeys[BoxApp]):
    def __init__(self) -> None:
        super().__init__(BoxApp(), 60)
        self.list = self.app.box.completions

    async def settled(self) -> None:
        await self.app.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType]
        await self.pilot.pause()

    @property
    def text(self) -> str:
        return self.app.box.input.text


@pytest.mark.spec("G1")
@pytest.mark.spec("G5")
async def test_a_slash_at_the_start_offers_commands_and_typing_narrows_them():
    async with Typing() as it:
        await it.type("/")
        assert it.list.offered == ["help", "model", "mode"]
        await it.type("mo")
        assert it.list.offered == ["model", "mode"]
        await it.press("down", "tab")
        assert it.text == "/mode "


async def test_commands_that_someone_else_knows_are_offered_as_soon_as_they_are_there():
    async with Typing() as it:
        it.app.things.elsewhere = [Candidate("review")]
        await it.type("/r")
        await it.settled()
        assert it.list.offered == ["review"]
        await it.type("e")
        assert it.app.things.commands_asked == 1
        it.app.now += 10
        it.app.things.elsewhere = []
        await it.type("v")
        await it.settled()
        assert (it.list.offered, it.app.things.commands_asked) == ([], 2)


async def test_enter_takes_what_is_offered_but_sends_what_is_already_there():
    async with Typing() as it:
        await it.type("/he")
        await it.press("enter")
        assert (it.text, it.app.sent) == ("/help ", [])
        await it.press("enter")
        assert it.app.sent == ["/help"]
        await it.type("/mode")
        await it.press("enter")
        assert it.app.sent == ["/help", "/mode"]
        assert not it.list.is_open


async def test_up_and_down_move_in_the_list_and_not_in_the_history():
    async with Typing() as it:
        it.app.box.input.remember(["older"])
        await it.type("/")
        await it.press("up")
        assert (it.list.chosen, it.text) == ("mode", "/")
        await it.press("down", "down")
        assert it.list.chosen == "model"


async def test_esc_closes_the_list_for_this_word_and_tab_opens_it_again():
    async with Typing() as it:
        await it.type("/m")
        await it.press("escape")
        assert not it.list.is_open
        await it.type("o")
        assert not it.list.is_open
        await it.press("tab")
        assert it.list.offered == ["model", "mode"]
        await it.press("escape", "ctrl+c")
        await it.type("/h")
        assert it.list.offered == ["help"]


async def test_what_the_history_brings_opens_no_list():
    async with Typing() as it:
        it.app.box.input.remember(["older", "/mode"])
        await it.press("up")
        assert (it.text, it.list.is_open) == ("/mode", False)
        await it.press("up")
        assert it.text == "older"


async def test_leaving_the_word_closes_the_list():
    async with Typing() as it:
        await it.type("/mo")
        await it.press("home")
        await it.pilot.pause()
        assert not it.list.is_open


@pytest.mark.spec("G5")
async def test_arguments_are_offered_and_enter_sends_as_long_as_none_was_begun_or_chosen():
    async with Typing() as it:
        await it.type("/mode ")
        assert (it.list.offered, it.list.chosen) == (["plan", "yolo"], None)
        await it.type("y")
        assert it.list.chosen == "yolo"
        await it.press("enter")
        assert it.text == "/mode yolo"
        await it.press("enter")
        assert it.app.sent == ["/mode yolo"]
        await it.type("/mode ")
        await it.press("enter")
        assert it.app.sent == ["/mode yolo", "/mode"]


async def test_arguments_that_come_late_are_offered_only_if_they_are_still_wanted():
    async with Typing() as it:
        it.app.things.files_there.clear()
        await it.type("/model g")
        assert not it.list.is_open
        it.app.things.files_there.set()
        await it.settled()
        assert it.list.offered == ["gemini-pro", "gemini-flash"]
        it.app.things.files_there.clear()
        await it.press("backspace", "ctrl+u")
        it.app.things.files_there.set()
        await it.settled()
        assert not it.list.is_open


@pytest.mark.spec("G1")
async def test_files_are_offered_after_an_at_sign_and_a_folder_leads_on_into_itself():
    async with Typing() as it:
        await it.type("see @")
        await it.settled()
        assert it.list.offered[:3] == ["docs/", "README.md", "src/"]
        await it.type("sr")
        await it.press("tab")
        assert it.text == "see @src/"
        assert it.list.offered == ["src/a b.txt", "src/app.py"]
        await it.press("tab")
        assert it.text == 'see @"src/a b.txt" '
        assert not it.list.is_open
        await it.press("enter")
        assert it.app.sent == ['see @"src/a b.txt"']


async def test_a_folder_can_be_sent_as_it_is():
    async with Typing() as it:
        await it.type("@src/")
        await it.settled()
        assert it.list.is_open
        await it.press("enter")
        assert it.app.sent == ["@src/"]


async def test_files_are_read_again_when_they_are_old_and_the_old_ones_shown_meanwhile():
    async with Typing() as it:
        await it.type("@")
        await it.settled()
        await it.type("READ")
        assert it.app.things.files_asked == 1
        it.app.now += 60
        it.app.things.paths = ["READ_THIS"]
        it.app.things.files_there.clear()
        await it.type("M")
        assert it.list.offered == ["README.md"]
        await it.press("backspace")
        it.app.things.files_there.set()
        await it.settled()
        assert (it.list.offered, it.app.things.files_asked) == (["READ_THIS"], 2)


async def test_where_files_cannot_be_listed_none_are_offered_and_typing_goes_on():
    async with Typing() as it:
        it.app.things.broken = True
        await it.type("@a")
        await it.pilot.pause()
        await it.type("b")
        await it.press("enter")
        assert (it.app.sent, it.app.things.files_asked) == (["@ab"], 1)


async def test_in_shell_mode_nothing_is_offered():
    async with Typing() as it:
        await it.type("!/he")
        assert not it.list.is_open
        assert it.app.box.has_class("-shell")


async def test_more_candidates_than_fit_are_reached_with_the_arrows_and_counted():
    async with Typing() as it:
        it.app.things.learned = it.app.things.elsewhere = [Candidate(f"c{number:02}") for number in range(20)]
        await it.type("/c")
        assert "1–8 of 20" in it.list.render().plain
        await it.press(*["down"] * 9)
        assert it.list.chosen == "c09" and "3–10 of 20" in it.list.render().plain
        await it.press(*["up"] * 10)
        assert it.list.chosen == "c19" and "c19" in it.list.render().plain


async def test_the_list_lies_directly_above_the_input_and_moves_nothing():
    async with Typing() as it:
        await it.type("/")
        await it.pilot.pause()
        assert it.list.region.bottom == it.app.box.input.region.y == 19
        assert it.list.region.height == 3
        assert it.app.query_one("#rest").region.height == 19


async def test_help_is_shown_as_it_is_and_a_click_chooses():
    async with Typing() as it:
        await it.type("/")
        await it.pilot.pause()
        assert "model  [red]Which[/] model" in it.list.render().plain
        await it.pilot.click(it.list, offset=(2, 1))
        assert it.text == "/model "
        await it.type("x")
        assert it.text == "/model x"


async def test_a_search_has_a_line_of_its_own_until_it_is_over():
    async with Typing() as it:
        line = it.app.query_one("#prompt-search", Static)
        await it.press("ctrl+r", "q")
        await it.pilot.pause()
        assert line.display
        assert "q  (not found)" in str(line.render())
        await it.press("escape")
        await it.pilot.pause()
        assert not line.display


async def test_a_line_for_the_shell_says_so_and_how_to_leave():
    async with Typing() as it:
        await it.type("!")
        await it.pilot.pause()
        assert "command" in str(it.app.box.input.placeholder) and "Esc" in str(it.app.box.input.placeholder)
        await it.press("backspace")
        await it.pilot.pause()
        assert it.app.box.input.placeholder == "Ask something"
