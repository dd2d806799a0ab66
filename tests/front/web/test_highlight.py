"""Lines of a change in pieces: coloured where that is harmless, spelled out where something hides."""

from difflib import unified_diff

from assent.front.web.highlight import MAX_CACHED, MAX_HIGHLIGHTED, ShownLine, shown_hunks


def shown(old: str, new: str, path: str = "a.py") -> list[ShownLine]:
    diff = "".join(unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), "a", "b"))
    return [line for hunk in shown_hunks(diff, path) for line in hunk.lines]


def test_words_of_the_language_get_their_class() -> None:
    added = shown("x = 1\n", "def f():  # why\n    return 'a', 1\n")[1:]
    assert added[0].pieces == (("tk", "def"), ("", " "), ("tf", "f"), ("", "():  "), ("tc", "# why"))
    assert ("ts", "'a'") in added[1].pieces and ("tm", "1") in added[1].pieces


def test_a_string_over_several_lines_keeps_its_colour_on_both_sides() -> None:
    lines = shown('s = """one\ntwo\nthree"""\n', 's = """one\n2\nthree"""\n')
    assert [line.pieces for line in lines if line.text in ("two", "2")] == [(("ts", "two"),), (("ts", "2"),)]


def test_pieces_are_the_text() -> None:
    old, new = "a\n\n\tb = {\n  'x': 1}\n", "a\n\n\tb = {\n\n  'x': 2}\r\nlast"
    for line in shown(old, new):
        whole = "".join(text for _, text in line.pieces)
        assert whole == line.text.replace("\r", "<U+000D>")


def test_a_line_that_hides_something_is_spelled_out_without_colours() -> None:
    (_, added) = shown("x = 1\n", "x = 1 \u202e# safe\n")
    assert added.pieces == (("", "x = 1 <U+202E># safe"),)
    assert added.text == "x = 1 \u202e# safe"


def test_unknown_languages_and_huge_changes_stay_plain() -> None:
    assert shown("", "def f\n", "notes.unknown")[0].pieces == (("", "def f"),)
    huge = "x" * (MAX_HIGHLIGHTED + 1)
    assert shown("", f"{huge}\n")[0].pieces == (("", huge),)


def test_a_change_that_was_shown_before_is_not_coloured_again_unless_it_is_long():
    short, long = (f"@@ -1 +1 @@\n-a = 1\n+b = '{'x' * size}'\n" for size in (9, MAX_CACHED))
    assert shown_hunks(short, "a.py") is shown_hunks(short, "there/a.py")
    assert shown_hunks(short, "a.py") != shown_hunks(short, "a.txt")
    assert shown_hunks(long, "a.py") is not shown_hunks(long, "a.py")
