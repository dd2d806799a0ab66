"""Foreign text on the screen: nothing is obeyed, nothing is hidden, nothing vanishes."""

import re
import sys
import tracemalloc
import unicodedata
from typing import Any

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.screen import LABEL_LENGTH, Context, SafeStream, SafeText, check_text, make_safe
from assent.screen.chars import HIDDEN

CONTEXTS: tuple[Context, ...] = ("prompt", "output", "label", "html")
RAW = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202f\u2066-\u2069\u3164\ufeff\U000e0000-\U000e007f]"
)
PIECES = st.sampled_from(
    [
        *"ab1;[m]< &'\"\n\t\r\x1b\x07\x00\x9b\x7f\u200b\u200d\ufe0f\xa0\u3000\u0301\u202e\ud800\U000e0041",
        *("с", "о", "\u3164", "\U000110bd", "Δ", "日", "⚠", "👩", "«", "»", "ف", "⃣", "_", "-"),
        *("\x1b[31m", "\x1b[0m", "\x1b[8m", "\x1b[2J", "\x1b]0;title\x07", "\x1b[38;5;9", "\r\n", "\n\n\n"),
        *(" " * 8, " " * 9, " " * 33, " " * 90, " " * 201, "\n" * 5, "\r\n" * 40, "\u200b" * 9, "\u0301" * 9),
        *("\u200b\u200c" * 33, "\x1b\x1b[31m", "⚠\ufe0f", "👩\u200d👩", "аdmin", "сору"),
    ]
)
HOSTILE = st.lists(PIECES, max_size=30).map("".join)
FOLDED_RUN = ("variation selector <U+FE0F>", "hidden character <U+200B>", "58 hidden characters folded")


