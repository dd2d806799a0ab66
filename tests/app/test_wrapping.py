"""Prose is broken between words, and nothing of it is lost."""

import pytest

from assent.app.wrapping import wrapped


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("short", 10, ["short"]),
        ("  as wide", 9, ["  as wide"]),
        ("  one two three", 9, ["  one two", "    three"]),
        ("a  key, and more", 8, ["a  key,", "  and", "  more"]),
        ("a/very/long/path goes on", 8, ["a/very/long/path", "  goes", "  on"]),
        ("好好 好好", 8, ["好好", "  好好"]),
        ("one two", 0, ["one two"]),
        ("\x1b[31mone\x1b[0m \x1b[2mtwo\x1b[0m", 7, ["\x1b[31mone\x1b[0m \x1b[2mtwo\x1b[0m"]),
        ("\x1b[31mone two\x1b[0m", 6, ["\x1b[31mone", "  two\x1b[0m"]),
    ],
)
def test_lines_break_between_words_and_further_ones_are_indented(text: str, width: int, lines: list[str]):
    assert wrapped(text, width) == lines
