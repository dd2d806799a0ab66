"""Names on their way through a pipe: which go on, and how they are told apart."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.process.name_filter import Sieve, Sifted, sift


def _everything(_: str) -> bool:
    return True


def sifted(data: bytes, kind: str, keeps: Callable[[str], bool] = _everything) -> tuple[bytes, Sifted]:
    """What comes out of the other end, and how many names were left out."""
    given, giving = os.pipe()
    taking, taken = os.pipe()
    os.write(giving, data)
    os.close(giving)
    found = sift(os.fdopen(given, "rb"), os.fdopen(taken, "wb"), kind, keeps)
    with os.fdopen(taking, "rb") as file:
        return file.read(), found


@pytest.mark.parametrize(
    ("kind", "data", "names"),
    [
        ("lines", b"a b\nc\n", b"a b\0c\0"),
        ("lines", b"  a \n\tb", b"a \0b\0"),
        ("lines", b"a\n\n\nb\n", b"a\0b\0"),
        ("lines", b"it's\n", b"it's\0"),
        ("words", b"a b\n'c d' e\\ f", b"a\0b\0c d\0e f\0"),
        ("null", b"a\nb\0 c\0", b"a\nb\0 c\0"),
        ("null", b"a\0\0b", b"a\0b\0"),
        ("null", b"\xff\0", b"\xff\0"),
        ("lines", b"", b""),
    ],
)
def test_names_come_out_ended_by_nuls(kind: str, data: bytes, names: bytes) -> None:
    assert sifted(data, kind) == (names, Sifted())


def test_names_that_are_left_out_are_counted() -> None:
    assert sifted(b"a\nb\nc\n", "lines", lambda name: name == "b") == (b"b\0", Sifted(dropped=2))


def test_a_quote_that_is_never_closed_ends_it_with_what_was_counted() -> None:
    assert sifted(b"a\nb\n'c\nd\n", "words", lambda name: name != "a") == (
        b"b\0",
        Sifted(dropped=1, problem="a quote is not closed in: 'c"),
    )


def test_a_line_without_an_end_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assent.process.name_filter._MAX_LINE_LENGTH", 10)
    assert sifted(b"a\n" + b"b" * 10, "lines") == (b"a\0" + b"b" * 10 + b"\0", Sifted())
    assert sifted(b"a\n" + b"b" * 11, "lines") == (b"a\0", Sifted(problem="a line is longer than 10 bytes"))


def test_a_name_across_two_reads_stays_one() -> None:
    given, giving = os.pipe()
    taking, taken = os.pipe()
    os.write(giving, b"first\nsec")
    heard: list[str] = []

    def keeps(name: str) -> bool:
        if not heard:
            os.write(giving, b"ond\n")
            os.close(giving)
        heard.append(name)
        return False

    sift(os.fdopen(given, "rb"), os.fdopen(taken, "wb"), "lines", keeps)
    os.close(taking)
    assert heard == ["first", "second"]


def test_a_reader_that_stops_early_is_not_an_error() -> None:
    given, giving = os.pipe()
    taking, taken = os.pipe()
    os.close(taking)
    os.write(giving, b"a\nb\n")
    os.close(giving)
    assert sift(os.fdopen(given, "rb"), os.fdopen(taken, "wb"), "lines", lambda name: name != "a") == Sifted(dropped=1)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    inside = tmp_path / "w"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "wx").mkdir()
    for name in ("w/a", "w/secret", "w/sub/b", "elsewhere", "wx/a"):
        (tmp_path / name).touch()
    (inside / "hidden").symlink_to(inside / "secret")
    (inside / "out").symlink_to(tmp_path / "elsewhere")
    (inside / "also").symlink_to(inside / "a")
    (inside / "sub" / "secret").symlink_to(inside / "a")
    (inside / "folder").symlink_to(tmp_path / "wx")
    (tmp_path / "in").symlink_to(inside / "a")
    return inside


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("name", "anywhere", "inside"),
    [
        ("a", True, True),
        ("./sub/../a", True, True),
        ("sub/b", True, True),
        (".", True, True),
        ("also", True, True),
        ("missing", True, True),
        ("secret", False, False),
        ("SECRET", False, False),
        ("hidden", False, False),
        ("sub/secret", False, False),
        ("out", False, False),
        ("folder/a", False, False),
        ("../elsewhere", True, False),
        ("../wx/a", True, False),
        ("../in", True, True),
    ],
)
def test_no_secret_no_link_to_one_and_none_out_of_the_workspace_goes_on(
    name: str, anywhere: bool, inside: bool, work: Path
) -> None:
    for only_inside, goes_on in ((False, anywhere), (True, inside)):
        sieve = Sieve("/secret$", str(work), [str(work)], inside=only_inside)
        assert sieve.keeps(name) == goes_on
        assert sieve.keeps(str(work / name)) == goes_on


@pytest.mark.spec("C8")
@pytest.mark.parametrize("name", ["link", "link/", "link/.", "deep/..", "deep/../", "deep/../."])
def test_a_folder_of_secrets_is_one_however_the_name_of_a_link_to_it_ends(name: str, work: Path) -> None:
    (work / "sub/vault/inner").mkdir(parents=True)
    (work / "link").symlink_to(work / "sub/vault")
    (work / "deep").symlink_to(work / "sub/vault/inner")
    assert not Sieve("/vault$", str(work), [str(work)], inside=True).keeps(name)


def test_where_everything_is_the_workspace_nothing_is_outside(work: Path) -> None:
    assert Sieve("/secret$", str(work), ["/"], inside=True).keeps("out")


def test_a_workspace_may_have_several_folders(work: Path) -> None:
    sieve = Sieve("/secret$", str(work), [str(work), str(work.parent / "wx")], inside=True)
    assert [name for name in ("a", "../wx/a", "folder/a", "../elsewhere", "out") if sieve.keeps(name)] == [
        *("a", "../wx/a", "folder/a")
    ]