@pytest.mark.spec("C9")
@pytest.mark.parametrize(
    ("text", "shown", "suspicious"),
    [
        ("ls\x1b[2J\x1b[1;1Hx", r"ls\x1b[2J\x1b[1;1Hx", ("terminal escape sequence",)),
        ("a\x9b2Jb", "a<U+009B>2Jb", ("terminal escape sequence",)),
        ("a\x07b", r"a\x07b", (r"control character \x07",)),
        ("a\rb", "a<U+000D>b", ("carriage return <U+000D>",)),
        ("a\r\nb", "a<U+000D>\nb", ("carriage return <U+000D>",)),
        ("a\x7fb", "a<U+007F>b", ("control character <U+007F>",)),
        ("a\x85b", "a<U+0085>b", ("control character <U+0085>",)),
        ("a\x00b", r"a\x00b", (r"control character \x00",)),
        ("x\u200by", "x<U+200B>y", ("hidden character <U+200B>",)),
        ("x\u202ey", "x<U+202E>y", ("text direction control <U+202E>",)),
        ("x\U000e0041\U000e0042", "x<U+E0041><U+E0042>", ("hidden tag characters",)),
        ("l\ufe0fs", "l<U+FE0F>s", ("variation selector <U+FE0F>",)),
        ("ls\xa0-l", "ls<U+00A0>-l", ("unusual space <U+00A0>",)),
        ("ls\u3000-l", "ls<U+3000>-l", ("unusual space <U+3000>",)),
        ("ls\xa0!", "ls<U+00A0>!", ("unusual space <U+00A0>",)),
        ("\ud800", "<U+D800>", ("broken character <U+D800>",)),
        ("\ue000", "<U+E000>", ("private-use character <U+E000>",)),
        ("\ufeffls", "<U+FEFF>ls", ("hidden character <U+FEFF>",)),
        ("a\u2028b", "a<U+2028>b", ("unusual space <U+2028>",)),
        ("\u0301a", "<U+0301>a", ("combining mark <U+0301> without a letter",)),
        ("\u200b" * 400, "<U+200B>×400", ("hidden character <U+200B>",)),
        ("ls" + " " * 412 + "; rm -r x", "ls <412 blanks folded> ; rm -r x", ("412 blanks folded",)),
        ("ls" + " \t" * 20 + "x", "ls <40 blanks folded> x", ("40 blanks folded",)),
        ("a" + "\n" * 60 + "b", "a\n<60 newlines folded>\nb", ("60 newlines folded",)),
        ("a" + "\n  " * 60 + "b", "a\n<60 newlines folded>\n  b", ("60 newlines folded",)),
        (
            "e" + "\u0301" * 30,
            "e" + "\u0301" * 8 + "<22 combining marks folded>",
            ("22 combining marks folded",),
        ),
        ("сurl x", "сurl x", ('look-alike letter <U+0441> in "сurl"',)),
        ("gοοgle.com", "gοοgle.com", ('look-alike letter <U+03BF> in "gοοgle"',)),
        ("ｃurl", "ｃurl", ('look-alike letter <U+FF43> in "ｃurl"',)),
        ("a.com⁄b", "a.com⁄b", ('look-alike letter <U+2044> in "com⁄b"',)),
        ("сору file", "сору file", ('look-alike letter <U+0441> in "сору"',)),
        ("⚠\ufe0f", "⚠<U+FE0F>", ()),
        ("\u0301\u0302a", "<U+0301><U+0302>a", tuple(f"combining mark <U+030{n}> without a letter" for n in (1, 2))),
        (
            "\u0301" * 30,
            "<U+0301>" * 8 + "<22 combining marks folded>",
            ("combining mark <U+0301> without a letter", "22 combining marks folded"),
        ),
        ("ก" + "\u0e47" * 30, "ก" + "\u0e47" * 8 + "<22 combining marks folded>", ("22 combining marks folded",)),
        ("ls" + "\t" * 20 + "x", "ls <20 blanks folded> x", ("20 blanks folded",)),
        ("ls" + " \t" * 15 + " x", "ls <31 blanks folded> x", ("31 blanks folded",)),
        ("⚠\ufe0f" + "\u200b" * 65, "⚠" + "<U+FE0F>" + "<U+200B>" * 7 + "<58 hidden characters folded>", FOLDED_RUN),
        (
            "a⚠\ufe0fb⚠\ufe0f" + "\u200b" * 65,
            "a⚠<U+FE0F>b⚠<U+FE0F>" + "<U+200B>" * 7 + "<58 hidden characters folded>",
            FOLDED_RUN,
        ),
        ("ｒｍ -rf x", "ｒｍ -rf x", ('look-alike letter <U+FF52> in "ｒｍ"',)),
        ("𝐫𝐦 -rf x", "𝐫𝐦 -rf x", ('look-alike letter <U+1D42B> in "𝐫𝐦"',)),
        ("ⓢⓤⓓⓞ x", "ⓢⓤⓓⓞ x", ('look-alike letter <U+24E2> in "ⓢⓤⓓⓞ"',)),
    ],
)
def test_a_question_shows_what_would_be_obeyed_or_missed(text: str, shown: str, suspicious: tuple[str, ...]) -> None:
    safe = make_safe(text, "prompt")
    assert (safe.text, safe.suspicious) == (shown, suspicious)


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m 'x' && echo \"done\"\n\tnext",
        "def f():\n\n\n    pass\n" + " " * 32 + "x",
        "Grüße, ñandú, Tiếng Việt, naïve",
        "e\u0301te\u0301",
        "日本語テキスト、Tシャツ",
        "ＡＢＣ株式会社のＰＣ",
        "กำลังทำงานที่นี่ בְּרֵאשִׁית مُحَمَّدٌ",
        "x = 𝐀",
        "API를 사용하세요",
        "Привет, мир! ОК. USB-кабель и а",
        "Δt = 3 µs, Ω, ∑",
        "αβγ και το",
        "α = 0.5 and ρ",
        "שלום עולם, مرحبا",
        "नमस्ते दुनिया",
        "ОК",
        "✅ 🚀 done – “quoted” … → ×",
        "½ 1⁄2 ① ™",
        "┌──┐\n│ x│\n└──┘",
        r"printf '\x1b[31m' <U+200B>",
        "",
    ],
)
@pytest.mark.parametrize("context", ["prompt", "output"])
def test_ordinary_text_of_any_language_is_left_alone(text: str, context: Context) -> None:
    assert make_safe(text, context) == SafeText(text)


