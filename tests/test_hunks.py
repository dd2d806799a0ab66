"""Part of a change: the hunks of a diff, and the text when only some of them are accepted (J6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.hunks import BadHunks, accept, hunks
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
