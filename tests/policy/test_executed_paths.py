"""Which files a command executes, found from its words."""

import os

import pytest

from assent.approval import UnapprovedFile
from assent.policy.executed_paths import executed_paths
from assent.policy.file_approvals import unapproved_in_words

pytestmark = pytest.mark.spec("J9")


def found(command: str, cwd: str = "/w") -> set[str]:
    return {path for alternatives in executed_paths(command, cwd, ("/w",)) for path in alternatives}


@pytest.mark.parametrize(
    "command",
    [
        "./scripts/x.sh",
        "scripts/x.sh --fast",
        "bash scripts/x.sh a b",
        "bash -eu scripts/x.sh",
        "bash -o pipefail scripts/x.sh",
        "sh ./scripts/x.sh",
        "source scripts/x.sh",
        ". scripts/x.sh",
        "bash < scripts/x.sh",
        "cat scripts/x.sh | bash",
        "bash -c 'scripts/x.sh'",
        "bash -c 'cd scripts && ./x.sh'",
        "bash -lc 'source scripts/x.sh'",
        "bash <<< scripts/x.sh",
        "sh <<EOF\nscripts/x.sh\nEOF",
        "env A=1 timeout 5 scripts/x.sh",
        "nice -n 5 bash scripts/x.sh",
        "find . -name '*.txt' | xargs -n1 scripts/x.sh",
        "find . -exec scripts/x.sh {} +",
        "sudo -u root scripts/x.sh",
        "nohup scripts/x.sh > out.txt 2>&1 &",
        "cd scripts && ./x.sh",
        "(cd scripts; ./x.sh)",
        "for name in a b; do scripts/x.sh $name; done",
        "if true; then scripts/x.sh; fi",
        "echo $(scripts/x.sh)",
        "true || scripts/x.sh",
        "watch scripts/x.sh",
        "x=$RANDOM; scripts/x.sh ${x/1/2}",
        "bash /w/scripts/x.sh",
        'bash "$PWD/scripts/x.sh"',
        "uv run --with rich scripts/x.sh",
    ],
)
def test_a_script_is_found_however_it_is_started(command: str) -> None:
    assert "/w/scripts/x.sh" in found(command)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python tool.py data.json", {"tool.py"}),
        ("python3.12 -W ignore tool.py", {"tool.py"}),
        ("python -m tools.gen", {"tools/gen.py", "tools/__init__.py"}),
        ("uv run tool.py", {"tool.py", "pyproject.toml"}),
        ("uv run --with rich python tool.py", {"tool.py"}),
        ("node server", {"server.js", "server/index.js"}),
        ("node -r ./setup.js app.js", {"setup.js", "app.js"}),
        ("ruby -r./lib.rb main.rb", {"lib.rb", "main.rb"}),
        ("make test", {"GNUmakefile", "makefile", "Makefile"}),
        ("make -f other.mk", {"other.mk"}),
        ("make --file=other.mk", {"other.mk"}),
        ("make -C sub all", {"sub/Makefile"}),
        ("cd sub && make", {"sub/Makefile"}),
        ("time make", {"Makefile"}),
        ("npm test", {"package.json"}),
        ("npm --prefix web run build", {"web/package.json"}),
        ("pnpm run build", {"package.json"}),
        ("yarn build", {"package.json"}),
        ("bun run build", {"package.json"}),
        ("npx jest", {"jest.config.js", "package.json"}),
        ("pytest", {"conftest.py", "pytest.ini", "pyproject.toml", "tests/conftest.py"}),
        ("pytest tests/unit/test_x.py::test_y", {"tests/unit/conftest.py", "tests/conftest.py", "conftest.py"}),
        ("python -m pytest -q", {"conftest.py", "pytest.ini"}),
        ("uv run pytest", {"conftest.py", "pyproject.toml"}),
        ("tox -e py312", {"tox.ini"}),
        ("just build", {"justfile"}),
        ("cargo test", {"Cargo.toml", "build.rs"}),
        ("./gradlew build", {"gradlew", "build.gradle", "gradle/wrapper/gradle-wrapper.jar"}),
        ("gradle build", {"build.gradle.kts", "settings.gradle"}),
        ("pre-commit run -a", {".pre-commit-config.yaml"}),
        ("docker build .", {"Dockerfile"}),
        ("docker build -f ci/Dockerfile.test web", {"ci/Dockerfile.test", "web/Dockerfile"}),
        ("mvn -f sub/pom.xml test", {"sub/pom.xml"}),
        ("bundle exec rake", {"Rakefile", "Gemfile"}),
        ("nox", {"noxfile.py"}),
    ],
)
def test_the_files_that_a_tool_obeys_are_found(command: str, files: set[str]) -> None:
    assert {f"/w/{name}" for name in files} <= found(command)


def test_a_tool_that_searches_upwards_also_finds_what_is_above_but_not_outside_the_workspace() -> None:
    paths = found("npm test", cwd="/w/packages/app")
    assert {"/w/packages/app/package.json", "/w/packages/package.json", "/w/package.json"} <= paths
    assert "/package.json" not in paths


@pytest.mark.parametrize(
    "command",
    ["ls -la", "cat Makefile", "echo make", "git status", "npm ls", "cargo fmt", "grep -r make .", "docker ps", "A=1"],
)
def test_a_command_that_executes_nothing_of_the_workspace_has_no_files(command: str) -> None:
    assert found(command) == set()


def test_what_is_only_data_is_no_script() -> None:
    assert found("python -c 'print(1)' data.json") == set()
    assert found("bash -c 'echo $0' data.json") == set()
    assert executed_paths("python tool.py data.json", "/w", ("/w",))[0][0] == "/w/tool.py", "the first that is a file"


def test_home_is_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert found("bash ~/x.sh") == found('bash "$HOME/x.sh"') == {"/home/ann/x.sh"}


def test_very_many_words_stay_cheap() -> None:
    assert len(executed_paths("make " + " ".join(f"-f {n}.mk" for n in range(4000)), "/w", ("/w",))) <= 2000


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([("ci.sh", True)], "ci.sh has changed since you approved it"),
        ([("a", True), ("b", True)], "a and b have changed since you approved them"),
        ([("a", False)], "it runs a, which you have not approved yet"),
        (
            [("a", True), ("b", False), ("c", False)],
            "a has changed since you approved it; it runs b and c, which you have not approved yet",
        ),
    ],
)
def test_the_reason_names_the_files(files: list[tuple[str, bool]], words: str) -> None:
    assert unapproved_in_words([UnapprovedFile(path, changed) for path, changed in files]) == words


def test_every_path_is_absolute() -> None:
    for command in ("make -C ../x", "bash ./a/../b.sh", "pytest ../tests"):
        assert all(os.path.isabs(path) and ".." not in path for path in found(command))
