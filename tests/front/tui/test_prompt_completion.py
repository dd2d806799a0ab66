"""What can be completed, what is offered for it, and which files a prompt names."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.files.mention_finder import mentions
from assent.front.tui.prompt.completion import (
    MAX_SHOWN,
    Candidate,
    Word,
    mention,
    ranked,
    replacement,
    word_at,
)
from assent.front.tui.prompt.path_index import PathIndex


def at(marked: str) -> Word | None:
    """The word at the `|` in a text."""
    cursor = marked.index("|")
    return word_at(marked.replace("|", "", 1), cursor)


@pytest.mark.spec("G1")
@pytest.mark.parametrize(
    ("marked", "kind", "typed", "replaced"),
    [
        ("/|", "command", "", "/"),
        ("/he|", "command", "he", "/he"),
        ("/h|elp", "command", "h", "/help"),
        ("/model |", "argument", "", ""),
        ("/model gemini 2|", "argument", "gemini 2", "gemini 2"),
        ("/model ge|mini\nmore", "argument", "ge", "gemini"),
        ("@|", "file", "", "@"),
        ("look at @src/m|ain.py please", "file", "src/m", "@src/main.py"),
        ("(see @a|)", "file", "a", "@a)"),
        ('read @"a b|', "file", "a b", '@"a b'),
        ('read @"a b|c" now', "file", "a b", '@"a bc"'),
        (r"read @a\ b|c now", "file", "a b", r"@a\ bc"),
        ("two\nlines @x|", "file", "x", "@x"),
        ("/explain @a|", "file", "a", "@a"),
    ],
)
def test_the_word_under_the_cursor_is_found(marked: str, kind: str, typed: str, replaced: str):
    word = at(marked)
    assert word is not None
    assert (word.kind, word.typed) == (kind, typed)
    assert marked.replace("|", "", 1)[word.start : word.end] == replaced


@pytest.mark.parametrize(
    "marked",
    [
        "|",
        "hello|",
        " /help|",
        "a /help|",
        "ann@example.org|",
        "/etc/hosts|",
        '@"a b" |',
        "@a |",
        "|@a",
        "x\n/help|",
    ],
)
def test_what_cannot_be_completed_is_left_alone(marked: str):
    assert at(marked) is None


def test_an_argument_knows_its_command():
    word = at("/resume abc|")
    assert word is not None
    assert word.command == "resume"


def names(typed: str, *offered: str) -> list[str]:
    return [candidate.name for candidate in ranked(typed, [Candidate(name) for name in offered])]


@pytest.mark.spec("G1")
def test_the_very_same_comes_first_then_what_begins_like_it_what_contains_it_and_what_is_like_it():
    assert names("mod", "method", "remodel", "model", "mode") == ["model", "mode", "remodel", "method"]
    assert names("mode", "model", "mode") == ["mode", "model"]


def test_a_letter_too_many_in_a_longer_word_is_forgiven():
    assert names("memmory", "memory", "stats") == ["memory"]
    assert names("xq", "memory", "stats") == []


def test_case_does_not_matter_and_not_too_many_are_shown():
    assert names("HE", "help") == ["help"]
    assert len(names("", *(f"c{n}" for n in range(50)))) == 50  # the list scrolls


# --- files ---

TREE = [
    "src/",
    "src/app/",
    "src/app/main.py",
    "src/app/test_main.py",
    "main/",
    "main/notes.txt",
    "README.md",
    "domain.txt",
]


@pytest.mark.spec("G1")
def test_a_match_in_the_name_comes_before_one_in_the_folders_above():
    assert PathIndex(TREE).best("main") == [
        "main/",
        "src/app/main.py",
        "main/notes.txt",
        "domain.txt",
        "src/app/test_main.py",
    ]


def test_nothing_typed_offers_the_top_of_the_tree():
    assert PathIndex(TREE).best("")[:4] == ["domain.txt", "main/", "README.md", "src/"]


def test_a_folder_that_was_typed_offers_what_is_in_it_and_not_itself():
    assert PathIndex(TREE).best("src/") == ["src/app/", "src/app/main.py", "src/app/test_main.py"]
    assert PathIndex(TREE).best("./src/app/m")[0] == "src/app/main.py"


def test_letters_in_their_order_are_enough():
    assert PathIndex(TREE).best("rdme") == ["README.md"]
    assert PathIndex(TREE).best("s/a/tm")[0] == "src/app/test_main.py"
    assert PathIndex([]).best("a") == []


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1)), st.text())
def test_whatever_is_offered_was_there_and_is_offered_once(paths: list[str], typed: str):
    best = PathIndex(set(paths)).best(typed.replace("\n", ""))
    assert set(best) <= set(paths)
    assert len(best) == len(set(best)) <= MAX_SHOWN


# --- choosing ---


@pytest.mark.parametrize(
    ("marked", "name", "becomes"),
    [
        ("/he|", "help", "/help "),
        ("/model x|", "gemini", "/model gemini"),
        ("see @ma|", "main.py", "see @main.py "),
        ("see @s|rc", "src/", "see @src/"),
        ("see @a|", "a b/", 'see @"a b/'),
        ('see @"a b/|', "a b/c.txt", 'see @"a b/c.txt" '),
    ],
)
def test_what_is_chosen_takes_the_place_of_what_was_typed(marked: str, name: str, becomes: str):
    text, word = marked.replace("|", "", 1), at(marked)
    assert word is not None
    assert text[: word.start] + replacement(word, name) + text[word.end :] == becomes


# --- mentions ---


printable = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda text: text.isprintable() and not any(unicodedata.category(char).startswith("Z") for char in text.strip(" "))
)


@given(printable, st.sampled_from(["", "x ", "see ("]), st.sampled_from(["", " y", "\nz"]))
@example('a"b\\', "", "")
@example("a b.", "x ", " y")
@example("\\", "", " y")
def test_a_path_written_into_a_prompt_is_found_again(path: str, before: str, after: str):
    assert [named.path for named in mentions(before + mention(path) + after)] == [path]


@given(st.text(st.sampled_from('/@"\\ \nab.('), max_size=20), st.integers(0, 20))
@example("@", 1)
@example('@"\\', 3)
def test_a_word_always_lies_around_the_cursor(text: str, cursor: int):
    cursor = min(cursor, len(text))
    word = word_at(text, cursor)
    if word is not None:
        assert 0 <= word.start <= cursor <= word.end <= len(text)
        assert "\n" not in text[word.start : word.end]


@given(st.text(st.characters(codec="utf-8")))
def test_no_text_is_too_odd_for_the_parser(text: str):
    list(mentions(text))
    for cursor in range(len(text) + 1):
        word_at(text, cursor)
