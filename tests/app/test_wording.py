"""Words that every front end uses: who did something."""

import pytest

from assent.app.wording import editing, who

pytestmark = pytest.mark.spec("C10")


@pytest.mark.parametrize(
    ("by", "shown"),
    [
        ("ann@pid42", "ann"),
        ("ann@127.0.0.1", "ann"),
        ("ann@corp.example@pid42", "ann@corp.example"),
        ("tour", "tour"),
        ("@pid42", "@pid42"),
        ("", "somebody"),
        ("me@pid1", "you"),
    ],
)
def test_oneself_is_you_and_others_go_by_their_name(by: str, shown: str):
    assert who(by, "me@pid1") == shown


def test_nobody_is_oneself_where_nobody_says_who_we_are():
    assert (who("", ""), who("ann@pid1", "")) == ("somebody", "ann")


def test_you_are_and_others_is():
    assert (editing("a@pid1", "a@pid1"), editing("b@pid1", "a@pid1")) == ("you are editing it", "b is editing it")
