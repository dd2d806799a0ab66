"""/compress and /undo: what they do to a real session, and what they say when there is nothing to do."""

from pathlib import Path
from typing import Any

import pytest

from assent.commands import Submit
from assent.events import ChatCompressed, ContextLoaded
from assent.files.workspace import Workspace
from assent.front.tui.lists import ListScreen
from assent.front.tui.small_screens import ReviewScreen
from assent.tools.builtin import builtin_tools
from support.session_harness import SessionHarness, call, calls, text
from support.slash import Slash, open_slash

pytestmark = pytest.mark.spec("G5")

LONG = "A long story. " * 200


@pytest.fixture
def preferences(tmp_path: Path) -> Path:
    return tmp_path / "preferences.toml"


async def ask(slash: Slash, *prompts: str) -> None:
    for count, prompt in enumerate(prompts, start=1):
        await slash.runner.send(Submit(prompt, by="ann"))
        await slash.harness.until_done(count)


async def test_compress_leaves_the_telling_to_the_transcript_and_counts_the_request(preferences: Path):
    usage = {"input": 900, "output": 20}
    harness = SessionHarness(text(LONG), text("Short."), text("# Requests\nA story.", usage=usage))
    async with open_slash(harness, preferences) as slash:
        await ask(slash, "tell", "more")
        await slash.run("/compress")
        assert len(harness.recorded(ChatCompressed)) == 1
        assert slash.app.said == [] and slash.app.complaints == []
        assert slash.app.feed.tally.models["scripted"].requests == 3
        assert slash.app.feed.tally.usage.input == 900


