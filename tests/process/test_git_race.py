"""Whoever exchanges folders or settings between the check of a repository and the start of git gains nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assent.policy.shell import judge, rules
from assent.process import git_bounds, starter
from assent.process.landlock import available
from assent.process.pipeline import Pipeline
from assent.process.repository import Guard, guard

pytestmark = [
    pytest.mark.needs("git"),
    pytest.mark.skipif(not available(), reason="this kernel has no Landlock"),
]

_ALLOW = ["git", "cd", "timeout", "git add", "git commit", "git stash push"]
_FLIP = """
import os, sys
link, first, second = sys.argv[1:]
print(flush=True)
while True:
    for target in (first, second):
        os.symlink(target, link + ".new")
        os.replace(link + ".new", link)
"""
_LOOKING = [
    *("git -C sub log -p", "cd sub && git log -p", "timeout 9 git -C sub log -p", "git -C sub show HEAD:a.txt"),
    *(
        "git -C sub diff",
        "cd sub && git status",
        "git -C sub grep .",
        "git -C sub diff HEAD~1",
        "git -C sub blame a.txt",
    ),
]


class World:
    """A workspace with three repositories: `good`, `hostile`, which runs a program, and a private one outside."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work, self.outside = folder, folder / "work", folder / "outside"
        self.trace = folder / "ran"
        self.work.mkdir()
        (folder / ".gitconfig").write_text("[user]\nname = n\nemail = e\n")
        self._repository(self.work / "good", "inside\n")
        self._repository(self.work / "hostile", "inside\n")
        self._repository(self.outside, "OUTSIDE\n")
        program = folder / "program"
        program.write_text(f"#!/bin/sh\ntouch '{self.trace}'\ncat\n")
        program.chmod(0o755)
        self.settings = f'[filter "evil"]\nclean = {program}\nsmudge = {program}\n'
        with (self.work / "hostile/.git/config").open("a") as file:
            file.write(self.settings)
        (self.work / "sub").symlink_to("good")

    def _repository(self, at: Path, text: str) -> None:
        at.mkdir()
        self.git("init", "-q", "-b", "main", at=at)
        (at / ".gitattributes").write_text("*.txt filter=evil\n")
        for content in ("first\n", text):
            (at / "a.txt").write_text(content)
            self.git("add", ".", at=at)
            self.git("commit", "-qm", "x", at=at)
        (at / "a.txt").write_text(f"{text}changed {text}")

    def git(self, *words: str, at: Path) -> None:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=at, env=clean, check=True, capture_output=True)

    def run(self, command: str) -> tuple[int, str]:
        plan = judge(command, rules(_ALLOW), cwd=str(self.work), roots=[str(self.work)]).plan
        assert plan is not None, command
        with open(self.folder / "output", "w+b") as output:
            code = Pipeline(plan, output.fileno(), {"PATH": os.environ["PATH"], "HOME": str(self.folder)}).run()
            output.seek(0)
            return code, output.read().decode()

    def link(self, target: str) -> None:
        os.symlink(target, self.work / "new")
        os.replace(self.work / "new", self.work / "sub")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def _after_the_check(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    def checked(*words: object, **more: object) -> Guard:
        found: Guard = guard(*words, **more)  # pyright: ignore[reportArgumentType]
        change()
        return found

    monkeypatch.setattr(starter, "guard", checked)


@contextmanager
def _flipping(link: Path, first: str, second: str) -> Generator[None]:
    command = [sys.executable, "-c", _FLIP, str(link), first, second]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def _exchange_link(world: World) -> None:
    world.link(str(world.outside))


def _exchange_folder(world: World) -> None:
    """The folder itself gets another name, and one that leads out has the old one."""
    (world.work / "good").rename(world.work / "aside")
    (world.work / "good").symlink_to(world.outside)


def _exchange_git_folder(world: World) -> None:
    (world.work / "good/.git").rename(world.work / "aside")
    (world.work / "good/.git").symlink_to(world.outside / ".git")


def _write_git_file(world: World) -> None:
    (world.work / "good/.git").rename(world.work / "aside")
    (world.work / "good/.git").write_text(f"gitdir: {world.outside}/.git\n")


def _other_work_tree(world: World) -> None:
    with (world.work / "good/.git/config").open("a") as file:
        file.write(f"[core]\nworktree = {world.outside}\n")


def _alternates(world: World) -> None:
    (world.work / "good/.git/objects/info/alternates").write_text(f"{world.outside}/.git/objects\n")
    head = (world.outside / ".git/refs/heads/main").read_text()
    (world.work / "good/.git/refs/heads/main").write_text(head)


_LEADING_OUT = [
    *(_exchange_link, _exchange_folder, _exchange_git_folder, _write_git_file, _other_work_tree, _alternates),
]


@pytest.mark.spec("C8")
@pytest.mark.parametrize("exchange", _LEADING_OUT, ids=lambda one: one.__name__)
@pytest.mark.parametrize("command", _LOOKING)
def test_nothing_outside_is_shown_when_a_repository_leads_out_after_the_check(
    world: World, monkeypatch: pytest.MonkeyPatch, command: str, exchange: Callable[[World], None]
) -> None:
    _after_the_check(monkeypatch, lambda: exchange(world))
    assert "OUTSIDE" not in world.run(command)[1]


def _to_hostile(world: World) -> None:
    world.link("hostile")


def _hostile_instead(world: World) -> None:
    (world.work / "good").rename(world.work / "aside")
    (world.work / "hostile").rename(world.work / "good")


def _hostile_settings(world: World) -> None:
    with (world.work / "good/.git/config").open("a") as file:
        file.write(world.settings)


def _into_hostile(world: World) -> None:
    """A folder without a repository of its own gets into another one."""
    shutil.rmtree(world.work / "good/.git")
    (world.work / "good").rename(world.work / "hostile/good")


@pytest.mark.spec("C8")
@pytest.mark.parametrize("exchange", [_to_hostile, _hostile_instead, _hostile_settings, _into_hostile])
@pytest.mark.parametrize(
    "command",
    [
        *("git -C sub status", "cd sub && git diff", "timeout 9 git -C sub diff HEAD", "git -C sub add a.txt"),
        *("cd sub && git commit -am x", "git -C sub stash push"),
    ],
)
def test_no_program_runs_that_a_repository_names_after_the_check(
    world: World, monkeypatch: pytest.MonkeyPatch, command: str, exchange: Callable[[World], None]
) -> None:
    _after_the_check(monkeypatch, lambda: exchange(world))
    world.run(command)
    assert not world.trace.exists()


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["git -C sub log -p", "cd sub && git diff HEAD", "timeout 9 git -C sub status"])
@pytest.mark.parametrize("target", ["hostile", "../outside"])
def test_a_link_that_is_flipped_without_a_pause_gains_nothing(world: World, command: str, target: str) -> None:
    with _flipping(world.work / "sub", "good", target):
        shown = [world.run(command)[1] for _ in range(12)]
    assert not any("OUTSIDE" in one for one in shown)
    assert not world.trace.exists()


