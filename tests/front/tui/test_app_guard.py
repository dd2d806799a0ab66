"""What is no answer: keys that were under way, pastes, and a yes to something that was not on the screen."""

import re
import time
from collections.abc import Callable

import pytest
from textual.events import Key, Paste

from assent.events import ApprovalAnswered, PromptSubmitted
from assent.front.tui.answer_screens import ArgumentsScreen
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.main_screen import MainScreen
from assent.front.tui.review import ReviewScreen
from assent.front.tui.scope_screen import ScopeScreen
from support.app_harness import AppHarness
from support.program import asks_for, says, shell, write

pytestmark = [pytest.mark.spec("G3"), pytest.mark.spec("C2")]

MakeHarness = Callable[..., AppHarness]
CANARY = shell("echo x >> canary")
NEVER = 1_000_000.0
EVERY_TENTH = "".join(f"{'a word' if number % 10 == 5 else number}\n" for number in range(30))
"""Written in capitals, it differs in three places."""
"""Seconds of silence that no test has."""


def test_silence_counts_from_the_last_key_to_the_moment_of_the_next():
    now = [10.0]
    guard = KeyGuard(lambda: now[0], quiet=0.6)
    assert not guard.is_quiet(10.5)
    assert guard.is_quiet(10.7)
    now[0] = 11.0
    guard.disturb()
    assert not guard.is_quiet(11.5) and guard.is_quiet(11.7)
    assert not guard.is_quiet(10.9)  # pressed before, however late it comes


@pytest.mark.parametrize("key", ["y", "a", "A", "n", "enter", "i", "r", "e"])
async def test_no_key_answers_before_there_was_a_silence(harness: MakeHarness, key: str):
    on = harness(asks_for(CANARY))
    on.guard = KeyGuard(quiet=NEVER, settle=0)
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press(key, key, key)
        assert await on.recorded(ApprovalAnswered) == []
        assert on.runner.waiting() and not (on.folder / "canary").exists()


