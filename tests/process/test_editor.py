"""The editor: the chosen one when it is there, the person's own otherwise."""

from pathlib import Path

import pytest

from assent.process.editor import EditorFailed, available_editors, default_editor, edit_text


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs that can be found."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "mine --flag")
    return tmp_path


def install(folder: Path, name: str) -> None:
    """An editor that writes how it was called."""
    path = folder / name
    path.write_text('#!/bin/sh\nfor last; do :; done\nprintf "%s %s" "${0##*/}" "$1" > "$last"\n')
    path.chmod(0o755)


async def test_a_chosen_editor_is_run_with_what_makes_it_wait(programs: Path):
    install(programs, "code")
    install(programs, "mine")
    assert await edit_text("a.md", "old", "code") == "code --wait"
    assert await edit_text("a.md", "old") == "mine --flag"


async def test_an_editor_that_is_gone_gives_way_to_the_persons_own(programs: Path):
    install(programs, "mine")
    assert await edit_text("a.md", "old", "zed") == "mine --flag"


def test_only_what_is_installed_is_offered(programs: Path, monkeypatch: pytest.MonkeyPatch):
    install(programs, "hx")
    monkeypatch.setenv("PATH", str(programs))
    assert available_editors() == {"helix": ("hx",)}
    assert default_editor() == "mine --flag"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nosuch --flag", "could not be started: nosuch --flag was not found; set $EDITOR or use /editor."),
        ("/", "could not be started: /: Permission denied; set $EDITOR or use /editor."),
        ("vi 'x", "could not be started: vi 'x: No closing quotation; set $EDITOR or use /editor."),
        ("false", "ended with exit code 1, so nothing was taken over from it."),
        ("sh -c 'kill -9 $$'", "was ended by signal 9, so nothing was taken over from it."),
    ],
)
async def test_an_editor_that_fails_is_said_to_have_failed_and_why(
    programs: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
):
    monkeypatch.setenv("EDITOR", command)
    with pytest.raises(EditorFailed) as failed:
        await edit_text("a.md", "old")
    assert str(failed.value) == f"The editor {said}"


async def test_a_variable_with_only_spaces_names_no_editor(programs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EDITOR", " ")
    assert default_editor() == "vi"
