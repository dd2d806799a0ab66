"""Plans run as they stand: no shell, own environment, one group that can be ended."""

import os
import re
import sqlite3
import subprocess
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.policy.shell import judge, rules
from assent.process.pipeline import Pipeline

_ALLOW = [
    "diff",
    "date",
    "timeout",
    "ls",
    "cat",
    "wc",
    "head",
    "echo",
    "cd",
    "pwd",
    "sort",
    "true",
    "false",
    "grep",
    "touch",
    "printenv",
    "yes",
    "env",
    "sleep",
    "git",
    "tr",
    "command",
    "time",
    "sqlite3",
]


def run(command: str, folder: Path, environment: dict[str, str] | None = None) -> tuple[int, str]:
    plan = judge(command, rules(_ALLOW), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None, command
    with open(folder.parent / "output", "w+b") as output:
        code = Pipeline(plan, output.fileno(), environment).run()
        output.seek(0)
        return code, output.read().decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "work"
    (inside / "sub").mkdir(parents=True)
    (inside / "a.txt").write_text("one\ntwo\n")
    return inside


_SAME_AS_BASH = [
    "echo hi",
    "false || echo no",
    "true && echo yes",
    "false && echo no",
    "false; echo go",
    "echo a; false",
    "cat a.txt | wc -l",
    "cat a.txt | sort -r | head -1",
    "cat < a.txt",
    "cat <<< word",
    "cat <<'E'\n$x `y`\nE",
    "cat nofile 2>/dev/null",
    "ls nofile 2>&1 >/dev/null | wc -l",
    "echo x >/dev/null",
    "echo *.txt",
    "echo *.none",
    "cd sub && pwd",
    "cd sub; cd ..; ls",
    "cd sub | pwd",
    "yes | head -2",
    "grep one a.txt && echo found",
    "false || false || echo third",
    "true || echo no && echo yes",
    "echo 'a  b' \"c\" d\\ e",
    'echo "$HOME" ~',
    "echo one |& cat",
    "cat a.txt |\nwc -c",
    "LC_ALL=C sort a.txt",
    "echo a &>/dev/null",
    "echo b >&2",
    "tr a-z A-Z <<< abc",
    "head -c 3 a.txt && echo",
]


@pytest.mark.needs("bash")
@pytest.mark.parametrize("command", _SAME_AS_BASH)
def test_a_plan_prints_and_returns_what_bash_would(command: str, folder: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/home/x"}
    bash = subprocess.run(
        ["bash", "--norc", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert run(command, folder, environment) == (bash.returncode, bash.stdout.decode())


def test_the_environment_is_built_and_not_inherited(folder: Path) -> None:
    code, text = run("env", folder, {"PATH": "/usr/bin:/bin", "SECRET": "s", "LD_PRELOAD": "x", "HOME": "/h"})
    assert code == 0
    assert "SECRET" not in text
    assert "LD_PRELOAD" not in text


def test_a_program_in_the_workspace_is_not_found_by_its_bare_name(folder: Path) -> None:
    fake = folder / "ls"
    fake.write_text("#!/bin/sh\necho fake\n")
    fake.chmod(0o755)
    _, text = run("ls", folder, {"PATH": f"{folder}:.::/usr/bin:/bin"})
    assert "fake" not in text


def test_a_program_that_is_missing_gives_127(folder: Path) -> None:
    assert run("git status", folder, {"PATH": str(folder.parent)}) == (127, "git: command not found\n")


def test_a_write_through_a_link_out_of_the_workspace_is_refused(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    code, _ = run("touch link/x", folder)
    assert code == 126
    assert list(outside.iterdir()) == []


def test_a_link_is_followed_before_the_step_back_behind_it(folder: Path) -> None:
    """For the system `link/../x` lies beside what the link leads to."""
    (folder.parent / "there" / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(folder.parent / "there" / "deep")
    assert run("touch link/../x", folder)[0] == 126
    assert [path.name for path in (folder.parent / "there").iterdir()] == ["deep"]
    assert run("touch sub/../x", folder) == (0, "")
    assert (folder / "x").exists()


def test_cancel_ends_the_whole_pipeline(folder: Path) -> None:
    plan = judge("yes | sort | cat", rules(["yes", "sort", "cat"]), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    with open(os.devnull, "wb") as output:
        pipeline = Pipeline(plan, output.fileno())
        codes: list[int] = []
        thread = threading.Thread(target=lambda: codes.append(pipeline.run()))
        thread.start()
        pipeline.cancel()
        thread.join(10)
    assert not thread.is_alive()
    assert codes[0] > 128


def test_nothing_starts_after_cancel(folder: Path) -> None:
    plan = judge("touch a && touch b", rules(["touch"]), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    pipeline = Pipeline(plan, 1)
    pipeline.cancel()
    assert pipeline.run() > 128
    assert not (folder / "a").exists()


_HOOKS = [
    ("core.fsmonitor", "git status"),
    ("core.pager", "git log"),
    ("diff.external", "git diff"),
    ("diff.evil.textconv", "git diff"),
    ("diff.evil.command", "git diff"),
    ("filter.evil.clean", "git status"),
    ("filter.evil.process", "git diff"),
    ("core.sshCommand", "git log"),
    ("gpg.program", "git log"),
    ("diff.evil.textconv", "git log -p"),
    ("diff.evil.textconv", "git blame a.txt"),
    ("diff.evil.textconv", "git show"),
    ("diff.evil.textconv", "git grep two"),
]


@pytest.mark.needs("git")
@pytest.mark.parametrize(("key", "command"), _HOOKS)
def test_a_hostile_repository_cannot_make_git_run_a_program(key: str, command: str, folder: Path) -> None:
    def git(*words: str) -> None:
        clean = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=folder, env=clean, check=True, capture_output=True)

    git("init", "-q")
    git("config", "user.name", "n")
    git("config", "user.email", "e")
    (folder / ".gitattributes").write_text("*.txt diff=evil filter=evil\n")
    git("add", ".")
    git("commit", "-qm", "x")
    git("config", "log.showSignature", "true")
    canary = folder.parent / "canary"
    script = folder.parent / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    git("config", key, str(script))
    (folder / "a.txt").write_text("one\nTWO\n")
    run(command, folder, {"PATH": os.environ["PATH"], "HOME": str(folder.parent)})
    assert not canary.exists()


@pytest.mark.needs("git")
def test_looking_for_changes_runs_no_filter_of_a_submodule(folder: Path) -> None:
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    canary = folder.parent / "canary"

    def git(cwd: Path, *words: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *identity, *words], cwd=cwd, env=clean, check=True, capture_output=True)

    inner = folder / "inner"
    inner.mkdir()
    for place in (inner, folder):  # a repository within the other becomes a submodule of it when it is added
        git(place, "init", "-q")
        (place / "f").write_text("a\n")
        git(place, "add", ".")
        git(place, "commit", "-qm", "x")
    (inner / ".git" / "info" / "attributes").write_text("f filter=evil\n")
    git(inner, "config", "filter.evil.clean", f"touch {canary}; cat")
    (inner / "f").write_text("b\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    run("git describe --always --dirty", folder, environment)
    assert not canary.exists()
    git(folder, "describe", "--always", "--dirty")
    assert canary.exists()  # without us it runs


@pytest.mark.needs("git")
@pytest.mark.parametrize("name", [b"a=b", b"caf\xe9", b"a.b", b"a b"])
@pytest.mark.parametrize("command", ["git diff", "git status", "timeout 9 git diff", "git -C . diff -C"])
def test_a_filter_of_any_name_is_switched_off(name: bytes, command: str, folder: Path) -> None:
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words: str | bytes) -> None:
        subprocess.run(["git", *words], cwd=folder, env=clean, check=True, capture_output=True)

    git("init", "-q")
    (folder / ".gitattributes").write_bytes(b"*.txt filter=" + name + b"\n")
    git("add", ".")
    canary = folder.parent / "canary"
    git("config", b"filter." + name + b".clean", f"touch {canary}; cat")
    (folder / "a.txt").write_text("one\nTWO\n")
    run(command, folder, {"PATH": os.environ["PATH"], "HOME": str(folder.parent)})
    assert not canary.exists()


@pytest.mark.needs("git")
def test_git_does_not_run_where_its_configuration_cannot_be_read(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".git" / "config").write_text("[broken\n")
    code, output = run("git status", folder, {"PATH": os.environ["PATH"], "HOME": str(folder.parent)})
    assert code == 126
    assert "cannot be read" in output


@pytest.mark.parametrize("command", ["grep -r . .", "grep -r --include='*' . .", "grep . -r -- ."])
def test_a_search_through_folders_leaves_secrets_out(command: str, folder: Path) -> None:
    (folder / ".env").write_text("PASSWORD\n")
    (folder / "sub" / "x.pem").write_text("PASSWORD\n")
    _, output = run(command, folder)
    assert "one" in output
    assert "PASSWORD" not in output


@pytest.mark.parametrize(
    "command",
    [
        *("cat link", "cd out && ls", "cat out/secret", "cat < link", "cat sub/../link", "cat l*"),
        *("diff --from-file=link a", "date -flink", "date -uflink", "date --file=out/secret"),
    ],
)
def test_a_plan_that_must_stay_inside_starts_nothing_that_a_link_leads_out(folder: Path, command: str) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "link").symlink_to(outside / "secret")
    (folder / "out").symlink_to(outside)
    plan = judge(command, rules(_ALLOW), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    with open(folder.parent / "output", "w+b") as output:
        assert Pipeline(replace(plan, inside=True), output.fileno()).run() != 0
        output.seek(0)
        assert b"leads out of the workspace" in (said := output.read())
    assert said.count(b"secret") <= 1, "the name of what was refused, never its content"


@pytest.mark.parametrize("command", ["echo hello | tee /dev/stderr | wc -l", "grep -c x a.txt /dev/null"])
def test_streams_of_the_command_itself_are_not_outside(folder: Path, command: str) -> None:
    (folder / "a.txt").write_text("x\n")
    exact = [("tee", "/dev/stderr")]
    plan = judge(command, rules(["echo", "wc", "grep"], exact=exact), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    with open(folder.parent / "output", "w+b") as output:
        assert Pipeline(replace(plan, inside=True), output.fileno()).run() == 0
        output.seek(0)
        assert b"leads out of the workspace" not in output.read()


def test_time_measures_without_a_program_of_that_name(folder: Path) -> None:
    code, shown = run("time cat a.txt | wc -l", folder, {"PATH": "/usr/bin:/bin"})
    assert code == 0
    count, took = shown.splitlines()
    assert count.strip().isdigit()
    assert re.fullmatch(r"real \d+\.\d{3}s", took)


@pytest.mark.needs("sqlite3")
def test_a_question_to_a_database_changes_nothing_even_if_it_tried(folder: Path) -> None:
    made = sqlite3.connect(folder / "db")
    made.execute("create table t as select 7 as a")
    made.close()
    assert run("sqlite3 db 'select a from t'", folder, {"PATH": "/usr/bin:/bin"}) == (0, "7\n")
    assert run("sqlite3 new 'select 1'", folder, {"PATH": "/usr/bin:/bin"})[0] != 0
    assert not (folder / "new").exists()
