"""A pipe where a file is expected: to open it waits for ever, so nothing opens it by name alone."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import pytest

from assent.cli import trust_command as cli_trust
from assent.config import BadSettings, load_settings
from assent.files.context_reader import find_context
from assent.files.regular_file import NotPlain, read_plain
from assent.policy.trust import TrustStore
from assent.process.git_branch import current_branch
from assent.safe_open import NotRegular, read_regular
from assent.tools.tool import ToolFailed
from support.waiting import WAIT_LIMIT
from tools.toolkit import Bench

Answer = TypeVar("Answer")


async def soon(work: Awaitable[Answer]) -> Answer:
    return await asyncio.wait_for(work, WAIT_LIMIT)


@pytest.mark.parametrize("place", [".gitignore", "sub/.gitignore", ".ignore", "sub/.rgignore"])
async def test_a_search_does_not_wait_for_an_ignore_file_that_is_a_pipe(bench: Bench, place: str) -> None:
    (bench.root / "sub").mkdir()
    (bench.root / "sub" / "a.py").write_text("needle\n")
    os.mkfifo(bench.root / place)
    assert "a.py" in await soon(bench.text("glob", pattern="**/*.py"))
    assert "needle" in await soon(bench.text("grep_search", pattern="needle"))


@pytest.mark.parametrize("tool", ["read_file", "read_many_files"])
async def test_a_pipe_is_not_read(bench: Bench, tool: str) -> None:
    os.mkfifo(bench.root / "a.txt")
    (bench.root / "b.txt").write_text("here\n")
    if tool == "read_many_files":
        assert "here" in str((await soon(bench.run(tool, include=["*.txt"]))).content)
        return
    with pytest.raises(ToolFailed, match="not a regular file"):
        await soon(bench.text(tool, file_path="a.txt"))


def test_settings_that_are_a_pipe_are_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.toml")
    with pytest.raises(BadSettings, match="not a regular file"):
        load_settings({"ASSENT_HOME": str(tmp_path)})


def test_context_and_trust_do_not_wait_for_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".assent").mkdir()
    os.mkfifo(tmp_path / "AGENTS.md")
    os.mkfifo(tmp_path / ".assent" / "policy.toml")
    assert [bool(file.problem) for file in find_context(str(tmp_path))] == [True]
    store = TrustStore(tmp_path / "trusted.json", str(tmp_path))
    seen = store.look(tmp_path)
    cli_trust._show(tmp_path, seen)  # pyright: ignore[reportPrivateUsage]
    assert "(not a regular file)" in capsys.readouterr().out
    os.mkfifo(tmp_path / "trusted.json")
    assert store.look(tmp_path).state == "untrusted"


def test_the_branch_is_unknown_where_its_file_is_a_pipe(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git" / "HEAD").unlink()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert current_branch(str(tmp_path)) == ""


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("12345")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("none")
    assert read_regular(tmp_path / "link") == b"12345"
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(NotRegular):
            read_regular(path)
    with pytest.raises(NotRegular, match="larger than 4 bytes"):
        read_regular(tmp_path / "file", limit=4)
    with pytest.raises(NotPlain, match="is a link"):
        read_plain(tmp_path / "dangling")
