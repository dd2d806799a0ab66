"""What words stand for on disk: secrets behind links, places outside, and files that mean more where they arrive."""

from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.plan import SandboxName
from assent.policy.action import Action
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rules import Rule

SHELL = "run_shell_command"


def ruling(folder: Path, text: str, *allow: str) -> str:
    details = ExecDetails(command=text, roots=(), directory=str(folder), risk="high", risk_reason="")
    action = Action(tool=SHELL, args={"command": text}, details=details, main=text, paths=(f"{folder}/",))
    rules = [Rule(ruling="allow", tool=SHELL, command=tuple(one.split())) for one in allow]
    return Policy(rules, roots=(str(folder),)).judge(action).ruling


def files(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


# --- secrets behind links ---

FINDS_IT = [
    *("cat conf/dev", "head conf/*", "grep -rh note conf", "grep -r note", "rg note", "diff conf src"),
    *("git grep note", "git grep src", "git log -p", "git diff HEAD -- conf", "git diff -- ':/'", "git diff -- 'c*'"),
    *("git show HEAD:conf/dev", "git show HEAD:./conf/dev", "git cat-file -p HEAD:conf/dev"),
    *("cd src && git log -p", "cd src && cat ../conf/dev", "find conf -name dev | xargs cat"),
]


@pytest.mark.spec("C8")
@pytest.mark.parametrize("link", [".env", "conf/.env", "apps/web/.env"])
@pytest.mark.parametrize("text", FINDS_IT)
def test_what_a_link_calls_a_secret_is_one_under_its_own_name(tmp_path: Path, link: str, text: str) -> None:
    files(tmp_path, "conf/dev", "src/a", "log/a", "apps/web/a")
    (tmp_path / link).symlink_to(tmp_path / "conf" / "dev")
    assert ruling(tmp_path, text) == "ask"


@pytest.mark.parametrize(
    "text", ["grep -r note src", "git log -p -- src", "git log --oneline", "cat src/a", "diff src log"]
)
def test_a_link_to_a_secret_elsewhere_hinders_nobody(tmp_path: Path, text: str) -> None:
    files(tmp_path, "conf/dev", "src/a", "log/a")
    (tmp_path / ".env").symlink_to("conf/dev")
    assert ruling(tmp_path, text) == "allow"


# --- places outside ---


@pytest.mark.spec("C7")
@pytest.mark.parametrize("place", ["/etc", "//etc", "./..", "..", "a/../..", "a/../../b", "~", "~root", "$HOME/a"])
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *(("rg x {}", "rg"), ("rg -uf{} x", "rg"), ("tree {}", "tree"), ("tree -a {}", "tree"), ("fd x {}", "fd")),
        *(("fd --base-directory {} x", "fd"), ("helm lint {}", "helm lint"), ("docker cp c:/x {}", "docker cp")),
        *(("pnpm --dir {} test", "pnpm test"), ("eslint {}", "eslint"), ("unknown-tool {}", "unknown-tool")),
    ],
)
def test_a_rule_for_a_program_means_the_program_in_the_workspace(
    tmp_path: Path, text: str, rule: str, place: str
) -> None:
    assert ruling(tmp_path, text.format(place), rule) == "ask"


def test_a_label_of_a_build_tool_is_not_a_place(tmp_path: Path) -> None:
    assert ruling(tmp_path, "bazel test //src/...", "bazel test") == "allow"
    assert ruling(tmp_path, "tree src/...", "tree") == "allow"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("cd there && make", ("make", "cd")),
        ("cd there && tree", ("tree", "cd")),
        ("cd .. && tree", ("tree", "cd")),
        ("cd .. && unknown-tool", ("unknown-tool", "cd")),
        ("make -C there", ("make",)),
        ("npm --prefix there test", ("npm test",)),
    ],
)
def test_a_program_does_not_run_in_a_folder_outside(tmp_path: Path, text: str, rules: tuple[str, ...]) -> None:
    root = files(tmp_path / "w", "a")
    (root / "there").symlink_to(tmp_path)
    assert ruling(root, text, *rules) == "ask"


