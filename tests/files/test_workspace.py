"""Inside, outside, protected, or no path at all."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from assent.files import protected
from assent.files.hard_links import _secrets  # pyright: ignore[reportPrivateUsage]
from assent.files.resolve import Unusable
from assent.files.workspace import Operation, Workspace, check_path

CHANGES: tuple[Operation, ...] = ("write", "create", "delete", "rename")
ENTRIES = [
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    "sub/.git",
    ".hg/hgrc",
    ".githooks/pre-push",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lintstagedrc.json",
    ".gitconfig",
    ".gitattributes",
    ".gitmodules",
    ".git-credentials",
    ".vscode/settings.json",
    ".vscode",
    ".idea/workspace.xml",
    "my.code-workspace",
    "deep/er/x.code-workspace",
    ".zed/settings.json",
    ".devcontainer/devcontainer.json",
    ".github/workflows/ci.yml",
    ".github/workflows",
    ".github/actions/a/action.yml",
    ".gitea/workflows/x.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".travis.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".envrc",
    ".env",
    ".env.local",
    "sub/.env.production",
    ".mcp.json",
    ".bashrc",
    ".bash_profile",
    ".zshrc",
    ".zshenv",
    ".profile",
    ".config/fish/config.fish",
    ".vimrc",
    ".ssh/authorized_keys",
    ".ssh",
    ".gnupg/x",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/config.toml",
    ".claude/settings.json",
    ".gemini/settings.json",
    ".cursor/mcp.json",
    ".codex/config.toml",
    ".assent/policy.toml",
    ".config/assent/settings.toml",
    ".local/state/assent/x",
    "sitecustomize.py",
]
ORDINARY = [
    "a.py",
    ".gitignore",
    ".gitkeep",
    ".github/ISSUE_TEMPLATE.md",
    ".github/dependabot.yml",
    "src/hooks/use_x.ts",
    "workflows/ci.yml",
    "docs/.github.md",
    "git/config",
    "x.git",
    "environment.py",
    "my.env.py",
    ".dockerignore",
    ".editorconfig",
    ".prettierrc",
    "package.json",
    "Makefile",
    "vscode/settings.json",
    "..x",
    "...",
    ".x/y",
    ".config/other/x",
    "CON",
    "a b/c'd\"e.txt",
    "%2e%2e/x",
    "日本.txt",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace([str(root)], str(root))


def other_case(path: str) -> str:
    return "".join(char.upper() if index % 2 else char for index, char in enumerate(path))


@pytest.mark.spec("I2")
@pytest.mark.parametrize("op", CHANGES)
@pytest.mark.parametrize("path", ENTRIES)
class TestEveryProtectedEntry:
    def test_is_protected_before_it_exists(self, workspace: Workspace, path: str, op: Operation) -> None:
        assert workspace.classify(path, op).kind == "protected"

    def test_is_protected_once_it_exists(self, workspace: Workspace, root: Path, path: str, op: Operation) -> None:
        make(root / path)
        assert workspace.classify(path, op).kind == "protected"

    def test_is_protected_in_other_case(self, workspace: Workspace, path: str, op: Operation) -> None:
        assert workspace.classify(path.upper(), op).kind == "protected"
        assert workspace.classify(other_case(path), op).kind == "protected"

    def test_is_protected_below_any_folder(self, workspace: Workspace, path: str, op: Operation) -> None:
        assert workspace.classify(f"some/where/{path}", op).kind == "protected"

    def test_is_protected_behind_a_link(self, workspace: Workspace, root: Path, path: str, op: Operation) -> None:
        make(root / path)
        (root / "harmless").symlink_to(path)
        (root / "harmless-folder").symlink_to((root / path).parent)
        assert workspace.classify("harmless", op).kind == "protected"
        assert workspace.classify(f"harmless-folder/{Path(path).name}", op).kind == "protected"

    def test_is_protected_as_the_name_of_a_link(
        self, workspace: Workspace, root: Path, path: str, op: Operation
    ) -> None:
        top = path.split("/")[0]
        make(root / "real" / Path(path).relative_to(top)) if "/" in path else (root / "real").mkdir()
        (root / top).symlink_to("real")
        assert workspace.classify(path, op).kind == "protected"
        assert workspace.classify(path.replace(top, "real", 1), op).kind == "protected"

    def test_is_protected_from_moving_its_parents(
        self, workspace: Workspace, root: Path, path: str, op: Operation
    ) -> None:
        make(root / "outer" / "inner" / path)
        expected = "protected" if op in ("rename", "delete") else "inside"
        assert workspace.classify("outer", op).kind == expected
        assert workspace.classify("outer/inner", op).kind == expected

    def test_may_be_listed(self, workspace: Workspace, path: str, op: Operation) -> None:
        assert workspace.classify(path, "list").kind == "inside"


def make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize("op", ["read", "write", "create", "delete", "list", "rename"])
@pytest.mark.parametrize("path", ORDINARY)
def test_ordinary_names_are_inside(workspace: Workspace, path: str, op: Operation) -> None:
    assert workspace.classify(path, op).kind == "inside"


@pytest.mark.parametrize(
    "name",
    [
        ".git.",
        ".git ",
        ".g\u200cit",
        "GIT~1",
        ".git::$INDEX_ALLOCATION",
        ".ſsh",
        "．git",
        ".gi\u034ft",
        ".git\u3164",
        ".g\U000e0069it",
    ],
)
def test_names_that_are_git_on_some_file_system_are_protected(workspace: Workspace, name: str) -> None:
    assert workspace.classify(f"{name}/config", "write").kind == "protected"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".git/config", "inside"),
        (".github/workflows/ci.yml", "inside"),
        (".vscode/settings.json", "inside"),
        (".envrc", "protected"),
        ("deploy/prod.env", "protected"),
        ("id_rsa.bak", "protected"),
        ("infra/terraform.tfvars", "protected"),
        (".env.example", "inside"),
        (".env", "protected"),
        (".ENV.local", "protected"),
        (".ssh/id_ed25519", "protected"),
        ("keys/id_rsa", "protected"),
        ("keys/id_rsa.pub", "inside"),
        ("tls/server.key", "protected"),
        ("tls/server.pem", "protected"),
        (".aws/credentials", "protected"),
        ("key.py", "inside"),
    ],
)
def test_reading_is_ordinary_except_where_secrets_live(workspace: Workspace, path: str, kind: str) -> None:
    assert workspace.classify(path, "read").kind == kind


@pytest.mark.spec("I2")
@pytest.mark.parametrize("op", ["read", "write", "create", "delete", "list", "rename"])
@pytest.mark.parametrize(
    "path",
    ["..", "../x", "/", "/etc/passwd", "a/../../x", "~/x", "~", "../w-evil/x", "/proc/self/cwd/x", "../.git"],
)
def test_what_leads_out_is_outside(workspace: Workspace, path: str, op: Operation) -> None:
    assert workspace.classify(path, op).kind == "outside"


def test_a_sibling_whose_name_begins_like_the_root_is_outside(root: Path, workspace: Workspace) -> None:
    assert workspace.classify(f"{root}-evil/x", "read").kind == "outside"
    assert workspace.classify(f"{root}/x", "read").kind == "inside"
    assert workspace.classify(str(root), "list").kind == "inside"


@pytest.mark.spec("I2")
def test_a_link_is_seen_though_its_folder_claims_not_to_have_changed(workspace: Workspace, root: Path) -> None:
    (root / "config").mkdir()
    os.utime(root, (1, 1))
    assert workspace.classify("config/settings.json", "write").kind == "inside"
    (root / ".vscode").symlink_to("config")
    os.utime(root, (1, 1))
    assert workspace.classify("config/settings.json", "write").kind == "protected"


@pytest.mark.spec("I2")
@pytest.mark.parametrize("op", ["read", "write", "create", "delete", "list", "rename"])
def test_links_are_judged_by_where_they_lead(workspace: Workspace, root: Path, op: Operation) -> None:
    (root / "folder").mkdir()
    (root / "out").symlink_to("/usr")
    (root / "dangling").symlink_to("../missing")
    (root / "in").symlink_to("folder")
    (root / "chain").symlink_to("out/lib")
    (root / "loop").symlink_to("loop")
    kinds = {p: workspace.classify(p, op).kind for p in ("out/x", "dangling", "chain", "in/x", "loop/x", "out")}
    expected = {
        "out/x": "outside",
        "dangling": "outside",
        "chain": "outside",
        "in/x": "inside",
        "out": "outside",
    }
    assert kinds == {**expected, "loop/x": "reject"}


def test_the_verdict_names_the_real_place(workspace: Workspace, root: Path) -> None:
    (root / "folder").mkdir()
    (root / "link").symlink_to("folder")
    assert workspace.classify("link/x", "write").path == f"{root}/folder/x"
    assert workspace.classify("link", "delete").path == f"{root}/link"
    assert workspace.classify("link", "rename").path == f"{root}/link"
    for op in ("read", "write", "create", "list"):
        assert workspace.classify("link", op).path == f"{root}/folder"


@pytest.mark.parametrize("path", ["", "a\0", "a\n", "\ud800", "x" * 300])
def test_unusable_text_is_rejected(workspace: Workspace, path: str) -> None:
    assert workspace.classify(path, "read").kind == "reject"


def test_the_boundary_does_not_follow_the_current_folder(root: Path) -> None:
    for cwd in ("/", "/etc", str(root.parent), f"{root}/.."):
        assert Workspace([str(root)], cwd).classify("passwd", "read").kind == "outside"
    (root / "link").symlink_to("/etc")
    assert Workspace([str(root)], f"{root}/link").classify("passwd", "read").kind == "outside"
    assert Workspace([], str(root)).classify("x", "read").kind == "outside"


def test_several_roots_and_roots_behind_links(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "alias").symlink_to("two")
    workspace = Workspace([f"{tmp_path}/one", f"{tmp_path}/alias", f"{tmp_path}/one/inner"], f"{tmp_path}/one")
    assert workspace.roots == (f"{tmp_path}/one", f"{tmp_path}/two")
    assert workspace.classify("../two/x", "write").kind == "inside"
    assert workspace.classify("../alias/x", "write").kind == "inside"
    assert workspace.classify("../three/x", "write").kind == "outside"
    assert workspace.classify("../alias/.git/x", "write").kind == "protected"


def test_a_root_that_does_not_exist_and_the_whole_disk_are_possible_roots() -> None:
    assert Workspace(["/no/such/root"], "/no/such/root").classify("a/b", "create").kind == "inside"
    assert Workspace(["/"], "/").classify("/no/such/file", "read").kind == "inside"
    assert Workspace(["/"], "/").classify("/home/x/.ssh/y", "write").kind == "protected"
    with pytest.raises(Unusable, match="absolute"):
        Workspace(["relative"], "/")


def test_a_file_with_a_second_name_is_protected_from_writing(workspace: Workspace, root: Path) -> None:
    (root.parent / "outside").write_text("x")
    os.link(root.parent / "outside", root / "inside")
    assert workspace.classify("inside", "write").kind == "protected"
    make(root / "single")
    (root / "folder" / "inner").mkdir(parents=True)
    assert [workspace.classify(path, "write").kind for path in ("single", "folder")] == ["inside", "inside"]
    for op in ("read", "create", "delete", "rename"):  # none of them changes what is in it
        assert workspace.classify("inside", op).kind == "inside"


@pytest.mark.parametrize("op", ["read", "write", "create", "delete", "list", "rename"])
def test_a_folder_outside_may_be_open_for_reading_alone(root: Path, op: Operation) -> None:
    workspace = Workspace([str(root)], str(root), readable=[f"{root.parent}/docs"])
    assert workspace.classify("../docs/x", op).kind == ("inside" if op == "read" else "outside")
    assert workspace.classify("../docs-other/x", op).kind == "outside"


def test_the_workspace_itself_is_not_moved_or_deleted(workspace: Workspace) -> None:
    assert workspace.classify(".", "delete").kind == "protected"
    assert workspace.classify(".", "rename").kind == "protected"


def test_a_folder_that_may_bring_workflows_under_its_new_name_is_protected(workspace: Workspace, root: Path) -> None:
    assert workspace.classify(".github", "rename").kind == "protected"
    assert workspace.classify(".GitHub", "create").kind == "protected"
    (root / ".github").mkdir()
    assert workspace.classify(".github", "delete").kind == "inside"


def test_a_protected_parent_behind_a_link_is_seen_by_its_spelling(workspace: Workspace, root: Path) -> None:
    (root / "gh").mkdir()
    (root / ".github").symlink_to("gh")
    assert workspace.classify(".github/workflows/ci.yml", "create").kind == "protected"


def test_deleting_a_link_to_a_protected_link_is_told(workspace: Workspace, root: Path) -> None:
    (root / "settings").mkdir()
    (root / "sub").mkdir()
    (root / "sub" / ".vscode").symlink_to("../settings")
    (root / "x").symlink_to("sub/.vscode")
    assert workspace.classify("x", "delete").kind == "protected"


def test_a_protected_link_protects_where_it_leads_and_nothing_beside(workspace: Workspace, root: Path) -> None:
    (root / "config").mkdir()
    (root / ".vscode").symlink_to("config")
    (root / "gone").symlink_to("/dev/null/x")
    kinds = [workspace.classify(path, "write").kind for path in ("config/x", "config", "configure/x", "src/x", "x")]
    assert kinds == ["protected", "protected", "inside", "inside", "inside"]


def test_what_a_link_calls_a_secret_is_one_under_its_own_name(workspace: Workspace, root: Path) -> None:
    (root / "conf").mkdir()
    (root / "conf" / "dev").write_text("KEY=1")
    assert workspace.classify("conf/dev", "read").kind == "inside"
    (root / ".env").symlink_to("conf/dev")
    assert workspace.classify("conf/dev", "read").kind == "protected"
    assert workspace.classify("conf/other", "read").kind == "inside"
    (root / ".env").unlink()
    _secrets.cache_clear()
    assert workspace.classify("conf/dev", "read").kind == "inside"


@pytest.mark.parametrize("link", ["conf/.env", "apps/web/.env"])
def test_a_link_counts_wherever_it_is(workspace: Workspace, root: Path, link: str) -> None:
    for folder in ("conf", "apps/web"):
        (root / folder).mkdir(parents=True)
    (root / "conf" / "dev").write_text("KEY=1")
    (root / link).symlink_to(root / "conf" / "dev")
    assert workspace.classify("conf/dev", "read").kind == "protected"
    assert workspace.classify("conf/other", "read").kind == "inside"


def test_in_a_large_workspace_links_count_on_the_way_to_a_file(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assent.files.workspace.SHORT_LOOK", 1)
    (root / "conf").mkdir()
    (root / "conf" / ".env").symlink_to("dev")
    assert workspace.classify("conf/dev", "read").kind == "protected"


def test_a_link_is_seen_although_the_clock_of_the_disk_did_not_move(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat, now = os.stat, SimpleNamespace(st_ctime_ns=time.time_ns() + 60 * 1_000_000_000)

    def at_once(path: str, *, follow_symlinks: bool = True) -> object:
        return now if path == str(root) else stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "stat", at_once)
    assert workspace.classify("dev", "read").kind == "inside"
    (root / ".env").symlink_to("dev")
    assert workspace.classify("dev", "read").kind == "protected"


def test_a_folder_at_rest_is_searched_for_links_once(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []
    scandir, later = os.scandir, time.time_ns() + 60 * 1_000_000_000

    def noted(folder: str) -> object:
        searched.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", noted)
    now = time.monotonic()
    monkeypatch.setattr(time, "time_ns", lambda: later)
    monkeypatch.setattr(time, "monotonic", lambda: now)  # secrets are looked for again after a while
    for name in ("a", "b", "c"):
        assert workspace.classify(name, "read").kind == "inside"
    assert searched == [str(root), str(root)]  # for all links there, and for those with names of secrets


@pytest.mark.parametrize("op", ["delete", "rename"])
def test_a_link_to_a_folder_takes_nothing_of_the_folder_with_it(
    workspace: Workspace, root: Path, op: Operation
) -> None:
    make(root / "folder" / ".git" / "config")
    (root / "link").symlink_to("folder")
    assert workspace.classify("folder", op).kind == "protected"
    assert workspace.classify("link", op).kind == "inside"


def test_our_own_folders_are_protected_wherever_they_are(root: Path) -> None:
    workspace = Workspace([str(root)], str(root), own_folders=[f"{root}/state/here"])
    assert workspace.classify("state/here/log", "write").kind == "protected"
    assert workspace.classify("state/here", "create").kind == "protected"
    (root / "state").mkdir()
    assert workspace.classify("state", "rename").kind == "protected"
    assert workspace.classify("state/other", "write").kind == "inside"


@pytest.mark.spec("I2")
def test_the_token_of_our_server_is_a_secret_wherever_our_folder_is(root: Path) -> None:
    workspace = Workspace([str(root)], str(root), own_folders=[f"{root}/state/here"])
    assert workspace.classify("state/here/serve.json", "read").kind == "protected"
    assert workspace.classify(".local/share/assent/serve.json", "read").kind == "protected"
    assert workspace.classify("site/serve.json", "read").kind == "inside", "others have files of this name"


def test_a_folder_too_large_or_too_closed_to_search_is_protected(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for index in range(5):
        make(root / "many" / str(index))
    assert workspace.classify("many", "delete").kind == "inside"
    monkeypatch.setattr(protected, "_MAX_ENTRIES", 3)
    assert workspace.classify("many", "delete").kind == "protected"

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert "cannot be searched" in workspace.classify("many", "rename").reason


@pytest.mark.parametrize("op", ["delete", "rename"])
def test_a_folder_that_was_opened_inside_another_stays(root: Path, op: Operation) -> None:
    (root / "a/b/c").mkdir(parents=True)
    workspace = Workspace([str(root), str(root / "a/b")], str(root))
    assert [workspace.classify(path, op).kind for path in ("a", "a/b", "a/b/c")] == ["protected", "protected", "inside"]


def test_json_lines_in_and_out(root: Path) -> None:
    request = {"roots": [str(root)], "cwd": str(root), "path": ".git/config", "op": "write"}
    assert check_path(request) == {
        "decision": "protected",
        "reason": ".git decides what runs or what is allowed here",
    }
    assert check_path({**request, "path": "a"}) == {"decision": "inside", "reason": "inside the workspace"}
    assert check_path({**request, "path": "/etc/x"})["decision"] == "outside"
    assert check_path({"roots": [str(root)], "path": "a"})["decision"] == "inside", "it begins in the first root"
    for wrong in (
        {"path": None},
        {"path": 3},
        {"op": "eat"},
        {"roots": ["w"]},
        {"roots": 3},
        {"cwd": "w"},
        {"path": ""},
    ):
        assert check_path({**request, **wrong})["decision"] == "reject"
    assert check_path({})["decision"] == "reject"


# --- files of a project that tools run ---

RUN_BY_TOOLS = [
    "package.json",
    "Makefile",
    "sub/GNUmakefile",
    "rules.mk",
    "conftest.py",
    "pyproject.toml",
    "setup.py",
    "Dockerfile",
    "jest.config.js",
    ".eslintrc.json",
    "AGENTS.md",
    "node_modules/.bin/x",
    ".venv/bin/python",
    "x.pth",
    ".config/other/x",
    ".github/dependabot.yml",
    *(".flake8", "pylintrc", "BUILD", "pkg/WORKSPACE", "build.ninja", "ansible.cfg", "hatch_build.py"),
    "gradle/wrapper/gradle-wrapper.properties",
]


@pytest.mark.spec("I2")
@pytest.mark.parametrize("path", RUN_BY_TOOLS)
def test_a_file_that_tools_run_is_inside_and_known(workspace: Workspace, root: Path, path: str) -> None:
    assert workspace.classify(path, "write").kind == "inside"
    assert "decides what tools run" in workspace.classify(path, "write").runs
    assert workspace.classify(path.upper(), "write").runs
    (root / "alias").symlink_to(path)
    assert workspace.classify("alias", "write").runs


@pytest.mark.parametrize("path", ["a.py", "README.md", "makefile.txt", ".gitignore", "package.json.md", "\0"])
def test_other_files_are_not_run(workspace: Workspace, path: str) -> None:
    assert not workspace.classify(path, "write").runs


def test_only_what_is_written_may_be_run(workspace: Workspace) -> None:
    for op in ("write", "create"):
        assert workspace.classify("Makefile", op).runs == "Makefile decides what tools run or do here"
        assert workspace.classify("a.py", op).runs == ""
    for op in ("read", "delete", "list", "rename"):
        assert workspace.classify("Makefile", op).runs == ""


def test_what_a_link_calls_a_file_that_tools_run_is_one(workspace: Workspace, root: Path) -> None:
    make(root / "plain.txt")
    (root / "Makefile").symlink_to("plain.txt")
    assert workspace.classify("plain.txt", "write").runs


@pytest.mark.parametrize("path", [*ENTRIES, *RUN_BY_TOOLS])
def test_the_shell_gate_protects_what_the_file_tools_protect(path: str) -> None:
    from assent.policy.shell import judge, rules

    assert judge(f"touch a/{path}", rules(["touch"]), cwd="/w", roots=["/w"]).decision == "ask"
    assert judge("touch a/x.py", rules(["touch"]), cwd="/w", roots=["/w"]).decision == "allow"


@pytest.mark.parametrize("path", ["src/shadow/x.ts", "order_history/a.py", "src/credentials/load.py", ".env.sample"])
def test_names_that_only_look_like_secrets_may_be_read(workspace: Workspace, path: str) -> None:
    assert workspace.classify(path, "read").kind == "inside"


@pytest.mark.parametrize(
    "path", ["credentials", "a/credentials.json", ".npmrc", ".bash_history", ".docker/config.json"]
)
def test_more_places_for_secrets(workspace: Workspace, path: str) -> None:
    assert workspace.classify(path, "read").kind == "protected"


@pytest.mark.spec("I2")
@pytest.mark.parametrize(
    ("there", "path"),
    [
        (("HEAD", "objects/x", "refs/x"), "bare/config"),
        (("HEAD", "objects/x", "refs/x"), "bare/hooks/post-checkout"),
        (("config", "objects/x", "refs/x"), "bare/HEAD"),
        (("config", "HEAD", "refs/x"), "bare/objects/x"),
        (("config", "HEAD", "objects/x"), "bare/refs/heads/main"),
    ],
)
def test_a_folder_that_git_takes_for_its_own_is_protected_as_is_what_completes_one(
    workspace: Workspace, root: Path, there: tuple[str, ...], path: str
) -> None:
    for name in there:
        (root / "bare" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "bare" / name).write_text("x\n")
    assert workspace.classify(path, "create").kind == "protected"
    assert workspace.classify("bare/notes.txt", "create").kind == "inside"
    (root / "bare/HEAD").unlink(missing_ok=True)
    assert workspace.classify("bare/config", "write").kind == "inside"
