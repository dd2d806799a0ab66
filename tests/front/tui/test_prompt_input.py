"""Typing into the input: every key a person presses there, and what the app hears of it."""

from pathlib import Path
from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.events import Paste
from textual.message import Message

from assent.front.tui.prompt.prompt_input import PromptInput
from support.keys import AtKeys


class InputApp(App[None]):
    """Only the input, and what it says."""

    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+c,ctrl+d,escape,pageup,pagedown", "left_over", "")]

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Message] = []
        self.left_over = 0
        self.input = PromptInput("Ask something")

    def action_left_over(self) -> None:
        self.left_over += 1

    def compose(self) -> ComposeResult:
        yield self.input

    def on_mount(self) -> None:
        self.input.focus()

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        self.said.append(message)

    def on_prompt_input_shell_submitted(self, message: PromptInput.ShellSubmitted) -> None:
        self.said.append(message)

    def on_prompt_input_edit_wanted(self, message: PromptInput.EditWanted) -> None:
        self.said.append(message)

    def on_prompt_input_typed(self, message: PromptInput.Typed) -> None:
        self.said.append(message)

    def on_prompt_input_searching(self, message: PromptInput.Searching) -> None:
        self.said.append(message)

    @property
    def submitted(self) -> list[str]:
        return [message.text for message in self.said if isinstance(message, PromptInput.Submitted)]

    @property
    def commands(self) -> list[str]:
        return [message.command for message in self.said if isinstance(message, PromptInput.ShellSubmitted)]


class Typing(AtKeys[InputApp]):
    def __init__(self, width: int = 40) -> None:
        super().__init__(InputApp(), width)
        self.input = self.app.input

    async def paste(self, text: str) -> None:
        self.input.post_message(Paste(text))
        await self.pilot.pause()

    @property
    def text(self) -> str:
        return self.input.text


# --- sending ---


@pytest.mark.spec("G1")
async def test_enter_sends_the_text_and_empties_the_input():
    async with Typing() as it:
        await it.type("fix @a.py please")
        await it.press("enter")
        assert it.app.submitted == ["fix @a.py please"]
        assert it.input.is_empty


@pytest.mark.parametrize("keys", [[], ["space", "space"], ["ctrl+j", "space"]])
async def test_what_is_blank_is_never_sent(keys: list[str]):
    async with Typing() as it:
        await it.press(*keys, "enter")
        assert it.app.submitted == []


@pytest.mark.spec("G1")
@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_a_line_can_be_ended_without_sending(key: str):
    async with Typing() as it:
        await it.type("a")
        await it.press(key)
        await it.type("b")
        assert it.app.submitted == []
        await it.press("enter")
        assert it.app.submitted == ["a\nb"]


async def test_a_backslash_at_the_end_of_the_line_and_enter_is_a_new_line():
    async with Typing() as it:
        await it.type("a\\")
        await it.press("enter")
        await it.type("b")
        assert it.text == "a\nb"
        await it.type("\\c")
        await it.press("left", "enter")
        assert it.app.submitted == ["a\nb\\c"]


@pytest.mark.spec("G1")
async def test_the_input_grows_with_its_lines_up_to_eight_and_then_scrolls():
    async with Typing() as it:
        assert it.input.size.height == 1
        await it.type("a")
        await it.press(*["ctrl+j"] * 3)
        await it.pilot.pause()
        assert it.input.size.height == 4
        await it.press(*["ctrl+j"] * 20)
        await it.pilot.pause()
        assert it.input.size.height == 8
        assert it.input.scroll_offset.y == 24 - 8
        await it.press("ctrl+c")
        await it.pilot.pause()
        assert it.input.size.height == 1


async def test_a_long_line_wraps_and_wide_characters_count_twice():
    async with Typing(width=21) as it:
        it.input.load("漢" * 15)
        await it.pilot.pause()
        assert it.input.size.height == 2


async def test_the_app_hears_that_someone_is_typing_but_not_of_what_it_loads_itself():
    async with Typing() as it:
        it.input.load("loaded")
        await it.press("left", "home", "end")
        assert it.app.said == []
        await it.type("x")
        await it.press("backspace")
        await it.paste("y")
        await it.press("ctrl+z")
        assert len(it.app.said) == 4
        assert {type(message) for message in it.app.said} == {PromptInput.Typed}


# --- editing ---


