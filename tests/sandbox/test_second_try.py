"""A command that the sandbox refused something: the person is offered exactly that, and it runs again or not."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.events import ApprovalRequested, CallFinished
from assent.files.workspace import Workspace
from assent.sandbox.bubblewrap import bubblewrap
from assent.sandbox.confinement import Confinement
from assent.scheduler.batch import Batch
from assent.tools.registry import Registry
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from support.scheduler_harness import SchedulerHarness

SHELL = "run_shell_command"
pytestmark = [pytest.mark.spec("I1"), pytest.mark.skipif(bubblewrap() is None, reason="needs bubblewrap")]


@pytest.fixture
def cache() -> Iterator[Path]:
    """A folder of a program, which must be outside /tmp: that is empty in a sandbox."""
    folder = Path.home() / ".cache" / f"assent-second-try-{os.getpid()}"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


class Scene:
    def __init__(self, work: Path, *, attended: bool = True) -> None:
        masks = str(work.parent / "masks")
        confinement = Confinement([str(work)], [masks], masks, os.environ)
        tool = ShellTool(Files(Workspace([str(work)], str(work))), ShellOptions(confinement=lambda: confinement))
        self.harness = SchedulerHarness(
            registry=Registry([tool]), mode="contained", attended=attended, roots=(str(work),)
        )

    def start(self, command: str) -> Batch:
        return self.harness.schedule(self.harness.call(SHELL, "run", {"command": command}))

    async def question(self) -> ApprovalRequested:
        async with asyncio.timeout(60):
            while not (asked := self.harness.recorded(ApprovalRequested)):  # noqa: ASYNC110 (the journal tells nobody)
                await asyncio.sleep(0.01)
        return asked[0]

    def told(self) -> str:
        (finished,) = [event for event in self.harness.recorded(CallFinished) if event.call_id == "run"]
        return str(finished.result.response)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def test_a_yes_runs_it_again_with_exactly_this_path(work: Path, cache: Path):
    scene = Scene(work)
    batch = scene.start(f"touch {cache}/new")
    asked = await scene.question()
    assert isinstance(asked.approval.details, ExecDetails)
    details = asked.approval.details
    assert (details.command, details.sandbox, details.writable) == (f"touch {cache}/new", "workspace", (str(cache),))
    assert asked.approval.why == (
        f"the sandbox did not let it write to {cache}; if you say yes, it runs again with this permission"
    )
    assert "proceed_always" in asked.approval.options
    assert not (cache / "new").exists()
    await scene.harness.answer(asked.call_id, "proceed_once")
    await batch.results()
    assert (cache / "new").exists()
    assert "The user allowed that, and the command ran again" in scene.told()


async def test_a_no_leaves_it_at_that_and_the_model_is_told(work: Path, cache: Path):
    scene = Scene(work)
    batch = scene.start(f"echo x > {cache}/new")
    await scene.harness.answer((await scene.question()).call_id, "cancel")
    await batch.results()
    assert not (cache / "new").exists()
    assert "the command did not run again" in scene.told()


async def test_a_host_is_offered_by_its_name(work: Path):
    scene = Scene(work)
    batch = scene.start("sh -c 'echo curl: Could not resolve host: github.com; exit 6'")
    asked = await scene.question()
    assert isinstance(asked.approval.details, ExecDetails)
    assert (asked.approval.details.sandbox, asked.approval.details.domains) == ("network", ("github.com",))
    await scene.harness.answer(asked.call_id, "cancel")
    await batch.results()


async def test_with_nobody_to_ask_nothing_is_offered(work: Path, cache: Path):
    scene = Scene(work, attended=False)
    await scene.start(f"echo x > {cache}/new").results()
    assert scene.harness.recorded(ApprovalRequested) == []
    assert f'call again with writable=["{cache}"]' in scene.told()


@pytest.mark.parametrize("command", ["echo x > /etc/assent-x", "echo 'Read-only file system'; false", "false"])
async def test_nothing_is_offered_that_no_sandbox_can_have_or_nobody_knows(work: Path, command: str):
    scene = Scene(work)
    await scene.start(command).results()
    assert scene.harness.recorded(ApprovalRequested) == []


async def test_cancelling_the_command_withdraws_the_offer(work: Path, cache: Path):
    scene = Scene(work)
    batch = scene.start(f"echo x > {cache}/new")
    asked = await scene.question()
    scene.harness.scheduler.cancel_call("run", "enough")
    await batch.results()
    ends = {event.call_id: event.status for event in scene.harness.recorded(CallFinished)}
    assert ends[asked.call_id] == "cancelled"
