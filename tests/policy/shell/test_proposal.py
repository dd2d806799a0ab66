"""What is offered as "always"."""

import pytest

from assent.policy.shell import proposal


def offered(command: str) -> list[tuple[str, str]]:
    return [(scope.kind, " ".join(scope.words)) for scope in proposal(command)]


@pytest.mark.parametrize(
    ("command", "scopes"),
    [
        ("ls -la", [("exact", "ls -la"), ("program", "ls")]),
        ("git log -3", [("exact", "git log -3"), ("subcommand", "git log")]),
        ("git -C x push", [("exact", "git -C x push"), ("subcommand", "git push")]),
        ("npm run build", [("exact", "npm run build"), ("subcommand", "npm run build")]),
        ("rm -rf x", [("exact", "rm -rf x")]),
        ("rm x", [("exact", "rm x")]),
        ("find . -delete", [("exact", "find . -delete")]),
        ("mytool build", [("exact", "mytool build")]),
        ("python -m pytest -q", [("exact", "python -m pytest -q")]),
        ("python x.py", [("exact", "python x.py")]),
        ("python", []),
        ("bash -c ls", []),
        ("sudo ls", []),
        ("env ls", []),
        ("xargs ls", []),
        ("eval ls", []),
        ("echo $(id)", []),
        ("FOO=1 ls", []),
        ("ls *", []),
        ("git --version", [("exact", "git --version")]),
    ],
)
def test_the_narrowest_sensible_scopes_are_offered(command: str, scopes: list[tuple[str, str]]) -> None:
    assert offered(command) == scopes


def test_every_scope_says_how_far_it_reaches() -> None:
    scopes = {" ".join(scope.words): scope.reach for scope in proposal("git log | head && npm test && mkdir x")}
    scopes |= {" ".join(scope.words): scope.reach for scope in proposal("git add a; git fetch")}
    assert scopes["head"] == "Every `head` whose options and operands only read."
    assert scopes["git log"] == "Every `git log` whose options and operands only read."
    assert scopes["git add"].endswith("with plain files inside the workspace that are not protected.")
    assert scopes["npm test"].endswith("which runs code of this project, with options that do not change what.")
    assert scopes["git fetch"].endswith("with plain operands; it uses the network.")
    assert scopes["mkdir x"] == "Exactly `mkdir x`, with no other word."


def test_no_bare_program_is_offered_when_its_sub_commands_differ() -> None:
    for command in ("git log", "npm ls", "cargo tree", "docker ps", "rm x", "cp a b", "make test"):
        assert not [kind for kind, _ in offered(command) if kind == "program"]
