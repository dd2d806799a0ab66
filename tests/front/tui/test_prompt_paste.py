"""Pasted text, and walking through what was entered before."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.front.tui.prompt.paste import Pastes, clean
from assent.front.tui.prompt.recall import MAX_ENTRIES, Recall


@pytest.mark.spec("G1")
@pytest.mark.parametrize(
    ("pasted", "becomes"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1a[31mred\x1a[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("bell\x07 back\x08 del\x7f c1\x9b tab\t.", "bell back del c1 tab\t."),
        ("txt\u202egpj", "txtgpj"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("family \U0001f468\u200d\U0001f469 漢字 ñ", "family \U0001f468\u200d\U0001f469 漢字 ñ"),
        ("\x1b", ""),
    ],
)
def test_a_paste_is_made_harmless(pasted: str, becomes: str):
    assert clean(pasted) == becomes


@given(st.text())
def test_nothing_that_a_terminal_obeys_survives(pasted: str):
    cleaned = clean(pasted)
    assert not [char for char in cleaned if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]
    assert clean(cleaned) == cleaned


@pytest.mark.spec("G1")
def test_a_long_paste_is_kept_aside_and_comes_back_when_the_prompt_is_sent():
    pastes = Pastes()
    lines = "\n".join(str(n) for n in range(42))
    assert pastes.shown(lines) == "[Pasted text #1: 42 lines]"
    assert pastes.shown("x" * 1_500) == "[Pasted text #2: 1,500 characters]"
    text = "first [Pasted text #1: 42 lines] then [Pasted text #2: 1,500 characters]."
    assert pastes.expand(text) == f"first {lines} then {'x' * 1_500}."


@pytest.mark.parametrize(
    ("text", "is_short"), [("x\n" * 8, True), ("x\n" * 9, False), ("x" * 1000, True), ("x" * 1001, False)]
)
def test_eight_lines_and_a_thousand_characters_are_still_shown(text: str, is_short: bool):
    assert (Pastes().shown(text) == text) == is_short


def test_what_looks_like_a_placeholder_inside_a_paste_or_was_typed_stays_as_it_is():
    pastes = Pastes()
    pasted = "[Pasted text #1: 9 lines]\n" * 9
    assert pastes.expand(pastes.shown(pasted)) == pasted
    assert pastes.expand("[Pasted text #7: 3 lines]") == "[Pasted text #7: 3 lines]"


# --- recall ---


def test_the_way_up_leads_to_older_entries_and_the_way_down_back_to_the_draft():
    recall = Recall(["one", "two"])
    assert [recall.older("draft"), recall.older("two"), recall.older("one")] == ["two", "one", None]
    assert [recall.newer(), recall.newer(), recall.newer()] == ["two", "draft", None]


def test_entries_that_come_late_go_before_those_that_were_made_meanwhile():
    recall = Recall(["three"])
    recall.before(Recall(["one", "two", "three"]))
    assert [recall.older("") for _ in range(4)] == ["three", "two", "one", None]


def test_the_same_twice_in_a_row_counts_once_and_the_number_is_bounded():
    recall = Recall(["a", "a", " "])
    assert [recall.older(""), recall.older("")] == ["a", None]
    many = Recall(str(n) for n in range(MAX_ENTRIES + 10))
    assert many.find("0", before=0) is None
    assert many.find("505") == (495, "505")
    many.before(Recall(["older"]))
    assert many.find("older") is None


def test_searching_goes_from_the_newest_back_and_takes_any_case():
    recall = Recall(["Fix the bug", "run tests", "fix it"])
    assert recall.find("FIX") == (2, "fix it")
    assert recall.find("fix", before=2) == (0, "Fix the bug")
    assert recall.find("none") is None
