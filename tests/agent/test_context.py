"""Context files: found up the tree and below, with imports, and only as far as the folder is trusted. Rows F7, I4."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from assent.agent.context_text import Context, assemble
from assent.app.context_loading import load_context
from assent.app.rule_sources import trust_store
from assent.commands import ReloadContext, Submit
from assent.events import ContextLoaded
from assent.files.context_reader import SIZE_LIMIT, find_context
from assent.files.workspace import Workspace
from assent.tools.builtin import builtin_tools
from assent.tools.read_file import ReadFileTool
from assent.tools.support.files import Files
from support.session_harness import SessionHarness, call, calls, text

pytestmark = pytest.mark.spec("F7")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "ASSENT_HOME": str(tmp_path / "home" / "assent")}


@pytest.fixture
def project(tmp_path: Path, env: dict[str, str]) -> Path:
    folder = tmp_path / "home" / "repo" / "sub"
    folder.mkdir(parents=True)
    (folder.parent / ".git").mkdir()
    return folder


def told(folder: Path, home: str = "") -> str:
    return assemble([(file, "") for file in find_context(str(folder), home)]).text


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.md").write_text(content)


# --- finding ---


def test_files_of_outer_folders_come_first_up_to_the_repository_and_no_further(project: Path, env: dict[str, str]):
    write(Path(env["HOME"]), AGENTS="not mine")
    write(project.parent, AGENTS="outer", GEMINI="outer too")
    write(project, ASSENT="inner")
    assert [file.text for file in find_context(str(project), env["HOME"])] == ["outer", "outer too", "inner"]
    assert told(project) == "\n\n".join(
        f"--- Context from: {path} ---\n{said}\n--- End of context from: {path} ---"
        for path, said in [
            (project.parent / "AGENTS.md", "outer"),
            (project.parent / "GEMINI.md", "outer too"),
            (project / "ASSENT.md", "inner"),
        ]
    )


def test_without_a_repository_the_home_folder_is_the_end_and_elsewhere_the_folder_itself(tmp_path: Path):
    write(tmp_path, AGENTS="above all")
    write(tmp_path / "home", AGENTS="home")
    write(tmp_path / "home" / "a" / "b", AGENTS="b")
    assert [f.text for f in find_context(str(tmp_path / "home" / "a" / "b"), str(tmp_path / "home"))] == ["home", "b"]
    assert [f.text for f in find_context(str(tmp_path / "home" / "a" / "b"), "/elsewhere")] == ["b"]


def test_one_file_under_two_names_is_loaded_once(project: Path):
    write(project, AGENTS="same")
    (project / "GEMINI.md").symlink_to("AGENTS.md")
    assert told(project).count("same") == 1


def test_what_is_too_large_or_not_text_or_elsewhere_is_left_out_and_reported(project: Path, tmp_path: Path):
    write(project, AGENTS="x" * (SIZE_LIMIT + 1))
    (project / "ASSENT.md").write_bytes(b"\xff\xfe\x00bad")
    (tmp_path / "secret.md").write_text("secret")
    (project / "GEMINI.md").symlink_to(tmp_path / "secret.md")
    context = assemble([(file, "") for file in find_context(str(project))])
    assert context.text == ""
    problems = [source.problem for source in context.sources]
    assert len(problems) == 3
    assert "not UTF-8 text" in problems[0] and "more than" in problems[1] and "outside" in problems[2]


# --- imports ---


def test_an_import_stands_where_it_is_written_and_relative_to_its_file(project: Path):
    write(project, AGENTS="Before @docs/style.md after. Mail a@b.c, @alice and @missing.md stay.")
    write(project / "docs", style="Use tabs, see @more.md")
    write(project / "docs", more="No, spaces.")
    said = told(project)
    style, more = project / "docs" / "style.md", project / "docs" / "more.md"
    assert f"Before --- Context from: {style} ---\nUse tabs, see --- Context from: {more} ---\nNo, spaces.\n" in said
    assert said.rstrip().endswith("---")
    assert " after. Mail a@b.c, @alice and @missing.md stay." in said


def test_code_is_not_an_import(project: Path):
    write(project, AGENTS="`@a.md`\n```\n@a.md\n```\n~~~\n@a.md", a="never")
    assert "never" not in told(project)


def test_circular_and_repeated_imports_are_loaded_once(project: Path):
    write(project, AGENTS="one @a.md @a.md", a="two @AGENTS.md @b.md", b="three @a.md")
    said = told(project)
    assert [said.count(word) for word in ("one", "two", "three")] == [1, 1, 1]


def test_imports_have_a_depth_and_a_boundary(project: Path, tmp_path: Path):
    write(
        project,
        AGENTS="@d1.md @../../../out.md @.env/x.md @/etc/hostname",
        **{f"d{n}": f"deep {n} @d{n + 1}.md" for n in range(1, 9)},
    )
    write(tmp_path, out="outside")
    write(project / ".env", x="secret")
    said = told(project)
    assert "deep 5" in said and "deep 6" not in said
    assert "outside" not in said and "secret" not in said


# --- trust ---


@pytest.mark.spec("I4")
def test_the_model_sees_nothing_of_a_folder_before_it_is_trusted(project: Path, env: dict[str, str]):
    write(project.parent, AGENTS="outer @imported.md", imported="more")
    write(project, AGENTS="inner")
    write(Path(env["ASSENT_HOME"]), ASSENT="my own")
    before = load_context(env, str(project))
    assert "my own" in before.text and "inner" not in before.text and "outer" not in before.text
    assert [bool(source.problem) for source in before.sources] == [False, True, True, True]
    assert before.sources[1].problem == "not loaded; review it and trust the folder with `assent trust`"
    store = trust_store(env)
    seen = store.look(project)
    assert list(seen.files) == ["../AGENTS.md", "../imported.md", "AGENTS.md"]
    store.trust(project, seen)
    after = load_context(env, str(project)).text
    assert after.index("my own") < after.index("outer") < after.index("more") < after.index("inner")


@pytest.mark.spec("I4")
def test_a_file_that_changed_after_it_was_trusted_is_left_out_alone(project: Path, env: dict[str, str]):
    write(project, AGENTS="good @imported.md", imported="fine", GEMINI="other")
    store = trust_store(env)
    store.trust(project, store.look(project))
    write(project, imported="evil")
    context = load_context(env, str(project))
    assert "good @imported.md" in context.text and "other" in context.text and "evil" not in context.text
    assert store.look(project).changed == ("imported.md",)


@pytest.mark.spec("I4")
def test_a_changed_context_file_does_not_revoke_the_trust_in_rules(project: Path, env: dict[str, str]):
    write(project, AGENTS="a")
    write(project / ".assent", notes="x")
    store = trust_store(env)
    store.trust(project, store.look(project))
    write(project, AGENTS="b")
    assert (store.look(project).state, store.rules(project).state) == ("changed", "trusted")
    write(project / ".assent", notes="y")
    assert store.rules(project).state == "changed"


# --- in a session ---


@pytest.mark.parametrize("tool", ["write_file", "replace", "save_memory"])
async def test_a_call_that_writes_a_context_file_has_it_read_again(project: Path, env: dict[str, str], tool: str):
    write(project, ASSENT="before")
    args = {
        "write_file": {"file_path": "ASSENT.md", "content": "after"},
        "replace": {"file_path": "ASSENT.md", "old_string": "before", "new_string": "after"},
        "save_memory": {"fact": "after"},
    }
    harness = SessionHarness(
        calls(call("read_file", file_path="ASSENT.md"), call(tool, **args[tool])),
        calls(call("write_file", file_path="x", content="y")),
        text("Done."),
    )
    harness.folder = str(project)
    harness.tools = builtin_tools(Workspace([str(project)], str(project)), memory=project / "ASSENT.md")
    harness.options["load_context"] = lambda _: Context((project / "ASSENT.md").read_text())  # pyright: ignore
    async with await harness.open(mode="yolo") as runner:
        await harness.send(runner, Submit("hi"))
        await harness.until_done()
    assert ["after" in request.system for request in harness.model.requests] == [False, True, True]
    assert len(await harness.stored(ContextLoaded)) == 1, "a file that the model is not told changes nothing"


async def test_the_model_is_told_with_every_request_and_clients_see_what_was_loaded(project: Path, env: dict[str, str]):
    write(project, AGENTS="Answer in rhymes.")
    harness = SessionHarness(text("Hello."), text("Again."))
    harness.options["load_context"] = lambda _: load_context(env, str(project))  # pyright: ignore
    async with await harness.open() as runner:
        await harness.send(runner, Submit("hi"))
        await harness.until_done()
        assert "Answer in rhymes." not in harness.model.requests[0].system
        assert runner.state.context[0].problem.startswith("not loaded")
        trust_store(env).trust(project, trust_store(env).look(project))
        assert await harness.send(runner, ReloadContext(by="ann")) == ""
        await harness.send(runner, Submit("hi"))
        await harness.until_done(2)
        assert harness.model.requests[1].system.endswith(
            f"Answer in rhymes.\n--- End of context from: {project}/AGENTS.md ---"
        )
        (source,) = runner.state.context
    assert (source.path, source.size, source.problem) == (f"{project}/AGENTS.md", 17, "")
    assert len(await harness.stored(ContextLoaded)) == 2


async def test_a_folder_below_counts_from_the_first_call_that_works_there(project: Path, env: dict[str, str]):
    write(project / "api" / "v1", AGENTS="In v1, be careful.")
    (project / "api" / "v1" / "x.py").write_text("pass\n")
    trust_store(env).trust(project, trust_store(env).look(project))
    harness = SessionHarness(calls(call("read_file", file_path="api/v1/x.py")), text("Done."))
    harness.folder = str(project)
    harness.tools = [ReadFileTool(Files(Workspace([str(project)], str(project))))]

    def load(touched: Sequence[str]) -> Context:
        return load_context(env, str(project), touched)

    harness.options["load_context"] = load
    async with await harness.open() as runner:
        await harness.send(runner, Submit("hi"))
        await harness.until_done()
    said = ["be careful" in request.system for request in harness.model.requests]
    assert said == [False, True]
    again = SessionHarness(text("Still."), log=harness.log)
    again.session, again.options, again.tools = harness.session, harness.options, harness.tools
    async with await again.open() as runner:
        await again.send(runner, Submit("and now"))
        await again.until_done()
    assert "be careful" in again.model.requests[0].system


def test_loading_opens_each_context_file_once_and_no_other(
    project: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    write(project.parent, AGENTS="x" * 5_000, README="not for us")
    write(project, AGENTS="y" * 5_000)
    opened: list[str] = []
    real = os.open

    def watch(path: str, flags: int, *more: int, dir_fd: int | None = None) -> int:
        if not flags & os.O_DIRECTORY:
            opened.append(os.path.basename(path))
        return real(path, flags, *more, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", watch)
    load_context(env, str(project))
    assert opened == ["AGENTS.md", "AGENTS.md"]