@pytest.mark.spec("G1")
@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["ctrl+c"], ""),
        (["ctrl+u"], ""),
        (["ctrl+w"], "one two "),
        (["home", "ctrl+k"], ""),
        (["home", "alt+d"], " two three"),
        (["alt+b", "ctrl+k"], "one two "),
        (["alt+b", "alt+b", "alt+f", "ctrl+u"], " three"),
        (["ctrl+left", "ctrl+u"], "three"),
        (["ctrl+w", "ctrl+z"], "one two three"),
        (["ctrl+c", "ctrl+z"], "one two three"),
        (["ctrl+c", "ctrl+underscore"], "one two three"),
    ],
)
async def test_the_usual_keys_edit(keys: list[str], left: str):
    async with Typing() as it:
        await it.type("one two three")
        await it.press(*keys)
        assert it.text == left
        assert it.app.submitted == []


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+d", "escape", "pageup", "pagedown"])
async def test_with_nothing_typed_these_keys_are_the_apps(key: str):
    async with Typing() as it:
        await it.press(key)
        assert it.app.left_over == 1


async def test_the_text_can_be_edited_outside_and_comes_back():
    async with Typing() as it:
        await it.paste("x\n" * 20)
        await it.type("and")
        await it.press("ctrl+g")
        wanted = it.app.said[-1]
        assert isinstance(wanted, PromptInput.EditWanted)
        assert wanted.text == "x\n" * 20 + "and"
        it.input.load("edited\r\noutside\x1b[31m")
        assert it.text == "edited\noutside"
        await it.press("enter")
        assert it.app.submitted == ["edited\noutside"]


# --- history ---


@pytest.mark.spec("G1")
async def test_the_arrows_lead_through_the_history_and_back_to_the_draft():
    async with Typing() as it:
        it.input.remember(["one", "two\nlines"])
        await it.type("dra")
        await it.press("up")
        assert it.text == "two\nlines"
        await it.press("up")
        assert it.text == "one"
        await it.press("up")
        assert it.text == "one"
        await it.press("down")
        assert it.text == "two\nlines"
        await it.press("down")
        assert it.text == "dra"
        await it.type("ft")
        await it.press("enter")
        assert it.app.submitted == ["draft"]
        await it.press("up")
        assert it.text == "draft"


async def test_inside_a_text_of_several_lines_the_arrows_move_the_cursor():
    async with Typing(width=10) as it:
        it.input.remember(["old"])
        it.input.load("first\nsecond is wrapped")
        await it.press("up", "up", "up")
        assert it.text.startswith("first")
        await it.press("up")
        assert it.text == "old"
        await it.press("down")
        assert it.text.startswith("first")


async def test_a_draft_with_a_paste_comes_back_with_its_paste():
    async with Typing() as it:
        it.input.remember(["old"])
        await it.paste("x\n" * 9 + "end")
        await it.press("up", "down", "enter")
        assert it.app.submitted == ["x\n" * 9 + "end"]


@pytest.mark.spec("G1")
async def test_the_history_can_be_searched_backwards():
    async with Typing() as it:
        it.input.remember(["fix the bug", "run tests", "fix it"])
        await it.type("draft")
        await it.press("ctrl+r")
        await it.type("fi")
        assert it.text == "fix it"
        await it.press("ctrl+r")
        assert it.text == "fix the bug"
        await it.press("ctrl+r")
        assert it.text == "fix the bug"
        await it.press("enter")
        assert (it.text, it.app.submitted) == ("fix the bug", [])
        await it.press("enter")
        assert it.app.submitted == ["fix the bug"]


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "ctrl+g"])
async def test_a_search_can_be_given_up_and_the_draft_comes_back(key: str):
    async with Typing() as it:
        it.input.remember(["fix it"])
        await it.type("draft")
        await it.press("ctrl+r", "f", key)
        assert it.text == "draft"
        await it.type("!")
        assert it.text == "draft!"


async def test_when_the_app_clears_the_input_a_search_is_given_up_first():
    async with Typing() as it:
        it.input.remember(["fix it"])
        await it.type("draft")
        await it.press("ctrl+r", "f")
        it.input.clear()
        assert it.text == "draft"
        it.input.clear()
        assert it.input.is_empty
        await it.press("ctrl+r")
        assert not it.input.is_empty
        it.input.load("loaded")
        await it.type("!")
        assert it.text == "loaded!"


async def test_pages_are_turned_in_a_long_text():
    async with Typing() as it:
        it.input.load("x\n" * 30)
        await it.pilot.pause()
        await it.press("pageup")
        assert it.app.left_over == 0
        assert it.input.cursor_location[0] < 30


