"""Text, encodings, differences and replacements, without any file."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.tools.support.diff import changed_lines, diff
from assent.tools.support.matching import nearest, occurrences, smallest_change, substitute
from assent.tools.support.placeholders import placeholders
from assent.tools.support.textfile import NotText, TextFile, decode, with_newlines

LINES = st.lists(st.sampled_from(["a", "b", "", "x y"]), max_size=12)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_marked_file_is_decoded_and_gives_back_the_same_bytes(encoding: str) -> None:
    data = "\ufeffhé\r\n€".encode(encoding)
    file = decode(data)
    assert (file.text, file.newline) == ("hé\r\n€", "\r\n")
    assert file.encoded() == data


def test_bytes_that_are_no_utf8_are_read_as_latin_1_and_survive() -> None:
    data = "Straße\n".encode("latin-1")
    assert decode(data).text == "Straße\n"
    assert decode(data).encoded() == data


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x01\x01\0\0", b"\xff\xfe\x00", bytes(range(128, 256)) + bytes(range(32))]
)
def test_binary_data_is_not_text(data: bytes) -> None:
    with pytest.raises(NotText):
        decode(data)


@given(st.binary(max_size=60))
def test_whatever_is_taken_for_text_can_be_written_back_unchanged(data: bytes) -> None:
    try:
        file = decode(data)
    except NotText:
        return
    assert file.encoded() == data


def test_the_line_end_of_the_majority_counts() -> None:
    assert TextFile("a\r\nb\r\nc\n").newline == "\r\n"
    assert TextFile("a\r\nb\nc\n").newline == "\n"
    assert TextFile("a").newline is None
    assert with_newlines("a\r\nb\n", "\r\n") == "a\r\nb\r\n"
    assert with_newlines("a\r\nb\n", None) == "a\r\nb\n"


# --- differences ---


@given(LINES, LINES, st.booleans(), st.booleans())
def test_a_diff_applied_by_patch_gives_the_new_text(old: list[str], new: list[str], end1: bool, end2: bool) -> None:
    before = "\n".join(old) + ("\n" if end1 and old else "")
    after = "\n".join(new) + ("\n" if end2 and new else "")
    made = diff("f", before, after)
    assert (made.text == "") == (before == after)
    assert _applied(made.text, before) == after


def _applied(patch: str, before: str) -> str:
    """Applies a unified diff strictly: every line of context and every removed line must be there."""
    old = before.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    body = patch.split("\n")[2:-1] if patch else []
    for index, line in enumerate(body):
        end = "" if body[index + 1 : index + 2] == ["\\ No newline at end of file"] else "\n"
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (0 if count == "0" else 1)
            out += old[at:begin]
            at = begin
        elif line[:1] in (" ", "-"):
            assert old[at] == line[1:] + end
            at += 1
        if line[:1] in (" ", "+"):
            out.append(line[1:] + end)
    return "".join(out + old[at:])


def test_a_new_file_comes_from_nowhere() -> None:
    made = diff("dir/f", None, "a\nb")
    assert made.text == "--- /dev/null\n+++ b/dir/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    assert (made.added, made.removed) == (2, 0)


def test_the_diff_is_what_the_diff_program_makes(tmp_path: Path) -> None:
    old = "".join(f"line {n}\n" for n in range(100))
    new = old.replace("line 7\n", "").replace("line 50\n", "line fifty\nand more\n")
    (tmp_path / "old").write_text(old)
    (tmp_path / "new").write_text(new)
    theirs = subprocess.run(["diff", "-u", "old", "new"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert diff("f", old, new).text.split("\n")[2:] == theirs.split("\n")[2:]


def test_a_huge_file_of_equal_lines_is_compared_in_bounded_work() -> None:
    made = diff("f", "x\n" * 50_000 + "y\n" + "x\n" * 50_000, "z\n" + "x\n" * 50_000 + "w\n" + "x\n" * 50_000)
    assert made.added - made.removed == 1


def test_the_model_sees_the_changed_lines_with_their_numbers() -> None:
    old = "".join(f"{n}\n" for n in range(1, 41))
    new = old.replace("\n20\n", "\ntwenty\n")
    text = changed_lines(new, diff("f", old, new).changes, context=1)
    assert text == "Lines 19-21 now read:\n19\ntwenty\n21"


# --- replacing ---


@pytest.mark.parametrize("special", ["$&", "$1", "$$", "$`", "$'", r"\1", r"\g<0>"])
def test_special_sequences_are_literal(special: str) -> None:
    assert substitute("hello old", "old", special, "\n") == f"hello {special}"


def test_replacing_in_a_file_with_mixed_line_ends_touches_only_the_match() -> None:
    text = "one\r\ntwo\nthree\r\nfour\r\n"
    assert substitute(text, "two\nthree\n", "2\n3\n", "\r\n") == "one\r\n2\r\n3\r\nfour\r\n"
    assert substitute(text, "four", "4", "\r\n") == "one\r\ntwo\nthree\r\n4\r\n"
    assert occurrences(text, "one\ntwo\r\n") == 1


@given(LINES, st.sampled_from(["a", "a\nb", "x"]), st.sampled_from(["", "c\nd", "a"]))
def test_replacing_does_not_depend_on_the_line_ends(lines: list[str], wanted: str, new: str) -> None:
    text = "\n".join(lines)
    crlf = text.replace("\n", "\r\n")
    assert substitute(crlf, wanted, new, "\r\n") == text.replace(wanted, new).replace("\n", "\r\n")


@pytest.mark.spec("C5")
@given(LINES.filter(bool), LINES, st.booleans())
def test_the_smallest_change_leads_exactly_to_the_edited_text(old: list[str], new: list[str], end: bool) -> None:
    current, edited = "\n".join(old) + "\n", "\n".join(new) + ("\n" if end else "")
    piece, replacement = smallest_change(current, edited)
    assert current.count(piece) == 1
    assert current.replace(piece, replacement) == edited


def test_the_nearest_text_is_shown_with_line_numbers() -> None:
    text = "def one():\n    return 1\n\ndef two():\n    return 2\n"
    assert nearest(text, "def two():\n  return 2") == "4: def two():\n5:     return 2"
    assert nearest(text, "def tvo():") == "4: def two():"
    assert nearest(text, "completely unrelated words here") == ""


@pytest.mark.parametrize(
    "line",
    [
        "(rest of methods ...)",
        "// rest of methods ...",
        "(unchanged code ...)",
        "  # REST OF THE FILE...",
        "// ... existing code ...",
        "/* ... remaining implementation unchanged ... */",
        "<!-- rest of the content … -->",
        "# ... (rest of code)",
    ],
)
def test_a_line_that_stands_for_something_left_out_is_found(line: str) -> None:
    assert placeholders(f"a = 1\n{line}\nb = 2\n") == [line.strip()]
    assert placeholders(f"a = 1\n{line}\n", known=f"x\n{line}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        'print("rest of methods ...")',
        "x = 1  # rest of methods ...",
        "The rest of the day was sunny.",
        "Loading...",
        "...",
        "def f(): ...",
        "# the existing code is slow",
    ],
)
def test_ordinary_lines_are_left_alone(line: str) -> None:
    assert placeholders(line) == []
