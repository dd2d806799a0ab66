"""What the model is told where git lists a file that the sandbox hides."""

import pytest
from msgspec.structs import replace

from assent.plan import Plan
from assent.policy.shell import judge, rules
from assent.process.output_buffer import Excerpt
from assent.process.run_program import ProcessFinished
from assent.tools.support.sandbox_notes import hidden_notes


def notes(command: str, output: str) -> list[str]:
    plan = judge(command, rules(allow=["git status", "git diff", "cat"]), cwd="/w", roots=["/w"]).plan
    assert isinstance(plan, Plan)
    finished = ProcessFinished(
        code=0, signal=None, ended="exited", output=Excerpt(output, "", 0), bytes=0, binary=False
    )
    return hidden_notes(finished, replace(plan, sandbox="read-only"))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git status --short", " M .env\n M a.txt\n"),
        ("git status", "Changes not staged for commit:\n\tmodified:   .env\n"),
        ("git diff --name-only", ".env\na.txt\n"),
        ("git diff --name-status", "M\t.env\n"),
    ],
)
def test_a_hidden_secret_that_git_lists_as_changed_is_named(command: str, output: str) -> None:
    assert notes(command, output) == ["The sandbox hides .env, so git may list it as changed although it is not."]


@pytest.mark.parametrize(
    ("command", "output"),
    [("git status --short", " M a.txt\n?? .env\n"), ("git diff", "+ M .env\n"), ("cat a.txt", ".env\n")],
)
def test_nothing_is_said_about_other_lines(command: str, output: str) -> None:
    assert notes(command, output) == []
