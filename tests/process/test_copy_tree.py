"""A folder is copied as it is, and nothing from outside of it comes into the copy."""

import os
import stat
from pathlib import Path

import pytest

from assent.process import copy_tree as program
from assent.process.copy_tree import NotCopied, copy_tree

pytestmark = pytest.mark.spec("J8")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for name in ("work/d", "copy", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside/key").write_text("secret\n")
    return tmp_path / "work"


def copied(work: Path) -> Path:
    copy_tree(str(work), str(work.parent / "copy"))
    return work.parent / "copy"


def exchange_when_opened(monkeypatch: pytest.MonkeyPatch, path: Path, target: str) -> None:
    """What a command in the background does between the look at a place and its opening."""
    really = os.open

    def opening(name: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if name == path.name and not path.is_symlink():
            path.rename(path.with_name("before"))
            path.symlink_to(target)
        return really(name, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(program.os, "open", opening)


def test_a_folder_that_becomes_a_link_is_not_followed(work: Path, monkeypatch: pytest.MonkeyPatch):
    (work / "d/mine").write_text("x\n")
    exchange_when_opened(monkeypatch, work / "d", "../outside")
    with pytest.raises(NotCopied, match="d: it was replaced while it was being copied"):
        copied(work)
    assert not list((work.parent / "copy").rglob("key"))


def test_a_file_that_becomes_a_link_is_not_followed(work: Path, monkeypatch: pytest.MonkeyPatch):
    (work / "d/mine").write_text("x\n")
    exchange_when_opened(monkeypatch, work / "d/mine", "../../outside/key")
    with pytest.raises(NotCopied, match="d/mine: it was replaced while it was being copied"):
        copied(work)
    assert not (work.parent / "copy/d/mine").exists()


def test_a_folder_that_is_moved_while_it_is_copied_is_still_the_one_that_is_copied(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    (work / "d/key").write_text("mine\n")
    really = os.stat

    def looking(name: str, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if name == "key":  # its folder is open by now
            (work / "d").rename(work.parent / "moved")
            (work / "d").symlink_to("../outside")
        return really(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(program.os, "stat", looking)
    assert (copied(work) / "d/key").read_text() == "mine\n"


def test_permissions_times_links_pipes_and_holes_are_kept(work: Path):
    (work / "run").write_text("#!/bin/sh\n")
    (work / "run").chmod(0o755)
    (work / "link").symlink_to("../outside")
    os.mkfifo(work / "pipe")
    os.link(work / "run", work / "d/again")
    with open(work / "sparse", "wb") as file:
        file.seek(8 << 20)
        file.write(b"end")
    (work / "d").chmod(0o750)
    for name in ("run", "d"):
        os.utime(work / name, ns=(1_000_000_007, 2_000_000_009))
    copy = copied(work)
    assert stat.S_IMODE((copy / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((copy / "d").stat().st_mode) == 0o750
    assert (copy / "d").stat().st_mtime_ns == (copy / "run").stat().st_mtime_ns == 2_000_000_009
    assert os.readlink(copy / "link") == "../outside"
    assert stat.S_ISFIFO((copy / "pipe").lstat().st_mode)
    assert (copy / "run").samefile(copy / "d/again")
    assert (copy / "sparse").read_bytes() == (work / "sparse").read_bytes()
    assert (copy / "sparse").stat().st_blocks <= (work / "sparse").stat().st_blocks


def test_what_cannot_be_read_is_missing_and_the_rest_is_copied(work: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("closed", "open"):
        (work / name).write_text("x\n")
    really = os.open

    def opening(name: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if name == "closed":  # as for an ordinary user
            raise PermissionError(13, "Permission denied")
        return really(name, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(program.os, "open", opening)
    assert sorted(path.name for path in copied(work).iterdir()) == ["d", "open"]