# --- files that mean more where they arrive ---


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *(("mv new/pytest.py .", "mv"), ("mv new/pytest.py ./", "mv"), ("mv new/* .", "mv"), ("mv new json", "mv")),
        *(("mv -T new json", "mv"), ("cp -r new json", "cp"), ("cp new/pytest.py .", "cp"), ("ln -s new json", "ln")),
        *(("ln -s new/pytest.py pytest.py", "ln"), ("git mv new/pytest.py .", "git mv"), ("git mv new json", "git mv")),
        *(("mv new/conf.py docs", "mv"), ("ln -s new/conftest.py docs", "ln"), ("mv new/pytest.py here", "mv")),
        *(("cd docs && mv ../new/pytest.py ..", "mv"), ("git -C docs mv ../new/pytest.py ..", "git mv")),
    ],
)
def test_a_file_that_tools_would_run_in_its_new_place_needs_approval(tmp_path: Path, text: str, rule: str) -> None:
    files(tmp_path, "new/pytest.py", "new/__init__.py", "new/conf.py", "docs/a")
    (tmp_path / "here").symlink_to(".")
    assert ruling(tmp_path, text, rule, "cd") == "ask"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *(("mv old lib", "mv"), ("mv old/x.py .", "mv"), ("cp -r old lib", "cp"), ("git mv old lib", "git mv")),
        *(("ln -s README.md docs/README.md", "ln"), ("ln -s old current", "ln"), ("mv app web", "mv")),
    ],
)
def test_an_ordinary_file_may_arrive_anywhere(tmp_path: Path, text: str, rule: str) -> None:
    files(tmp_path, "old/x.py", "docs/a", "README.md", "app/package.json")
    assert ruling(tmp_path, text, rule) == "allow"


@pytest.mark.spec("C8")
def test_a_module_of_another_folder_does_not_run_instead_of_a_tool(tmp_path: Path) -> None:
    files(tmp_path, "sub/json.py", "plain/app.py", "tox/tox/__main__.py")
    check = "python -m json.tool a.json"
    assert ruling(tmp_path, f"cd sub && {check}", "python -m json.tool") == "ask"
    assert ruling(tmp_path, f"cd sub && timeout 9 {check}", "python -m json.tool") == "ask"
    assert ruling(tmp_path, f"cd tox && {check}", "python -m json.tool") == "ask"
    assert ruling(tmp_path, f"cd plain && {check}", "python -m json.tool") == "allow"
    assert ruling(tmp_path, check, "python -m json.tool") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize("code", ["import evil", "import evil; print(evil.__version__)", "import package.x"])
def test_a_line_of_python_loads_no_file_of_the_workspace(tmp_path: Path, code: str) -> None:
    files(tmp_path, "evil.py", "package/x.py", "sub/json.py")
    assert ruling(tmp_path, f"python3 -c '{code}'", "python3 -c") == "ask"
    assert ruling(tmp_path, f"timeout 9 python3 -c '{code}'", "python3 -c") == "ask"
    assert ruling(tmp_path, "cd sub && python3 -c 'import json; print(json.dumps(1))'", "python3 -c") == "ask"
    assert ruling(tmp_path, "cd sub && python3 -c 'print(1)'", "python3 -c") == "ask"
    assert ruling(tmp_path, "python3 -c 'import json; print(json.dumps(1))'", "python3 -c") == "allow"
    assert ruling(tmp_path, "python3 -c 'import elsewhere; print(elsewhere.__version__)'", "python3 -c") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize("code", ["import antigravity", "import this, antigravity", "import idlelib"])
def test_a_line_of_python_loads_no_module_that_acts(tmp_path: Path, code: str) -> None:
    assert ruling(tmp_path, f"python3 -c '{code}'", "python3 -c") == "ask"


