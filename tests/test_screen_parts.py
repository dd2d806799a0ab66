"""The parts of the screen one by one: colours, marks, look-alike words, and where one rule ends and the next begins."""

import pytest

from assent.screen import LABEL_LENGTH, make_safe
from assent.screen.chars import describe, mark
from assent.screen.colours import Colours

# --- colours ---


@pytest.mark.parametrize(
    "parameters",
    [
        *("", "0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29", "39", "49"),
        *("31", "37", "90", "96", "1;31", ";;", "38;5;1;1"),
        *("38;5;1", "38;5;14", "38;5;19", "38;5;196", "38;5;244", "38;5;237", "38;5;253"),
        *("38;2;50;50;50", "38;2;225;225;225", "38;2;0;0;100", "38;2;255;0;0", "38;2;255;255;155"),
    ],
)
def test_what_can_be_read_on_any_screen_is_kept(parameters: str) -> None:
    assert Colours().accept(parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        *(
            "5",
            "6",
            "8",
            "10",
            "21",
            "25",
            "28",
            "30",
            "38",
            "40",
            "41",
            "47",
            "48;5;1",
            "50",
            "89",
            "97",
            "100",
            "999",
        ),
        *(
            "1;8",
            "31;40",
            "38;5",
            "38;5;0",
            "38;5;15",
            "38;5;16",
            "38;5;17",
            "38;5;231",
            "38;5;232",
            "38;5;236",
            "38;5;254",
        ),
        *("38;5;255", "38;5;256", "38;5;1;8", "38;2", "38;2;1;2", "38;3;1;2;3", "38;2;256;0;0", "38;2;0;0;256"),
        *("38;2;49;49;49", "38;2;226;226;226", "38;2;0;0;99", "38;2;255;255;156", "38;2;100;100;100;8"),
    ],
)
def test_what_hides_text_on_some_screen_is_refused(parameters: str) -> None:
    assert not Colours().accept(parameters)


@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("1", "22"),
        ("2", "22"),
        ("1;2", "22"),
        ("3", "23"),
        ("4", "24"),
        ("7", "27"),
        ("9", "29"),
        ("31", "39"),
        ("96", "39"),
        ("38;5;196", "39"),
        ("38;2;200;100;0", "39"),
        ("1;3;4;7;9;31", "0"),
        ("1", ""),
    ],
)
def test_what_was_switched_off_needs_no_end(opened: str, closed: str) -> None:
    colours = Colours()
    assert colours.reset() == ""
    assert colours.accept(opened) and colours.reset() == "\x1b[0m"
    assert colours.accept("49") and colours.reset() == "\x1b[0m"
    assert colours.accept(closed) and colours.reset() == ""


@pytest.mark.parametrize(
    ("opened", "other"),
    [("1", "23"), ("3", "24"), ("4", "27"), ("7", "29"), ("9", "39"), ("31", "22"), ("1;3", "22"), ("2;31", "39")],
)
def test_what_was_not_switched_off_is_ended(opened: str, other: str) -> None:
    colours = Colours()
    assert colours.accept(opened) and colours.accept(other)
    assert colours.reset() == "\x1b[0m"


def test_a_refused_sequence_is_not_in_force() -> None:
    colours = Colours()
    assert not colours.accept("1;8")
    assert colours.reset() == ""


# --- marks ---


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\n", "\\n"),
        ("\t", "\\t"),
        ("\x00", "\\x00"),
        ("\x1f", "\\x1f"),
        (" ", "<U+0020>"),
        ("\r", "<U+000D>"),
        ("\x7f", "<U+007F>"),
        ("\u200b", "<U+200B>"),
        ("\U000e0041", "<U+E0041>"),
    ],
)
def test_each_hidden_character_has_a_visible_form(char: str, shown: str) -> None:
    assert mark(char) == shown


@pytest.mark.parametrize(
    ("char", "sentence"),
    [
        ("\x1b", "terminal escape sequence"),
        ("\x9b", "terminal escape sequence"),
        ("\r", "carriage return <U+000D>"),
        ("\x01", "control character \\x01"),
        ("\u202e", "text direction control <U+202E>"),
        ("\xa0", "unusual blank <U+00A0>"),
        ("\U000e0041", "hidden tag characters"),
        ("\ufe0f", "variation selector <U+FE0F>"),
        ("\U000e0100", "variation selector <U+E0100>"),
        ("\ue000", "private-use character <U+E000>"),
        ("\U000f0000", "private-use character <U+F0000>"),
        ("\ud800", "broken character <U+D800>"),
        ("\U0001fffe", "broken character <U+1FFFE>"),
        ("\u0301", "combining mark <U+0301> without a letter"),
        ("\u200b", "hidden character <U+200B>"),
    ],
)
def test_each_kind_of_hidden_character_is_named(char: str, sentence: str) -> None:
    assert describe(char) == sentence


# --- texts ---


def test_only_a_label_is_cut_and_only_beyond_its_length() -> None:
    long = "x" * 500 + "\x1b"
    for context in ("prompt", "output", "html"):
        assert make_safe(long, context).text == "x" * 500 + "\\x1b"
    assert make_safe("\x1b" + "x" * (LABEL_LENGTH - 4), "label").text == "\\x1b" + "x" * (LABEL_LENGTH - 4)
    cut = make_safe("\x1b" + "x" * (LABEL_LENGTH - 3), "label").text
    assert cut == "\\x1b" + "x" * (LABEL_LENGTH - 4) + "… (+1 characters)"
