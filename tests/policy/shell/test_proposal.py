"""What is offered as "always"."""

import pytest

from assent.policy.shell import judge, proposal, rules


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
        ("mkdir -p a/b", [("exact", "mkdir -p a/b"), ("program", "mkdir")]),
        ("touch x", [("exact", "touch x"), ("program", "touch")]),
        ("mkdir /etc/x", [("exact", "mkdir /etc/x"), ("program", "mkdir")]),
        ("pytest -q", [("exact", "pytest -q"), ("program", "pytest")]),
        ("eslint src", [("exact", "eslint src"), ("program", "eslint")]),
        ("npx tsc --noEmit", [("exact", "npx tsc --noEmit"), ("subcommand", "npx tsc")]),
        ("npx --yes tsc", [("exact", "npx --yes tsc"), ("subcommand", "npx --yes tsc")]),
        ("uv run pytest -q", [("exact", "uv run pytest -q"), ("subcommand", "uv run pytest")]),
        ("uv run ruff check .", [("exact", "uv run ruff check ."), ("subcommand", "uv run ruff check")]),
        ("poetry run mypy src", [("exact", "poetry run mypy src"), ("subcommand", "poetry run mypy")]),
        ("bundle exec rspec", [("exact", "bundle exec rspec"), ("subcommand", "bundle exec rspec")]),
        ("npm install --save-dev x", [("exact", "npm install --save-dev x"), ("subcommand", "npm install")]),
        ("cmake -S . -B build", [("exact", "cmake -S . -B build")]),
        ("npx", []),
        ("npx unheard-of", []),
        ("npx bash -c ls", []),
        ("uv run python x.py", []),
        ("uv run bash x.sh", []),
        ("uv run env ls", []),
        ("npx npx tsc", []),
        ("npx -c tsc", []),
        ("uv run ruff", []),
        ("npx prettier --write x", []),
        ("cp a b", [("exact", "cp a b")]),
        ("mv a b", [("exact", "mv a b")]),
        ("curl https://a.org", [("exact", "curl https://a.org")]),
        ("python", []),
        ("python -", []),
        ("node -", []),
        ("sed -f - x -e -", []),
        ("cat -", [("exact", "cat -"), ("program", "cat")]),
        ("bash -c ls", []),
        ("bash x.sh", [("exact", "bash x.sh")]),
        ("sh scripts/x.sh --fast prod", [("exact", "sh scripts/x.sh --fast prod")]),
        ("bash", []),
        ("bash ../x.sh", []),
        ("bash -x x.sh", []),
        ("timeout 60 make test", [("exact", "make test"), ("subcommand", "make test")]),
        ("timeout 60 bash -c ls", []),
        ("cd x && make test", [("exact", "make test"), ("subcommand", "make test")]),
        ("cd x", []),
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
    assert scopes["git add"].endswith("that names nothing protected and nothing outside the workspace.")
    assert scopes["npm test"].endswith("with options that do not change which code runs.")
    assert scopes["git fetch"].endswith("with plain operands; it uses the network.")
    assert scopes["mkdir x"] == "Exactly `mkdir x`, and nothing else."
    assert scopes["mkdir"] == "Every `mkdir` that names nothing protected and nothing outside the workspace."
    exact, both = proposal("uv run pytest")
    assert exact.reach == "Exactly `uv run pytest`, and nothing else."
    assert (
        both.reach
        == "Every `uv run pytest`, which runs this project's code, with options that do not change which code runs."
    )


def test_no_bare_program_is_offered_when_its_sub_commands_differ() -> None:
    for command in ("git log", "npm ls", "cargo tree", "docker ps", "rm x", "cp a b", "make test"):
        assert not [kind for kind, _ in offered(command) if kind == "program"]


@pytest.mark.parametrize(
    ("asked", "covered", "asks"),
    [
        ("mkdir a", "mkdir -p b/c d", "mkdir .git/x"),
        ("touch x", "touch a b/c", "touch ../x"),
        ("pytest -q", "pytest tests -x", "pytest -c evil.ini"),
        ("npx tsc --noEmit", "npx tsc --noEmit --strict", "npx eslint ."),
        ("uv run pytest", "uv run pytest -k x", "uv run python -m pytest"),
        ("uv run ruff check", "uv run ruff check src", "uv run ruff format"),
    ],
)
def test_what_is_offered_covers_its_like_and_nothing_that_does_more(asked: str, covered: str, asks: str) -> None:
    words = [scope.words for scope in proposal(asked) if scope.kind != "exact"]
    given = rules([" ".join(one) for one in words])
    assert judge(covered, given, cwd="/w", roots=["/w"]).decision == "allow"
    assert judge(asks, given, cwd="/w", roots=["/w"]).decision == "ask"