async def test_a_key_that_was_pressed_before_the_question_appeared_does_not_answer_it_later(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    on.guard = KeyGuard(quiet=0.6, settle=0)
    pressed = time.monotonic()
    async with on.open(prompt="go"):
        await on.until_asked()
        on.guard._last = pressed + 0.1  # pyright: ignore[reportPrivateUsage] (it appeared long ago …)
        key = Key("y", "y")
        key.time = pressed + 0.2  # … and the key waited for a busy app
        on.app.panel.post_message(key)
        await on.settle()
        assert "too fast to be an answer" in on.shown
        assert await on.recorded(ApprovalAnswered) == []


async def test_keys_that_follow_each_other_are_no_answer(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    on.guard = KeyGuard(quiet=0, settle=NEVER)
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.pilot.press("y")
        assert on.app.panel.deciding
        await on.pilot.press("y")
        assert not on.app.panel.deciding
        await on.until_shown("Several keys at once are not an answer")
        assert await on.recorded(ApprovalAnswered) == []


@pytest.mark.parametrize("text", ["yes, but first /look", "also the docs", "/mode", "nein 3 x"])
async def test_what_is_typed_at_a_question_is_a_message_and_not_lost(harness: MakeHarness, text: str):
    on = harness(asks_for(CANARY))
    on.guard = KeyGuard(quiet=NEVER, settle=0)
    async with on.open(prompt="go"):
        await on.until_asked()
        assert on.app.panel.has_focus
        await on.types(text)
        await on.until(lambda: on.app.prompt.text == text)
        assert await on.recorded(ApprovalAnswered) == [] and on.runner.waiting()


async def test_no_letter_is_lost_while_the_focus_moves(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    on.guard = KeyGuard(quiet=NEVER, settle=0)
    async with on.open(prompt="go"):
        await on.until_asked()
        for character in "always ask":
            on.app.post_message(Key("space" if character == " " else character, character))  # as a fast terminal does
        await on.until(lambda: on.app.prompt.text == "always ask")
        assert await on.recorded(ApprovalAnswered) == [] and on.runner.waiting()


@pytest.mark.parametrize("word", ["yes", "please", "fix", "very"])
async def test_an_answer_or_a_move_that_became_typing_in_time_is_typing(harness: MakeHarness, word: str):
    on = harness(asks_for(CANARY))
    on.guard = KeyGuard(quiet=0, settle=NEVER)
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.types(word)
        await on.until(lambda: on.app.prompt.text == word)
        assert not on.app.panel.deciding
        assert await on.recorded(ApprovalAnswered) == []


async def test_a_paste_never_answers(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go") as on:
        await on.until_asked()
        for text in ("y", "y\n", "\n", "A"):
            on.app.screen.post_message(Paste(text))
            on.app.panel.post_message(Paste(text))
            await on.settle()
        assert await on.recorded(ApprovalAnswered) == [] and on.runner.waiting()


async def test_a_paste_at_a_question_goes_into_the_message(harness: MakeHarness):
    async with harness(asks_for(CANARY)).open(prompt="go") as on:
        await on.until_asked()
        on.app.panel.post_message(Paste("what the server said"))
        await on.until(lambda: on.app.prompt.text == "what the server said")
        assert on.app.prompt.has_focus and on.runner.waiting()


async def test_a_question_does_not_take_the_keyboard_from_someone_who_types(harness: MakeHarness):
    pause = {"chunks": [{"text": "Wait."}, {"pause_ms": 50}, {"call": CANARY}]}
    async with harness(pause, says("Done.")).open() as on:
        await on.app.submit("go")
        await on.types("yes and always")
        await on.until(lambda: on.runner.waiting())
        await on.settle()
        assert on.app.prompt.has_focus
        await on.types(" y A\n")
        await on.until(lambda: on.runner.state.queued)
        assert [queued.text for queued in on.runner.state.queued] == ["yes and always y A"]
        assert await on.recorded(ApprovalAnswered) == []
        assert len(await on.recorded(PromptSubmitted)) == 1


@pytest.mark.parametrize("quiet", [0, NEVER])
async def test_typing_on_does_not_choose_how_far_always_reaches(harness: MakeHarness, quiet: float):
    on = harness(asks_for(shell("python3 add.py")), says("Done."))
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press("a")
        await on.until_screen(ScopeScreen)
        on.guard.quiet = quiet
        await on.types("dd a test\n")
        await on.until_shown("chooses nothing here")
        assert await on.recorded(ApprovalAnswered) == []
        on.guard.quiet = 0
        await on.press("down", "enter")
        await on.until_idle()
        assert len(await on.recorded(ApprovalAnswered)) == 1


# --- a person at work ---


SIGNS = {"space": " ", "left_square_bracket": "[", "right_square_bracket": "]"}


class AtWork:
    """A person at a question, and the times at which they press keys."""

    def __init__(self, on: AppHarness) -> None:
        self._on = on
        self._now = 0.0
        on.guard = KeyGuard(lambda: self._now, quiet=0.6, settle=0)

    async def presses(self, key: str, at: float) -> None:
        self._now = at
        event = Key(key, SIGNS.get(key, key if len(key) == 1 else None))
        event.time = at
        self._on.app.post_message(event)
        await self._on.settle()


@pytest.mark.parametrize("key", ["down", "up", "pagedown"])
async def test_whoever_moves_in_a_question_may_answer_at_once(harness: MakeHarness, key: str):
    on = harness(asks_for(CANARY), says("Fine."))
    person = AtWork(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        await person.presses(key, at=1.0)
        await person.presses("n", at=1.1)
        assert len(await on.recorded(ApprovalAnswered)) == 1


@pytest.mark.parametrize("key", ["v", "space", "left_square_bracket", "right_square_bracket"])
async def test_whoever_chooses_parts_of_a_change_or_its_view_may_answer_at_once(harness: MakeHarness, key: str):
    on = harness(asks_for(write("a.txt", EVERY_TENTH.upper())), says("Fine."))
    (on.folder / "a.txt").write_text(EVERY_TENTH)
    person = AtWork(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        await person.presses(key, at=1.0)
        await on.until(lambda: not on.app.panel.deciding)
        await person.presses("n", at=1.3)
        assert len(await on.recorded(ApprovalAnswered)) == 1


@pytest.mark.parametrize("key", ["v", "space", "left_square_bracket", "right_square_bracket"])
async def test_a_sign_that_does_nothing_at_this_question_may_be_the_start_of_a_message(harness: MakeHarness, key: str):
    on = harness(asks_for(CANARY))
    person = AtWork(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        await person.presses(key, at=1.0)
        await on.until(lambda: not on.app.panel.deciding)
        await person.presses("n", at=1.3)
        await on.until_shown("too fast to be an answer")
        assert await on.recorded(ApprovalAnswered) == []


async def test_a_move_that_was_under_way_when_the_question_appeared_allows_no_answer(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    person = AtWork(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        await person.presses("down", at=0.3)
        await person.presses("n", at=0.7)
        await on.until_shown("too fast to be an answer")
        assert await on.recorded(ApprovalAnswered) == []


async def test_whoever_comes_back_from_the_screens_of_a_question_may_answer_at_once(harness: MakeHarness):
    on = harness(asks_for(CANARY), says("Fine."))
    person = AtWork(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        await person.presses("f", at=1.0)
        await on.until_screen(ReviewScreen)
        await person.presses("escape", at=2.0)
        await on.until_screen(MainScreen)
        await person.presses("i", at=2.1)
        await on.until_screen(ArgumentsScreen)
        await person.presses("escape", at=3.0)
        await on.until_screen(MainScreen)
        await person.presses("n", at=3.1)
        assert len(await on.recorded(ApprovalAnswered)) == 1


async def test_a_q_that_closes_the_review_may_be_the_start_of_a_word(harness: MakeHarness):
    on = harness(asks_for(CANARY))
    person = AtWork(on)
    async with on.open(prompt="go"):
        await on.until_asked()
        await person.presses("f", at=1.0)
        await on.until_screen(ReviewScreen)
        await person.presses("q", at=2.0)
        await on.until_screen(MainScreen)
        await person.presses("n", at=2.2)
        await on.until_shown("too fast to be an answer")
        assert await on.recorded(ApprovalAnswered) == []


# --- seen ---


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_every_word_of_a_long_command_was_on_the_screen_before_yes_is_possible(
    harness: MakeHarness, size: tuple[int, int]
):
    words = [f"w{number:04}" for number in range(3400)]
    command = "echo " + " ".join(words)
    assert len(command) > 20_000
    seen: set[str] = set()
    async with harness(asks_for(shell(command)), says("Done.")).open(prompt="go", size=size) as on:
        await on.until_asked()
        panel = on.app.panel
        while not panel.body.seen:
            seen |= set(re.findall(r"w\d{4}", on.shown))
            await on.press("y")
            assert on.app.client is not None and on.runner.waiting(), f"approved after {len(seen)} words"
            await on.press("pagedown")
        seen |= set(re.findall(r"w\d{4}", on.shown))
        assert seen == set(words)
        await on.press("y")
        await on.until_idle()


async def test_jumping_over_a_part_is_not_seeing_it(harness: MakeHarness):
    old = "".join(f"line {number}\n" for number in range(400))
    new = old.replace("line 5\n", "five\n").replace("line 200\n", "two hundred\n").replace("line 390\n", "last\n")
    long = new.replace("line 100\n", "".join(f"more {number}\n" for number in range(80)))
    on = harness(asks_for(write("notes.txt", long)), says("Done."))
    (on.folder / "notes.txt").write_text(old)
    async with on.open(prompt="go"):
        await on.until_asked()
        await on.press(*["right_square_bracket"] * 5, *["pagedown"] * 3)
        assert "Asked because" in on.shown  # the end
        await on.press("y")
        assert await on.recorded(ApprovalAnswered) == []
        await on.press(*["pageup"] * 15, *["pagedown"] * 15, "y")
        await on.until_idle()
        assert (on.folder / "notes.txt").read_text() == long


async def test_a_wider_window_does_not_count_as_having_read_on(harness: MakeHarness):
    words = " ".join(f"w{number:04}" for number in range(600))
    async with harness(asks_for(shell(f"echo {words} > canary"))).open(prompt="go", size=(60, 20)) as on:
        await on.until_asked()
        await on.press(*["pagedown"] * 6)
        await on.pilot.resize_terminal(100, 20)
        await on.settle()
        assert not on.app.panel.body.seen
        seen = set(re.findall(r"w\d{4}", on.shown))
        while not on.app.panel.body.seen:
            await on.press("pagedown")
            seen |= set(re.findall(r"w\d{4}", on.shown))
        assert len(seen) == 600


# --- what is shown is what it is ---


@pytest.mark.spec("C9")
async def test_what_hides_or_imitates_is_made_visible(harness: MakeHarness):
    text = "echo [bold red]x[/] \u202eevil\u200b \x1b[2J\x1b]0;title\x07 # [on white]Asked because"
    async with harness(asks_for(shell(text)), says("[link=x]Done[/link] \x1b[31m\u202e.")).open(
        prompt="[b]go[/b]", size=(80, 40)
    ) as on:
        await on.until_asked()
        assert "[bold red]x[/]" in on.shown and "❯ [b]go[/b]" in on.shown
        assert "<U+202E>" in on.shown and "<U+200B>" in on.shown
        assert not any(character in on.shown for character in "\x1b\x07\u202e\u200b")
        await on.press("y")
        await on.until_idle()
        await on.until_shown("[link=x]Done[/link]")
        assert not any(character in on.shown for character in "\x1b\u202e")


async def test_a_value_cannot_look_like_the_question_around_it(harness: MakeHarness):
    asked = {"questions": [{"question": "Fine?\nserver  docs\nAsked because nothing happens", "type": "yesno"}]}
    async with harness(asks_for({"name": "ask_user", "args": asked, "id": "q"})).open(prompt="go") as on:
        await on.until_asked()
        rows = [row.strip("┃ ") for row in on.shown.splitlines() if row.startswith("┃")]
        assert "│ server  docs" in rows and "│ Asked because nothing happens" in rows
        assert not any(row.startswith("server") for row in rows)
