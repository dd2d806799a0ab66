"""What all built-in tools have in common: schemas, refusals of bad arguments and of paths outside, resources."""

from pathlib import Path
from typing import Any

import pytest

from assent.files.workspace import Workspace
from assent.parts import Failure
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry
from assent.tools.tool import InvalidParams, Resources, ToolFailed
from tools.toolkit import PERMIT, Bench, LiveRecorder

GOOD: dict[str, dict[str, Any]] = {
    "read_file": {"file_path": "a.txt"},
    "list_directory": {"dir_path": "."},
    "glob": {"pattern": "*.py"},
    "grep_search": {"pattern": "x"},
    "write_file": {"file_path": "a.txt", "content": "x"},
    "replace": {"file_path": "a.txt", "old_string": "a", "new_string": "b"},
    "run_shell_command": {"command": "ls"},
    "web_fetch": {"prompt": "https://example.org/"},
}
PATH_ARGUMENT = {
    "read_file": "file_path",
    "list_directory": "dir_path",
    "glob": "dir_path",
    "grep_search": "dir_path",
    "write_file": "file_path",
    "replace": "file_path",
    "run_shell_command": "dir_path",
}


async def failure(bench: Bench, tool: str, **args: Any) -> Failure:
    with pytest.raises(ToolFailed) as caught:
        await bench.run(tool, **args)
    return caught.value.failure


@pytest.mark.spec("E1")
@pytest.mark.spec("E2")
def test_the_registry_lists_the_built_in_tools_in_order(bench: Bench) -> None:
    registry = Registry(bench.tools.values())
    background = ("list_background_processes", "read_background_output", "stop_background_process")
    others = ("read_many_files", "write_todos", "ask_user", "propose_plan", "undo", "connect", *background)
    assert [name for name in registry.names() if name not in others] == list(GOOD)
    assert "undo" not in [declaration.name for declaration in registry.declarations()], "it is for people"
    kinds = [(tool.kind, tool.can_update_output, bool(tool.display_name)) for tool in registry if tool.name in GOOD]
    assert kinds == [
        ("read", False, True),
        ("search", False, True),
        ("search", False, True),
        ("search", False, True),
        ("edit", False, True),
        ("edit", False, True),
        ("execute", True, True),
        ("fetch", False, True),
    ]
    assert all(len(declaration.description) < 400 for declaration in registry.declarations())


@pytest.mark.spec("E1")
@pytest.mark.parametrize("tool", GOOD)
@pytest.mark.parametrize("wrong", [{}, {"unknown": 1}, None])
def test_missing_unknown_and_ill_typed_arguments_are_refused(
    bench: Bench, tool: str, wrong: dict[str, Any] | None
) -> None:
    good = GOOD[tool]
    args = dict.fromkeys(good, 7) if wrong is None else {**good, **wrong} if wrong else {}
    with pytest.raises(InvalidParams, match=f"Invalid arguments for {tool}: "):
        bench.tools[tool].build(args)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"file_path": "  "}),
        ("read_file", {"file_path": "a", "start_line": 0}),
        ("read_file", {"file_path": "a", "start_line": 5, "end_line": 4}),
        ("list_directory", {"dir_path": ""}),
        ("list_directory", {"dir_path": ".", "ignore": ["[z-a]"]}),
        ("glob", {"pattern": ""}),
        ("glob", {"pattern": "[z-a]"}),
        ("grep_search", {"pattern": ""}),
        ("grep_search", {"pattern": "a\0"}),
        ("grep_search", {"pattern": "a", "context": -1}),
        ("grep_search", {"pattern": "a", "total_max_matches": 0}),
        ("grep_search", {"pattern": "a", "exclude_pattern": "("}),
        ("write_file", {"file_path": "", "content": "x"}),
        ("write_file", {"file_path": "a", "content": "\ud800"}),
        ("replace", {"file_path": "a", "old_string": "x", "new_string": "// rest of code ..."}),
        ("run_shell_command", {"command": " \n "}),
        ("run_shell_command", {"command": "echo \0"}),
    ],
)
def test_arguments_that_cannot_mean_anything_are_refused(bench: Bench, tool: str, args: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        bench.build(tool, **args)


@pytest.mark.parametrize("tool", PATH_ARGUMENT)
@pytest.mark.parametrize("where", ["/etc", "../outside", "link/x", "..", "~/x"])
async def test_paths_outside_the_workspace_are_refused(bench: Bench, tool: str, where: str) -> None:
    (bench.root.parent / "outside").mkdir()
    (bench.root.parent / "x").write_text("secret")
    (bench.root / "link").symlink_to(bench.root.parent)
    refused = await failure(bench, tool, **{**GOOD[tool], PATH_ARGUMENT[tool]: where})
    assert refused.type == "path_not_in_workspace"
    assert where in refused.message and str(bench.root) in refused.message


@pytest.mark.parametrize("tool", [name for name in PATH_ARGUMENT if name != "glob"])
async def test_a_path_with_control_characters_is_refused(bench: Bench, tool: str) -> None:
    refused = await failure(bench, tool, **{**GOOD[tool], PATH_ARGUMENT[tool]: "a\nb"})
    assert refused.type == "invalid_tool_params"


def test_resources_say_what_is_read_and_written(bench: Bench) -> None:
    root = str(bench.root)
    assert {tool: bench.build(tool, **args).resources() for tool, args in GOOD.items()} == {
        "read_file": Resources(reads=(f"{root}/a.txt",)),
        "list_directory": Resources(reads=(root,)),
        "glob": Resources(reads=(f"{root}/",)),
        "grep_search": Resources(reads=(f"{root}/",)),
        "write_file": Resources(writes=(f"{root}/a.txt",)),
        "replace": Resources(writes=(f"{root}/a.txt",)),
        "run_shell_command": Resources(anything="write"),
        "web_fetch": Resources(),
    }


def test_every_invocation_describes_itself_in_one_line(bench: Bench) -> None:
    described = {tool: bench.build(tool, **args).describe() for tool, args in GOOD.items()}
    assert described == {
        "read_file": "a.txt",
        "list_directory": ".",
        "glob": "'*.py'",
        "grep_search": "'x' within ./",
        "write_file": "a.txt",
        "replace": "a.txt",
        "run_shell_command": "ls",
        "web_fetch": "https://example.org/",
    }


async def test_tools_that_only_read_need_no_confirmation(bench: Bench) -> None:
    for tool in ("read_file", "list_directory", "glob", "grep_search"):
        assert await bench.details(tool, **GOOD[tool]) is None


async def test_absolute_paths_inside_the_workspace_are_fine(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("hello\n")
    invocation = bench.build("read_file", file_path=f"{bench.root}/a.txt")
    assert (await invocation.execute(PERMIT, LiveRecorder())).content == "hello"


async def test_a_second_opened_folder_belongs_to_the_workspace(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    workspace = Workspace([str(tmp_path / "one"), str(tmp_path / "two")], str(tmp_path / "one"))
    read = builtin_tools(workspace)[0]
    result = await read.build({"file_path": str(tmp_path / "two" / "f")}).execute(PERMIT, LiveRecorder())
    assert result.content == "two"
