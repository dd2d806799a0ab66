"""Git leaves out tracked secrets by their names, says so, and stays fast where there are none."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from assent.policy.shell import judge, rules
from assent.process import excluded_secrets
from assent.process.pipeline import REFUSED, Pipeline

pytestmark = pytest.mark.needs("git")


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir()
        (folder / ".gitconfig").write_text("[user]\nname = n\nemail = e\n")
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(["git", *words], cwd=self.work, env=clean, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            place = self.work / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                place.unlink()
            else:
                place.write_text(text)
        self.git("add", "-fA", ".")
        self.git("commit", "-qm", "change")

    def run(self, command: str) -> tuple[int, str]:
        plan = judge(
            command, rules(["git", "git format-patch", "cd", "timeout"]), cwd=str(self.work), roots=[str(self.work)]
        ).plan
        assert plan is not None, command
        with open(self.folder / "output", "w+b") as output:
            code = Pipeline(plan, output.fileno(), {"PATH": os.environ["PATH"], "HOME": str(self.folder)}).run()
            output.seek(0)
            return code, output.read().decode()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A secret that was changed, one that is gone, one on another branch, and one in a stash. Nobody changes it."""
    repository = Repository(tmp_path_factory.mktemp("tracked"))
    repository.commit({"a.txt": "one\n", ".env": "hunter2\n", "old/id_rsa": "hunter2\n"})
    repository.commit({"a.txt": "two\n", ".env": "hunter2 again\n", "old/id_rsa": None})
    repository.git("checkout", "-qb", "other")
    repository.commit({"deploy.pem": "hunter2\n"})
    repository.git("checkout", "-q", "main")
    (repository.work / ".env").write_text("hunter2 stashed\n")
    (repository.work / "a.txt").write_text("stashed\n")
    repository.git("stash")
    (repository.work / ".env").write_text("hunter2 lying\n")
    (repository.work / "a.txt").write_text("lying\n")
    return repository


