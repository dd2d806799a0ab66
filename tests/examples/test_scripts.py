"""The scripts behind `make`: what is installed when, what is missing, and which rows of the specification count."""

import os
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.waiting import WAIT_LIMIT

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PIP = """#!/bin/sh
case "$*" in
    *"-m venv"*) mkdir -p .venv/bin && rm -f .venv/.installed-*; cp "$0" .venv/bin/python; echo "venv" >> log ;;
    *"pip install"*) for word; do last=$word; done; echo "pip $last" >> log ;;
    --version) echo "Python 3.11" ;;
esac
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Project:
    """A folder with one of our scripts, and nothing installed but what the tests put there."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        (folder / "scripts").mkdir()
        shutil.copy(SCRIPTS / script, folder / "scripts")
        self._script = folder / "scripts" / script
        for name in ("bash", "cat", "cut", "dirname", "env", "id", "mkdir", "cp", "rm", "sha256sum", "timeout", "true"):
            self.offers(name, os.path.realpath(shutil.which(name) or "/bin/false"))

    def offers(self, name: str, real: str) -> None:
        self.programs.mkdir(exist_ok=True)
        (self.programs / name).symlink_to(real)

    def run(self, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", str(self._script), *args],
            env={"PATH": str(self.programs), **env},
            capture_output=True,
            text=True,
            timeout=WAIT_LIMIT,
            check=False,
        )


# --- setup ---


@pytest.fixture
def setup(tmp_path: Path) -> Project:
    project = Project(tmp_path, "setup")
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text(name)
    program(project.programs / "python3.11", PIP)
    return project


def installed(project: Project, *parts: str) -> list[str]:
    """What this set-up does."""
    log = project.folder / "log"
    log.write_text("")
    done = project.run(*parts)
    assert done.returncode == 0, done.stderr
    return log.read_text().splitlines()


def test_each_part_is_added_to_what_is_there_and_installed_once(setup: Project) -> None:
    assert installed(setup, "run") == ["venv", "pip ."]
    assert installed(setup, "run") == []
    assert installed(setup, "dev") == ["pip .[dev]"]
    assert installed(setup, "run") == [] and installed(setup) == []
    assert installed(setup, "docs", "coverage") == ["pip .[docs,coverage]"]
    assert installed(setup, "dev", "docs") == []


def test_without_run_before_a_part_brings_it(setup: Project) -> None:
    assert installed(setup, "dev") == ["venv", "pip .[dev]"]
    assert installed(setup, "run") == []


def test_all_that_was_there_is_made_anew_when_the_pins_change(setup: Project) -> None:
    installed(setup, "dev", "coverage")
    (setup.folder / "constraints.txt").write_text("newer")
    assert installed(setup, "docs") == ["venv", "pip .[docs,dev,coverage]"]
    assert installed(setup, "dev", "docs", "coverage") == []


def test_a_part_that_does_not_exist_is_refused(setup: Project) -> None:
    refused = setup.run("devel")
    assert refused.returncode == 2 and "there is no part 'devel'" in refused.stderr


# --- tools that are missing ---


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("0", 0), ("false", 0), ("1", 1), ("true", 1)])
def test_types_of_the_page_that_cannot_be_checked_are_told_and_fail_in_ci(tmp_path: Path, ci: str, code: int) -> None:
    project = Project(tmp_path, "page-types")
    program(tmp_path / ".venv/bin/python", "#!/bin/sh\nexit 1\n")
    done = project.run(CI=ci)
    assert "The page's types were NOT checked" in done.stderr
    assert done.returncode == code


@pytest.fixture
def tools(tmp_path: Path) -> Project:
    project = Project(tmp_path, "test-tools")
    program(project.programs / "sudo", '#!/bin/sh\nshift\nexec "$@"\n')
    return project


@pytest.mark.parametrize("apt", ["", "#!/bin/sh\nexit 100\n"], ids=["no apt", "apt fails"])
def test_programs_that_could_not_be_installed_are_named_and_fail_in_ci_alone(tools: Project, apt: str) -> None:
    if apt:
        program(tools.programs / "apt-get", apt)
    done, in_ci = tools.run(), tools.run(CI="true")
    assert (done.returncode, in_ci.returncode) == (0, 1)
    assert done.stderr == in_ci.stderr
    assert done.stderr.startswith("What needs these programs is SKIPPED") and done.stderr.endswith(
        ": chromium file git jq sqlite3 bubblewrap postgresql\n"
    )


def test_only_what_is_missing_is_installed(tools: Project) -> None:
    for name in ("bwrap", "file", "git", "google-chrome", "jq", "postgres"):
        program(tools.programs / name, "#!/bin/sh\n")
    install = f'#!/bin/sh\n[ "$1" = install ] && echo "$*" >> log && cp {tools.programs}/git {tools.programs}/sqlite3\n'
    program(tools.programs / "apt-get", install.replace(">> log", f">> {tools.folder}/log") + "exit 0\n")
    done = tools.run(CI="true")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tools.folder / "log").read_text().split()[-1] == "sqlite3"
    assert tools.run(CI="true").stdout == ""


# --- the specification ---


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPTS / "spec.py"))


@pytest.mark.parametrize(
    ("mark", "tests", "problem"),
    [
        ("", ["t"], None),
        ("", [], "A1 has no test"),
        ("partly", ["t"], None),
        ("partly", [], None),
        ("planned", [], None),
        ("planned", ["t"], "A1 is planned, but has tests"),
    ],
)
def test_a_row_counts_with_a_test_and_a_planned_one_has_none(
    spec: dict[str, Any], mark: str, tests: list[str], problem: str | None
) -> None:
    found = list(spec["problems"]([spec["Row"]("A1", mark, "words")], {"A1": tests} if tests else {}))
    assert (not found) if problem is None else found[0].startswith(problem)


def test_rows_that_do_not_exist_or_occur_twice_are_reported(spec: dict[str, Any]) -> None:
    row = spec["Row"]("A1", "planned", "words")
    assert list(spec["problems"]([row, row], {"Z9": ["t"]})) == [
        "A1 occurs 2 times",
        "tests name the row Z9, which does not exist: t",
    ]


def test_the_specification_has_no_problem(spec: dict[str, Any]) -> None:
    assert list(spec["problems"](spec["rows"](), spec["tests"]())) == []


# --- the mutations ---


def test_mutations_name_modules_and_tests_that_exist() -> None:
    mutate = runpy.run_path(str(SCRIPTS / "mutate.py"))
    source, tests = SCRIPTS.parent / "src/assent", SCRIPTS.parent / "tests"
    modules = [*mutate["_GATE"], *mutate["_TESTS"]]
    assert [name for name in modules if not (source / name).exists()] == []
    assert [name for names in mutate["_TESTS"].values() for name in names if not (tests / name).exists()] == []
