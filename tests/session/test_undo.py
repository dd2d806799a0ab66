"""Undo: every write can be taken back, unless the file changed since. Row J7."""

import asyncio
from pathlib import Path

import pytest

from assent.commands import RunTool, Submit
from assent.events import CallFinished, CallStarted
from assent.files.private import PrivateFolder
from assent.files.workspace import Workspace
from assent.policy.rules import Rule
from assent.scheduler.call import Failed, Success
from assent.session.fork import fork_session
from assent.session.runner import Runner
from assent.session.state import fold
from assent.tools.base import Live, Permit, ToolResult
from assent.tools.builtin import builtin_tools
from assent.tools.support.edit import EditInvocation
from support.house import House, call, calls, crash, text

pytestmark = pytest.mark.spec("J7")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


def house_in(root: Path, *chunks: dict[str, object]) -> House:
    """A session in which the model makes these calls, one after the other."""
    house = House(*(calls(chunk) for chunk in chunks), text("Done."))
    house.folder = str(root)
    own = root.parent / "own"
    workspace = Workspace([str(root)], str(root))
    house.tools = builtin_tools(workspace, memory=own / "ASSENT.md", contents=PrivateFolder(str(own / "contents")))
    return house


def write(path: str, content: str, id: str) -> dict[str, object]:
    return call("write_file", id, file_path=path, content=content)


async def go(house: House, runner: Runner) -> None:
    await house.send(runner, Submit("go"))
    assert (await house.until_done()).status == "completed"


async def undo(house: House, runner: Runner, call_id: str) -> Success | Failed:
    """Takes it back as a person does; gives how that ended."""
    over = len(house.recorded(CallFinished))
    key = await runner.send(RunTool("undo", {"call_id": call_id}, by="ann"))
    await house.until(lambda: len(house.recorded(CallFinished)) > over)
    done = runner.state.calls[f"person-{key}"]
    assert isinstance(done, Success | Failed)
    return done


