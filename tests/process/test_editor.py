"""The editor: the chosen one when it is there, the person's own otherwise."""

from pathlib import Path

import pytest

from assent.process.editor import available_editors, default_editor, edit_text


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