@pytest.mark.parametrize(
    "text",
    [
        "⚠\ufe0f 👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3",
        "می\u200cخواهم",
        "« Bonjour\xa0! »\u202f?",
        "1\u202f000\xa0€",
        "一\u3000二",
        "a\r\nb\r\n",
    ],
)
@pytest.mark.parametrize("context", ["output", "html"])
def test_text_that_is_only_read_keeps_what_ordinary_writing_needs(text: str, context: Context) -> None:
    assert make_safe(text, context) == SafeText(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;32mPASS\x1b[0m", None),
        ("\x1b[31mred\x1b[39m \x1b[m", None),
        ("\x1b[38;5;208mx\x1b[0m", None),
        ("\x1b[38;2;200;100;0mx\x1b[0m", None),
        ("\x1b[2;3;4;7;9mx\x1b[22;23;24;27;29m", None),
        ("\x1b[31mred", "\x1b[31mred\x1b[0m"),
        ("\x1b[1mbold\x1b[39m", "\x1b[1mbold\x1b[39m\x1b[0m"),
        ("\x1b[8mhidden", r"\x1b[8mhidden"),
        ("\x1b[5mblink", r"\x1b[5mblink"),
        ("\x1b[30mblack", r"\x1b[30mblack"),
        ("\x1b[97mwhite", r"\x1b[97mwhite"),
        ("\x1b[31;41mred on red", r"\x1b[31;41mred on red"),
        ("\x1b[38;5;0mx", r"\x1b[38;5;0mx"),
        ("\x1b[38;5;16mx", r"\x1b[38;5;16mx"),
        ("\x1b[38;5;232mx", r"\x1b[38;5;232mx"),
        ("\x1b[38;5;256mx", r"\x1b[38;5;256mx"),
        ("\x1b[38;2;1;1;1mx", r"\x1b[38;2;1;1;1mx"),
        ("\x1b[38;2;250;255;250mx", r"\x1b[38;2;250;255;250mx"),
        ("\x1b[38;2;300;0;0mx", r"\x1b[38;2;300;0;0mx"),
        ("\x1b[38;5mx", r"\x1b[38;5mx"),
        ("\x1b[48;5;9mx", r"\x1b[48;5;9mx"),
        ("\x1b[999mx", r"\x1b[999mx"),
        ("\x1b[" + "1;" * 30 + "mx", r"\x1b[" + "1;" * 30 + "mx"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x1b]8;;http://x\x07y", r"\x1b]8;;http://x\x07y"),
        ("\x1bPq\x1b\\", r"\x1bPq\x1b\ ".strip()),
        ("e" + "\u0301\x1b[0m" * 2 + "x", "e\u0301\\x1b[0m\u0301\x1b[0mx"),
        ("\x1b[0m\u0301x", "\\x1b[0m\u0301x"),
        ("10%\r20%", "10%<U+000D>20%"),
        ("x\x08y", r"x\x08y"),
    ],
)
def test_an_output_pane_keeps_readable_colours_and_shows_every_other_escape(text: str, shown: str | None) -> None:
    safe = make_safe(text, "output")
    assert safe.text == (text if shown is None else shown)
    assert bool(safe.suspicious) == ("\\x" in safe.text or "<" in safe.text)


def test_a_label_is_one_line_and_says_how_much_was_cut() -> None:
    safe = make_safe("two\nlines\there", "label")
    assert (safe.text, safe.suspicious) == (r"two\nlines\there", ())
    assert make_safe("x" * LABEL_LENGTH, "label").text == "x" * LABEL_LENGTH
    assert make_safe("x" * (LABEL_LENGTH + 7), "label").text == "x" * LABEL_LENGTH + "… (+7 characters)"
    assert make_safe("a" + " " * 50 + "b", "label").text == "a <50 blanks folded> b"
    assert make_safe("a" + "\n" * 50 + "b", "label").text == r"a\n×50b"


def test_html_is_escaped_for_insertion_as_text() -> None:
    safe = make_safe("<img src=x onerror='a()'> & \"b\"\u200b\x1b[31m", "html")
    assert safe.text == ("&lt;img src=x onerror=&#x27;a()&#x27;&gt; &amp; &quot;b&quot;&lt;U+200B&gt;\\x1b[31m")
    assert make_safe("a" + " " * 81 + "b", "html").text == "a &lt;81 blanks folded&gt; b"


