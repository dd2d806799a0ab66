"""Words after a project script are data for it; one that would run, or would name another task, needs approval."""

import json
from pathlib import Path

import pytest

from assent.approval import ExecDetails, Grant
from assent.policy.action import Action
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rules import Rule

SHELL = "run_shell_command"


def judged(folder: Path, text: str, *allow: str, grants: tuple[Grant, ...] = ()) -> Verdict:
    details = ExecDetails(command=text, roots=(), directory=str(folder), risk="high", risk_reason="")
    action = Action(tool=SHELL, args={"command": text}, details=details, main=text, paths=(f"{folder}/",))
    rules = [Rule(ruling="allow", tool=SHELL, command=tuple(one.split())) for one in allow]
    return Policy(rules, roots=(str(folder),), grants=grants).judge(action)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with programs in it, next to ordinary files."""
    for name in ("evil.js", "evil.py", "src/app.js", "tests/a.test.js", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").chmod(0o755)
    return tmp_path


def with_script(folder: Path, text: str, name: str = "lint") -> Path:
    (folder / "package.json").write_text(json.dumps({"scripts": {name: text, "deploy": "sh evil.sh"}}))
    return folder


RUNS_ITS_ARGUMENT = [
    *("node", "node --no-warnings", "node -r ./setup.js", "node --loader ts-node/esm", "python", "python3 -u", "sh"),
    *("bash", "tsx", "ts-node", "npx", "npx tsx", "zx", "bun", "deno run", "php", "ruby", "perl", "exec", "xargs"),
    *("cross-env CI=1 node", "env CI=1 node", "timeout 60 node", "CI=1 node", "eslint . && node", "eslint . | node"),
    *(
        "eslint .;",
        "eslint . &&",
        "eslint . |",
        "eslint . &",
        "CI=1",
        "cd src && node",
        "python -m",
        "make",
        "npm run",
        "yarn",
    ),
    *("nodemon", "nyc", "c8", "vite-node", "electron", "sh -c", "eval", "source", "concurrently"),
    *("npm run inner --", "yarn inner", "pnpm run inner", "./node_modules/.bin/tsx", "turbo run", "nx run", "go run"),
    *("eslint -c", "mocha --require", "jest --config", "make -f", "make -C", "sed -f", "find . -exec", "node <"),
    *("tee", "cp src/app.js", "rm -rf", "tox -e", "lerna exec", "node --test --import"),
]


@pytest.mark.spec("C7")
@pytest.mark.parametrize("script", RUNS_ITS_ARGUMENT)
@pytest.mark.parametrize("text", ["npm run lint evil.js", "npm run lint -- ./evil.js", "npm run lint -- deploy"])
def test_a_word_that_the_script_would_run_needs_approval(project: Path, script: str, text: str) -> None:
    (project / "package.json").write_text(json.dumps({"scripts": {"lint": script, "inner": "node"}}))
    assert judged(project, text, "npm run lint").ruling == "ask"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("npm test evil.js", "npm test"),
        ("npm t evil.js", "npm test"),
        ("npm run-script test evil.js", "npm run-script test"),
        ("npm rum test evil.js", "npm run test"),
        ("pnpm test evil.js", "pnpm test"),
        ("pnpm run test -- evil.js", "pnpm run test"),
        ("yarn test evil.js", "yarn test"),
        ("yarn run test evil.js", "yarn run test"),
        ("bun run test evil.js", "bun run test"),
        ("timeout 60 npm test evil.js", "npm test"),
        ("cd src && npm test ../evil.js", "npm test"),
        ("cd src && npm test app.js", "npm test"),
    ],
)
def test_every_package_manager_passes_words_on(project: Path, text: str, rule: str) -> None:
    with_script(project, "node", "test")
    assert judged(project, text, rule).ruling == "ask"


@pytest.mark.parametrize(
    "text",
    ["yarn run node evil.js", "yarn node evil.js", "pnpm tsx evil.js", "bun run evil.js", "yarn workspace a x app.js"],
)
def test_a_name_that_is_no_script_is_a_program(project: Path, text: str) -> None:
    with_script(project, "eslint .")
    assert judged(project, text, " ".join(text.split()[:2])).ruling == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("eslint .", "npm run lint src/app.js"),
        ("eslint .", "npm run lint -- src/app.js"),
        ("node", "npm run lint"),
        ("node", "npm run lint -- --max-warnings=0"),
        ("eslint .", "npm run lint -- --max-warnings 0"),
        ("eslint . && prettier --check", "npm run lint src/app.js"),
        ("jest", "npm run lint tests/a.test.js"),
        ("vitest run", "npm run lint tests/a.test.js"),
        ("mocha", "npm run lint tests/a.test.js"),
        ("react-scripts test", "npm run lint tests/a.test.js"),
        ("node --test", "npm run lint tests/a.test.js"),
        ("python -m pytest", "npm run lint evil.py"),
        ("node scripts/lint.js", "npm run lint src/app.js"),
        ("node --enable-source-maps scripts/lint.js", "npm run lint src/app.js"),
        ("npx eslint", "npm run lint src/app.js"),
        ("cross-env CI=1 jest", "npm run lint tests/a.test.js"),
        ("npm run inner --", "npm run lint notes.txt"),
        ("standard", "npm run lint src/app.js"),
        ("strange", "npm run lint notes.txt"),
        ("./scripts/lint.sh", "npm run lint src/app.js"),
        ("yarn inner", "npm run lint notes.txt"),
        ("eslint . --max-warnings=0", "npm run lint src/app.js"),
        ("eslint . --cache", "npm run lint src/app.js"),
        ("jest -t", "npm run lint notes.txt"),
        ("cargo test", "npm run lint parser"),
        ("eslint . # all", "npm run lint src/app.js"),
        ("node_modules/.bin/eslint", "npm run lint src/app.js"),
    ],
)
def test_words_that_are_data_for_the_script_pass(project: Path, script: str, text: str) -> None:
    (project / "package.json").write_text(json.dumps({"scripts": {"lint": script, "inner": "eslint ."}}))
    assert judged(project, text, "npm run lint").ruling == "allow"


@pytest.mark.parametrize("script", ["strange", "$RUNNER", "a <(b", None])
@pytest.mark.parametrize("word", ["evil.js", "tool"])
def test_a_program_for_a_script_that_is_not_understood_needs_approval(
    project: Path, script: str | None, word: str
) -> None:
    if script is not None:
        with_script(project, script)
    assert judged(project, f"npm run lint {word}", "npm run lint").ruling == "ask"
    assert judged(project, "npm run lint", "npm run lint").ruling == "allow"


def test_a_package_file_that_is_a_link_or_malformed_is_not_understood(project: Path) -> None:
    (project / "package.json").write_text('{"scripts": {"lint": ["eslint"]}}')
    assert judged(project, "npm run lint evil.js", "npm run lint").ruling == "ask"
    (project / "package.json").unlink()
    (project / "real.json").write_text('{"scripts": {"lint": "eslint ."}}')
    (project / "package.json").symlink_to("real.json")
    assert judged(project, "npm run lint evil.js", "npm run lint").ruling == "ask"


def test_a_rule_or_grant_that_names_the_word_covers_it(project: Path) -> None:
    with_script(project, "node")
    assert judged(project, "npm run lint evil.js", "npm run lint evil.js").ruling == "allow"
    assert judged(project, "npm run lint evil.js", "npm run lint", "cat evil.js").ruling == "ask"
    exact = (("npm", "run", "lint", "evil.js"),)
    grant = Grant(id="g", kind="exact", tool=SHELL, reach="", value=str(project), exact=exact)
    assert judged(project, "npm run lint evil.js", grants=(grant,)).ruling == "allow"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *(("make test TEST=evil.py", "make test"), ("make test TEST=tool", "make test")),
        *(("timeout 9 make test TEST=evil.py", "make test"), ("rake test TEST=evil.py", "rake test")),
        *(("turbo run lint -- evil.js", "turbo run lint"), ("lerna run lint -- evil.js", "lerna run lint")),
        *(("poe lint evil.py", "poe lint"), ("hatch run lint evil.py", "hatch run lint")),
        *(("invoke lint tool", "invoke lint"), ("pdm run lint evil.py", "pdm run lint")),
    ],
)
def test_a_program_that_a_task_gets_needs_approval(project: Path, text: str, rule: str) -> None:
    assert judged(project, text, rule).ruling == "ask"
    harmless = text.replace("evil.py", "notes").replace("evil.js", "notes").replace("tool", "notes")
    assert judged(project, harmless, rule).ruling == "allow"


def test_a_target_of_make_may_be_a_file(project: Path) -> None:
    assert judged(project, "make tool", "make").ruling == "allow"
    assert judged(project, "make test VERSION=1.2", "make test").ruling == "allow"
