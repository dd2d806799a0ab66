"""Git in a repository that nobody has looked at: it runs no program of it, stays in the workspace, shows no secret."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from assent.git_folder import leads_outside
from assent.policy.shell import judge, rules
from assent.process.pipeline import REFUSED, Pipeline

pytestmark = pytest.mark.needs("git")

_ALLOW = [
    *("git", "cd", "timeout"),
    *(f"git {one}" for one in ("add", "commit", "checkout", "switch", "reset", "fetch", "pull", "push", "ls-remote")),
    *("git remote show", "git stash push", "git stash pop", "git restore"),
]
_HOOKS = """
    pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-push reference-transaction
    post-index-change post-rewrite pre-auto-gc
"""
_RUNS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
    *("core.alternateRefsCommand", "sequence.editor", "diff.external", "diff.evil.command", "diff.evil.textconv"),
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "gpg.program"),
    *("gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program", "gpg.ssh.defaultKeyCommand", "credential.helper"),
    *("interactive.diffFilter", "pager.status", "pager.log", "pager.diff", "trailer.evil.command", "trailer.t.cmd"),
    *("uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.receivepack", "gc.recentObjectsHook"),
    *("alias.whatchanged", "hook.evil.command", "credential.https://x.helper", "difftool.x.cmd", "man.x.cmd"),
)
_LOOKING = [
    *("git status", "git -C . status", "git status -s", "git status --long --branch", "git status --porcelain"),
    *("cd sub && git status", "timeout 9 git status", "git diff", "git diff HEAD", "git diff --cached"),
    *("git log -p", "git log -p --all", "git log --stat", "git show", "git show HEAD:a.txt", "git blame a.txt"),
    *("git grep one", "git stash list", "git stash show", "git stash show -p", "git describe --all", "git branch -a"),
    *("git tag", "git remote -v", "git rev-parse HEAD", "git ls-files -m", "git shortlog HEAD", "git reflog"),
    *("git range-diff HEAD~1..HEAD HEAD~1..HEAD", "git diff-tree -p HEAD", "git diff-index -p HEAD"),
    *("git diff-files -p", "git cat-file -p HEAD", "git whatchanged -p", "git submodule status", "git fsck"),
    *("git notes list", "git worktree list", "git count-objects", "git config -l", "git remote get-url origin"),
]
_CHANGING = [
    *("git add a.txt", "git add -A", "git commit -m y", "git commit -am y", "git commit -v -m y --trailer evil=x"),
    *("git commit --dry-run", "git checkout other", "git switch other", "git reset -q", "git checkout -b new"),
    *("git fetch", "git fetch origin", "git fetch --all", "git ls-remote origin", "git push origin main", "git pull"),
    *("git stash push -m x", "git restore --staged a.txt", "git stash pop", "git describe --always --dirty"),
    *("git pull --rebase", "git remote show origin", "git push --dry-run origin main"),
]


class World:
    """A workspace with a repository in it, another one outside, and a folder where programs leave their names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.outside = folder / "outside"
        self.ran = folder / "ran"
        for one in (self.work, self.outside, self.ran):
            one.mkdir()
        (folder / ".gitconfig").write_text('[user]\nname = n\nemail = e\n[protocol "file"]\nallow = always\n')

    def git(self, *words: str, at: Path | None = None) -> str:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=at or self.work, env=clean, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def repository(self, at: Path, files: dict[str, str]) -> None:
        at.mkdir(exist_ok=True, parents=True)
        self.git("init", "-q", "-b", "main", at=at)
        for name, text in files.items():
            (at / name).parent.mkdir(parents=True, exist_ok=True)
            (at / name).write_text(text)
            self.git("add", "-f", ".", at=at)
            self.git("commit", "-qm", f"add {name}", at=at)

    def program(self, name: str) -> str:
        """A command that leaves its name behind."""
        file = self.folder / f"program-{name.replace('/', '_')}"
        file.write_text(f"#!/bin/sh\ntouch '{self.ran}/{name.replace('/', '_')}'\n")
        file.chmod(0o755)
        return str(file)

    def run(self, command: str, *more: str) -> tuple[int, str]:
        plan = judge(command, rules([*_ALLOW, *more]), cwd=str(self.work), roots=[str(self.work)]).plan
        assert plan is not None, command
        with open(self.folder / "output", "w+b") as output:
            code = Pipeline(plan, output.fileno(), {"PATH": os.environ["PATH"], "HOME": str(self.folder)}).run()
            output.seek(0)
            return code, output.read().decode()

    def what_ran(self) -> list[str]:
        return sorted(one.name for one in self.ran.iterdir())


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="module")
def hostile_once(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Everything that git can be told to run is told to it, also by a submodule."""
    world = World(tmp_path_factory.mktemp("hostile"))
    attributes = "*.txt diff=evil filter=evil merge=evil\n"
    world.repository(world.work, {"a.txt": "one\n", "sub/b.txt": "two\n", ".gitattributes": attributes})
    world.repository(world.outside / "library", {"c.txt": "three\n", ".gitattributes": attributes})
    world.git("submodule", "--quiet", "add", str(world.outside / "library"), "library")
    world.git("config", "-f", ".gitmodules", "submodule.library.ignore", "none")
    world.git("commit", "-qam", "submodule")
    world.git("clone", "-q", "--bare", str(world.work), str(world.outside / "remote.git"))
    world.git("remote", "add", "origin", str(world.outside / "remote.git"))
    world.git("push", "-q", "origin", "main:other", "main:moved")
    world.git("fetch", "-q")
    world.git("branch", "-q", "--set-upstream-to", "origin/moved")
    world.git("branch", "other")
    (world.work / "a.txt").write_text("one\ntwo\n")
    world.git("stash")
    (world.work / "a.txt").write_text("one\nthree\n")
    world.git("add", "a.txt")
    (world.work / "a.txt").write_text("one\nthree\nfour\n")
    (world.work / "library" / "c.txt").write_text("changed\n")
    for config in (world.work / ".git/config", world.work / ".git/modules/library/config"):
        with config.open("a") as file:
            file.writelines(f"{_line(key)} = {world.program(key)}\n" for key in _RUNS)
            file.writelines(f"{_line(key)} = {value}\n" for key, value in _MAKING_IT_WORSE.items())
    hooks = world.work / ".git" / "hooks"
    for hook in _HOOKS.split():
        shutil.copy(world.program(f"hook-{hook}"), hooks / hook)
    return world


_MAKING_IT_WORSE = {
    "hook.evil.event": "pre-commit",
    "log.showSignature": "true",
    "submodule.recurse": "true",
    "status.submoduleSummary": "true",
    "diff.submodule": "diff",
    "gc.auto": "1",
    "fetch.recurseSubmodules": "true",
}


def _line(key: str) -> str:
    """A key as a section of its own and the name in it."""
    section, _, rest = key.partition(".")
    between, _, name = rest.rpartition(".")
    return f'[{section} "{between}"]\n{name}' if between else f"[{section}]\n{name}"


@pytest.fixture
def hostile(hostile_once: World, tmp_path: Path) -> World:
    """A copy; the programs that it names, and the trace that they leave, are those of the original."""
    world = World(tmp_path)
    for one in ("work", "outside"):
        shutil.rmtree(tmp_path / one)
        shutil.copytree(hostile_once.folder / one, tmp_path / one, symlinks=True)
    world.git("config", "remote.origin.url", str(world.outside / "remote.git"))
    world.ran = hostile_once.ran
    for one in world.ran.iterdir():
        one.unlink()
    return world


def test_the_hostile_repository_is_one(hostile: World) -> None:
    clean = {"PATH": os.environ["PATH"], "HOME": str(hostile.folder)}
    for words in (["status", "-v"], ["diff"], ["commit", "-am", "x"], ["fetch"]):
        subprocess.run(["git", *words], cwd=hostile.work, env=clean, check=False, capture_output=True)
    ran = {*hostile.what_ran()}
    assert {"filter.evil.process", "core.fsmonitor", "remote.origin.uploadpack"} <= ran


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", [*_LOOKING, *_CHANGING])
def test_a_hostile_repository_runs_nothing_whatever_git_does(hostile: World, command: str) -> None:
    hostile.run(command)
    assert hostile.what_ran() == []


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "command", ["git status", "git diff HEAD", "git log -p", "git stash show -p", "git commit -m y"]
)
def test_git_does_its_work_in_a_hostile_repository(hostile: World, command: str) -> None:
    code, output = hostile.run(command)
    assert code == 0, output
    assert "one" in output or "main" in output


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        *(
            "git status -v",
            "git status --verbose",
            "git status -vv",
            "git -C nested status -vv",
            "git -C nested status -v",
        ),
        *("cd nested && git status -v", "git status -s -v", "git status -sv", "git commit --dry-run -v"),
    ],
)
def test_status_with_all_changes_asks(command: str) -> None:
    """Git runs a text converter for it, and cannot be told to leave secrets out."""
    assert judge(command, rules(_ALLOW), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.spec("C8")
def test_a_text_converter_does_not_run_even_if_exactly_that_was_allowed(world: World) -> None:
    nested = world.work / "nested"
    world.repository(nested, {"a.txt": "one\n", ".gitattributes": "*.txt diff=evil\n"})
    (nested / "a.txt").write_text("two\n")
    world.git("add", ".", at=nested)
    world.git("config", "diff.evil.textconv", world.program("textconv"), at=nested)
    code, output = world.run("git -C nested status -v", "git -C nested status -v")
    assert (code, world.what_ran()) == (0, [])
    assert "+two" in output


# --- connections ---


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["git fetch", "git fetch evil", "git push evil main", "git pull", "git ls-remote"])
@pytest.mark.parametrize(
    "settings",
    [
        {"remote.evil.url": "ext::sh -c 'touch {ran}/ext'"},
        {"remote.evil.url": "evil::x"},
        {"remote.evil.url": "{work}/nested"},
        {"remote.evil.url": "file://{work}/%6eested"},
        {"remote.evil.url": "./nested"},
        {"remote.evil.url": "https://x/y", "url.{work}/nested.insteadOf": "https://x/y"},
        {"remote.evil.url": "https://x/y", "remote.evil.pushurl": "./nested", "url../nested.insteadOf": "https://x/y"},
        {"remote.evil.url": "https://x/y", "remote.evil.vcs": "ext"},
        {"remote.evil.url": "git://localhost/y", "core.gitProxy": "{program}"},
        {"remote.evil.url": "ssh://localhost/y", "core.sshCommand": "{program}"},
        {
            "remote.evil.url": "{outside}/there",
            "remote.evil.uploadpack": "{program}",
            "remote.evil.receivepack": "{program}",
        },
        {"branch.main.remote": "./nested", "branch.main.merge": "refs/heads/main"},
        {"branch.main.remote": "evil", "remote.pushDefault": "nested"},
    ],
    ids=str,
)
def test_no_setting_of_a_repository_says_what_runs_to_connect(
    world: World, settings: dict[str, str], command: str
) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    world.repository(world.outside / "there", {"a.txt": "one\n"})
    nested = world.work / "nested"
    world.repository(nested, {"a.txt": "one\n"})
    world.git("config", "receive.denyCurrentBranch", "ignore", at=nested)
    world.git("config", "remote.x.promisor", "true", at=nested)
    for hook in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        shutil.copy(world.program(f"hook-{hook}"), nested / ".git" / "hooks" / hook)
    known = {"work": world.work, "ran": world.ran, "outside": world.outside, "program": world.program("connect")}
    for key, value in {"branch.main.remote": "evil", "branch.main.merge": "refs/heads/main", **settings}.items():
        world.git("config", key.format(**known), value.format(**known))
    world.run(command)
    assert world.what_ran() == []


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["git push nested main", "git fetch nested", "git ls-remote nested", "git push"])
def test_a_folder_is_not_a_remote(world: World, command: str) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    for name in ("nested", "origin"):
        world.git("init", "-q", "--bare", name)
        shutil.copy(world.program("hook"), world.work / name / "hooks" / "pre-receive")
    code, output = world.run(command)
    assert (code, world.what_ran()) == (REFUSED, [])
    assert "is not a remote but a folder, whose own hooks and settings would run" in output


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("key", "value"),
    [("remote.origin.push", "+refs/heads/main"), ("remote.origin.push", ":x"), ("remote.origin.mirror", "true")],
)
def test_no_setting_of_a_repository_forces_a_push(world: World, key: str, value: str) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    world.git("init", "-q", "--bare", "-b", "main", str(world.outside / "remote.git"))
    world.git("remote", "add", "origin", str(world.outside / "remote.git"))
    world.git("config", key, value)
    code, output = world.run("git push")
    assert code == REFUSED
    assert "forces or deletes branches" in output


def test_an_old_description_of_a_remote_is_refused(world: World) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    (world.work / ".git" / "remotes").mkdir()
    (world.work / ".git" / "remotes" / "old").write_text("URL: ./nested\n")
    assert world.run("git fetch old") == (
        REFUSED,
        "git: it defines remotes in an old format that cannot be checked\n",
    )


@pytest.mark.spec("C7")
def test_fetch_and_push_work_with_a_remote_of_the_person(world: World) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    world.git("init", "-q", "--bare", "-b", "main", str(world.outside / "remote.git"))
    world.git("remote", "add", "origin", str(world.outside / "remote.git"))
    (world.work / "main").mkdir()  # a folder with the name of a branch
    assert world.run("git push -u origin main")[0] == 0
    assert world.run("git fetch origin main")[0] == 0
    assert world.run("git pull")[0] == 0


@pytest.mark.spec("C8")
def test_a_missing_object_is_not_fetched_while_looking(world: World) -> None:
    world.repository(world.outside / "there", {"a.txt": "one\n"})
    world.git("config", "uploadpack.allowFilter", "true", at=world.outside / "there")
    source = f"file://{world.outside}/there"
    world.git("clone", "-q", "--no-checkout", "--filter=blob:none", source, "nested")
    world.git("config", "remote.origin.uploadpack", world.program("lazy"), at=world.work / "nested")
    for command in ("git show", "git log -p", "git status", "git diff HEAD"):
        world.run(f"cd nested && {command}")
    assert world.what_ran() == []


@pytest.mark.spec("C8")
def test_passwords_are_asked_of_the_helpers_of_the_person_alone(world: World) -> None:
    from assent.process.git_settings import Setting, helpers

    given = [
        Setting("global", "credential.helper", "!mine"),
        Setting("local", "credential.helper", "!theirs"),
        Setting("local", "credential.helper", "store; touch x"),
        Setting("local", "credential.helper", "cache"),
        Setting("worktree", "credential.https://x.helper", "/tmp/theirs"),
    ]
    assert helpers(given) == [("credential.helper", ""), ("credential.helper", "!mine"), ("credential.helper", "cache")]
    assert helpers(given[:1]) == []


# --- places ---


@pytest.fixture
def nested(world: World) -> World:
    world.repository(world.outside / "other", {"private.txt": "hunter2\n"})
    world.repository(world.work / "nested", {"a.txt": "one\n"})
    return world


def _worktree(world: World) -> None:
    world.git("config", "core.worktree", str(world.outside / "other"), at=world.work / "nested")


def _included_worktree(world: World) -> None:
    (world.work / "more").write_text(f"[core]\nworktree = {world.outside}/other\n")
    world.git("config", "include.path", str(world.work / "more"), at=world.work / "nested")


def _alternates(world: World) -> None:
    place = world.work / "nested" / ".git" / "objects" / "info" / "alternates"
    place.write_text(f"{world.outside}/other/.git/objects\n")


def _quoted_alternates(world: World) -> None:
    place = world.work / "nested" / ".git" / "objects" / "info" / "alternates"
    place.write_text(f'"\\057{str(world.outside)[1:]}/other/.git/objects"\n')


def _far_alternates(world: World) -> None:
    world.git("init", "-q", str(world.work / "middle"))
    (world.work / "nested/.git/objects/info/alternates").write_text(f"{world.work}/middle/.git/objects\n")
    (world.work / "middle/.git/objects/info/alternates").write_text(f"{world.outside}/other/.git/objects\n")


def _git_file(world: World) -> None:
    shutil.rmtree(world.work / "nested" / ".git")
    (world.work / "nested" / ".git").write_text(f"gitdir: {world.outside}/other/.git\n")


def _git_link(world: World) -> None:
    shutil.rmtree(world.work / "nested" / ".git")
    (world.work / "nested" / ".git").symlink_to(world.outside / "other" / ".git")


def _common(world: World) -> None:
    (world.work / "nested" / ".git" / "commondir").write_text(f"{world.outside}/other/.git\n")


def _linked_objects(world: World) -> None:
    shutil.rmtree(world.work / "nested" / ".git" / "objects")
    (world.work / "nested" / ".git" / "objects").symlink_to(world.outside / "other" / ".git" / "objects")


def _linked_config(world: World) -> None:
    (world.outside / "config").write_bytes((world.work / "nested/.git/config").read_bytes())
    (world.work / "nested" / ".git" / "config").unlink()
    (world.work / "nested" / ".git" / "config").symlink_to(world.outside / "config")


_ELSEWHERE = [
    *(_worktree, _included_worktree, _alternates, _quoted_alternates, _far_alternates, _git_file, _git_link, _common),
    *(_linked_objects, _linked_config),
]


@pytest.mark.spec("I3")
@pytest.mark.parametrize("elsewhere", _ELSEWHERE, ids=lambda one: one.__name__)
def test_a_nested_repository_that_leads_outside_is_refused(nested: World, elsewhere: object) -> None:
    assert callable(elsewhere)
    blob = nested.git("rev-parse", "HEAD:private.txt", at=nested.outside / "other")
    assert nested.run("git -C nested log -p")[0] == 0
    elsewhere(nested)
    for command in ("git log -p --all", "git diff", "git status", f"git show {blob[:12]}", "git ls-files -o"):
        for where in (
            f"git -C nested {command[4:]}",
            f"cd nested && {command}",
            f"timeout 9 git -C nested {command[4:]}",
        ):
            code, output = nested.run(where)
            assert code == REFUSED, output
            assert "outside the workspace" in output
            assert "hunter2" not in output


@pytest.mark.spec("I3")
@pytest.mark.parametrize("elsewhere", [one for one in _ELSEWHERE if one is not _included_worktree])
def test_who_decides_knows_that_a_repository_leads_outside(nested: World, elsewhere: object) -> None:
    assert callable(elsewhere)
    elsewhere(nested)
    assert "outside the workspace" in str(leads_outside(str(nested.work / "nested"), [str(nested.work)]))
    if elsewhere is not _quoted_alternates:
        assert leads_outside(str(nested.work / "nested"), [str(nested.folder)]) is None


@pytest.mark.spec("I3")
def test_what_only_looks_like_a_repository_hides_no_other(nested: World) -> None:
    _alternates(nested)
    inner = nested.work / "nested" / "inner"
    for place in (inner, inner / ".git"):
        (place / "objects").mkdir(parents=True)
        (place / "HEAD").write_text("nothing that git would take\n")
    code, output = nested.run("cd nested/inner && git log -p --all")
    assert code == REFUSED, output


@pytest.mark.spec("C7")
def test_a_folder_of_git_worktree_and_a_submodule_are_workspaces_like_any_other(nested: World) -> None:
    other = nested.outside / "other"
    nested.git("worktree", "add", "-q", str(nested.folder / "linked"), at=other)
    nested.git("submodule", "--quiet", "add", str(nested.work / "nested"), "module", at=other)
    for workspace in (nested.folder / "linked", other / "module", other, other / ".git" / ".."):
        assert leads_outside(str(workspace), [str(workspace)]) is None
    (other / "part").mkdir()
    assert leads_outside(str(other / "part"), [str(other / "part")]) is None, "a part of a larger repository"


def test_a_folder_of_git_worktree_of_someone_else_is_not_ours(nested: World) -> None:
    nested.git("worktree", "add", "-q", str(nested.folder / "linked"), at=nested.outside / "other")
    shutil.copy(nested.folder / "linked" / ".git", nested.work / "nested2")
    (nested.work / "stolen").mkdir()
    (nested.work / "nested2").rename(nested.work / "stolen" / ".git")
    assert "outside the workspace" in str(leads_outside(str(nested.work / "stolen"), [str(nested.work)]))


@pytest.mark.spec("I3")
def test_settings_from_outside_are_not_shown(nested: World) -> None:
    (nested.outside / "credentials").write_text("[default]\nkey = hunter2\n")
    nested.git("config", "include.path", str(nested.outside / "credentials"), at=nested.work / "nested")
    code, output = nested.run("git -C nested config -l", "git config")
    assert code == REFUSED
    assert "hunter2" not in output
    assert nested.run("git -C nested status")[0] == REFUSED  # its error could quote the file


@pytest.mark.spec("I3")
@pytest.mark.parametrize("key", ["blame.ignoreRevsFile", "mailmap.file", "core.attributesFile", "diff.orderFile"])
def test_a_complaint_about_a_file_outside_shows_nothing_of_it(nested: World, key: str) -> None:
    (nested.outside / "revs").write_text("hunter2\n")
    (nested.work / "nested" / ".env").write_text("hunter2\n")
    for place in (nested.outside / "revs", nested.work / "nested" / ".env"):
        nested.git("config", key, str(place), at=nested.work / "nested")
        for command in ("git blame a.txt", "git log -p", "git diff HEAD", "git shortlog HEAD"):
            code, output = nested.run(f"cd nested && {command}")
            refused = key.startswith("blame") and command.startswith("git blame")
            assert (code, "hunter2" in output) == (REFUSED if refused else 0, False), output
    (nested.work / "nested" / ".git-blame-ignore-revs").write_text("")
    nested.git("config", key, ".git-blame-ignore-revs", at=nested.work / "nested")
    assert nested.run("cd nested && git blame a.txt")[0] == 0


# --- secrets ---

_SHOWING = [
    *("git diff HEAD -- .", "git diff HEAD", "git diff", "git diff HEAD~1", "git diff -- sub", "git diff HEAD~6 HEAD"),
    *("git diff --cached", "git diff --word-diff", "git diff -U0", "git diff --stat -p", "git diff --check HEAD~3"),
    *(
        "git log -p",
        "git log -p --all",
        "git log -p -- .",
        "git log -u",
        "git log -U1",
        "git log --cc",
        "git log -c -p",
    ),
    *("git log -p --follow a.txt", "git log --patch-with-stat", "git log -p -S hunter", "git log -G hunter -p"),
    *(
        "git log --binary",
        "git log -p HEAD",
        "git log -p main",
        "git log -p HEAD~3..HEAD",
        "git log -p -m --first-parent",
    ),
    *(
        "git log -L 1,1:a.txt",
        "git show",
        "git show HEAD",
        "git show HEAD~1",
        "git show HEAD~1 HEAD~2",
        "git show --all",
    ),
    *("git show --stat -p HEAD~1", "git whatchanged -p", "git diff-tree -p HEAD~1", "git diff-tree -p --root HEAD"),
    *("git diff-index -p HEAD", "git diff-files -p", "git stash show -p", "git stash show -p stash@{0}"),
    *(
        "git stash show -p 0",
        "git grep hunter",
        "git grep -n hunter HEAD",
        "git grep -e hunter -- .",
        "git grep -c hunter",
    ),
    *("git status", "git range-diff HEAD~2..HEAD HEAD~3..HEAD", "cd sub && git log -p"),
    *(
        "cd sub && git diff HEAD",
        "cd sub && git show HEAD~1",
        "git log -p --reverse",
        "git -C sub log -p -- ..",
        "git show HEAD~2",
    ),
    *(
        "git log -p ':(top)'",
        "git log -p --branches",
        "git diff 'HEAD~3..HEAD'",
        "git grep -h . HEAD~1",
        "git log -p -g",
    ),
    *("git log --color-words", "git log -W -p", "git show HEAD -- .", "git show HEAD~3:a.txt", "git log -p -3"),
]


@pytest.fixture
def tracked(world: World) -> World:
    secret = dict.fromkeys((".env", "sub/.ENV.production", "server.key", "conf/.ssh/config", "x/.netrc"), "hunter2\n")
    world.repository(world.work, {"a.txt": "visible\n", **secret, "sub/plain.txt": "visible\n"})
    for name in (*secret, "a.txt"):
        (world.work / name).write_text("hunter2 again\n" if name != "a.txt" else "visible again\n")
    world.git("add", ".")
    world.git("stash")
    for name in (*secret, "a.txt"):
        (world.work / name).write_text("hunter2 staged\n" if name != "a.txt" else "visible staged\n")
    world.git("add", ".")
    for name in (*secret, "a.txt"):
        (world.work / name).write_text("hunter2 lying\n" if name != "a.txt" else "visible lying\n")
    return world


@pytest.mark.spec("I3")
@pytest.mark.parametrize("command", _SHOWING)
def test_a_secret_under_version_control_is_not_shown(tracked: World, command: str) -> None:
    code, output = tracked.run(command)
    assert "hunter2" not in output
    assert "fatal" not in output, output
    assert code in (0, 1, 2), output


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "command", ["git diff HEAD -- .", "git diff", "git log -p --all", "git stash show -p", "git grep -h visible"]
)
def test_files_that_are_not_secret_are_shown(tracked: World, command: str) -> None:
    assert "visible" in tracked.run(command)[1]


@pytest.mark.spec("I3")
@pytest.mark.parametrize("command", ["git show HEAD:a.txt", "git show HEAD~1:a.txt", "git log -p", "git diff HEAD"])
def test_an_object_in_the_place_of_another_is_not_shown(tracked: World, command: str) -> None:
    tracked.git("replace", "-f", tracked.git("rev-parse", "HEAD:a.txt"), tracked.git("rev-parse", "HEAD:.env"))
    assert "hunter2" not in tracked.run(command)[1]


@pytest.mark.spec("I3")
def test_a_stash_shows_no_contents_because_a_setting_says_so(tracked: World) -> None:
    tracked.git("config", "stash.showPatch", "true")
    assert "hunter2" not in tracked.run("git stash show")[1]


@pytest.mark.spec("I3")
def test_an_object_by_its_number_is_shown_only_if_it_is_a_commit(tracked: World) -> None:
    blob, plain = tracked.git("rev-parse", "HEAD:.env"), tracked.git("rev-parse", "HEAD:a.txt")
    commit = tracked.git("rev-parse", "HEAD")
    commands = [f"git show {blob}", f"git show {blob[:7]}", f"git show {blob.upper()}", f"git diff {blob} {plain}"]
    commands += [
        f"git diff {plain}..{blob}",
        f"git show HEAD {blob}",
        f"git grep hunter {blob}",
        f"git show {blob[:4]}",
    ]
    for command in commands:
        assert "hunter2" not in tracked.run(command)[1], command
    for command in (
        f"git show {blob}^{{blob}}",
        f"git show {blob}^{{}}",
        f"git cat-file -p {blob}",
        "git show HEAD:.env",
    ):
        assert judge(command, rules(["git"]), cwd="/w", roots=["/w"]).decision == "ask", command
    code, output = tracked.run(f"git show {commit[:8]} && git log -p -1 {commit} && git diff {commit[:9]}..HEAD")
    assert code == 0
    assert "visible" in output
    assert judge(f"git cat-file blob {blob}", rules(["git"]), cwd="/w", roots=["/w"]).decision == "ask"


def test_words_that_only_look_like_numbers_stay_what_they_are(tracked: World) -> None:
    (tracked.work / "deadbeef").write_text("cafe\n")
    tracked.git("add", "deadbeef")
    tracked.git("commit", "-qm", "cafe")
    assert "deadbeef" in tracked.run("git grep -n cafe")[1]
    assert "+cafe" in tracked.run("git log -p -S cafe")[1]
    assert "+cafe" in tracked.run("git log -p -- deadbeef")[1]
    assert "cafe" in tracked.run("git log --grep cafe --oneline")[1]


@pytest.mark.spec("C7")
def test_the_history_is_whole_although_secrets_are_left_out(tracked: World) -> None:
    subjects = tracked.git("log", "--format=%s").splitlines()
    shown = tracked.run("git log -p --format=%s")[1].splitlines()
    assert [line for line in shown if line in subjects] == subjects
    names = tracked.run("git log --oneline --name-only")[1] + tracked.run("git diff --stat HEAD~4")[1]
    assert ".env" in names, "names are no secret"


# --- hooks ---


@pytest.mark.spec("E5")
def test_a_commit_reports_which_hooks_did_not_run(world: World) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    hooks = world.work / ".git" / "hooks"
    for name in ("pre-commit", "commit-msg", "pre-push", "update"):
        shutil.copy(world.program(f"hook-{name}"), hooks / name)
    (hooks / "post-commit").write_text("not a program")
    (hooks / "prepare-commit-msg.sample").write_text("#!/bin/sh\n")
    told = "git commit: hooks of this repository were not run: commit-msg, pre-commit\n"
    assert world.run("git commit -q --allow-empty -m x") == (0, told)
    assert world.run("git commit -q --allow-empty -n -m x") == (0, "")
    assert world.run("git checkout -q -b new") == (0, "")
    assert world.what_ran() == []


def test_hooks_of_another_folder_are_named_and_none_means_silence(world: World) -> None:
    world.repository(world.work, {"a.txt": "one\n"})
    assert world.run("git commit -q --allow-empty -m x") == (0, "")
    (world.work / ".husky").mkdir()
    shutil.copy(world.program("hook"), world.work / ".husky" / "pre-commit")
    world.git("config", "core.hooksPath", ".husky")
    code, output = world.run("git commit -q --allow-empty -m x")
    assert (code, output) == (0, "git commit: hooks of this repository were not run: pre-commit\n")
    assert world.what_ran() == []


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    "command", ["show t", "cat-file -p t", "show HEAD t", "diff t HEAD:a.txt", "show u", "grep h t"]
)
def test_a_tag_of_a_file_shows_no_secret(nested: World, command: str) -> None:
    work = nested.work / "nested"
    (work / ".env").write_text("hunter2\n")
    nested.git("tag", "t", nested.git("hash-object", "-w", ".env", at=work).strip(), at=work)
    nested.git("tag", "-a", "-m", "x", "u", "t", at=work)
    code, output = nested.run(f"cd nested && git {command}")
    assert code != 0
    assert "hunter2" not in output
    assert nested.run("cd nested && git show HEAD")[0] == 0
