"""The parts of the screen one by one: colours, marks, look-alike words, and where one rule ends and the next begins."""

import tracemalloc

import pytest

from assent.screen import LABEL_LENGTH, Context, SafeStream, SafeText, make_safe
from assent.screen.chars import describe, mark
from assent.screen.colours import Colours
from assent.screen.lookalikes import Lookalikes, lookalikes
from assent.screen.screen_patterns import ScreenPatterns

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
        ("\xa0", "unusual space <U+00A0>"),
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


def test_a_hidden_character_is_repeated_eight_times_and_then_counted() -> None:
    assert make_safe("\u200b" * 8, "prompt").text == "<U+200B>" * 8
    assert make_safe("\u200b" * 9, "prompt").text == "<U+200B>×9"


@pytest.mark.parametrize(
    ("context", "newline", "least"),
    [("prompt", "\n", 5), ("html", "\n", 10), ("output", "\n", 40), ("html", "\r\n", 10), ("output", "\r\n", 40)],
)
def test_so_many_newlines_are_folded_and_fewer_are_left_alone(context: Context, newline: str, least: int) -> None:
    few = "a" + newline * (least - 1) + "b"
    assert make_safe(few, context) == SafeText(few)
    assert make_safe("a" + newline * least + "b", context).suspicious == (f"{least} newlines folded",)


def test_blanks_in_lines_are_folded_though_the_lines_are_not() -> None:
    text = "a\n" + (" " * 201 + "\n") * 5 + "b"
    assert make_safe(text, "output").text == "a\n" + " <201 blanks folded> \n" * 5 + "b"


@pytest.mark.parametrize(
    ("context", "frame", "first"), [("output", "{}.", 0xF0000), ("prompt", "⚠\ufe0f{}⚠\ufe0f.", 0x20000)]
)
def test_a_stream_does_not_grow_with_the_characters_it_saw(context: Context, frame: str, first: int) -> None:
    stream = SafeStream(context)
    tracemalloc.start()
    try:
        for at in range(first, first + 40_000, 1_000):
            stream.feed(frame.format("".join(map(chr, range(at, at + 1_000)))))
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_label_shows_its_newlines_and_tabs_and_folds_none() -> None:
    assert make_safe("a" + "\t" * 10 + "b", "label").text == r"a\t×10b"
    assert make_safe("a\n\n{-1,}b", "label").text == r"a\n\n{-1,}b", "no text looks like a rule"
    assert make_safe("a \t" + " " * 8 + "b", "label").text == r"a \t        b"


@pytest.mark.parametrize(
    ("context", "chunk", "shown"),
    [
        ("prompt", "a\u200b ", "a<U+200B>"),
        ("prompt", "a\x1b[3", r"a\x1b[3"),
        ("html", "a\x1b[3", r"a\x1b[3"),
        ("output", "a\x1b[3", "a"),
        ("output", "a\x1b[31m", "a"),
        ("output", "a\x1b[31mb", "a\x1b[31mb"),
        ("output", "a\x1b[3x", r"a\x1b[3x"),
        ("output", "a\x1b[" + "1" * 41, r"a\x1b[" + "1" * 41),
        ("prompt", "a  ", "a"),
        ("prompt", "a\n", "a"),
        ("label", "a\n", "a"),
        ("prompt", "a\u200b", "a"),
    ],
)
def test_a_stream_shows_at_once_what_nothing_can_change_any_more(context: Context, chunk: str, shown: str) -> None:
    assert SafeStream(context).feed(chunk) == shown


@pytest.mark.parametrize("context", ["prompt", "output", "label", "html"])
@pytest.mark.parametrize(
    "pieces",
    [
        ("\u200b\r", "\u200c", "x"),
        ("\u200b ", "\u200c", " ", "x"),
        ("\x1b[3", "1mx"),
        ("\x1b", "[31", "m", "x"),
        ("\x1b\r", "[31mx"),
        ("a" + " " * 20, " " * 20, "x"),
        ("\n\n", "\n\n \n", "x"),
        ("\u0301" * 5, "\u0301" * 5, "x"),
        ("e" + "\u0301" * 5, "\u0301" * 5),
        ("e\u0301\x1b[0m", "\u0301x"),
        ("e\u0301\x1b[0m\u0301", "\u0301\x1b[0m", "x"),
        ("\x1b" * 8, "\x1b[0m", "\u0301"),
        ("⚠", "\ufe0f", "x"),
        ("x", "\ufe0f"),
    ],
)
def test_where_a_piece_ends_changes_nothing(context: Context, pieces: tuple[str, ...]) -> None:
    stream = SafeStream(context)
    shown = "".join(stream.feed(piece) for piece in pieces) + stream.close()
    whole = make_safe("".join(pieces), context)
    assert (shown, stream.suspicious) == (whole.text, whole.suspicious)


