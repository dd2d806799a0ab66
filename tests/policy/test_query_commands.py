"""What is asked without a rule: versions of what is installed, plain settings, and words that only look like paths."""

from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.policy.query_commands import is_question


def ruling(text: str, directory: str, *roots: str) -> str:
    details = ExecDetails(command=text, roots=(), directory=directory, risk="high", risk_reason="")
    action = Action(tool="run_shell_command", args={"command": text}, details=details, main=text, paths=("/w/",))
    return Policy(roots=roots).judge(action).ruling


def installed(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "git --version",
            "java -version",
            "go version",
            "gcc --version",
            "bash --version",
            "ssh -V",
            "npx --version",
            "printenv HOME",
            "git config user.name",
            "git help",
        ),
        *("split --version | head -1", "cp --version", "env --version", "timeout --version"),
        *("git --help", "mkdir --help | head -3", "python3 --help", "make --help", ":", "ls && :", "echo $((2**8))"),
        *("git config --get user.email", "git config --global --get init.defaultBranch", "sleep 1", "hostname"),
        *("awk '{print $1}' a", "awk -F/ '{print $2}' a", "cut -d/ -f2 a", "tr / _ < a", "sed -n '/def/p' a"),
        *("sed -e '/x/d' -e '/y/d' a", "grep -n '/api/users' a", "grep -e /api a", "rg /api", "git grep /api"),
        *('echo "${HOME}"', 'echo "$USER"', "printf '%s\\n' /etc/x", "find . -path '/x/*'", "sort -t/ -k2 a"),
        *("find . -name '*.py' | xargs wc -l", "git ls-files | xargs grep -n x", "paste a b", "od -c a", "xxd a"),
        *("tar -tf a.tar", "tar tzf a.tgz", "unzip -l a.zip", "zipinfo a.zip", "zcat a.gz | head", "zgrep x a.gz"),
        *("git merge-base main HEAD", "git rev-list --count HEAD", "git cat-file -t HEAD", "git worktree list"),
        *(
            "git symbolic-ref HEAD",
            "git for-each-ref",
            "git show-ref",
            "git check-ignore a",
            "tput cols",
            "getconf PAGESIZE",
        ),
        *("[[ -f a ]] && echo yes", "seq 3", "expr 1 + 1", "cal", "arch", "tty", "groups", "locale", "lscpu"),
    ],
)
def test_what_only_asks_needs_no_rule(text: str) -> None:
    assert ruling(text, "/w", "/w") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "text",
    [
        *("printenv", "printenv GITHUB_TOKEN", "printenv HOME GITHUB_TOKEN", "env", "ps auxe", "yarn --version"),
        *("git config --list", "git config -l", "git config http.extraheader", "git config credential.helper"),
        *("git config remote.origin.url x", "git config user.name x", "git config --get-regexp .", "pnpm --version"),
        *("git config --file .env user.name", "./node --version", "node --version x", "node --version --eval x"),
        *(
            "printenv HOME; printenv HOME EDITOR",
            "bash --version; bash --version -c id",
            "npx --version; npx --version x",
        ),
        *(
            "git help log",
            "git help -w log",
            "git help; git help -w log",
            "git --help; git --help log",
            "flake8 --version",
            "pdm --version",
        ),
        *("mkdir --help; mkdir x", "rm --help; rm --help x", "mkdir --help; mkdir x --help", "aws --help", ": > x"),
        *("python3 --help; python3 --help -c id", "make --help; make --help x", "./mkdir --help", ": /etc/passwd"),
        *("npm --version; npm --version test", "git config user.name; git config user.name x"),
        *("python3 -m pip --version", "X=1 node --version", "git tag v1", "git branch x", "git branch -d x"),
        *("git symbolic-ref HEAD refs/heads/x", "git cat-file -p HEAD:.env", "git worktree add x", "git stash pop"),
        *("awk '{print > \"x\"}' a", "awk '{print}' /etc/passwd", "awk '{print SYMTAB[\"x\"]}' a", "awk -f x a"),
        *("sed -n '/x/p' /etc/passwd", "sed -n /etc/passwd -e p", "grep x /etc/passwd", "grep /etc/passwd -e x"),
        *("echo /etc/*", "echo ~/*", "find /etc -path '/x/*'", "cut -d/ -f1 /etc/passwd", "cut -f1 -d / /etc/passwd"),
        *("tar -xf a.tar", "tar tf /etc/a.tar", "tar -tf a.tar -I x", "unzip a.zip", "unzip -p a.zip", "gzip a"),
        *("ls | xargs rm", "ls | xargs -I{} sh -c {}", "getconf -v x y", "hostname x", "tput init", "xxd a b"),
        *("[[ -f /etc/x ]]", "[ -f /etc/x ]", "base64 .env", "zcat .env", "od -c .env", "git grep x -- .env"),
    ],
)
def test_a_command_that_shows_or_does_more_still_needs_approval(text: str) -> None:
    assert ruling(text, "/w", "/w") == "ask"


@pytest.mark.parametrize(
    ("folder", "name", "file"),
    [
        (".pyenv/shims", "python3", ".python-version"),
        (".asdf/shims", "node", ".tool-versions"),
        (".volta/bin", "node", "package.json"),
        (".cargo/bin", "cargo", "rust-toolchain.toml"),
    ],
)
def test_a_version_is_not_asked_of_a_program_that_a_file_of_the_folder_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str, file: str
) -> None:
    work = tmp_path / "work" / "below"
    work.mkdir(parents=True)
    installed(tmp_path / folder, name)
    installed(tmp_path / folder, "rustup")
    monkeypatch.setenv("PATH", str(tmp_path / folder))
    asked = [name, "--version"]
    assert is_question(asked, str(work), [str(tmp_path / "work")])
    (work.parent / file).touch()
    assert not is_question(asked, str(work), [str(tmp_path / "work")])


def test_a_version_is_not_asked_of_a_program_in_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "bin", "node")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert not is_question(["node", "--version"], str(tmp_path), [str(tmp_path)])
    assert is_question(["node", "--version"], str(tmp_path), [str(tmp_path / "other")])


def test_behind_a_change_of_folder_no_version_is_asked() -> None:
    assert ruling("cd a && node --version", "/w", "/w") == "ask"
    assert ruling("command cd a; node --version", "/w", "/w") == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "text",
    [
        *("git remote show", "git remote show -n origin", "git ls-remote --get-url origin", "git config get user.name"),
        *("git var GIT_AUTHOR_IDENT", "git var GIT_DEFAULT_BRANCH"),
    ],
)
def test_git_is_asked_for_plain_settings(text: str) -> None:
    assert ruling(text, "/w", "/w") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "text",
    [
        *("git remote show origin", "git remote show -n ext::sh", "git remote show -n ../x", "git ls-remote origin"),
        *("git ls-remote --get-url ../x", "git var -l", "git var GIT_EDITOR", "git config get http.extraheader"),
        *(
            "git config --list",
            "git config --global --list",
            "git config get --all user.name",
            "git config set user.name x",
        ),
    ],
)
def test_git_is_not_asked_for_what_may_be_secret_or_elsewhere(text: str) -> None:
    assert ruling(text, "/w", "/w") == "ask"