_ENV = "left out: .env (usual place for secrets)\n"


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    ("command", "note"),
    [
        ("git diff", _ENV),
        ("git diff HEAD~1", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git log -p -1", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git log -p", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git log -p --all --author=n", "left out: .env, deploy.pem, old/id_rsa (usual places for secrets)\n"),
        ("git log -p -S hunter2 --all", "left out: .env, deploy.pem, old/id_rsa (usual places for secrets)\n"),
        ("git log -p -G nothing --all", "left out: .env, deploy.pem, old/id_rsa (usual places for secrets)\n"),
        ("git show HEAD", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git show other", "left out: deploy.pem (usual place for secrets)\n"),
        ("git show HEAD other", "left out: .env, deploy.pem, old/id_rsa (usual places for secrets)\n"),
        ("git grep hunter2", _ENV),
        ("git grep nothing", _ENV),
        ("git grep -c hunter HEAD~1", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git grep -e hunter -- a.txt", _ENV),
        ("git stash show -p", _ENV),
        ("git stash show -p stash@{0}", _ENV),
        ("git diff-tree -p HEAD", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git diff-index -p HEAD", _ENV),
        ("git diff-files -p", _ENV),
        ("git diff main other", "left out: deploy.pem (usual place for secrets)\n"),
        ("git whatchanged -p -1", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("timeout 9 git diff", _ENV),
        ("git log -p --graph --oneline -1", "left out: .env, old/id_rsa (usual places for secrets)\n"),
        ("git range-diff HEAD~1..HEAD HEAD~1..HEAD", "left out: files in usual places for secrets, if there are any\n"),
    ],
)
def test_the_output_names_the_secrets_that_were_left_out(tracked: Repository, command: str, note: str) -> None:
    _, output = tracked.run(command)
    assert "hunter2" not in output
    assert note in output


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(
            ("diff.relative", "true"),
            ("log.diffMerges", "first-parent"),
            ("color.ui", "always"),
            ("log.follow", "true"),
        ),
        *(
            ("diff.renames", "copies"),
            ("core.quotePath", "true"),
            ("format.pretty", "oneline"),
            ("log.showRoot", "false"),
        ),
    ],
)
def test_no_setting_makes_a_secret_unlisted(repository: Repository, setting: str, value: str) -> None:
    repository.commit({"sub/a.txt": "one\n", "sub/.env": "hunter2\n"})
    repository.git("checkout", "-qb", "other")
    repository.commit({"sub/.env": "hunter2 theirs\n", "sub/ü.pem": "hunter2\n"})
    repository.git("checkout", "-q", "main")
    repository.commit({"sub/.env": "hunter2 ours\n", "sub/a.txt": "two\n"})
    repository.git("merge", "-q", "-s", "ours", "other")
    repository.git("config", setting, value)
    commands = ("git log -p", "git log -m -p", "git log --cc", "git show", "git diff HEAD~1", "git grep hunter HEAD")
    for command in (*commands, "git log -p a.txt", "git log -p --boundary HEAD~1..HEAD", "git log -p --graph -m -- ."):
        _, output = repository.run(f"cd sub && {command}")
        assert "hunter2" not in output, command
        assert "fatal" not in output


@pytest.mark.spec("I3")
@pytest.mark.parametrize("command", ["git grep {}", "git log -p -S {}", "git log -p -G {}", "git grep -c {} HEAD"])
def test_the_note_says_nothing_about_what_a_secret_contains(tracked: Repository, command: str) -> None:
    right, wrong = (tracked.run(command.format(guess))[1] for guess in ("hunter2", "hunter3"))
    assert right == wrong


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    "command",
    [
        *("git diff --numstat --ignore-matching-lines=^hunter2", "git diff --stat --anchored=hunter2"),
        "git log --numstat --ignore-matching-lines=hunter",
    ],
)
def test_numbers_that_depend_on_a_guess_leave_secrets_out(tracked: Repository, command: str) -> None:
    assert ".env |" not in tracked.run(command)[1]
    assert "\t.env" not in tracked.run(command)[1]


@pytest.mark.spec("I3")
def test_the_whole_diff_of_commits_about_another_file_asks() -> None:
    """With `--full-diff` git passes over what it is told to leave out."""
    assert judge("git log -p --full-diff -- a.txt", rules(["git"]), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    "command", ["git log -p --follow a.txt", "git log -L 1,1:a.txt", "git log --follow -p -- a.txt"]
)
def test_the_history_of_a_file_that_was_a_secret_is_refused(repository: Repository, command: str) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    repository.commit({".env": f"{text}hunter2\n"})
    repository.git("mv", ".env", "a.txt")
    (repository.work / "a.txt").write_text(text)
    repository.git("commit", "-qam", "no secret any more")
    code, output = repository.run(command)
    assert (code, "hunter2" in output) == (REFUSED, False), output
    assert output == "git: its history includes .env, which usually holds secrets\n"


@pytest.mark.spec("C7")
def test_the_history_of_an_ordinary_file_is_shown(tracked: Repository) -> None:
    assert "+two" in tracked.run("git log -p --follow a.txt")[1]
    assert "+two" in tracked.run("git log -L 1,1:a.txt")[1]


@pytest.mark.spec("I3")
@pytest.mark.parametrize("count", ["-1", "-n 1", "--max-count=1", "-2", "--skip=1 -1", "-1 --reverse", "-1 -w"])
def test_a_secret_further_back_is_left_out_when_nearer_ones_are(repository: Repository, count: str) -> None:
    """Commits that only change what is left out do not count, so git gets further back."""
    repository.commit({"conf/x.txt": "0\n"})
    for name in ("conf/id_rsa", "conf/b.pem", "conf/.netrc"):
        repository.commit({name: "hunter2\n", "conf/x.txt": f"{name}\n"})
    for name in ("conf/.env", "conf/c.key"):
        repository.commit({name: "hunter2\n"})
    _, output = repository.run(f"git log -p {count} -- conf")
    assert "hunter2" not in output


@pytest.mark.spec("I3")
def test_a_rename_shows_nothing_of_what_was_a_secret(repository: Repository) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    repository.commit({".env": f"{text}hunter2\n"})
    repository.git("mv", ".env", "a.txt")
    (repository.work / "a.txt").write_text(text)
    repository.git("commit", "-qam", "no secret any more")
    for command in ("git show -M", "git log -p -1 -M", "git diff -M HEAD~1", "git log -p --find-copies"):
        code, output = repository.run(command)
        assert (code, "hunter2" in output) == (0, False), command
        assert _ENV in output


@pytest.mark.spec("I3")
def test_a_merge_shows_no_secret(repository: Repository) -> None:
    repository.commit({".env": "base\n", "a.txt": "base\n"})
    repository.git("checkout", "-qb", "other")
    repository.commit({".env": "hunter2 theirs\n", "a.txt": "theirs\n"})
    repository.git("checkout", "-q", "main")
    repository.commit({".env": "hunter2 ours\n", "a.txt": "ours\n"})
    repository.git("merge", "-q", "-s", "ours", "other")
    (repository.work / ".env").write_text("hunter2 both\n")
    (repository.work / "a.txt").write_text("both\n")
    repository.git("commit", "-qa", "--amend", "-m", "merged")
    for command in ("git show", "git log -p --cc", "git log -c -p", "git log -m -p -1", "git diff-tree --cc HEAD"):
        _, output = repository.run(command)
        assert "hunter2" not in output, command
        assert "both" in output, command
        assert _ENV in output, command


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    "command", ["git log -p", "git diff HEAD~1", "git show", "git grep hunter", "git stash show -p"]
)
def test_where_names_take_too_long_to_list_patterns_do(
    tracked: Repository, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excluded_secrets, "LISTING_TIMEOUT", 0.0)
    _, output = tracked.run(command)
    assert "hunter2" not in output
    assert "left out: files in usual places for secrets, if there are any\n" in output