async def test_a_search_says_what_it_looks_for_and_whether_it_is_there():
    async with Typing() as it:
        it.input.remember(["fix it"])
        await it.press("ctrl+r", "f", "q", "backspace", "right")
        said = [(m.query, m.found) for m in it.app.said if isinstance(m, PromptInput.Searching)]
        assert said == [("", True), ("f", True), ("fq", False), ("f", True), (None, True)]
        assert it.text == "fix it"


async def test_history_with_terminal_codes_is_shown_without_them():
    async with Typing() as it:
        it.input.remember(["\x1b[31mred\x1b]0;x\x07"])
        await it.press("up")
        assert it.text == "red"


# --- paste ---


@pytest.mark.spec("G1")
@pytest.mark.spec("K1")
@pytest.mark.parametrize("form", ["{path}", "'{path}'", '"{path}"', "file://{url}", "{escaped} ", "{path} "])
async def test_a_picture_that_is_dropped_on_the_terminal_is_mentioned(tmp_path: Path, form: str):
    picture = tmp_path / "my pic.png" if form != "{path}" else tmp_path / "pic.PNG"
    picture.write_bytes(b"\x89PNG")
    path = str(picture)
    pasted = form.format(path=path, url=path.replace(" ", "%20"), escaped=path.replace(" ", "\\ "))
    async with Typing() as it:
        await it.type("see ")
        await it.paste(pasted)
        assert it.text == (f'see @"{path}" ' if " " in path else f"see @{path} ")


@pytest.mark.parametrize("text", ["/nowhere/pic.png", "see pic.png", "/etc/passwd", "pic.png"])
async def test_other_text_that_is_pasted_stays_as_it_is(text: str):
    async with Typing() as it:
        await it.paste(text)
        assert it.text == text


@pytest.mark.spec("G1")
async def test_a_long_paste_is_a_placeholder_until_it_is_sent_and_goes_as_a_whole():
    async with Typing() as it:
        pasted = "\n".join(f"line {n}" for n in range(42))
        await it.type("see ")
        await it.paste(pasted)
        assert it.text == "see [Pasted text #1: 42 lines]"
        await it.paste("x" * 2_000)
        assert it.text == "see [Pasted text #1: 42 lines][Pasted text #2: 2,000 characters]"
        await it.press("backspace")
        assert it.text == "see [Pasted text #1: 42 lines]"
        await it.press("enter")
        sent = it.app.said[-1]
        assert isinstance(sent, PromptInput.Submitted)
        assert sent.text == f"see {pasted}"


async def test_a_cleared_paste_can_be_brought_back():
    async with Typing() as it:
        await it.paste("x\n" * 20 + "end")
        await it.press("ctrl+c", "ctrl+z", "enter")
        assert it.app.submitted == ["x\n" * 20 + "end"]


async def test_a_paste_is_cleaned_and_never_sends():
    async with Typing() as it:
        await it.paste("rm -rf x\r\n\x1b[31mnow\x1b[0m\r")
        assert it.text == "rm -rf x\nnow\n"
        assert it.app.submitted == []


async def test_what_was_copied_inside_the_app_is_pasted_like_anything_else():
    async with Typing() as it:
        it.app.copy_to_clipboard("a\x1b[0mb")
        await it.press("ctrl+v")
        assert it.text == "ab"


# --- shell ---


@pytest.mark.spec("G1")
async def test_an_exclamation_mark_at_the_start_is_for_the_shell():
    async with Typing() as it:
        await it.type("!ls")
        assert it.input.has_class("-shell")
        assert it.text == "ls"
        await it.press("enter")
        assert (it.app.commands, it.app.submitted) == (["ls"], [])
        await it.press("backspace")
        assert not it.input.has_class("-shell")
        await it.type("hi!")
        await it.press("enter")
        assert it.app.submitted == ["hi!"]


async def test_the_shell_has_its_own_history():
    async with Typing() as it:
        it.input.remember(["a prompt"])
        it.input.remember(["make"], shell=True)
        await it.type("!")
        await it.press("up")
        assert it.text == "make"
        await it.press("ctrl+c", "backspace", "up")
        assert it.text == "a prompt"


async def test_a_command_can_go_on_in_the_next_line():
    async with Typing() as it:
        await it.type("!echo \\")
        await it.press("enter", "a", "enter")
        assert it.app.commands == ["echo \\\na"]


async def test_a_pasted_exclamation_mark_is_no_command():
    async with Typing() as it:
        await it.paste("!rm -rf x")
        assert not it.input.shell
        await it.press("enter")
        assert (it.app.commands, it.app.submitted) == ([], ["!rm -rf x"])
