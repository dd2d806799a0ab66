"""Bounded memory of output, and plain text out of terminal output."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.process.output_buffer import Decoder, Kept, cut_middle
from assent.process.plain_text import plain


@given(st.lists(st.text(max_size=30), max_size=80), st.integers(0, 60))
def test_what_is_kept_is_the_head_and_the_tail_and_the_count_adds_up(pieces: list[str], cap: int) -> None:
    kept = Kept(cap)
    for piece in pieces:
        kept.add(piece)
    whole = "".join(pieces)
    excerpt = kept.excerpt()
    assert whole.startswith(excerpt.head) and whole.endswith(excerpt.tail)
    assert len(excerpt.head) + len(excerpt.tail) + excerpt.omitted == len(whole)
    assert len(excerpt.head) + len(excerpt.tail) <= min(len(whole), cap)
    if len(whole) <= cap or not any(map(str.isspace, whole)):
        assert len(excerpt.head) + len(excerpt.tail) == min(len(whole), cap)


def decoded(data: bytes, cuts: list[int]) -> tuple[str, int, bool]:
    """What is kept of the bytes, cut at these places; nothing of binary ones."""
    kept = Kept(50)
    decoder = Decoder(kept.add)
    places = sorted({0, *cuts, len(data)})
    for start, end in itertools.pairwise(places):
        decoder.feed(data[start:end])
    decoder.close()
    return "" if decoder.binary else kept.excerpt().text(), decoder.bytes, decoder.binary


@given(
    st.lists(st.sampled_from([b"one line\n", "é→🙂".encode(), b"\xff\xe2\x82", b"word " * 20, b"x" * 3000, b"\0"])),
    st.lists(st.integers(0, 9_000), max_size=30),
)
def test_what_is_kept_does_not_depend_on_how_the_bytes_arrive(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    assert decoded(data, [cut for cut in cuts if cut < len(data)]) == decoded(data, [])


@pytest.mark.spec("I3")
def test_no_cut_goes_through_a_word() -> None:
    words = "".join(f"word{number:04}secret " for number in range(1000))
    for cap in range(200, 240):
        kept = Kept(cap)
        kept.add(words)
        for text in (kept.excerpt().text(), cut_middle(words, cap)):
            shown = text.replace("characters omitted", "").split()
            assert all(re.fullmatch(r"word[0-9]{4}secret|\.\.\.|\[[0-9,]+|\]", word) for word in shown), shown
            assert len(text) < cap + 60


def test_many_tiny_pieces_stay_within_the_cap() -> None:
    kept = Kept(100)
    for number in range(10_000):
        kept.add(str(number % 10))
    assert kept.excerpt().omitted == 9_900


def test_the_middle_is_cut_twenty_to_eighty() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert cut_middle(letters, 10) == "ab\n... [16 characters omitted] ...\nstuvwxyz"
    assert cut_middle(letters, 26) == letters
    assert "... [46,000 characters omitted] ..." in cut_middle("a" * 50_000, 4_000)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("nothing special\n\tat all é\n", "nothing special\n\tat all é\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b[38;5;2mgreen\x1b[m", "red and green"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        (" 10%\r 50%\r100%\n", "100%\n"),
        ("downloading\rdone\x1b[K\n", "done\n"),
        ("abc\x1b[2Kx\n", "   x\n"),
        ("spin |\b/\b-\b\\\b done\n", "spin  done\n"),
        ("\x1b]0;title\x07prompt", "prompt"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("bell\x07 nul\x00 del\x7f", "bell nul del"),
        ("cut off \x1b[3", "cut off 3"),
        ("\x1b(Bx\x1b=y", "xy"),
        ("\x1b[1G*\x1b[1G\x1b[0Knpm error\n", "npm error\n"),
        ("ab\x1b[5Gc\x1b[3D-\n", "ab- c\n"),
        ("a\x1b[999999999999C|\x1b[2G\x1b[K", "a"),
    ],
)
def test_terminal_output_becomes_plain_text(raw: str, expected: str) -> None:
    assert plain(raw) == expected


@given(st.text(alphabet="ab \r\n\b\x1b[K]2m;\x07\x9b(", max_size=60))
def test_plain_text_has_no_control_characters_whatever_came(raw: str) -> None:
    assert not set(plain(raw)) & (set(map(chr, range(32))) - {"\n", "\t"})


def test_a_long_line_of_progress_is_cheap() -> None:
    assert plain("\x1b[Kx" * 100_000 + "\rdone\x1b[K") == "done"


@given(st.lists(st.sampled_from([*map(chr, range(256)), "→", "[31m", "\x1b]0;title\x07"]), max_size=30))
def test_plain_text_has_no_control_characters_but_tabs_and_line_endings(pieces: list[str]) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", plain("".join(pieces)))
