"""Paths for completion: what is offered, what is not, and how much at most."""

import itertools
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from assent.files.listing import list_paths, paths_below


def make(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.spec("G1")
async def test_files_and_folders_are_offered_those_near_the_top_first(tmp_path: Path):
    make(tmp_path, {"src/deep/down.py": "", "src/main.py": "", "z.txt": "", "a b.txt": "", ".hidden": ""})
    assert await list_paths(str(tmp_path)) == [
        ".hidden",
        "a b.txt",
        "src/",
        "z.txt",
        "src/deep/",
        "src/main.py",
        "src/deep/down.py",
    ]


def test_what_git_ignores_is_left_out_at_every_level_and_the_nearest_rule_decides(tmp_path: Path):
    make(
        tmp_path,
        {
            ".gitignore": "*.log\n/build/\n",
            "build/x": "",
            "a.log": "",
            "sub/.gitignore": "!keep.log\nlocal\n",
            "sub/keep.log": "",
            "sub/other.log": "",
            "sub/local": "",
            "local": "",
            "sub/build/y": "",
        },
    )
    assert paths_below(str(tmp_path)) == [
        ".gitignore",
        "local",
        "sub/",
        "sub/.gitignore",
        "sub/build/",
        "sub/keep.log",
        "sub/build/y",
    ]


def test_rules_that_are_alone_in_their_folder_may_ignore_themselves(tmp_path: Path):
    make(tmp_path, {"alone/.gitignore": "*\n", "other/.gitignore": "*\n", "other/x": ""})
    assert paths_below(str(tmp_path)) == ["alone/", "other/"]


def test_secrets_and_the_repositorys_own_folder_are_never_offered(tmp_path: Path):
    make(tmp_path, {".git/config": "", ".env": "", ".ssh/id": "", "key.pem": "", ".env.example": "", ".GIT/x": ""})
    make(tmp_path, {f"{name}/x": "" for name in (".hg", ".svn", ".bzr", ".jj", "GIT~1", ".Hg.")})
    assert paths_below(str(tmp_path)) == [".env.example"]


def test_links_are_neither_offered_nor_followed(tmp_path: Path):
    make(tmp_path, {"inside/a.txt": "", "outside/secret.txt": "", "outside/ignore": "*\n"})
    (tmp_path / "inside" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "inside" / "loop").symlink_to(tmp_path / "inside")
    (tmp_path / "inside" / ".gitignore").symlink_to(tmp_path / "outside" / "ignore")
    assert paths_below(str(tmp_path / "inside")) == ["a.txt"]


def test_names_that_do_not_print_and_things_that_are_no_files_are_left_out(tmp_path: Path):
    make(
        tmp_path, {"good.txt": "", "bad\x1b[31m.txt": "", "two\nlines": "", "turned\u202etxt": "", "größe 漢字.txt": ""}
    )
    (tmp_path / os.fsdecode(b"broken\xff")).write_text("")
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / ".gitignore")
    assert paths_below(str(tmp_path)) == ["good.txt", "größe 漢字.txt"]


def test_the_number_of_paths_is_bounded(tmp_path: Path):
    make(tmp_path, {f"{n:03}": "" for n in range(30)})
    assert len(paths_below(str(tmp_path), most=10)) == 10


def test_when_the_time_is_up_nothing_more_is_looked_at(tmp_path: Path):
    make(tmp_path, {"a/b/c/d": ""})
    ticks = itertools.count()
    assert paths_below(str(tmp_path), seconds=3, clock=lambda: next(ticks)) == ["a/", "a/b/"]


def test_a_folder_that_is_gone_has_nothing(tmp_path: Path):
    assert paths_below(str(tmp_path / "none")) == []
