"""Colours of programs: all of them are shown, and none of them hides text."""

import pytest
from rich.style import Style

from assent.app.settled_output import settled
from assent.front.tui.ansi_style import READABLE, ansi_lines, contrast
from assent.front.tui.display_view import draw_display
from assent.front.tui.text_style import TextStyler
from assent.front.tui.themes import LOOKS
from assent.parts import TerminalDisplay

pytestmark = [pytest.mark.spec("D2"), pytest.mark.spec("G2")]
DARK = TextStyler(LOOKS["dark"].palette)


def drawn(text: str, styler: TextStyler = DARK) -> list[tuple[str, Style]]:
    strips = draw_display(styler, TerminalDisplay(text), 80)
    return [(segment.text, segment.style or Style()) for strip in strips for segment in strip if segment.text.strip()]


def style_of(text: str, styler: TextStyler = DARK) -> Style:
    return drawn(text, styler)[0][1]


def rgb(style: Style) -> tuple[int, int, int]:
    assert style.color is not None and style.color.triplet is not None
    return tuple(style.color.triplet)  # type: ignore[return-value]


@pytest.mark.parametrize("look", ["dark", "light", "contrast"])
def test_the_sixteen_colours_are_sixteen_colours(look: str):
    palette = LOOKS[look].palette
    assert len(palette.ansi) == 16 == len(set(palette.ansi))


@pytest.mark.parametrize(
    "codes", ["30", "97", "44;37", "90", "38;5;0", "38;5;15", "38;2;0;0;0", "48;5;196;38;5;196", "7"]
)
@pytest.mark.parametrize("look", ["dark", "light", "contrast"])
def test_no_colour_is_shown_as_a_sequence_and_none_hides_text(codes: str, look: str):
    styler = TextStyler(LOOKS[look].palette)
    ((text, style),) = drawn(f"\x1b[{codes}mhello\x1b[0m", styler)
    assert text == "hello"
    ground = tuple(int(styler.palette.ground[n : n + 2], 16) for n in (1, 3, 5))
    behind = tuple(style.bgcolor.triplet) if style.bgcolor and style.bgcolor.triplet else ground
    assert contrast(rgb(style), behind) >= READABLE  # type: ignore[arg-type]


def test_a_background_is_shown():
    style = style_of("\x1b[44;37mhello\x1b[0m")
    assert style.bgcolor is not None and style.bgcolor.triplet is not None
    assert style.bgcolor.triplet.hex == DARK.palette.ansi[4]


def test_red_and_magenta_differ():
    assert rgb(style_of("\x1b[31mhello")) != rgb(style_of("\x1b[35mhello"))


@pytest.mark.parametrize(
    "codes",
    ["38;2;200;100;50", "38:2::200:100:50", "1;38;2;200;100;50;4"],
)
def test_a_true_colour_is_shown_as_it_is(codes: str):
    assert rgb(style_of(f"\x1b[{codes}mhello")) == (200, 100, 50)


def test_two_true_colours_in_one_sequence_are_both_shown():
    style = style_of("\x1b[38;2;200;100;50;48;2;1;2;3mhello")
    assert style.bgcolor is not None and style.bgcolor.triplet == (1, 2, 3)
    assert rgb(style) == (200, 100, 50)


def test_attributes_end_where_the_program_ends_them():
    bold, plain = drawn("\x1b[1;4;9mhello\x1b[22;24;29m there")
    assert bold[1].bold and bold[1].underline and bold[1].strike
    assert not plain[1].bold and not plain[1].underline and not plain[1].strike


def test_concealed_text_is_shown():
    ((text, style),) = drawn("\x1b[8mhidden\x1b[0m")
    assert text == "hidden" and not style.conceal


def test_without_colours_a_background_is_shown_by_inversion():
    style = style_of("\x1b[41mhello", TextStyler(LOOKS["plain"].palette))
    assert style.reverse and style.color is None


def test_colours_survive_a_program_that_moves_the_cursor():
    assert settled("one\rtwo \x1b[97;44mhello\x1b[0m").endswith("\x1b[97;44mhello\x1b[0m")


def test_a_progress_bar_in_a_long_output_costs_none_of_its_lines():
    text = "".join(f"line {number}\n" for number in range(5000)) + "10%\r100%\n"
    shown = settled(text).splitlines()
    assert shown[0] == "line 0" and shown[-1] == "100%" and len(shown) == 5001


def test_unknown_codes_have_no_effect():
    assert list(ansi_lines("\x1b[38;9;12;5mhello", DARK.palette)) == [[("hello", Style())]]


def test_a_colour_lasts_until_it_is_ended_on_a_later_line():
    first, second, third = drawn("\x1b[31mone\ntwo\x1b[0m\nthree")
    assert first[1] == second[1] != third[1]
