"""A long text is searched by what it consists of: nothing is found that is not there, and nothing is missed."""

from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.secrets import outline, token_shapes
from assent.secrets.mask import Masker
from assent.secrets.outline import Outline
from masking.test_token_shapes import NOT_KNOWN, TOKENS

pytestmark = pytest.mark.spec("I3")

KNOWN = "correct-horse-battery-7"
OF_TWO_LINES = "first-line-of-4\nsecond-line-of-4"
masker = Masker(lambda: {KNOWN: "$DEPLOY", OF_TWO_LINES: "$KEY"})
FLOOD = "".join(f"{number:>9} of 999 tests passed in src/some/folder{number % 7}/test_x.py\n" for number in range(99))
PIECES = [
    *sorted(TOKENS.values()),
    *("password", "API_KEY", "x-public-key", "keys", "path", "--token", "--to", "Authorization", "bearer", "Bearer "),
    *("=", ": ", " ", "  ", "\n", "\n\n", "\t", "\\n", "%20", '"', "'", "(", "[", "\x1b[31m", "\x1b[0m", "-", "--"),
    *("hunter2hunter2", "a1B2c3D4e5F6g7H8i9J0", "0", "17", "İ", "\u212a", "é", "\udc80", "\r", "\x85"),
    *("login ann ", "password secretly1", "curl -u ann:", "-----BEGIN PRIVATE KEY-----\n", KNOWN, OF_TWO_LINES),
]


@pytest.mark.parametrize("name", sorted(TOKENS.keys() - NOT_KNOWN))
def test_a_token_in_a_flood_is_masked_as_it_would_be_alone(name: str) -> None:
    line = f"it is {TOKENS[name]} now\n"
    assert masker.text(FLOOD + line + FLOOD) == FLOOD + masker.text(line) + FLOOD
    assert masker.text(line) != line


@pytest.mark.parametrize(
    "line",
    [
        "export API_TOKEN=17171717abc\n",
        'db_password: "hunter2hunter2"\n',
        "deploy --password hunter2hunter2\n",
        "authorization: BEARER a1B2c3D4e5F6g7H8i9J0\n",
        f"it is {KNOWN} now\n",
        f"it is {OF_TWO_LINES} now\n",
    ],
)
def test_a_secret_with_a_name_or_a_known_value_is_masked_in_a_flood(line: str) -> None:
    assert masker.text(FLOOD + line + FLOOD) == FLOOD + masker.text(line) + FLOOD
    assert "[secret: " in masker.text(line)


def test_every_one_of_many_equal_secrets_is_masked() -> None:
    line = f"GET /items?token={TOKENS['github classic']} 200\n"
    assert masker.text(line * 500) == masker.text(line) * 500


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.integers(1, 12))
@example(["path", "=", "password", "=", "hunter2hunter2"], 1)
@example(["\\n", TOKENS["gitlab pat"], "\n"], 2)
def test_the_same_is_found_with_repetitions_left_out(pieces: list[str], times: int) -> None:
    text = "".join(pieces) * times
    with mock.patch.object(outline, "_LONG", 1 << 40), mock.patch.object(token_shapes, "_MANY", 1 << 40):
        expected = masker.find(text)
    with mock.patch.object(outline, "_LONG", 0), mock.patch.object(token_shapes, "_MANY", 0):
        assert masker.find(text) == expected


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.integers(0, 400), st.integers(0, 60))
def test_what_is_not_in_the_outline_is_not_in_the_text(pieces: list[str], start: int, size: int) -> None:
    text = "".join(pieces) * 2
    with mock.patch.object(outline, "_LONG", 0):
        assert Outline(text).may_contain(text[start : start + size])


@given(st.lists(st.sampled_from(["a\n", "b\n", "\n", "ab\n", "b"])), st.integers(0, 40), st.integers(1, 3))
def test_of_a_line_repeated_in_a_row_one_is_left(lines: list[str], times: int, run: int) -> None:
    text = "".join([*lines, "a\n" * times, *lines])
    with mock.patch.object(outline, "_LONG", 0), mock.patch.object(outline, "_RUN", run):
        assert Outline(text).text.split("\n") == list(dict.fromkeys(text.split("\n")))


def test_lines_that_differ_in_numbers_are_one_line_of_the_outline() -> None:
    flood = "".join(f"{number:05} of 99999 done\n" for number in range(10_000))
    assert Outline(flood).text == "00000 of 00000 done\n"
    assert Outline(flood).words.split("\n") == ["00000", "of", "done"]
