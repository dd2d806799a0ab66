"""Undo: every write can be taken back, unless the file changed since. Row J7."""

import asyncio
from pathlib import Path

import pytest

from assent.commands import RunTool, Submit
from assent.events import CallFinished, CallStarted
from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.policy.rules import Rule
from assent.scheduler.call import Failed, Success
from assent.session.fork import fork_session
from assent.session.runner import Runner
from assent.session.state import fold
from assent.tools.builtin import builtin_tools
from assent.tools.support.edit import EditInvocation
from assent.tools.tool import Live, Permit, ToolResult
from support.session_harness import SessionHarness, call, calls, crash, text

pytestmark = pytest.mark.spec("J7")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


def harness_in(root: Path, *chunks: dict[str, object]) -> SessionHarness:
    """A session in which the model makes these calls, one after the other."""
    harness = SessionHarness(*(calls(chunk) for chunk in chunks), text("Done."))
    harness.folder = str(root)
    own = root.parent / "own"
    workspace = Workspace([str(root)], str(root))
    harness.tools = builtin_tools(workspace, memory=own / "ASSENT.md", contents=PrivateFolder(str(own / "contents")))
    return harness


def write(path: str, content: str, id: str) -> dict[str, object]:
    return call("write_file", id, file_path=path, content=content)


def read(path: str) -> dict[str, object]:
    """The model replaces no file that it has not read."""
    return call("read_file", "r", file_path=path)


async def go(harness: SessionHarness, runner: Runner) -> None:
    await harness.send(runner, Submit("go"))
    assert (await harness.until_done()).status == "completed"


async def undo(harness: SessionHarness, runner: Runner, call_id: str) -> Success | Failed:
    """Takes it back as a person does; gives how that ended."""
    over = len(harness.recorded(CallFinished))
    key = await runner.send(RunTool("undo", {"call_id": call_id}, by="ann"))
    await harness.until(lambda: len(harness.recorded(CallFinished)) > over)
    done = runner.state.calls[f"person-{key}"]
    assert isinstance(done, Success | Failed)
    return done


