"""Calls are found by their number as well, but never another one than is meant."""

import pytest

from assent.app.call_names import whole_name
from assent.app.lookup import NotFound

CALLS = ["call_a", "2f", "3c", "40"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("1", "call_a"),
        ("#1", "call_a"),
        ("#2", "2f"),
        ("2", "2f"),
        ("call", "call"),
        ("40", "40"),
        ("#", "#"),
        ("", ""),
    ],
)
def test_a_number_names_a_call_and_anything_else_stays_as_it_is(name: str, found: str):
    assert whole_name(name, CALLS) == found


@pytest.mark.parametrize(("name", "said"), [("#9", "no call 9"), ("7", "no call 7"), ("0", "no call 0")])
def test_a_number_beyond_the_last_call_is_refused(name: str, said: str):
    with pytest.raises(NotFound, match=said):
        whole_name(name, CALLS)


def test_a_number_that_is_also_the_start_of_another_id_is_refused():
    with pytest.raises(NotFound, match="give more of the id"):
        whole_name("1", ["call_a", "1f"])
