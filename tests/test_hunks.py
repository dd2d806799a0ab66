"""Part of a change: the hunks of a diff, and the text when only some of them are accepted (J6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.hunks import BadHunks, accept, accept_parts, can_split, hunks, split
from assent.tools.support.diff import diff

OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 2\n", "LINE 2\n").replace("line 15\n", "").replace("line 28\n", "line 28\nextra\n")

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n", "e"]), max_size=40).map("".join)


def test_a_diff_becomes_hunks_with_numbered_lines():
    found = hunks(diff("x", OLD, NEW).text)
    assert [(hunk.added, hunk.removed) for hunk in found] == [(1, 1), (0, 1), (1, 0)]
    second = [(line.kind, line.old, line.new) for line in found[1].lines]
    assert second[3:5] == [("-", 15, None), (" ", 16, 15)]


@pytest.mark.spec("J6")
@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ((0,), OLD.replace("line 2\n", "LINE 2\n")),
        ((1,), OLD.replace("line 15\n", "")),
        ((2, 0), OLD.replace("line 2\n", "LINE 2\n").replace("line 28\n", "line 28\nextra\n")),
        ((0, 1, 2), NEW),
    ],
)
def test_only_the_chosen_hunks_are_in_the_text(chosen: tuple[int, ...], wanted: str):
    assert accept(OLD, NEW, diff("x", OLD, NEW).text, chosen) == wanted


def test_line_ends_and_a_missing_last_one_stay_as_they_were():
    old = OLD.replace("\n", "\r\n")
    new = NEW.replace("\n", "\r\n") + "last"
    shown = diff("x", old, new).text
    assert accept(old, new, shown, [0]) == old.replace("line 2\r", "LINE 2\r")
    assert accept(old, new, shown, [2]).endswith("extra\r\nline 29\r\nline 30\r\nlast")


@pytest.mark.parametrize("chosen", [(), (3,), (-1,)])
def test_a_choice_that_makes_no_sense_is_refused(chosen: tuple[int, ...]):
    with pytest.raises(BadHunks):
        accept(OLD, NEW, diff("x", OLD, NEW).text, chosen)


@given(texts, texts, st.data())
def test_what_is_accepted_and_then_the_rest_make_the_whole_change(old: str, new: str, data: st.DataObject):
    shown = diff("x", old, new).text
    numbers = range(len(hunks(shown)))
    if len(numbers) < 2:
        return
    chosen = data.draw(st.sets(st.sampled_from(numbers), min_size=1, max_size=len(numbers) - 1))
    half = accept(old, new, shown, chosen)
    rest = diff("x", half, new).text
    assert accept(half, new, rest, range(len(hunks(rest)))) == new
    plain = (half.replace("\r\n", "\n"), old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    assert plain[0] != plain[1] and plain[0] != plain[2]


CLOSE = OLD.replace("line 10\n", "LINE 10\n").replace("line 12\n", "").replace("line 15\n", "line 15\nextra\n")


def test_close_changes_in_one_hunk_can_be_split_and_each_line_is_in_one_piece():
    (whole,) = hunks(diff("x", OLD, CLOSE).text)
    pieces = split([whole], 0)
    assert [(piece.number, piece.added, piece.removed) for piece in pieces] == [(0, 1, 1), (1, 0, 1), (2, 1, 0)]
    assert tuple(line for piece in pieces for line in piece.lines) == whole.lines
    assert [piece.header for piece in pieces] == ["@@ -7,4 +7,4 @@", "@@ -11,3 +11,2 @@", "@@ -14,5 +13,6 @@"]
    assert all(piece.lines[0].kind == " " for piece in pieces)
    assert not any(can_split(piece) for piece in pieces) and can_split(whole)


@pytest.mark.spec("J6")
@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ((0,), OLD.replace("line 10\n", "LINE 10\n")),
        ((1,), OLD.replace("line 12\n", "")),
        ((0, 2), OLD.replace("line 10\n", "LINE 10\n").replace("line 15\n", "line 15\nextra\n")),
        ((0, 1, 2), CLOSE),
    ],
)
def test_only_the_chosen_pieces_are_in_the_text(chosen: tuple[int, ...], wanted: str):
    assert accept_parts(OLD, CLOSE, split(hunks(diff("x", OLD, CLOSE).text), 0), chosen) == wanted


@given(texts, texts, st.data())
def test_the_pieces_of_a_hunk_change_what_the_hunk_does(old: str, new: str, data: st.DataObject):
    shown = diff("x", old, new).text
    whole = hunks(shown)
    if len(whole) < 2:
        return
    number = data.draw(st.sampled_from(range(len(whole))))
    parts = split(whole, number)
    more = len(parts) - len(whole)
    others = data.draw(st.sets(st.sampled_from(range(len(whole)))))
    pieces = {place + more if place > number else place for place in others - {number}}
    pieces |= set(range(number, number + more + 1)) if number in others else set()
    if others:
        assert accept_parts(old, new, parts, pieces) == accept(old, new, shown, others)


@given(texts, texts, st.data())
def test_what_is_accepted_of_split_hunks_and_then_the_rest_make_the_whole_change(
    old: str, new: str, data: st.DataObject
):
    parts = hunks(diff("x", old, new).text)
    for hunk in reversed(parts):
        parts = split(parts, hunk.number)
    if len(parts) < 2:
        return
    chosen = data.draw(st.sets(st.sampled_from(range(len(parts))), min_size=1, max_size=len(parts) - 1))
    half = accept_parts(old, new, parts, chosen)
    rest = diff("x", half, new).text
    assert accept(half, new, rest, range(len(hunks(rest)))) == new
    plain = (half.replace("\r\n", "\n"), old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    changed = [hunk.added + hunk.removed for hunk in parts if hunk.number in chosen]
    assert plain[0] != plain[1] and len(changed) == len(chosen)


@given(texts, texts)
def test_pieces_show_every_line_once_and_have_true_headers(old: str, new: str):
    for whole in hunks(diff("x", old, new).text):
        pieces = split([whole], 0) if whole.number == 0 else split([replace(whole, number=0)], 0)
        assert tuple(line for piece in pieces for line in piece.lines) == whole.lines
        for piece in pieces:
            text = "\n".join([piece.header, *(f"{line.kind}{line.text}" for line in piece.lines)])
            (again,) = hunks(text)
            assert again.old_from == piece.old_from
            assert [(one.old, one.new) for one in again.lines] == [(one.old, one.new) for one in piece.lines]
