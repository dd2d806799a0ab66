"""What git ignores: the nearest rule decides, and `.git` is always left out."""

import pytest

from assent.files.ignore import IgnoreRules


@pytest.mark.parametrize("path", [".git", "a/.git", "a/b/.git"])
def test_the_repositorys_own_folder_is_always_left_out(path: str) -> None:
    for rules in (IgnoreRules(), IgnoreRules().below("", "!.git\n")):
        assert rules.ignores(path, is_folder=True)
        assert rules.ignores(path, is_folder=False), "a worktree has a file of that name"


@pytest.mark.parametrize("path", [".github", ".git/config", "a.git", ".gitignore"])
def test_without_rules_nothing_else_is(path: str) -> None:
    assert not IgnoreRules().ignores(path, is_folder=False)


def test_a_rule_for_folders_leaves_files_of_that_name() -> None:
    rules = IgnoreRules().below("", "build/\n")
    assert rules.ignores("build", is_folder=True)
    assert not rules.ignores("build", is_folder=False)


def test_rules_hold_below_their_folder_and_the_nearest_decides() -> None:
    outer = IgnoreRules().below("", "*.log\n/top\n")
    inner = outer.below("sub/", "!keep.log\n/here\n")
    assert inner.ignores("sub/x.log", is_folder=False)
    assert not inner.ignores("sub/keep.log", is_folder=False)
    assert inner.ignores("sub/here", is_folder=False)
    assert not inner.ignores("sub/top", is_folder=False)


@pytest.mark.parametrize("text", [None, ""])
def test_a_folder_without_rules_has_those_above(text: str | None) -> None:
    outer = IgnoreRules().below("", "*.log\n")
    assert outer.below("sub/", text) is outer