@pytest.mark.spec("C7")
@pytest.mark.parametrize("command", ["git -C sub log -p", "cd sub && git diff", "timeout 9 git -C sub status"])
def test_where_the_kernel_keeps_nothing_git_works_and_a_link_cannot_be_replaced(
    world: World, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(git_bounds, "available", lambda: False)
    assert world.run(command)[0] == 0
    for target in (str(world.outside), "hostile"):
        world.link("good")
        _after_the_check(monkeypatch, lambda target=target: world.link(target))
        assert "OUTSIDE" not in world.run(command)[1]
        assert not world.trace.exists()


@pytest.mark.spec("C7")
@pytest.mark.parametrize("command", [*_LOOKING, "git -C sub add a.txt", "cd sub && git commit -am x"])
def test_git_does_its_work_when_nobody_meddles(world: World, command: str) -> None:
    code, output = world.run(command)
    assert code == 0, output
    assert "denied" not in output
    assert "fatal" not in output


_AS_ALWAYS = [
    *("git status", "git log", "git log --stat", "git diff", "git diff --cached", "git show"),
    "git blame -s a.txt",  # without -s, it shows the present time for what is not committed
    *("git grep -n inside", "git branch -a", "git tag", "git remote -v", "git rev-parse HEAD", "git describe --always"),
    *("git ls-files -s", "git ls-tree -r HEAD", "git shortlog -s HEAD", "git reflog", "git stash list", "git fsck"),
    *("git worktree list", "git submodule status", "git cat-file -p HEAD", "git count-objects", "git for-each-ref"),
    *("git check-ignore -v x.ignored", "git rev-list --all", "git merge-base HEAD HEAD~1", "git status --ignored"),
    *(
        "git log -p --all",
        "git show-ref",
        "git name-rev HEAD",
        "git cherry main",
        "git diff HEAD~1 --stat",
        "git version",
    ),
    *("git describe --always --dirty", "git log --format=%aN", "git hash-object a.txt", "git notes list"),
]


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Settings of a person: an ignore file elsewhere, a file that is included, other names of authors."""
    world = World(tmp_path_factory.mktemp("ordinary"))
    home = world.folder
    (home / "more").write_text("[alias]\nx = status\n[mailmap]\nfile = ~/names\n")
    (home / "names").write_text("Other Name <e>\n")
    (home / "ignored").write_text("*.ignored\n")
    (home / ".gitconfig").write_text(
        "[user]\nname = n\nemail = e\n[include]\npath = more\n[core]\nexcludesFile = ~/ignored\n"
    )
    (world.work / "good/x.ignored").write_text("x\n")
    return world


def _plain(world: World, command: str, at: Path) -> str:
    clean = {"PATH": os.environ["PATH"], "HOME": str(world.folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat"}
    variables = {**clean, "GIT_EDITOR": "false", "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(command.split(), cwd=at, env=variables, check=False, capture_output=True)
    return (done.stdout + done.stderr).decode()


@pytest.mark.spec("C7")
@pytest.mark.parametrize("command", _AS_ALWAYS)
def test_git_prints_what_it_always_does(ordinary: World, command: str) -> None:
    assert ordinary.run(f"cd good && {command}")[1] == _plain(ordinary, command, ordinary.work / "good")


@pytest.mark.spec("C7")
@pytest.mark.parametrize("kind", ["worktree", "submodule"])
def test_git_works_where_its_repository_lies_outside_the_workspace(world: World, kind: str) -> None:
    place = world.folder / "there"
    if kind == "worktree":
        world.git("worktree", "add", "-q", str(place), at=world.outside)
    else:
        allow = ("-c", "protocol.file.allow=always")
        world.git(*allow, "submodule", "--quiet", "add", str(world.work / "good"), "module", at=world.outside)
        place = world.outside / "module"
    world.work = place
    (place / "a.txt").write_text("new\n")
    for command in ("git status", "git diff", "git log -p", "git add a.txt", "git commit -qm new", "git stash list"):
        code, output = world.run(command)
        assert code == 0, output
        assert "denied" not in output
    assert "+new" in world.run("git show")[1]


@pytest.mark.spec("C7")
def test_git_changes_what_it_should(world: World) -> None:
    """Branches, merges with a conflict, folders that move, and everything put aside."""
    more = [f"git {one}" for one in ("mv", "merge", "switch", "rebase", "gc", "stash pop", "cherry-pick", "reset")]
    shutil.rmtree(world.work / "hostile")
    os.remove(world.work / "sub")
    world.work /= "good"
    (world.work / "a.txt").write_text("inside\n")
    commands = ["git switch -qc new", "git mv a.txt b/c.txt", "git commit -qm moved", "git switch -q main"]
    (world.work / "b").mkdir()
    commands += ["git merge -q --no-edit new", "git gc -q", "git reset -q --soft HEAD~1", "git stash push -q"]
    commands += ["git stash pop -q", "git commit -qam again", "git switch -qc third HEAD~1", "git rebase -q main"]
    commands += ["git bisect start", "git bisect bad", "git bisect log", "git bisect reset"]
    more += [f"git bisect {one}" for one in ("start", "bad", "reset")]
    for command in commands:
        plan = judge(command, rules([*_ALLOW, *more]), cwd=str(world.work), roots=[str(world.work)]).plan
        assert plan is not None, command
        with open(world.folder / "output", "w+b") as output:
            code = Pipeline(plan, output.fileno(), {"PATH": os.environ["PATH"], "HOME": str(world.folder)}).run()
            output.seek(0)
            assert code == 0, (command, output.read())
