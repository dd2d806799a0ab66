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
        ("", "someone"),
        ("me@pid1", "you"),
    ],
)
def test_you_are_you_and_others_have_names(by: str, shown: str):
    assert who(by, "me@pid1") == shown


def test_without_an_identity_nobody_is_you():
    assert (who("", ""), who("ann@pid1", "")) == ("someone", "ann")


def test_the_verb_matches_the_person():
    assert (editing("a@pid1", "a@pid1"), editing("b@pid1", "a@pid1")) == ("you are editing it", "b is editing it")
