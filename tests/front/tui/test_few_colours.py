"""Terminals with 256 colours: surfaces are grey there, not navy, and the colours with a meaning stay."""

from collections.abc import Callable

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual import constants
from textual.color import Color

from assent.front.tui.few_colours import FewColours
from assent.front.tui.lists import ListScreen
from assent.front.tui.terminal_app import AssentApp
from assent.front.tui.themes import LOOKS
from support.app_harness import AppHarness
from support.program import says
from support.recorded_session import RecordedHost, RecordedSession

GREYS = {16, 231, *range(232, 256)}
SURFACES = [
    (name, str(colour))
    for name, look in LOOKS.items()
    for colour in (look.theme.background, look.theme.surface, look.theme.panel, look.palette.shade.removeprefix("on "))
]
TINTED = [(name, Color.parse(surface).tint(Color.parse("#d5d9e8").with_alpha(0.05)).hex) for name, surface in SURFACES]


def background_in_256(style: str) -> int | None:
    (segment,) = FewColours().apply([Segment("x", Style.parse(style))], Color.parse("black"))
    assert segment.style is not None and segment.style.bgcolor is not None
    return segment.style.bgcolor.downgrade(ColorSystem.EIGHT_BIT).number


@pytest.mark.parametrize(("look", "colour"), SURFACES + TINTED)
def test_a_surface_is_grey(look: str, colour: str):
    assert background_in_256(f"on {colour}") in GREYS


@pytest.mark.parametrize("look", ["dark", "light", "contrast"])
def test_added_and_removed_lines_keep_their_colours(look: str):
    palette = LOOKS[look].palette
    assert not {background_in_256(palette.added), background_in_256(palette.removed)} & GREYS


def test_what_can_be_clicked_stays_clickable():
    style = Style.parse("#8b90a8 on #262938") + Style(meta={"answer": "y"})
    (segment,) = FewColours().apply([Segment("y", style)], Color.parse("black"))
    assert segment.style is not None and segment.style.meta == {"answer": "y"}


@pytest.mark.parametrize(("colours", "filtered"), [("256", True), ("truecolor", False)])
def test_the_app_does_so_only_where_there_are_no_more_colours(
    monkeypatch: pytest.MonkeyPatch, colours: str, filtered: bool
):
    monkeypatch.setattr(constants, "COLOR_SYSTEM", colours)
    app = AssentApp(RecordedHost(RecordedSession()))
    assert any(isinstance(one, FewColours) for one in app.get_line_filters()) is filtered


async def test_with_no_color_only_the_terminals_own_colours_are_used(
    harness: Callable[..., AppHarness], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NO_COLOR", "1")
    async with harness(says("Hello.")).open(prompt="hi") as on:
        on.app.set_look("plain")
        await on.until_idle()
        await on.say("/theme")
        await on.until_screen(ListScreen)
        await on.until_shown("in use")
        strips = on.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        styles = [(segment.text, segment.style) for strip in strips for segment in strip if segment.style]
        assert not [text for text, style in styles if style.color or style.bgcolor]
        assert any("plain" in text for text, style in styles if style.reverse), "the choice is visible"
