"""Where a path really leads."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.files import resolve as files_resolve
from assent.files.resolve import Resolved, Unusable, resolve

NAMES = st.sampled_from(["a", "b", "c", "..x", "%2e%2e"])
STEPS = st.lists(st.one_of(NAMES, st.sampled_from([".", "..", ""])), min_size=1, max_size=7).map("/".join)
TARGETS = st.one_of(STEPS, STEPS.map(lambda steps: "ROOT/" + steps), st.sampled_from(["/", "/etc", "OUT/a", "../.."]))
ENTRIES = st.lists(st.tuples(STEPS, st.sampled_from(["folder", "file", "link"]), TARGETS), max_size=12)


def build(root: str, entries: list[tuple[str, str, str]]) -> None:
    for path, kind, target in entries:
        place = os.path.normpath(os.path.join(root, path.lstrip("/")))
        try:
            if not place.startswith(root + "/"):
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            match kind:
                case "folder":
                    os.mkdir(place)
                case "file":
                    Path(place).touch()
                case _:
                    os.symlink(target.replace("ROOT", root).replace("OUT", root + "-out"), place)
        except OSError:
            continue


@pytest.mark.spec("I2")
@given(entries=ENTRIES, path=STEPS.filter(bool))
@settings(deadline=None, max_examples=400)
def test_any_tree_of_links_resolves_as_realpath_says(entries: list[tuple[str, str, str]], path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.realpath(folder) + "/w"
        os.makedirs(root)
        build(root, entries)
        try:
            found = resolve(path, root).path
        except Unusable:
            with pytest.raises(OSError):  # the kernel gives up as well
                os.stat(os.path.join(root, path))
        else:
            assert found == os.path.realpath(os.path.join(root, path))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("a\0b", r"control character \(\\x00\)"),
        ("a\nb", "control character"),
        ("a\x1b[2Jb", "control character"),
        ("a\x7f", "control character"),
        ("a\x9bb", "control character"),
        ("a\ud800", "not valid text"),
        ("a" * 256, "too long"),
        ("é" * 128, "too long"),
        ("./" * 2048, "the path is too long"),
        ("missing/" + "a" * 256, "the path is too long"),
    ],
)
def test_text_that_cannot_be_a_path_is_refused(path: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        resolve(path, "/")


def test_the_longest_path_and_the_longest_name_are_usable() -> None:
    longest = "/" + "/".join(["a" * 255] * 15 + ["b" * 254])
    assert len(longest) == 4095
    assert resolve(longest, "/").path == longest
    with pytest.raises(Unusable, match="too long"):
        resolve(longest + "b", "/")


@pytest.mark.parametrize("path", ["/", "//", "///", "//etc", "///etc//x/", "/proc/self", "/proc/self/cwd/x", "/proc"])
def test_a_path_is_the_same_whether_it_is_looked_at_in_one_go_or_name_by_name(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_in_one_go(normal: str) -> bool:
        return False

    found = [resolve(path, "/", follow_last=follow) for follow in (True, False)]
    monkeypatch.setattr(files_resolve, "_has_no_links", not_in_one_go)
    assert found == [resolve(path, "/", follow_last=follow) for follow in (True, False)]


@pytest.mark.parametrize("path", ["file", "missing/x", "file/x", "./inner/", "/", "~"])
def test_a_path_without_links_needs_no_walk(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.realpath(tmp_path)
    monkeypatch.setenv("HOME", folder)
    (tmp_path / "inner").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.delattr(files_resolve, "_Walk")
    expected = os.path.normpath(os.path.join(folder, path.replace("~", folder)))
    assert resolve(path, folder) == Resolved(expected, (expected,))


def test_a_path_that_is_too_long_only_with_its_folder_is_refused_also_where_nothing_is(tmp_path: Path) -> None:
    folder = str(tmp_path / "missing" / "/".join(["é" * 100] * 10))
    rest = "/".join(["a" * 99] * 40)[: 4095 - len(os.fsencode(folder)) - 2] + "b"
    assert resolve(rest, folder).path == f"{folder}/{rest}"
    with pytest.raises(Unusable, match="too long"):
        resolve(rest + "b", folder)


@pytest.mark.parametrize("cwd", ["", "relative", "a\0", "/a\0", "/a\nb", "/" + "a" * 256])
def test_a_current_folder_must_be_usable_too(cwd: str) -> None:
    with pytest.raises(Unusable):
        resolve("x", cwd)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(Unusable, match="loop"):
        resolve("a/x", str(tmp_path))


def test_a_path_goes_through_as_many_links_as_the_kernel_follows(tmp_path: Path) -> None:
    (tmp_path / "0").touch()
    for number in range(1, 42):
        (tmp_path / str(number)).symlink_to(str(number - 1))
    assert resolve("40", str(tmp_path)).path == os.path.realpath(tmp_path / "0")
    assert (tmp_path / "40").stat()
    with pytest.raises(OSError):
        (tmp_path / "41").stat()
    with pytest.raises(Unusable, match="too many links"):
        resolve("41", str(tmp_path))


def test_a_dangling_link_counts_as_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/nowhere/at/all")
    assert resolve("link/x", str(tmp_path)).path == "/nowhere/at/all/x"


def test_dots_are_taken_after_links_not_before(tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/away")
    assert resolve("link/../x", str(tmp_path)).path == f"{tmp_path}/far/x"


def test_nothing_is_decoded_and_names_that_begin_with_dots_are_names() -> None:
    assert resolve("%2e%2e/%2f..x/...", "/w").path == "/w/%2e%2e/%2f..x/..."
    assert resolve("..\\..\\x", "/w").path == "/w/..\\..\\x"


def test_tilde_is_the_home_folder_and_otherwise_a_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert resolve("~/x", "/w").path == "/home/someone/x"
    assert resolve("~", "/w").path == "/home/someone"
    assert resolve("~no-such-user/x", "/w").path == "/w/~no-such-user/x"
    assert resolve("a/~/x", "/w").path == "/w/a/~/x"


def test_links_of_proc_are_not_followed() -> None:
    assert resolve("/proc/self/cwd/x", "/").path == "/proc/self/cwd/x"
    through = "/".join(("/proc/self", "root", "etc", "passwd"))
    assert resolve(through, "/").path == through


def test_the_last_link_can_be_kept_for_operations_on_the_link_itself(tmp_path: Path) -> None:
    (tmp_path / "folder").symlink_to("/usr")
    (tmp_path / "link").symlink_to("folder")
    assert resolve("link", str(tmp_path), follow_last=False).path == f"{tmp_path}/link"
    assert resolve("link/", str(tmp_path), follow_last=False).path == f"{tmp_path}/link"
    assert resolve("folder/lib", str(tmp_path), follow_last=False).path == "/usr/lib"


def test_every_spelling_on_the_way_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("c")
    found = resolve("./a/x", str(tmp_path))
    assert found == Resolved(f"{tmp_path}/c/x", (f"{tmp_path}/a/x", f"{tmp_path}/a/x", f"{tmp_path}/b/x"))


def test_what_may_not_be_looked_at_counts_as_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", refuse)
    assert resolve("/secret/x", "/").path == "/secret/x"


def test_a_path_that_cannot_be_examined_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: str) -> os.stat_result:
        raise OSError(5, "Input/output error", path)

    monkeypatch.setattr(os, "lstat", fail)
    with pytest.raises(Unusable, match="cannot be examined: Input/output error"):
        resolve("/x", "/")
