"""ripgrep, which Assent runs by itself, can only read."""

from pathlib import Path

import pytest

from assent.files.workspace import Workspace
from assent.sandbox import confinement
from assent.sandbox.bubblewrap import bubblewrap
from assent.sandbox.confinement import Confinement
from assent.tools.glob import GlobTool
from assent.tools.grep_search import GrepTool
from assent.tools.read_many_files import ReadManyFilesTool
from assent.tools.support import searching
from assent.tools.support import walk as walk  # before `find_rg` is replaced: it takes the name over
from assent.tools.support.files import Files
from assent.tools.tool import Permit
from support.trying import Quiet

pytestmark = [pytest.mark.spec("I1"), pytest.mark.skipif(bubblewrap() is None, reason="needs bubblewrap")]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("needle\n")
    return folder


async def found(work: Path, pattern: str = "needle") -> str:
    masks = str(work.parent / "masks")
    confined = Confinement([str(work)], [masks], masks, {"HOME": str(work.parent)})
    tool = GrepTool(Files(Workspace([str(work)], str(work))), confinement=lambda: confined)
    invocation = tool.invocation(tool.params(pattern=pattern))
    result = await invocation.execute(Permit(call_id="c", digest=""), Quiet())
    return str(result.content)


async def test_it_finds_what_is_there(work: Path):
    assert "needle" in await found(work)


def fake_rg(work: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = work / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(searching, "find_rg", lambda: str(program))


async def test_it_cannot_write_or_connect(work: Path, monkeypatch: pytest.MonkeyPatch):
    fake_rg(work, monkeypatch, f"echo x > {work}/written; echo x > {work.parent}/written; exit 1")
    await found(work)
    assert not (work / "written").exists() and not (work.parent / "written").exists()


async def test_where_the_sandbox_does_not_show_it_the_search_goes_on_without_it(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    elsewhere = tmp_path / "bin"
    elsewhere.mkdir()
    fake_rg(elsewhere, monkeypatch, "exit 1")
    assert "needle" in await found(work)


async def test_without_a_sandbox_it_searches_as_ever(work: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(confinement, "bubblewrap", lambda: None)
    assert "needle" in await found(work)


@pytest.mark.parametrize("kind", [GlobTool, ReadManyFilesTool])
async def test_listing_files_cannot_write_either(
    work: Path, monkeypatch: pytest.MonkeyPatch, kind: type[GlobTool] | type[ReadManyFilesTool]
):
    fake_rg(work, monkeypatch, f"(echo x > {work}/written) 2>/dev/null; printf './a.txt\\0'")
    monkeypatch.setattr(walk, "find_rg", lambda: str(work / "rg"))
    masks = str(work.parent / "masks")
    confined = Confinement([str(work)], [masks], masks, {"HOME": str(work.parent)})
    tool = kind(Files(Workspace([str(work)], str(work))), confinement=lambda: confined)
    arguments = {"pattern": "*.txt"} if kind is GlobTool else {"include": ["a.txt"]}
    result = await tool.build(arguments).execute(Permit(call_id="c", digest=""), Quiet())
    assert "a.txt" in str(result.content)
    assert not (work / "written").exists()