def test_a_flood_of_different_hidden_characters_cannot_fill_the_question() -> None:
    flood = "".join(chr(0xE0020 + i % 90) for i in range(50_000))
    safe = make_safe(f"ls {flood}; rm -r x", "prompt")
    assert safe.text.endswith("<49992 hidden characters folded>; rm -r x")
    assert len(safe.text) < 200
    assert "49992 hidden characters folded" in safe.suspicious


def test_the_list_of_findings_is_short_however_much_is_found() -> None:
    every = "x".join(chr(code) for code in range(0xE000, 0xE100))
    assert len(make_safe(every, "prompt").suspicious) == 17
    words = " ".join(f"аdmin{i}" for i in range(100))
    assert len(make_safe(words, "prompt").suspicious) == 8


def test_hidden_characters_are_all_that_unicode_calls_invisible() -> None:
    hidden = re.compile(HIDDEN)
    invisible = {"Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp"}
    missed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in invisible and chr(code) not in " \n\t" and not hidden.match(chr(code))
    ]
    ignorable = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u3164\ufe00\uffa0\ufff0\U000e0fff\u2800"
    assert missed == [] == [char for char in ignorable if not hidden.match(char)]


@pytest.mark.parametrize("context", CONTEXTS)
@given(text=st.one_of(HOSTILE, st.text()))
@settings(deadline=None)
def test_no_raw_control_or_hidden_character_survives(context: Context, text: str) -> None:
    safe = make_safe(text, context)
    assert not RAW.search("".join(safe.suspicious))
    shown = safe.text
    if context == "output":
        shown = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    if context in ("output", "html"):
        shown = re.sub(
            "\r\n|[⚠👩ف]\u200d|\ufe0f\u200d|(?<=[0-9«])[\xa0\u202f]|[\xa0\u202f](?=[0-9»!?;:%€])", "\n", shown
        )
    assert not RAW.search(shown)
    assert "\n" not in shown or context != "label"
    shown.encode()


