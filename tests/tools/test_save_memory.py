"""save_memory: one fact more in the user's own context file, asked like an edit. Rows E3, F4."""

import os
import stat
from pathlib import Path

import pytest

from assent.agent.context_text import Context, assemble
from assent.approval import EditDetails
from assent.commands import Submit
from assent.files.context_reader import find_context
from assent.files.workspace import Workspace
from assent.scheduler.call import Failed
from assent.tools.builtin import builtin_tools
from assent.tools.tool import AnyTool, InvalidParams
from support.session_harness import SessionHarness, call, calls, text
from tools.toolkit import PERMIT, LiveRecorder

pytestmark = pytest.mark.spec("E3")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "config" / "assent" / "ASSENT.md"


@pytest.fixture
def tool(tmp_path: Path, memory: Path) -> AnyTool:
    (tmp_path / "w").mkdir()
    tools = builtin_tools(Workspace([str(tmp_path / "w")], str(tmp_path / "w")), memory=memory)
    return next(tool for tool in tools if tool.name == "save_memory")


async def save(tool: AnyTool, fact: str) -> EditDetails:
    invocation = tool.build({"fact": fact})
    shown = await invocation.should_confirm()
    assert isinstance(shown, EditDetails)
    await invocation.execute(PERMIT, LiveRecorder())
    return shown


async def test_the_first_fact_makes_the_file_which_only_its_owner_can_read(tool: AnyTool, memory: Path):
    shown = await save(tool, "Prefers tabs.")
    assert (shown.path, shown.old, shown.new) == (str(memory), None, "## Remembered\n\n- Prefers tabs.\n")
    assert memory.read_text() == shown.new
    assert [stat.S_IMODE(os.stat(p).st_mode) for p in (memory, memory.parent)] == [0o600, 0o700]


async def test_a_fact_goes_under_the_heading_and_leaves_the_rest_alone(tool: AnyTool, memory: Path):
    memory.parent.mkdir(parents=True)
    memory.write_text("# Mine\n\nBe brief.\n\n## Remembered\n\n- One.\n\n## Other\n\ntext\n")
    await save(tool, "Two\n# not a heading")
    assert memory.read_text() == (
        "# Mine\n\nBe brief.\n\n## Remembered\n\n- One.\n- Two # not a heading\n\n## Other\n\ntext\n"
    )
    memory.write_text("# Mine\n")
    await save(tool, "Three")
    assert memory.read_text() == "# Mine\n\n## Remembered\n\n- Three\n"


@pytest.mark.parametrize("fact", ["", " \n", "x" * 2_001, "\ud800"])
def test_a_fact_that_cannot_be_kept_is_refused(tool: AnyTool, fact: str):
    with pytest.raises(InvalidParams):
        tool.build({"fact": fact})


@pytest.mark.spec("F4")
async def test_it_needs_approval_even_if_edits_run_and_the_model_is_told_at_once(tool: AnyTool, memory: Path):
    harness = SessionHarness(calls(call("save_memory", "m", fact="Prefers tabs.")), text("Noted."))
    harness.tools = [tool]

    def load(_: object) -> Context:
        return assemble([(file, "") for file in find_context(str(memory.parent))])

    harness.options["load_context"] = load
    async with await harness.open(mode="auto_edit") as runner:
        await harness.send(runner, Submit("remember"))
        (waiting,) = await harness.until_waiting(runner)
        assert "every conversation from now on" in waiting.approval.why
        assert "proceed_always" not in waiting.approval.options
        await harness.answer(runner, "m")
        await harness.until_done()
        assert [source.path for source in runner.state.context] == [str(memory)]
    assert ["Prefers tabs." in request.system for request in harness.model.requests] == [False, True]


async def test_with_nobody_to_ask_nothing_is_remembered(tool: AnyTool, memory: Path):
    harness = SessionHarness(calls(call("save_memory", "m", fact="Prefers tabs.")), text("Noted."))
    harness.tools = [tool]
    async with await harness.open(attended=False) as runner:
        await harness.send(runner, Submit("remember"))
        await harness.until_done()
        assert isinstance(runner.state.calls["m"], Failed)
    assert not memory.exists()