@pytest.mark.parametrize("before", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfmarked\n", b"caf\xe9\n", b""])
async def test_a_changed_file_is_byte_for_byte_what_it_was(root: Path, before: bytes):
    (root / "a.txt").write_bytes(before)
    (root / "a.txt").chmod(0o640)
    harness = harness_in(root, read("a.txt"), write("a.txt", "new\n", "w"))
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        assert (root / "a.txt").read_bytes() != before
        assert isinstance(await undo(harness, runner, "w"), Success)
    assert (root / "a.txt").read_bytes() == before
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o640


async def test_a_file_that_was_made_is_deleted_and_one_that_was_replaced_in_is_restored(root: Path):
    (root / "b.txt").write_text("old text\n")
    harness = harness_in(
        root,
        write("sub/a.txt", "new\n", "made"),
        call("replace", "changed", file_path="b.txt", old_string="old", new_string="new"),
    )
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        assert runner.state.undoable() == ["made", "changed"]
        for id in ("made", "changed"):
            assert isinstance(await undo(harness, runner, id), Success)
        assert runner.state.undoable() == []
    assert not (root / "sub" / "a.txt").exists()
    assert (root / "b.txt").read_text() == "old text\n"


async def test_a_change_can_be_undone_and_made_again_any_number_of_times(root: Path):
    harness = harness_in(root, write("a.txt", "new\n", "w"))
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        newest = "w"
        for there in (False, True, False, True):
            newest = (await undo(harness, runner, newest)).request.call_id
            assert (root / "a.txt").exists() == there
            assert runner.state.undoable() == (["w"] if there else [])
            assert list(runner.state.redoable()) == ([] if there else ["w"])


async def test_a_file_that_changed_since_is_left_alone_and_it_is_said_why(root: Path):
    (root / "a.txt").write_text("0")
    harness = harness_in(root, read("a.txt"), write("a.txt", "1", "first"), write("a.txt", "2", "second"))
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        refused = await undo(harness, runner, "first")
        assert isinstance(refused, Failed)
        assert refused.failure.type == "changed_since_shown"
        assert refused.failure.message == (
            "a.txt was changed after this call, so it was not touched. Undo the newer changes first: second."
        )
        (root / "a.txt").write_text("someone else's")
        refused = await undo(harness, runner, "second")
        assert isinstance(refused, Failed)
        assert refused.failure.message == "a.txt was changed after this call, so it was not touched."
        (root / "a.txt").unlink()
        refused = await undo(harness, runner, "second")
        assert isinstance(refused, Failed) and "was deleted after this call" in refused.failure.message
    assert not (root / "a.txt").exists()


async def test_an_undo_can_be_taken_back_and_a_second_one_has_nothing_to_do(root: Path):
    harness = harness_in(root, write("a.txt", "new", "w"))
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        first = await undo(harness, runner, "w")
        assert not (root / "a.txt").exists()
        again = await undo(harness, runner, "w")
        assert isinstance(again, Failed) and "already as it was before" in again.failure.message
        assert isinstance(await undo(harness, runner, first.request.call_id), Success)
        assert runner.state.undoable() == ["w"]
    assert (root / "a.txt").read_text() == "new"


async def test_a_rule_can_forbid_it_and_the_model_cannot_ask_for_it(root: Path):
    harness = harness_in(root, write("a.txt", "new", "w"), call("undo", "m", call_id="w"))
    async with await harness.open(mode="yolo", rules=(Rule(ruling="deny", tool="undo"),)) as runner:
        await go(harness, runner)
        refused = runner.state.calls["m"]
        assert isinstance(refused, Failed) and refused.failure.type == "tool_not_registered"
        denied = await undo(harness, runner, "w")
        assert isinstance(denied, Failed) and denied.failure.type == "policy_violation"
        unknown = await undo(harness, runner, "m")
        assert isinstance(unknown, Failed) and "wrote no file" in unknown.failure.message
    assert (root / "a.txt").read_text() == "new"
    assert all(tool.name != "undo" for tool in harness.model.requests[0].tools)


async def test_a_large_content_is_kept_beside_the_log_for_its_owner_only(root: Path):
    before = b"0123456789\n" * 20_000
    (root / "a.txt").write_bytes(before)
    harness = harness_in(root, read("a.txt"), write("a.txt", "small", "w"))
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        change = (await harness.stored(CallStarted))[-1].change
        assert change is not None and change.before is None
        (kept,) = (root.parent / "own" / "contents").iterdir()
        assert (kept.name, kept.stat().st_mode & 0o777) == (change.kept, 0o600)
        assert isinstance(await undo(harness, runner, "w"), Success)
        assert (root / "a.txt").read_bytes() == before
        kept.write_bytes(b"tampered")
        refused = await undo(harness, runner, "w")
        assert isinstance(refused, Failed) and "no longer kept" in refused.failure.message


async def test_what_was_remembered_can_be_taken_back(root: Path):
    harness = harness_in(root, call("save_memory", "m", fact="x"))
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        assert (root.parent / "own" / "ASSENT.md").exists()
        assert isinstance(await undo(harness, runner, "m"), Success)
    assert not (root.parent / "own" / "ASSENT.md").exists()


async def test_a_write_that_found_another_content_leaves_nothing_to_undo(root: Path, monkeypatch: pytest.MonkeyPatch):
    (root / "a.txt").write_text("old\n")
    harness = harness_in(root, read("a.txt"), write("a.txt", "new\n", "w"), write("b.txt", "new\n", "other"))
    execute = EditInvocation.execute

    async def write_too_late(self: EditInvocation, permit: Permit, live: Live) -> ToolResult:
        (root / "a.txt").write_text("someone else's\n")
        return await execute(self, permit, live)

    monkeypatch.setattr(EditInvocation, "execute", write_too_late)
    async with await harness.open(mode="yolo") as runner:
        await go(harness, runner)
        failed = runner.state.calls["w"]
        assert isinstance(failed, Failed) and failed.failure.type == "changed_since_shown"
        assert runner.state.undoable() == ["other"]


async def test_after_a_crash_in_the_middle_of_a_write_it_can_still_be_taken_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    (root / "a.txt").write_text("before")
    harness = harness_in(root, read("a.txt"), write("a.txt", "after", "w"))
    reached = asyncio.Event()
    execute = EditInvocation.execute

    async def write_and_hang(self: EditInvocation, permit: Permit, live: Live) -> ToolResult:
        await execute(self, permit, live)
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(EditInvocation, "execute", write_and_hang)
        runner = await harness.open(mode="yolo")
        await runner.send(Submit("go"))
        await reached.wait()
        await crash(harness, runner)
    assert (root / "a.txt").read_text() == "after"
    async with await harness.open() as runner:
        await harness.until_done()
        assert isinstance(runner.state.calls["w"], Failed), "its outcome is unknown"
        assert isinstance(await undo(harness, runner, "w"), Success)
    assert (root / "a.txt").read_text() == "before"


async def test_a_fork_can_take_back_too_and_a_session_opened_for_one_command_does_nothing_else(root: Path):
    harness = harness_in(root, write("a.txt", "new", "w"), call("run_note", "q", text="x"))
    async with await harness.open(mode="auto_edit") as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner)
    copy = await fork_session(harness.log, harness.session)
    harness.session = copy
    harness.options["only"] = "mine"
    requests = len(harness.model.requests)
    async with await harness.open() as runner:
        await runner.send(Submit("later"), "other")
        await runner.send(RunTool("undo", {"call_id": "w"}), "mine")
        await harness.until(lambda: isinstance(runner.state.calls.get("person-mine"), Success))
    assert not (root / "a.txt").exists()
    state = fold(copy, await harness.log.read(copy))
    assert [call.request.call_id for call in state.waiting()] == ["q"]
    assert [item.key for item in await harness.log.inbox(copy)] == ["other"]
    assert len(harness.model.requests) == 0 < requests