@pytest.mark.spec("C8")
def test_a_module_of_the_workspace_does_not_run_instead_of_one_that_another_loads(tmp_path: Path) -> None:
    line = "python3 -c 'import statistics; print(statistics.mean([1]))'"  # it loads `re`
    assert ruling(tmp_path, line, "python3 -c") == "allow"
    files(tmp_path, "re.py")
    assert ruling(tmp_path, line, "python3 -c") == "ask"


# --- patch ---


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        ("patch --dry-run -p1 < a.diff", "patch --dry-run", "allow"),
        ("patch -p1 --dry-run -i a.diff", "patch", "allow"),
        ("patch -p1 < a.diff", "patch", "ask"),
        ("patch -p1 < a.diff", "patch --dry-run", "ask"),
        ("patch --dry-run -o Makefile a a.diff", "patch --dry-run", "ask"),
        ("patch --dry-run -i .env", "patch --dry-run", "ask"),
        ("patch --dry-run -d .. -p1", "patch --dry-run", "ask"),
    ],
)
def test_a_patch_may_be_tried_but_not_applied(tmp_path: Path, text: str, rule: str, expected: str) -> None:
    assert ruling(files(tmp_path, "a.diff"), text, rule) == expected


@pytest.mark.spec("C8")
def test_checking_out_a_file_discards_its_changes_and_asks(tmp_path: Path) -> None:
    files(tmp_path, "f", "src/a")
    asks = ["git checkout f", "git checkout src", "git checkout HEAD f", "git checkout main g", "git -C src checkout a"]
    assert [ruling(tmp_path, text, "git checkout") for text in asks] == ["ask"] * len(asks)
    allowed = ["git checkout main", "git checkout -b f", "git checkout -b topic main"]
    assert [ruling(tmp_path, text, "git checkout") for text in allowed] == ["allow"] * len(allowed)


@pytest.mark.spec("C8")
def test_deleting_what_is_behind_a_link_asks(tmp_path: Path) -> None:
    files(tmp_path, "real/a", "build/a")
    (tmp_path / "dist").symlink_to("real")
    assert [ruling(tmp_path, text, "rm") for text in ("rm -rf dist/", "rm -rf dist", "rm -rf build/")] == [
        "ask",
        "allow",
        "allow",
    ]


def test_what_a_rule_allows_beside_a_reading_command_is_not_run_read_only(tmp_path: Path) -> None:
    def sandbox(text: str, rule: str) -> str | None:
        details = ExecDetails(command=text, roots=(), directory=str(tmp_path), risk="high", risk_reason="")
        rules = [Rule(ruling="allow", tool=SHELL, command=tuple(rule.split()))]
        return Policy(rules, roots=(str(tmp_path),)).judge(Action(tool=SHELL, args={}, details=details)).runs_in

    assert sandbox("echo hello | tee out.txt", "tee") == "workspace"
    assert sandbox("git add -A && git status --short", "git add") == "off"
    assert sandbox("echo hello | wc -l", "tee") == "read-only"


@pytest.mark.spec("C8")
def test_what_writes_unnamed_files_runs_only_in_a_sandbox(tmp_path: Path) -> None:
    def verdict(no_sandbox: tuple[SandboxName, ...]) -> Verdict:
        text = "tar -xzf a.tgz"
        details = ExecDetails(
            command=text, roots=(), directory=str(tmp_path), risk="high", risk_reason="", no_sandbox=no_sandbox
        )
        rules = [Rule(ruling="allow", tool=SHELL, command=("tar", "-xzf"))]
        return Policy(rules, roots=(str(tmp_path),)).judge(Action(tool=SHELL, args={}, details=details))

    found = verdict(())
    assert found.plan is not None
    assert found.plan.only_confined
    assert verdict(("workspace",)).ruling == "ask"
