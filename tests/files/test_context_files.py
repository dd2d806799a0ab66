"""Which context files are found, how far imports go, and what is left out."""

from pathlib import Path

import pytest

from assent.files import context_reader
from assent.files.context_reader import ContextFile, find_context, folders_below

pytestmark = pytest.mark.spec("F7")


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def found(folder: Path, home: Path | str = "", *below: Path) -> list[ContextFile]:
    return find_context(str(folder), str(home), [str(each) for each in below])


def names(files: list[ContextFile]) -> list[str]:
    return [Path(file.path).name for file in files]


def test_there_are_three_names_in_this_order(tmp_path: Path) -> None:
    write(tmp_path, GEMINI="g", AGENTS="a", ASSENT="s", README="r", agents="small")
    assert names(found(tmp_path)) == ["ASSENT.md", "AGENTS.md", "GEMINI.md"]


def test_the_way_up_ends_at_the_repository_then_at_home_then_at_once(tmp_path: Path) -> None:
    write(tmp_path, AGENTS="top")
    home = write(tmp_path / "home", AGENTS="home")
    inner = write(home / "a" / "b", AGENTS="inner")
    assert [file.text for file in found(inner)] == ["inner"]
    assert [file.text for file in found(inner, home)] == ["home", "inner"]
    assert [file.text for file in found(home, home)] == ["home"]
    (home / "a" / ".git").write_text("gitdir: elsewhere")
    assert [file.text for file in found(inner, home)] == ["inner"], "a worktree's .git is a file"
    (tmp_path / ".git").mkdir()
    assert [file.text for file in found(home, home)] == ["home"], "what lies above home is not looked at"


def test_the_home_folder_may_be_a_repository_itself(tmp_path: Path) -> None:
    inner = write(write(tmp_path, AGENTS="home") / "a", AGENTS="inner")
    (tmp_path / ".git").mkdir()
    assert [file.text for file in found(inner, tmp_path)] == ["home", "inner"]


def test_folders_below_that_matter_come_last(tmp_path: Path) -> None:
    below = write(write(tmp_path, AGENTS="here") / "x" / "y", AGENTS="below")
    assert [file.text for file in found(tmp_path, "", below)] == ["here", "below"]


def test_what_is_imported_is_known_as_such_also_when_it_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path, AGENTS="@a.md @bad.md @missing.md", a="text")
    (tmp_path / "bad.md").write_bytes(b"\xff")
    (tmp_path / "GEMINI.md").write_bytes(b"\xff")
    main, a, bad, gemini = found(tmp_path)
    assert [file.imported for file in (main, a, bad, gemini)] == [False, True, True, False]
    assert (bad.problem, gemini.problem) == ("it is not UTF-8 text", "it is not UTF-8 text")
    assert main.imports == (("a.md", f"{tmp_path}/a.md"), ("bad.md", f"{tmp_path}/bad.md"))
    assert (a.size, a.problem, len(a.digest)) == (4, "", 64)


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbftext")
    assert [file.text for file in found(tmp_path)] == ["text"]


def test_a_file_that_a_secret_place_or_a_link_out_holds_is_refused_with_its_reason(tmp_path: Path) -> None:
    project = write(tmp_path / "project", AGENTS="@.ssh/x.md @link.md @../out.md")
    write(project / ".ssh", x="secret")
    write(tmp_path, out="outside")
    (project / "link.md").symlink_to("../out.md")
    _, *refused = found(project)
    assert [file.text for file in refused] == ["", ""]
    assert "secrets" in refused[0].problem
    assert "outside" in refused[1].problem
    assert names(refused) == ["x.md", "out.md"], "one place under two names is told once"


def test_imports_go_five_deep(tmp_path: Path) -> None:
    write(tmp_path, AGENTS="@d1.md", **{f"d{n}": f"@d{n + 1}.md" for n in range(1, 9)})
    assert names(found(tmp_path)) == ["AGENTS.md", "d1.md", "d2.md", "d3.md", "d4.md", "d5.md"]


def test_there_are_only_so_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_reader, "MAX_FILES", 3)
    write(tmp_path, AGENTS="@a.md @b.md @c.md @a.md", a="", b="", c="")
    main, *rest = found(tmp_path)
    assert names(rest) == ["a.md", "b.md"]
    assert [written for written, _ in main.imports] == ["a.md", "b.md", "a.md"], "what is known costs nothing more"


# --- folders below ---


@pytest.mark.parametrize("name", ["node_modules", "__pycache__", "venv", ".hidden", ".venv"])
def test_hidden_folders_and_other_peoples_code_are_not_searched(tmp_path: Path, name: str) -> None:
    write(tmp_path / name / "x", AGENTS="not mine")
    write(tmp_path / "mine" / name, AGENTS="not mine")
    write(tmp_path / "mine", AGENTS="mine")
    assert folders_below(str(tmp_path)) == [f"{tmp_path}/mine"]


def test_folders_with_context_files_are_found_at_any_depth_and_links_are_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    for folder in (inside, inside / "b" / "c" / "d", inside / "a", tmp_path / "outside"):
        write(folder, AGENTS="x")
    (inside / "empty").mkdir()
    (inside / "link").symlink_to(tmp_path / "outside")
    (inside / "loop").symlink_to(inside)
    assert folders_below(str(inside)) == [f"{inside}/a", f"{inside}/b/c/d"]
    assert folders_below(str(tmp_path / "missing")) == []


def test_only_so_many_folders_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_reader, "_MAX_FOLDERS", 2)
    write(tmp_path / "a" / "b" / "c", AGENTS="too deep")
    write(tmp_path / "a" / "b", AGENTS="found")
    assert folders_below(str(tmp_path)) == [f"{tmp_path}/a/b"]
