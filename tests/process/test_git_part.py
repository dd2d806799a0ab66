"""A workspace that is a part of a larger repository: git shows nothing of the rest of it."""

import os
import subprocess
from pathlib import Path

import pytest

from assent.policy.shell import judge, rules
from assent.policy.symlink_checks import repository_behind
from assent.process.pipeline import REFUSED, Pipeline

pytestmark = pytest.mark.needs("git")


class World:
    """A repository with the folders `part`, which is the workspace, and `other`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.top = folder, folder / "whole"
        self.work = self.top / "part"
        (folder / ".gitconfig").write_text("[user]\nname = n\nemail = e\n")
        (self.work / "sub").mkdir(parents=True)
        (self.top / "other").mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit("first")
        self.commit("second")
        self.git("checkout", "-qb", "branch", "HEAD~1")
        self.commit("branched")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "-s", "ours", "branch")
        self.write("merged")
        self.git("commit", "-qa", "--amend", "-m", "merged")
        self.write("stashed")
        self.git("stash")
        self.write("lying")
        (self.top / "other" / "new-beyond.txt").write_text("beyond\n")

    def write(self, text: str) -> None:
        (self.work / "a.txt").write_text(f"inside {text}\n")
        (self.work / "sub" / "b.txt").write_text(f"inside {text}\n")
        (self.top / "other" / "private.txt").write_text(f"BEYOND {text}\n")
        (self.top / "root.txt").write_text(f"BEYOND {text}\n")

    def commit(self, text: str) -> None:
        self.write(text)
        self.git("add", "-A")
        self.git("commit", "-qm", text)

    def git(self, *words: str) -> str:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(["git", *words], cwd=self.top, env=clean, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def asks(self, command: str) -> bool:
        plan = judge(
            command, rules(["git", "git format-patch", "cd", "timeout"]), cwd=str(self.work), roots=[str(self.work)]
        ).plan
        return plan is None or repository_behind(plan) is not None

    def run(self, command: str) -> tuple[int, str]:
        found = judge(
            command, rules(["git", "git format-patch", "cd", "timeout"]), cwd=str(self.work), roots=[str(self.work)]
        )
        assert found.plan is not None, command
        with open(self.folder / "output", "w+b") as output:
            code = Pipeline(found.plan, output.fileno(), {"PATH": os.environ["PATH"], "HOME": str(self.folder)}).run()
            output.seek(0)
            return code, output.read().decode()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


_SHOWING = [
    *("git diff", "git diff HEAD", "git diff HEAD~1", "git diff --cached HEAD~1", "git log -p", "git log -p --all"),
    *("git log -p -1", "git log --stat", "git log --name-only", "git log --raw", "git log -p -m", "git log -p -c"),
    *("git log --cc", "git show", "git show HEAD", "git show HEAD~1", "git show --name-status HEAD~1", "git show -m"),
    *("git whatchanged -p", "git diff-tree -p HEAD~1", "git diff-tree -r --name-only HEAD~1", "git diff-index -p HEAD"),
    *("git diff-files -p", "git stash show -p", "git stash show", "git stash show --name-only", "git log -p -S BEYOND"),
    *("git status", "git status -s", "git status --porcelain", "git grep -h BEYOND", "git grep BEYOND HEAD"),
    *("git ls-files", "git ls-tree -r HEAD", "cd sub && git diff", "cd sub && git log -p", "git -C sub status"),
    *("cd sub && git grep BEYOND", "timeout 9 git log -p", "git log -p --relative", "git log -p main", "git log -p -g"),
    *("git diff main branch", "git diff --word-diff", "git log -p -- a.txt", "git log -p --follow a.txt"),
    *("git format-patch --stdout -2", "git format-patch --stdout HEAD~1"),
    *("git log -L 1,1:a.txt", "git show HEAD:part/a.txt", "git show HEAD:./a.txt", "git blame a.txt", "git status ."),
]


@pytest.mark.spec("I3")
@pytest.mark.parametrize("command", _SHOWING)
def test_nothing_beyond_the_workspace_is_shown(world: World, command: str) -> None:
    assert not world.asks(command)
    code, output = world.run(command)
    assert "beyond" not in output.lower().replace("-s beyond", "")
    assert "private" not in output
    assert "root.txt" not in output
    assert "denied" not in output
    assert code in (0, 1), output


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("git diff", "+inside lying"),
        ("git log -p", "+inside second"),
        ("git show HEAD~1", "+inside second"),
        ("git stash show -p", "+inside stashed"),
        ("git status", "modified:   a.txt"),
        ("git grep -h inside", "inside lying"),
        ("cd sub && git diff", "a.txt"),
        ("git show HEAD:./a.txt", "inside merged"),
        ("git show HEAD:part/a.txt", "inside merged"),
        ("git diff -- sub", "+inside lying"),
        ("git stash show", "sub/b.txt | 2 +-"),
        ("git log --oneline", "merged"),
        ("git describe --always --dirty", "-dirty"),
    ],
)
def test_the_workspace_is_shown(world: World, command: str, shown: str) -> None:
    code, output = world.run(command)
    assert code == 0
    assert shown in output


def test_the_output_says_that_only_part_of_the_changes_is_shown(world: World) -> None:
    assert "only files in the workspace are shown, which is part of a larger repository\n" in world.run("git show")[1]


_BEYOND = [
    *("git show HEAD:other/private.txt", "git show HEAD:../other/private.txt", "git show :other/private.txt"),
    *("git show :0:other/private.txt", "git show HEAD:", "git show HEAD^{tree}", "git cat-file -p HEAD:root.txt"),
    *("git cat-file -p HEAD^{tree}", "git blame ../other/private.txt", "git blame HEAD -- ../root.txt"),
    *(
        "git blame :/root.txt",
        "git log -p -- :/other",
        "git log -p -- ':(top)other'",
        "git log -p -- ..",
        "git diff ..",
    ),
    *("git grep BEYOND :/", "git grep BEYOND -- ':(top)'", "git grep BEYOND -- ..", "git grep BEYOND HEAD:other"),
    *(
        "git grep BEYOND HEAD -- ':(icase,top)OTHER'",
        "git log -L 1,1:../root.txt",
        "git diff HEAD:root.txt HEAD~1:root.txt",
    ),
    *(
        "git ls-files :/",
        "git ls-files ..",
        "git ls-tree -r --full-tree HEAD",
        "git ls-tree HEAD ../",
        "git log --no-relative -p",
    ),
    *("git diff --relative=other/", "git rev-list --objects HEAD", "git range-diff HEAD~1..HEAD HEAD~1..HEAD"),
    *("git diff-tree --cc HEAD", "git diff-tree -c -p HEAD", "git diff-tree HEAD~1:other HEAD:other", "git status .."),
    *("cd sub && git show HEAD:../../root.txt", "git -C sub blame ../../root.txt", "timeout 9 git show HEAD:root.txt"),
    *("git cat-file -p stash@{0}:root.txt", "git stash show --no-relative"),
    *("git add ../root.txt", "git add :/", "git rm ':/root.txt'", "git restore --staged ../root.txt"),
    *("git reset ../root.txt", "git commit -m x ../root.txt", "git checkout -- :/root.txt", "git clean -n .."),
]


@pytest.mark.spec("I3")
@pytest.mark.parametrize("command", _BEYOND)
def test_what_reaches_beyond_the_workspace_asks_and_does_not_run_by_its_words(world: World, command: str) -> None:
    assert world.asks(command)
    if (
        judge(
            command, rules(["git", "git format-patch", "cd", "timeout"]), cwd=str(world.work), roots=[str(world.work)]
        ).plan
        is not None
    ):
        code, output = world.run(command)
        assert code == REFUSED, output
        assert "BEYOND" not in output


@pytest.mark.spec("C7")
@pytest.mark.parametrize("command", ["git show HEAD:other/private.txt", "git diff ..", "git log -p -- :/other"])
def test_in_a_workspace_that_holds_all_of_a_repository_nothing_is_beyond(world: World, command: str) -> None:
    plan = judge(command, rules(["git"]), cwd=str(world.work), roots=[str(world.top)]).plan
    assert plan is not None
    assert repository_behind(plan) is None


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "command",
    ["git grep 'key: value'", "git log --grep 'fix: x'", "git log --since '10:00'", "git log --format='%h: %s'"],
)
def test_a_text_with_a_colon_names_no_file(world: World, command: str) -> None:
    assert not world.asks(command)
    assert world.run(command)[0] in (0, 1)


@pytest.mark.spec("C7")
def test_a_commit_is_made_from_a_part_of_a_repository(tmp_path: Path) -> None:
    world = World(tmp_path)
    allowed = rules(["git add", "git commit", "git stash push"])
    for command in ("git add .", "git commit -qam inside", "git stash push -u"):
        plan = judge(command, allowed, cwd=str(world.work), roots=[str(world.work)]).plan
        assert plan is not None
        assert repository_behind(plan) is None
        with open(tmp_path / "output", "w+b") as output:
            code = Pipeline(plan, output.fileno(), {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}).run()
            output.seek(0)
            assert code == 0, output.read()
    assert world.git("log", "-1", "--format=%s") == "inside"