@pytest.mark.parametrize("before", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfmarked\n", b"caf\xe9\n", b""])
async def test_a_changed_file_is_byte_for_byte_what_it_was(root: Path, before: bytes):
    (root / "a.txt").write_bytes(before)
    (root / "a.txt").chmod(0o640)
    house = house_in(root, write("a.txt", "new\n", "w"))
    async with await house.open(mode="yolo") as runner:
        await go(house, runner)
        assert (root / "a.txt").read_bytes() != before
        assert isinstance(await undo(house, runner, "w"), Success)
    assert (root / "a.txt").read_bytes() == before
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o640


async def test_a_file_that_was_made_is_deleted_and_one_that_was_replaced_in_is_restored(root: Path):
    (root / "b.txt").write_text("old text\n")
    house = house_in(
        root,
        write("sub/a.txt", "new\n", "made"),
        call("replace", "changed", file_path="b.txt", old_string="old", new_string="new"),
    )
    async with await house.open(mode="yolo") as runner:
        await go(house, runner)
        assert runner.state.undoable() == ["made", "changed"]
        for id in ("made", "changed"):
            assert isinstance(await undo(house, runner, id), Success)
        assert runner.state.undoable() == []
    assert not (root / "sub" / "a.txt").exists()
    assert (root / "b.txt").read_text() == "old text\n"


async def test_a_file_that_changed_since_is_left_alone_and_it_is_said_why(root: Path):
    (root / "a.txt").write_text("0")
    house = house_in(root, write("a.txt", "1", "first"), write("a.txt", "2", "second"))
    async with await house.open(mode="yolo") as runner:
        await go(house, runner)
        refused = await undo(house, runner, "first")
        assert isinstance(refused, Failed)
        assert refused.failure.type == "changed_since_shown"
        assert refused.failure.message == (
            "a.txt was changed after this call, so it was left alone. Take back the newer changes first: second."
        )
        (root / "a.txt").write_text("somebody else's")
        refused = await undo(house, runner, "second")
        assert isinstance(refused, Failed)
        assert refused.failure.message == "a.txt was changed after this call, so it was left alone."
        (root / "a.txt").unlink()
        refused = await undo(house, runner, "second")
        assert isinstance(refused, Failed) and "was deleted after this call" in refused.failure.message
    assert not (root / "a.txt").exists()


async def test_an_undo_can_be_taken_back_and_a_second_one_has_nothing_to_do(root: Path):
    house = house_in(root, write("a.txt", "new", "w"))
    async with await house.open(mode="yolo") as runner:
        await go(house, runner)
        first = await undo(house, runner, "w")
        assert not (root / "a.txt").exists()
        again = await undo(house, runner, "w")
        assert isinstance(again, Failed) and "already as it was before" in again.failure.message
        assert isinstance(await undo(house, runner, first.request.call_id), Success)
        assert runner.state.undoable() == ["w"]
    assert (root / "a.txt").read_text() == "new"


async def test_a_rule_can_forbid_it_and_the_model_cannot_ask_for_it(root: Path):
    house = house_in(root, write("a.txt", "new", "w"), call("undo", "m", call_id="w"))
    async with await house.open(mode="yolo", rules=(Rule(ruling="deny", tool="undo"),)) as runner:
        await go(house, runner)
        refused = runner.state.calls["m"]
        assert isinstance(refused, Failed) and refused.failure.type == "tool_not_registered"
        denied = await undo(house, runner, "w")
        assert isinstance(denied, Failed) and denied.failure.type == "policy_violation"
        unknown = await undo(house, runner, "m")
        assert isinstance(unknown, Failed) and "wrote no file" in unknown.failure.message
    assert (root / "a.txt").read_text() == "new"
    assert all(tool.name != "undo" for tool in house.model.requests[0].tools)


async def test_a_large_content_is_kept_beside_the_log_for_its_owner_only(root: Path):
    before = b"0123456789\n" * 20_000
    (root / "a.txt").write_bytes(before)
    house = house_in(root, write("a.txt", "small", "w"))
    async with await house.open(mode="yolo") as runner:
        await go(house, runner)
        change = (await house.stored(CallStarted))[0].change
        assert change is not None and change.before is None
        (kept,) = (root.parent / "own" / "contents").iterdir()
        assert (kept.name, kept.stat().st_mode & 0o777) == (change.kept, 0o600)
        assert isinstance(await undo(house, runner, "w"), Success)
        assert (root / "a.txt").read_bytes() == before
        kept.write_bytes(b"tampered")
        refused = await undo(house, runner, "w")
        assert isinstance(refused, Failed) and "not kept any more" in refused.failure.message


async def test_what_was_remembered_can_be_taken_back(root: Path):
    house = house_in(root, call("save_memory", "m", fact="x"))
    async with await house.open(mode="yolo") as runner:
        await go(house, runner)
        assert (root.parent / "own" / "ASSENT.md").exists()
        assert isinstance(await undo(house, runner, "m"), Success)
    assert not (root.parent / "own" / "ASSENT.md").exists()


async def test_after_a_crash_in_the_middle_of_a_write_it_can_still_be_taken_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    (root / "a.txt").write_text("before")
    house = house_in(root, write("a.txt", "after", "w"))
    reached = asyncio.Event()
    execute = EditInvocation.execute

    async def write_and_hang(self: EditInvocation, permit: Permit, live: Live) -> ToolResult:
        await execute(self, permit, live)
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(EditInvocation, "execute", write_and_hang)
        runner = await house.open(mode="yolo")
        await runner.send(Submit("go"))
        await reached.wait()
        await crash(house, runner)
    assert (root / "a.txt").read_text() == "after"
    async with await house.open() as runner:
        await house.until_done()
        assert isinstance(runner.state.calls["w"], Failed), "its outcome is unknown"
        assert isinstance(await undo(house, runner, "w"), Success)
    assert (root / "a.txt").read_text() == "before"


async def test_a_fork_can_take_back_too_and_a_session_opened_for_one_command_does_nothing_else(root: Path):
    house = house_in(root, write("a.txt", "new", "w"), call("run_note", "q", text="x"))
    async with await house.open(mode="auto_edit") as runner:
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner)
    copy = await fork_session(house.log, house.session)
    house.session = copy
    house.options["only"] = "mine"
    requests = len(house.model.requests)
    async with await house.open() as runner:
        await runner.send(Submit("later"), "other")
        await runner.send(RunTool("undo", {"call_id": "w"}), "mine")
        await house.until(lambda: isinstance(runner.state.calls.get("person-mine"), Success))
    assert not (root / "a.txt").exists()
    state = fold(copy, await house.log.read(copy))
    assert [call.request.call_id for call in state.waiting()] == ["q"]
    assert [item.key for item in await house.log.inbox(copy)] == ["other"]
    assert len(house.model.requests) == 0 < requests