async def test_nothing_to_compress_is_said(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/compress")
        assert slash.app.said == [] and slash.app.complaints[0].startswith("Not done:")


WRITES = (
    calls(call("read_file", file_path="a.txt"), call("write_file", "w1", file_path="a.txt", content="new\n")),
    calls(call("write_file", "w2", file_path="b.txt", content="new\n")),
)


def writing_harness(root: Path, *replies: Any) -> SessionHarness:
    harness = SessionHarness(*(replies or WRITES), text("Done."))
    harness.folder = str(root)
    harness.tools = builtin_tools(Workspace([str(root)], str(root)))
    return harness


async def test_undo_lists_the_newest_change_first_and_takes_it_back(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("old\n")
    async with open_slash(writing_harness(root), preferences, mode="auto_edit") as slash:
        await ask(slash, "go")
        screen = await slash.open("/undo")
        assert [row.key for row in screen.rows] == ["w2", "w1"]
        await slash.press("enter")
        await agree(slash, "b.txt", "+new")
        await slash.finish()
        assert not (root / "b.txt").exists() and "Undone" in slash.app.said[0]
        offered = await slash.app.registry.arguments("undo", "", slash.app)
        assert [candidate.name for candidate in offered] == ["w1"]
        slash.start("/undo w1")
        await slash.until(lambda: isinstance(slash.app.screen, ReviewScreen))
        await slash.press("enter", "escape")  # Enter agrees to nothing
        await slash.finish()
        assert (root / "a.txt").read_text() == "new\n"
        slash.start("/undo w1")
        await agree(slash, "a.txt", "-old")
        await slash.finish()
        assert (root / "a.txt").read_text() == "old\n"
        await slash.run("/undo w1")
        assert "Call w1 has no change to undo" in slash.app.complaints[0]


async def test_a_file_that_changed_since_is_left_alone_and_the_person_is_told(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    async with open_slash(writing_harness(root), preferences, mode="auto_edit") as slash:
        await ask(slash, "go")
        (root / "b.txt").write_text("mine\n")
        slash.start("/undo w2")
        await agree(slash, "b.txt")
        await slash.finish()
        assert (root / "b.txt").read_text() == "mine\n"
        assert slash.app.complaints[0].startswith("Not undone:") and slash.app.said == []


async def agree(slash: Slash, *shown: str, key: str = "y") -> None:
    """Looks at the preview, and agrees to it."""
    await slash.until(lambda: isinstance(slash.app.screen, ReviewScreen) and all(one in slash.text() for one in shown))
    await slash.press(key)


@pytest.mark.spec("J10")
async def test_rewind_takes_back_the_conversation_and_the_files_after_a_preview(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("old\n")
    async with open_slash(writing_harness(root), preferences, mode="auto_edit", size=(100, 30)) as slash:
        await ask(slash, "change it")
        await slash.until(lambda: slash.runner.idle)
        await slash.open("/rewind")
        assert "change it" in slash.text() and "2 files changed since" in slash.text()
        await slash.press("enter")
        await agree(slash, "1 prompt and what followed would be removed from the conversation", "-old", "b.txt")
        await slash.finish()
        assert (root / "a.txt").read_text() == "old\n" and not (root / "b.txt").exists()
        assert slash.runner.state.history() == ()
        assert slash.did == [("prompt", "change it")]  # to be sent again, with other words


@pytest.mark.spec("J10")
async def test_esc_in_the_preview_of_a_rewind_leads_back_to_the_list(tmp_path: Path, preferences: Path):
    async with open_slash(writing_harness(tmp_path), preferences, mode="auto_edit", size=(100, 30)) as slash:
        await ask(slash, "change it")
        await slash.until(lambda: slash.runner.idle)
        await slash.open("/rewind")
        for _ in range(2):
            await slash.press("enter")
            await agree(slash, "1 prompt and what followed", key="escape")
            await slash.until(lambda: isinstance(slash.app.screen, ListScreen))
        await slash.press("escape")
        await slash.finish()
        assert slash.runner.state.history() != ()


@pytest.mark.spec("J10")
async def test_a_rewind_over_prompts_that_changed_nothing_says_so(preferences: Path):
    async with open_slash(SessionHarness(text("Hello.")), preferences, size=(100, 30)) as slash:
        await ask(slash, "hi")
        await slash.until(lambda: slash.runner.idle)
        await slash.open("/rewind")
        await slash.press("enter")
        await agree(slash, "No file would change.")
        await slash.finish()
        assert slash.runner.state.history() == ()


@pytest.mark.spec("J10")
async def test_rewind_can_leave_the_files_alone(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    async with open_slash(writing_harness(root), preferences, mode="auto_edit", size=(100, 30)) as slash:
        await ask(slash, "change it")
        await slash.until(lambda: slash.runner.idle)
        await slash.open("/rewind")
        await slash.press("enter")
        await agree(slash, key="c")
        await slash.finish()
        assert (root / "a.txt").exists() and slash.runner.state.history() == ()


async def go_back(slash: Slash, *shown: str) -> None:
    await slash.until(lambda: slash.runner.idle)
    await slash.open("/rewind")
    await slash.press("enter")
    await agree(slash, *shown)
    await slash.finish()


@pytest.mark.spec("J10")
@pytest.mark.parametrize("sees_files", [True, False])
async def test_rewind_leaves_a_file_alone_that_changed_since_and_undoes_the_rest(
    tmp_path: Path, preferences: Path, sees_files: bool
):
    root = tmp_path / "root"
    root.mkdir()
    async with open_slash(writing_harness(root), preferences, mode="auto_edit", size=(100, 30)) as slash:
        slash.app.host.sees_files = sees_files
        await ask(slash, "change it")
        (root / "b.txt").write_text("mine\n")
        await go_back(slash, "left as they are:" if sees_files else "A file that has changed since is left alone.")
        assert (root / "b.txt").read_text() == "mine\n" and not (root / "a.txt").exists()
        assert slash.runner.state.history() == () and slash.did == [("prompt", "change it")]
        assert len(slash.app.complaints) == 1 and slash.app.complaints[0].startswith("Left as they are: ")
        assert "b.txt" in slash.app.complaints[0] and "a.txt" not in slash.app.complaints[0]


@pytest.mark.spec("J10")
async def test_rewind_undoes_no_older_change_of_a_file_that_stays(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    harness = writing_harness(
        root,
        calls(call("write_file", "w1", file_path="a.txt", content="one\n")),
        calls(call("write_file", "w2", file_path="a.txt", content="two\n")),
        calls(call("write_file", "w3", file_path="b.txt", content="new\n")),
    )
    async with open_slash(harness, preferences, mode="auto_edit", size=(100, 30)) as slash:
        await ask(slash, "change it")
        (root / "a.txt").write_text("one\nmine\n")
        await go_back(slash, "a.txt", "b.txt")
        assert (root / "a.txt").read_text() == "one\nmine\n" and not (root / "b.txt").exists()
        assert slash.runner.state.history() == ()


@pytest.mark.spec("J10")
async def test_a_file_that_is_already_as_it_was_is_no_reason_to_complain(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    async with open_slash(writing_harness(root), preferences, mode="auto_edit", size=(100, 30)) as slash:
        await ask(slash, "change it")
        (root / "b.txt").unlink()
        await go_back(slash, "a.txt")
        assert not (root / "a.txt").exists() and slash.app.complaints == []
        assert slash.runner.state.history() == ()


@pytest.mark.spec("J10")
async def test_if_all_files_changed_since_no_file_would_change(tmp_path: Path, preferences: Path):
    root = tmp_path / "root"
    root.mkdir()
    async with open_slash(writing_harness(root), preferences, mode="auto_edit", size=(100, 30)) as slash:
        await ask(slash, "change it")
        for name in ("a.txt", "b.txt"):
            (root / name).write_text("mine\n")
        await go_back(slash, "left as they are:", "No file would change.")
        assert [(root / name).read_text() for name in ("a.txt", "b.txt")] == ["mine\n"] * 2
        assert slash.runner.state.history() == ()


async def test_memory_reload_reads_the_files_again(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/memory reload")
        assert len(slash.harness.recorded(ContextLoaded)) == 1 and "read again" in slash.app.said[0]
