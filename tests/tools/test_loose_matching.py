"""replace accepts what models really send: a passage whose whitespace is not exact, in exactly one place. Row E4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval import EditDetails
from assent.tools.replace import LOOSELY
from assent.tools.support.loose_matching import substitute_loosely
from tools.toolkit import Bench

CODE = "class A:\n    def f(self):\n        if x:\n            return 1\n        return 2\n"


def replaced(text: str, old: str, new: str) -> str | None:
    return substitute_loosely(text, old, new, "\r\n" if "\r\n" in text else "\n")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param(
            CODE,
            "if x:\n    return 1\nreturn 2",
            "if y:\n    return 3\nreturn 2",
            CODE.replace("if x", "if y").replace("return 1", "return 3"),
            id="the model left out the indentation",
        ),
        pytest.param(
            "if x:\n    a()\n", "        if x:\n            a()\n", "        if x:\n            b()\n",
            "if x:\n    b()\n", id="the model wrote too much indentation",
        ),
        pytest.param(
            "def f():\n\tif x:\n\t\ta()\n", "    if x:\n        a()", "    if x:\n        a()\n        b()",
            "def f():\n\tif x:\n\t\ta()\n\t\tb()\n", id="spaces for tabs",
        ),
        pytest.param(
            "def f():\n\tif x:\n\t\ta()\n", "    if x:\n        a()", "    if x:\n        if y:\n            a()",
            "def f():\n\tif x:\n\t\tif y:\n\t\t\ta()\n", id="a deeper line takes the file's unit",
        ),
        pytest.param("a = 1   \nb = 2\n", "a = 1\nb = 2", "a = 3\nb = 2", "a = 3\nb = 2\n", id="trailing whitespace"),
        pytest.param("  a\n\n  b\n", "a\n   \nb", "a\n\nc", "  a\n\n  c\n", id="blank lines with spaces"),
        pytest.param("x\r\n  a\r\n  b\r\ny\r\n", "a\nb", "a\nc", "x\r\n  a\r\n  c\r\ny\r\n", id="line endings stay"),
    ],
)  # fmt: skip
def test_the_passage_is_found_and_the_files_indentation_kept(text: str, old: str, new: str, expected: str) -> None:
    assert replaced(text, old, new) == expected


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        pytest.param("  a\n    a\n", "a", "b", id="two places"),
        pytest.param("  a\n  c\n", "a\nb", "x\ny", id="another word"),
        pytest.param("    x\n  y\n", "x\ny", "x\nz", id="one indentation would mean two"),
        pytest.param("a\n", "\n \n", "b", id="nothing but whitespace"),
        pytest.param("foo(a,\n    b)\n", "oo(a,\n b)", "oo()", id="a part of a line"),
        pytest.param("\ta\n", "    a", "  b", id="shallower in an unknown unit"),
    ],
)
def test_where_it_would_be_a_guess_nothing_is_replaced(text: str, old: str, new: str) -> None:
    assert replaced(text, old, new) is None


LINE = st.tuples(st.integers(0, 3), st.sampled_from(["a", "bb", "return x", "", "end"]))
UNITS = st.sampled_from(["  ", "    ", "\t"])


@given(st.lists(LINE, min_size=1, max_size=8), st.integers(0, 2), UNITS, st.data())
def test_a_passage_shifted_as_a_whole_is_replaced_as_if_it_had_been_exact(
    lines: list[tuple[int, str]], shift: int, unit: str, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    stop = data.draw(st.integers(first + 1, len(lines)))

    def written(part: list[tuple[int, str]], by: int) -> list[str]:
        return [f"{unit * (depth + by)}{word}" if word else "" for depth, word in part]

    changed = [(depth, "changed" if word == "a" else word) for depth, word in lines[first:stop]]
    text = "\n".join(written(lines, shift)) + "\n"
    found = replaced(text, "\n".join(written(lines[first:stop], 0)), "\n".join(written(changed, 0)))
    expected = [*written(lines[:first], shift), *written(changed, shift), *written(lines[stop:], shift)]
    assert found is None or found == "\n".join(expected) + "\n"
    if [word for _, word in lines].count("a") == 1 and any(word == "a" for _, word in lines[first:stop]):
        assert found is not None, "one place, and only shifted"


async def test_the_result_says_so_and_the_diff_shows_the_file_as_it_will_be(bench: Bench) -> None:
    (bench.root / "f.py").write_text(CODE)
    args = {"file_path": "f.py", "old_string": "if x:\n    return 1", "new_string": "if y:\n    return 1"}
    details = await bench.details("replace", **args)
    assert isinstance(details, EditDetails) and "-        if x:\n+        if y:\n" in details.diff
    assert LOOSELY in await bench.text("replace", **args)
    assert (bench.root / "f.py").read_text() == CODE.replace("if x", "if y")


async def test_an_exact_match_is_never_reinterpreted(bench: Bench) -> None:
    (bench.root / "f.py").write_text("  a\na\n")
    text = await bench.text("replace", file_path="f.py", old_string="  a\n", new_string="b\n")
    assert (bench.root / "f.py").read_text() == "b\na\n" and LOOSELY not in text
