"""Selecting with the mouse: visible, never more than was meant, and no obstacle to stopping."""

from collections.abc import Callable

import pytest

from assent.events import TurnFinished
from assent.front.tui.words import line_in, word_at
from support.app_harness import AppHarness
from support.program import asks_for, says, shell

pytestmark = [pytest.mark.spec("G2"), pytest.mark.spec("G4")]

MakeHarness = Callable[..., AppHarness]
SAYING = "The cause is in src/cart.py: an off-by-one error."
SLOW = {"chunks": [{"text": SAYING}, {"pause_ms": 600_000}]}


def place_of(on: AppHarness, text: str) -> tuple[int, int]:
    y, line = next((y, line) for y, line in enumerate(on.shown.splitlines()) if text in line)
    return line.index(text), y


def highlighted(on: AppHarness) -> str:
    """The reversed text on the screen, except for the cursor."""
    strips = on.app.screen._compositor.render_strips()[:-4]  # pyright: ignore[reportPrivateUsage]
    return "".join(one.text for strip in strips for one in strip if one.style and one.style.reverse)


async def drag(on: AppHarness, start: str, end: str) -> None:
    (x, y), (to_x, to_y) = place_of(on, start), place_of(on, end)
    await on.pilot.mouse_down(offset=(x, y))
    await on.pilot.hover(offset=(to_x + len(end) - 1, to_y))
    await on.settle()
    assert highlighted(on), "already while dragging"
    await on.pilot.mouse_up(offset=(to_x + len(end) - 1, to_y))
    await on.settle()


async def test_what_is_selected_is_highlighted_and_copied(harness: MakeHarness):
    async with harness(says(SAYING)).open(prompt="why?") as on:
        await on.until_idle()
        assert highlighted(on) == ""
        await drag(on, "src/cart", "an off")
        assert highlighted(on) == on.app.clipboard == "src/cart.py: an off"


async def test_two_clicks_select_a_word_and_three_a_line(harness: MakeHarness):
    async with harness(says(SAYING)).open(prompt="why?", size=(160, 40)) as on:  # not below a message
        await on.until_idle()
        for times, selected in ((2, "src/cart.py"), (3, SAYING), (4, SAYING)):
            await on.pilot.click(offset=place_of(on, "cart.py"), times=times)
            await on.settle()
            assert highlighted(on) == on.app.clipboard == selected
        await on.pilot.click(offset=(70, place_of(on, "cart.py")[1]), times=2)
        await on.settle()
        assert highlighted(on) == "" and on.app.clipboard == SAYING


@pytest.mark.parametrize("place", ["prompt", "foot", "question-title", "status"])
@pytest.mark.parametrize("times", [2, 3, 4])
async def test_no_number_of_clicks_anywhere_copies_the_conversation(harness: MakeHarness, place: str, times: int):
    async with harness(asks_for(shell("touch a"))).open(prompt="a long story") as on:
        await on.until_asked()
        widget = on.app.query_one(f"#{place}") if place != "foot" else on.app.query_one("FootLine")
        await on.pilot.click(widget, offset=(2, 0), times=times)
        await on.settle()
        assert "a long story" not in on.app.clipboard


@pytest.mark.parametrize("selects", ["drag", "clicks"])
async def test_ctrl_c_stops_the_turn_even_if_something_is_selected(harness: MakeHarness, selects: str):
    async with harness(SLOW).open(prompt="why?") as on:
        await on.until_shown(SAYING)
        if selects == "drag":
            await drag(on, "src/cart", "an off")
        else:
            await on.pilot.click(offset=place_of(on, "cart.py"), times=2)
        await on.settle()
        assert on.app.screen.get_selected_text()
        await on.press("ctrl+c")
        await on.until_idle()
        assert [event.status for event in await on.recorded(TurnFinished)] == ["cancelled"]


async def test_ctrl_c_copies_what_is_selected_if_nothing_runs(harness: MakeHarness):
    async with harness(says(SAYING)).open(prompt="why?") as on:
        await on.until_idle()
        await drag(on, "src/cart", "an off")
        on.app.copy_to_clipboard("something else")
        await on.press("ctrl+c")
        assert on.app.clipboard == "src/cart.py: an off" and "again to quit" not in on.shown
        assert not on.app.screen.selections


@pytest.mark.parametrize(
    ("line", "place", "word"),
    [
        ("see src/cart.py:12: here.", 6, "src/cart.py:12"),
        ("see here.", 7, "here"),
        ('say "hello, you"', 6, "hello"),
        ("git commit --amend", 14, "--amend"),
        ("a  b", 1, None),
        ("", 0, None),
        ("...", 1, "..."),
    ],
)
def test_a_word_is_what_one_would_copy(line: str, place: int, word: str | None):
    span = word_at(line, place)
    assert (None if span is None else line[slice(*span)]) == word


def test_a_line_has_no_spaces_around_it():
    assert line_in("  a b   ") == (2, 5) and line_in("   ") is None


def test_the_mark_before_a_line_does_not_belong_to_it():
    assert line_in("  │ 42  ") == (4, 6) and line_in(" ❯ go") == (3, 5) and line_in("│ ") == (0, 1)