@pytest.mark.parametrize(("first", "more"), [(" ", " "), ("\n", " \n"), ("\u200b", "\u200c")])
def test_a_run_that_is_held_back_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch, first: str, more: str) -> None:
    looks, look = list[str](), ScreenPatterns.complete_until

    def watched(rules: ScreenPatterns, buffer: str, start: int) -> int:
        looks.append(buffer)
        return look(rules, buffer, start)

    monkeypatch.setattr(ScreenPatterns, "complete_until", watched)
    stream = SafeStream("prompt")
    assert [stream.feed(piece) for piece in ("a" + first, *[more] * 100)] == ["a"] + [""] * 100
    assert looks == ["a" + first], "a run of any length costs linear time"


# --- look-alikes ---


def words(*pieces: str) -> tuple[str, ...]:
    found = Lookalikes()
    for piece in pieces:
        found.feed(piece)
    return found.close()


ADMIN = 'look-alike letter <U+0430> in "аdmin"'


@pytest.mark.parametrize(
    "pieces",
    [
        ("аdmin",),
        ("а", "dmin"),
        ("а", "", "dmin"),
        ("аd", "min"),
        ("say а", "dmin", " now"),
        ("say ", "аdmin", " now"),
        (*"say аdmin now",),
        ("привет. а", "dmin"),
        ("привет. ", "а", "dmin", "."),
        ("привет а", "dmin привет"),
    ],
)
def test_a_word_of_two_scripts_is_reported_wherever_the_pieces_end(pieces: tuple[str, ...]) -> None:
    assert words(*pieces) == (ADMIN,)
    assert lookalikes("".join(pieces)) == (ADMIN,)


@pytest.mark.parametrize(
    "pieces",
    [
        ("а", " ", "dmin и"),
        ("а ", "dmin и"),
        ("а", " dmin и"),
        ("а\n", "", "dmin и"),
        ("Привет", " world"),
        ("привет", "."),
        ("", ""),
        ("а",),
        ("а b",),
        ("сор",),
        ("日本", "admin"),
    ],
)
def test_words_of_one_script_are_ordinary_wherever_the_pieces_end(pieces: tuple[str, ...]) -> None:
    assert words(*pieces) == ()
    assert lookalikes("".join(pieces)) == ()


@pytest.mark.parametrize(
    "pieces",
    [("сору file",), ("со", "ру", " file"), ("my сору file",), ("file ", "сору"), ("file", " сору"), ("сору", " f")],
)
def test_a_word_of_lookalikes_only_is_reported_among_latin_words(pieces: tuple[str, ...]) -> None:
    assert words(*pieces) == ('look-alike letter <U+0441> in "сору"',)


@pytest.mark.parametrize("text", ["сору file привет", "привет сору file", "сору", "с file", "сорю file", "сор1 file"])
def test_but_not_where_its_script_is_written_or_nothing_is_latin(text: str) -> None:
    assert words(text) == ()
    assert words(*text) == ()


@pytest.mark.parametrize(
    "pieces", [("ｒｍ x",), ("ｒ", "ｍ", " x"), ("x ｒｍ",), ("x ｒｍ x",), ("ｒｍ",), ("привет ｒｍ",)]
)
def test_a_word_of_styled_letters_alone_is_told(pieces: tuple[str, ...]) -> None:
    assert words(*pieces) == lookalikes("".join(pieces)) == ('look-alike letter <U+FF52> in "ｒｍ"',)


@pytest.mark.parametrize("text", ["ＰＣです", "株 ＰＣ", "ＰＣ 한국", "Ｐ c", "Ｐ１ x"])
def test_but_not_beside_the_scripts_that_it_goes_with(text: str) -> None:
    assert words(text) == words(*text) == ()


def test_at_most_eight_words_are_reported_in_order() -> None:
    text = " ".join(f"а{number}d" for number in range(1000))
    assert words(text) == words(*text) == tuple(f'look-alike letter <U+0430> in "а{n}d"' for n in range(8))


def test_a_stream_keeps_no_more_words_than_it_tells() -> None:
    found = Lookalikes()
    tracemalloc.start()
    try:
        for number in range(20_000):
            found.feed(f"а{number}d ")
        assert tracemalloc.get_traced_memory()[0] < 100_000  # all of them would need megabytes
    finally:
        tracemalloc.stop()


def test_all_pieces_of_a_word_count() -> None:
    assert words("d", "а") == words("dа") == ('look-alike letter <U+0430> in "dа"',)
    assert words("d", "а", "1") == ('look-alike letter <U+0430> in "dа1"',)
    assert words("1", "сору", " file") == words("1сору file") == ()
    assert words("1", "ｒｍ", " file") == words("1ｒｍ file") == ()


def test_a_long_word_is_reported_by_its_beginning() -> None:
    assert words("аdmin" * 10) == ('look-alike letter <U+0430> in "' + ("аdmin" * 10)[:24] + '"',)
    assert words("а", "d" * 100) == ('look-alike letter <U+0430> in "а' + "d" * 23 + '"',)