@pytest.mark.parametrize("context", CONTEXTS)
@given(text=HOSTILE, data=st.data())
@settings(deadline=None)
def test_chunk_borders_change_nothing(context: Context, text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stream = SafeStream(context)
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    shown = "".join(stream.feed(chunk) for chunk in chunks) + stream.close()
    whole = make_safe(text, context)
    assert (shown, stream.suspicious) == (whole.text, whole.suspicious)


@pytest.mark.parametrize("context", CONTEXTS)
@given(text=HOSTILE)
@settings(deadline=None)
def test_one_character_at_a_time_changes_nothing(context: Context, text: str) -> None:
    stream = SafeStream(context)
    shown = "".join(stream.feed(char) for char in text) + stream.close()
    assert (shown, stream.suspicious) == (make_safe(text, context).text, make_safe(text, context).suspicious)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(
    "text",
    [
        "❤\ufe0f\u200d🔥 👩\u200d👩 1\ufe0f\u20e3",
        "ОК file привет",
        "сору file\n\n\n\n\n\n" + " " * 300,
        "\x1b\x1b[31mx\x1b[0m\x1b",
        "می\u200cخواهم «\xa0x\xa0»\r\n\r\r\n",
    ],
)
def test_pieces_of_one_character_change_nothing_in_hard_cases(context: Context, text: str) -> None:
    stream = SafeStream(context)
    shown = "".join(stream.feed(char) for char in text) + stream.close()
    assert SafeText(shown, stream.suspicious) == make_safe(text, context)


def test_a_sentence_about_a_word_hides_nothing_itself() -> None:
    assert make_safe("аd\u3164", "prompt").suspicious[1] == 'look-alike letter <U+0430> in "аd?"'


def test_a_stream_holds_back_half_an_escape_sequence_only_until_it_is_complete() -> None:
    stream = SafeStream("output")
    assert stream.feed("ab\x1b") == "ab"
    assert stream.feed("[3") == ""
    assert stream.feed("1mred") == "\x1b[31mred"
    assert stream.feed(" more") == " more"
    assert stream.close() == "\x1b[0m"


def printed(text: str) -> list[str]:
    screen = pyte.Screen(400, 60)
    stream = pyte.Stream(screen)
    stream.feed(text.replace("\r\n", "\n").replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display]


@pytest.mark.spec("C9")
@given(text=HOSTILE)
@settings(deadline=None)
def test_a_terminal_shows_exactly_the_safe_text(text: str) -> None:
    """pyte as the judge. What it draws in its own way (wide, combining, tabs) is replaced before."""
    shown = make_safe(re.sub("[\u0301\u20e3日👩⚠\t]", "x", text), "output").text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    expected = [line.rstrip() for line in plain.split("\n")]
    if len(expected) <= 60 and max(map(len, expected)) < 400:
        assert printed(shown)[: len(expected)] == expected


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(
    "bad",
    [
        "\x1b[",
        " ",
        "\n ",
        "\u200b\u200c",
        "\u0301",
        "аd",
        "<",
        "\r",
        "\x1b[3",
        "1;",
        "⚠\ufe0f",
        "⚠\ufe0f\u200b\u200b",
        "1\xa01 ",
        "a\r\n",
    ],
)
def test_hostile_text_of_a_hundred_kilobytes_takes_linear_time(context: Context, bad: str) -> None:
    """No clock: the time limit of every test is a hundred times what it needs; a square would need hours."""
    text = bad * (100_000 // len(bad))
    whole = make_safe(text, context)
    stream = SafeStream(context)
    size = 1000
    shown = "".join(stream.feed(text[i : i + size]) for i in range(0, len(text), size)) + stream.close()
    assert shown == whole.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\r\nb", "a<U+000D>\r\nb"),
        ("\x1b\x1b[31mred", "\\x1b\x1b[31mred\x1b[0m"),
        ("\x00" * 9 + "\r\n", "\\x00×9\r\n"),
        ("\u200b\u202e" * 40 + "\x1b[31mx", "<U+200B><U+202E>" * 40 + "\x1b[31mx\x1b[0m"),
    ],
)
def test_what_is_marked_swallows_no_line_end_and_no_colour(text: str, shown: str) -> None:
    assert make_safe(text, "output").text == shown


@pytest.mark.parametrize(("kinds", "more"), [(16, False), (17, True)])
def test_further_findings_are_mentioned_if_there_are_any(kinds: int, more: bool) -> None:
    text = "".join(chr(0xE000 + number) for number in range(kinds)) * 2
    notes = make_safe(text, "output").suspicious
    assert notes[:16] == tuple(f"private-use character <U+E00{number:X}>" for number in range(16))
    assert notes[16:] == (("and other hidden characters",) if more else ())


def test_a_stream_forgets_characters_but_not_what_it_said_about_them() -> None:
    stream = SafeStream("output")
    pieces = ["".join(map(chr, range(0xF0000 + at, 0xF0000 + at + 6000))) for at in range(0, 24_000, 6000)]
    shown = "".join(stream.feed(f"{piece}.") for piece in pieces) + stream.close()
    assert SafeText(shown, stream.suspicious) == make_safe("".join(f"{piece}." for piece in pieces), "output")


def test_a_text_of_all_characters_there_are_needs_little_more_memory_than_itself() -> None:
    text = "".join(map(chr, range(0x20000, 0x2A6E0))) + "\x1b"
    make_safe(text[-2:], "output")  # what is compiled once does not count
    tracemalloc.start()
    try:
        make_safe(text, "output")
        assert tracemalloc.get_traced_memory()[1] < 4_000_000  # looked up and all kept, they would need 7
    finally:
        tracemalloc.stop()


def test_json_lines_in_and_out() -> None:
    assert check_text({"text": "a\x1bb", "context": "prompt"}) == {
        "text": r"a\x1bb",
        "suspicious": ["terminal escape sequence"],
    }
    request: dict[str, Any] = {"text": "a", "context": "nowhere"}
    with pytest.raises(ValueError, match="context must be one of prompt, output, terminal, label, html"):
        check_text(request)
