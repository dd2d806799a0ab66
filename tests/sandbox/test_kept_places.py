"""What a command leaves where nothing may be is moved aside, and nothing else is touched."""

import os
from pathlib import Path

import pytest

from assent.sandbox.boxes import BoxMaker, interpreter_folders
from assent.sandbox.kept_places import kept_places
from assent.sandbox.profiles import WORKSPACE

pytestmark = pytest.mark.spec("I1")


def test_a_new_place_is_moved_aside_even_if_that_name_is_taken(tmp_path: Path):
    kept = kept_places([str(tmp_path)], [str(tmp_path / ".git/hooks")], [])
    (tmp_path / ".git/hooks.removed-by-assent/x").mkdir(parents=True)
    (tmp_path / ".git/hooks").mkdir()
    (tmp_path / ".git/hooks/pre-commit").write_text("evil")
    [said] = kept.restore()
    assert "hooks" in said and "removed" in said
    assert not (tmp_path / ".git/hooks").exists()
    assert [one.read_text() for one in tmp_path.glob(".git/*/pre-commit")] == ["evil"]


def test_a_link_on_the_way_is_moved_and_not_followed(tmp_path: Path):
    work, outside = tmp_path / "work", tmp_path / "outside"
    (work / ".git").mkdir(parents=True)
    outside.mkdir()
    (outside / "attributes").write_text("precious")
    kept = kept_places([str(work)], [str(work / ".git/info/attributes")], [])
    os.symlink(outside, work / ".git/info")
    assert len(kept.restore()) == 1
    assert (outside / "attributes").read_text() == "precious"
    assert not (work / ".git/info").exists()


def test_what_is_as_it_was_is_left_alone(tmp_path: Path):
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / ".vscode")
    kept = kept_places([str(tmp_path)], [str(tmp_path / ".git/hooks")], [str(tmp_path / ".vscode")])
    assert kept.restore() == []
    assert os.readlink(tmp_path / ".vscode") == "real"


def test_a_protected_link_is_restored(tmp_path: Path):
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / ".vscode")
    kept = kept_places([str(tmp_path)], [], [str(tmp_path / ".vscode")])
    os.unlink(tmp_path / ".vscode")
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/tasks.json").write_text("evil")
    [said] = kept.restore()
    assert "restored the link" in said
    assert os.readlink(tmp_path / ".vscode") == "real"


def test_a_place_outside_what_a_command_can_change_is_not_looked_after(tmp_path: Path):
    (tmp_path / "work").mkdir()
    kept = kept_places([str(tmp_path / "work")], [str(tmp_path / "hooks")], [])
    (tmp_path / "hooks").mkdir()
    assert kept.restore() == []


@pytest.mark.parametrize("name", ["work", "work [1]"])
def test_submodules_are_protected_whatever_their_names_are(tmp_path: Path, name: str):
    work = tmp_path / name
    for module in ("sub", ".hidden", "a/b"):
        (work / ".git/modules" / module).mkdir(parents=True)
        (work / ".git/modules" / module / "config").write_text("")
    box = BoxMaker([str(work)], [], {"HOME": str(tmp_path)}).box(WORKSPACE, str(work))
    git = work / ".git/modules"
    assert {f"{git}/{module}/config" for module in ("sub", ".hidden", "a/b")} <= set(box.protected)
    assert f"{git}/.hidden/hooks" in box.kept.empty


def test_our_own_code_is_protected_if_it_is_in_the_workspace(tmp_path: Path):
    code = interpreter_folders()[-1]
    root = os.path.dirname(code)
    box = BoxMaker([root], [], {"HOME": str(tmp_path)})
    assert code in set(box._our_code())  # pyright: ignore[reportPrivateUsage]
    assert set(BoxMaker([str(tmp_path)], [], {"HOME": str(tmp_path)})._our_code()) == set()  # pyright: ignore[reportPrivateUsage]


def test_secrets_of_the_account_are_hidden_whatever_the_variable_for_its_home_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "account/.ssh").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    monkeypatch.setattr("assent.sandbox.boxes._home_of_account", lambda: str(tmp_path / "account"))
    box = BoxMaker([str(tmp_path / "work")], [], {"HOME": str(tmp_path)}).box(WORKSPACE, str(tmp_path / "work"))
    assert str(tmp_path / "account/.ssh") in box.hidden


def test_settings_of_assent_must_not_appear(tmp_path: Path):
    box = BoxMaker([str(tmp_path)], [], {"HOME": "/nonexistent"}).box(WORKSPACE, str(tmp_path))
    assert box.kept.empty == (str(tmp_path / ".assent"),)
