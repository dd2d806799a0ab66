"""What a text names after `@`. Row G1."""

import pytest

from assent.files.mention_finder import mentions

pytestmark = pytest.mark.spec("G1")


def named(text: str) -> list[str]:
    return [mention.path for mention in mentions(text)]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("fix @a.py, then @src/b.py.", ["a.py", "src/b.py"]),
        ('@"a b.txt" and @c\\ d.txt', ["a b.txt", "c d.txt"]),
        ("(see @a.py) [@b] {@c}", ["a.py", "b", "c"]),
        ("mail ann@example.org or @", []),
        ("@a @a @b", ["a", "a", "b"]),
        ('@"never closed', []),
        (r"@odd\)", ["odd)"]),
        ("why @a.py?!", ["a.py"]),
        ("@größe/漢字.txt", ["größe/漢字.txt"]),
        ("line\n@x\n\t@y", ["x", "y"]),
        ("@srv:note:/1, @srv:file:///a.", ["srv:note:/1", "srv:file:///a"]),
    ],
)
def test_what_a_text_names_is_found_without_the_punctuation_of_the_sentence(text: str, paths: list[str]):
    assert named(text) == paths


def test_text_longer_than_any_path_is_not_a_mention_and_costs_nothing():
    assert named("@" + ")" * 1_000_000 + " @a.py @" + "x" * 5_000) == ["a.py"]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("@src/*.py, @src/* and @src/**.", ["src/*.py", "src/*", "src/**"]),
        ("so **see @a.py** and *@b.py*", ["a.py"]),
        ("@*.{py,js} (@src/{a,b})", ["*.{py,js}", "src/{a,b}"]),
        ("@page[12]. @f(1), (@f(1))", ["page[12]", "f(1)", "f(1)"]),
        ("@* @**", []),
    ],
)
def test_a_pattern_keeps_what_belongs_to_it(text: str, paths: list[str]):
    assert named(text) == paths


@pytest.mark.parametrize(
    "text",
    ["`@a.py`", "see ``` @a.py\n@b.py``` there", "~~~\n@a.py\n~~~", "```\n@a.py never closed", "x `@a.py @b.py` y"],
)
def test_what_stands_in_code_is_left_alone(text: str):
    assert named(text) == []


def test_a_place_tells_where_it_is_sign_and_quotes_included():
    text = 'see @a.py, (@"b c")'
    assert [text[each.start : each.end] for each in mentions(text)] == ["@a.py", '@"b c"']
