"""What the model is told where git lists a file that the sandbox hides."""

import pytest

from assent.plan import SandboxName
from assent.process.output_buffer import Excerpt
from assent.process.run_program import ProcessFinished
from assent.tools.support.sandbox_notes import hidden_notes


def notes(command: str, output: str, sandbox: SandboxName = "workspace") -> list[str]:
    finished = ProcessFinished(
        code=0, signal=None, ended="exited", output=Excerpt(output, "", 0), bytes=0, binary=False
    )
    return hidden_notes(finished, sandbox, command)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git status --short", " M .env\n M a.txt\n"),
        ("git status", "Changes not staged for commit:\n\tmodified:   .env\n"),
        ("git diff --name-only", ".env\na.txt\n"),
        ("git diff --name-status", "M\t.env\n"),
        ("python3 -c 1 && git status --short", " M .env\n"),
        ("cd sub; git -c color.ui=never diff --name-only | sort", ".env\n"),
        ("./scripts/state.sh", "\tmodified:   .env\n"),
    ],
)
def test_a_hidden_secret_that_git_lists_as_changed_is_named(command: str, output: str) -> None:
    assert notes(command, output) == ["The sandbox hides .env, so git may list it as changed although it is not."]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git status --short", " M a.txt\n?? .env\n"),
        ("git diff", "+ M .env\n"),
        ("cat a.txt", ".env\n"),
        ("ls -a", ".env\n.git\n"),
    ],
)
def test_nothing_is_said_about_other_lines(command: str, output: str) -> None:
    assert notes(command, output) == []


def test_nothing_is_said_without_a_sandbox() -> None:
    assert notes("git status --short", " M .env\n", "off") == []


@pytest.mark.parametrize("command", ["git add -A", "git stash", "make release"])
def test_it_is_said_why_git_cannot_add_a_hidden_secret(command: str) -> None:
    output = (
        "error: open(\".env\"): Permission denied\nerror: unable to index file '.env'\nfatal: adding files failed\n"
    )
    assert notes(command, output) == [
        "The sandbox hides .env, so git cannot read it. Name the other files instead, or run git without the sandbox."
    ]


def test_nothing_is_said_about_other_files_that_git_cannot_open() -> None:
    assert notes("git add -A", 'error: open("a.txt"): Permission denied\n') == []