@pytest.mark.spec("I3")
def test_many_secrets_are_left_out_by_patterns(repository: Repository) -> None:
    repository.commit({f"keys/{number}.pem": "hunter2\n" for number in range(100)} | {"a.txt": "one\n"})
    code, output = repository.run("git log -p")
    assert (code, "hunter2" in output, "+one" in output) == (0, False, True)
    assert "keys/10.pem" in output
    assert "and 95 more (usual places for secrets)" in output


@pytest.mark.spec("I3")
def test_a_name_with_unusual_letters_is_left_out_and_cannot_forge_a_line(repository: Repository) -> None:
    repository.commit({"x\nleft out: nothing/.env": "hunter2\n", "*[a]/.ENV": "hunter2\n", "ü/.env": "hunter2\n"})
    _, output = repository.run("git log -p")
    assert "hunter2" not in output
    notes = [line for line in output.splitlines() if line.startswith("left out")]
    assert notes == ["left out: *[a]/.ENV, 'x\\nleft out: nothing/.env', ü/.env (usual places for secrets)"]


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "command", ["git log -p -2", "git diff HEAD~1", "git show", "git grep one", "git show HEAD:a.txt"]
)
def test_nothing_is_reported_if_nothing_is_left_out(repository: Repository, command: str) -> None:
    repository.commit({"a.txt": "one\n"})
    repository.commit({"a.txt": "one\ntwo\n"})
    code, output = repository.run(command)
    assert (code, "left out" in output) == (0, False)
    assert "one" in output


def test_only_git_itself_reports_a_mistake(repository: Repository) -> None:
    repository.commit({"a.txt": "one\n"})
    for command in ("git log -p nowhere", "git diff nowhere", "git show nowhere"):
        code, output = repository.run(command)
        assert (code, "left out" in output) == (128, False)
        assert "nowhere" in output


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    "command", ["git format-patch --stdout -2", "git format-patch --stdout HEAD~1", "git format-patch -2"]
)
def test_a_patch_of_commits_has_no_secrets_in_it(repository: Repository, command: str) -> None:
    repository.commit({"a.txt": "one\n", ".env": "hunter2\n"})
    repository.commit({"a.txt": "two\n", ".env": "hunter2 again\n"})
    code, output = repository.run(command)
    patches = "".join(path.read_text() for path in repository.work.glob("*.patch"))
    assert code == 0
    assert "hunter" not in output + patches
    assert "+two" in output + patches
