"""A secret that comes in pieces is masked in what is shown live, and nothing else waits for long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.secrets.mask import Masker, Unmasked
from masking.test_token_shapes import NOT_KNOWN, PARTLY_PUBLIC, TOKENS

pytestmark = pytest.mark.spec("I3")

KNOWN = "correct-horse-battery-7"
masker = Masker(lambda: {KNOWN: "$DEPLOY"})
OF_MANY_WORDS = {"netrc", "curl -u", "curl --user", "mysql -p", "ssh", "pgp", "rsa", "ec", "enc"} | {
    "json key",
    "ssh2",
    "minisign",
}
TELL_LATE = {"azure devops", "azure storage bare", "mailchimp", "newrelic lic", "twilio sk"}


def shown(pieces: list[str]) -> str:
    stream = masker.stream()
    return "".join([*map(stream.feed, pieces), stream.close()])


def longest_left(secret: str, text: str) -> int:
    """How many letters of the secret stand in the text in a row."""
    sizes = range(len(secret), 0, -1)
    return next(
        (size for size in sizes if any(secret[at : at + size] in text for at in range(len(secret) - size + 1))), 0
    )


@pytest.mark.parametrize("name", sorted(TOKENS.keys() - NOT_KNOWN - PARTLY_PUBLIC - OF_MANY_WORDS - {"twitter bearer"}))
def test_a_token_in_two_pieces_is_masked_wherever_it_is_cut(name: str) -> None:
    token = TOKENS[name]
    secret = max(re.findall(r"[A-Za-z0-9]+", token), key=len)
    text = f"it is {token} now\n"
    for at in range(1, len(text), 1 + len(text) // 25):
        told = shown([text[:at], text[at:]])
        assert longest_left(secret, told) < (16 if name in TELL_LATE else 9), at
        assert told.endswith("]\n" if name in ("cookie", "set-cookie") else "now\n")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("colour", ["", "\x1b[01;31m", "\x1b[K"])
def test_a_token_that_comes_letter_by_letter_is_masked_also_under_colours(size: int, colour: str) -> None:
    token = TOKENS["github classic"]
    for secret in (token, KNOWN):
        text = f"a {secret[:9]}{colour}{secret[9:]} b\n"
        told = shown([text[at : at + size] for at in range(0, len(text), size)])
        assert longest_left(secret[4:], told) < 5
        assert told.startswith("a ")
        assert told.endswith(" b\n")


@pytest.mark.parametrize("at", range(1, len(KNOWN)))
def test_a_known_value_in_two_pieces_is_masked(at: int) -> None:
    told = shown([f"x {KNOWN[:at]}", f"{KNOWN[at:]} y\n"])
    assert longest_left(KNOWN, told) < 4
    assert told.endswith(" y\n")


@pytest.mark.parametrize("cut", range(13, 26))
def test_a_value_behind_a_name_that_says_secret_is_masked_in_pieces(cut: int) -> None:
    text = "DB_PASSWORD='hunter2-and-more' ok\n"
    assert "hunter2" not in shown([text[:cut], text[cut:]])


@pytest.mark.parametrize(
    "prompt",
    [
        "Password: ",
        "Continue? [y/N]",
        "Proceed (Y/n)?",
        ">>> ",
        "$ ",
        "Enter a name: ",
        "50%",
        "Building...",
        "ann@host:~$ ",
        "login: ",
    ],
)
def test_a_prompt_is_shown_at_once(prompt: str) -> None:
    assert masker.stream().feed(prompt) == prompt
    assert masker.stream().feed(f"some lines\n{prompt}") == f"some lines\n{prompt}"


def test_what_is_held_back_is_shown_when_the_word_or_the_text_ends() -> None:
    stream = masker.stream()
    assert stream.feed("see ghp_") == "see "
    assert stream.feed("short and ") == "ghp_short and "
    assert stream.feed("the glpat-") == "the "
    assert stream.close() == "glpat-"
    assert stream.close() == ""


def test_whole_lines_and_what_is_not_masked_come_back_at_once() -> None:
    assert masker.stream().feed("ghp_ and password=hunt\n") == masker.text("ghp_ and password=hunt\n")
    assert Unmasked().stream().feed("see ghp_") == "see ghp_"


def test_a_word_without_end_is_not_held_for_ever() -> None:
    stream = masker.stream()
    told = "".join(stream.feed("a1b2c3d4e5" * 50) for _ in range(100))
    assert len(told) > 40_000


@given(
    st.lists(
        st.sampled_from(["a", " ", "\n", "\x1b[0m", "ghp_", "word=", KNOWN[:6], "1", "-----", "x@y", ":"]), max_size=30
    )
)
def test_in_pieces_everything_but_secrets_is_shown(pieces: list[str]) -> None:
    told = shown(pieces)
    if "[secret: " not in told:
        assert told == "".join(pieces)
