"""read_many_files and write_todos. Row E3."""

from typing import Any

import pytest

from assent.commands import Submit
from assent.parts import Media, Text, Todo, TodosDisplay
from assent.session.state import fold
from assent.tools.support.many_files import MAX_CHARACTERS
from assent.tools.tool import InvalidParams, ToolResult
from assent.tools.write_todos import WriteTodosTool
from support.session_harness import SessionHarness, call, calls, text
from tools.test_tool_contract import failure
from tools.toolkit import Bench

pytestmark = pytest.mark.spec("E3")


def told(result: ToolResult) -> list[str]:
    assert isinstance(result.content, tuple)
    return [part.text for part in result.content if isinstance(part, Text)]


def make(bench: Bench, **files: str) -> None:
    for name, content in files.items():
        path = bench.root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


async def read(bench: Bench, *include: str, **more: Any) -> list[str]:
    return told(await bench.run("read_many_files", include=list(include), **more))


# --- read_many_files ---


async def test_all_matches_are_listed_by_name_in_order(bench: Bench) -> None:
    make(bench, src__b_dot_py="b\n", src__a_dot_py="a\n", src__deep__c_dot_py="c\n", other_dot_txt="no")
    assert await read(bench, "src/**/*.py") == [
        "--- src/a.py ---\na\n",
        "--- src/b.py ---\nb\n",
        "--- src/deep/c.py ---\nc\n",
        "--- End of content: 3 file(s) read ---",
    ]


async def test_a_folder_means_what_is_in_it_deeply_or_not(bench: Bench) -> None:
    make(bench, src__a="a", src__deep__c="c")
    assert len(await read(bench, "src")) == 3
    assert len(await read(bench, f"{bench.root}/src/", recursive=False)) == 2


async def test_what_is_excluded_usual_or_ignored_is_left_out_unless_it_is_named(bench: Bench) -> None:
    make(bench, a_dot_js="a", node_modules__x_dot_js="x", b_dot_js="b", gen_dot_js="g", _dot_gitignore="gen.js\n")
    (bench.root / ".git").mkdir()
    assert [one.splitlines()[0] for one in await read(bench, "**/*.js", exclude=["b.*"])][:-1] == ["--- a.js ---"]
    everything = await read(bench, "**/*.js", use_default_excludes=False, respect_git_ignore=False)
    assert len(everything) == 5
    assert (await read(bench, "gen.js"))[0] == "--- gen.js ---\ng"
    assert (await failure(bench, "read_many_files", include=["gen.js"], exclude=["gen.*"])).type == "file_not_found"


async def test_pictures_only_when_asked_for_binaries_and_secrets_never(bench: Bench) -> None:
    make(bench, a_dot_txt="a", _dot_env="KEY=1")
    (bench.root / "p.png").write_bytes(b"\x89PNG\r\n\x1a\nxx")
    (bench.root / "x.bin").write_bytes(b"\x7fELF\0\0")
    said = await read(bench, "*", ".env")
    assert said[0] == "--- a.txt ---\na"
    assert "- p.png: image/png; name it to read it" in said[-1]
    assert "- x.bin: not text but an ELF program" in said[-1]
    assert "secrets" in said[-1] and "KEY=1" not in "".join(said)
    named = await bench.run("read_many_files", include=["*.png"])
    assert isinstance(named.content, tuple) and isinstance(named.content[1], Media)


async def test_there_is_a_limit_and_what_is_behind_it_is_listed(bench: Bench) -> None:
    make(bench, a="x" * (MAX_CHARACTERS - 1), b="yy", c="z")
    said = await read(bench, "*")
    assert said[1] == "--- b ---\ny\n... [cut; read on with read_file]"
    assert said[2].endswith("Left out:\n- c: the limit is reached")


@pytest.mark.parametrize("where", ["/etc/*", "../*", "a/../../b"])
async def test_it_does_not_leave_the_workspace(bench: Bench, where: str) -> None:
    assert (await failure(bench, "read_many_files", include=[where])).type == "path_not_in_workspace"


async def test_nothing_found_and_nothing_asked_for_are_errors(bench: Bench) -> None:
    assert (await failure(bench, "read_many_files", include=["*.none"])).type == "file_not_found"
    for include in ([], [" "], ["[z-a]"]):
        with pytest.raises(InvalidParams):
            bench.build("read_many_files", include=include)
    assert await bench.details("read_many_files", include=["*"]) is None


# --- write_todos ---


async def test_the_list_is_shown_kept_and_replaced() -> None:
    first = [{"description": "Look", "status": "in_progress"}, {"description": "Act", "status": "pending"}]
    second = [{"description": "Look", "status": "completed"}]
    harness = SessionHarness(
        calls(call("write_todos", "a", todos=first)), calls(call("write_todos", "b", todos=second)), text("Done.")
    )
    harness.tools = [WriteTodosTool()]
    async with await harness.open(attended=False) as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
        assert runner.state.todos == (Todo("Look", "completed"),)
        shown = runner.state.calls["a"]
        assert getattr(shown, "display", None) == TodosDisplay((Todo("Look", "in_progress"), Todo("Act", "pending")))
    assert fold(harness.session, await harness.log.read(harness.session)).todos == (Todo("Look", "completed"),)


@pytest.mark.parametrize(
    "todos",
    [
        [{"description": " ", "status": "pending"}],
        [{"description": "x", "status": "someday"}],
        [{"description": "x"}],
        [{"description": "x", "status": "in_progress"}] * 2,
        [{"description": "x", "status": "pending"}] * 101,
    ],
)
def test_a_list_that_makes_no_sense_is_refused(bench: Bench, todos: list[dict[str, str]]) -> None:
    with pytest.raises(InvalidParams):
        bench.build("write_todos", todos=todos)
