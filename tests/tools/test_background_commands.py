"""Commands in the background: started, listed, read and stopped by the model, and ended with their session."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.tools.list_background_processes import ListBackgroundTool
from assent.tools.read_background_output import ReadBackgroundTool
from assent.tools.shell import ShellTool
from assent.tools.stop_background_process import StopBackgroundTool
from assent.tools.support.background_processes import BackgroundCommands
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import AnyTool, ToolFailed, ToolResult
from support.waiting import until
from tools.toolkit import PERMIT, Bench, LiveRecorder

pytestmark = pytest.mark.spec("D6")


class Background:
    def __init__(self, bench: Bench, settle: float) -> None:
        outputs = PrivateFolder(f"{bench.root.parent}/outputs")
        self.commands = BackgroundCommands(settle, outputs, lambda text: text.replace("hunter2", "[masked]"))
        self.started: list[tuple[str, str, int]] = []
        self.ended: list[tuple[str, str]] = []
        self.commands.listen(
            lambda call, command, pid: self.started.append((call, command, pid)),
            lambda call, outcome: self.ended.append((call, outcome)),
        )
        shell = ShellTool(
            Files(Workspace([str(bench.root)], str(bench.root))), ShellOptions(background=self.commands, terminal=None)
        )
        kinds = (ListBackgroundTool, ReadBackgroundTool, StopBackgroundTool)
        tools = (shell, *(kind(self.commands) for kind in kinds))
        self.tools: dict[str, AnyTool] = {tool.name: tool for tool in tools}

    async def call(self, name: str, **args: object) -> ToolResult:
        return await self.tools[name].build(args).execute(PERMIT, LiveRecorder())

    async def start(self, command: str) -> ToolResult:
        return await self.call("run_shell_command", command=command, is_background=True)


@pytest.fixture
async def background(bench: Bench) -> AsyncIterator[Background]:
    made = Background(bench, settle=0.0)
    yield made
    await made.commands.close()


def alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


async def test_the_call_returns_while_the_command_runs_and_its_output_can_be_read(background: Background) -> None:
    result = await background.start("echo ready; exec sleep 1000")
    ((call, command, pid),) = background.started
    assert (call, command) == (PERMIT.call_id, "echo ready; exec sleep 1000")
    assert f"is running in the background, as process {pid}" in str(result.content)
    output = ""
    while "ready" not in output:
        output = str((await background.call("read_background_output", pid=pid)).content)
    assert f"{pid}: running for" in str((await background.call("list_background_processes")).content)


async def test_the_model_stops_it_with_everything_it_started(background: Background, bench: Bench) -> None:
    await background.start("setsid sleep 1000 & echo $! > child; wait")
    pid, child = background.started[0][2], bench.root / "child"
    await until(lambda: child.exists() and child.read_text())
    stopped = await background.call("stop_background_process", pid=pid)
    assert str(stopped.content).startswith(f"{pid}: ended (stopped)")
    assert background.ended == [(PERMIT.call_id, "stopped")]
    await until(lambda: not alive(pid) and not alive(int(child.read_text())))


async def test_closing_the_session_ends_all_of_them(background: Background) -> None:
    await background.start("exec sleep 1000")
    await background.commands.close()
    assert background.ended == [(PERMIT.call_id, "stopped")]
    assert not background.commands.running and not alive(background.started[0][2])


async def test_a_command_that_fails_at_once_is_reported_as_failed(bench: Bench) -> None:
    background = Background(bench, settle=60.0)
    result = await background.start("echo no such port >&2; exit 3")
    assert "has already ended (exit 3)" in str(result.content) and "no such port" in str(result.content)
    assert background.ended == [(PERMIT.call_id, "exit 3")]


async def test_its_end_is_told_when_it_comes(background: Background, bench: Bench) -> None:
    os.mkfifo(bench.root / "go")
    await background.start("read -r _ < go; exit 5")
    assert background.commands.running
    with open(bench.root / "go", "w") as go:
        go.write("now\n")
    await until(lambda: background.ended)
    assert background.ended == [(PERMIT.call_id, "exit 5")]


async def test_an_unknown_process_can_be_neither_read_nor_stopped(background: Background) -> None:
    for name in ("read_background_output", "stop_background_process"):
        with pytest.raises(ToolFailed, match="No background command"):
            await background.call(name, pid=os.getpid())


async def test_what_cannot_be_started_fails_like_any_command(background: Background, bench: Bench) -> None:
    folder: Path = bench.root / "gone"
    folder.mkdir()
    invocation = background.tools["run_shell_command"].build(
        {"command": "true", "is_background": True, "dir_path": "gone"}
    )
    folder.rmdir()
    with pytest.raises(ToolFailed):
        await invocation.execute(PERMIT, LiveRecorder())
    assert background.started == []


async def test_the_question_says_that_it_runs_in_the_background(background: Background) -> None:
    from assent.app.question_text import sandbox_in_words
    from assent.approval import ExecDetails

    invocation = background.tools["run_shell_command"].build({"command": "npm run dev", "is_background": True})
    details = await invocation.should_confirm()
    assert isinstance(details, ExecDetails)
    assert sandbox_in_words(details) == "in the background"


@pytest.mark.parametrize("ends", ["by itself", "with the session"])
async def test_what_a_command_printed_can_be_read_after_the_session_was_closed(bench: Bench, ends: str) -> None:
    first = Background(bench, settle=0.0)
    await first.start(
        "echo early; echo hunter2; echo RESULT 42" + ("; exec sleep 1000" if ends == "with the session" else "")
    )
    ((call, command, pid),) = first.started
    (one,) = first.commands.all()
    await until(lambda: "RESULT 42" in one.last_lines(9) and (one.outcome or ends != "by itself"))
    await first.commands.close()
    later = Background(bench, settle=0.0)
    later.commands.recall(call, command, pid, one.outcome, "")
    report = (await later.call("read_background_output", pid=pid)).content
    assert report == f"{pid}: ended ({one.outcome}): {command}\nOutput: early\n[masked]\nRESULT 42"
    later.commands.recall("another", command, 1, "interrupted", "")
    assert "Output: (no longer kept)" in str((await later.call("read_background_output", pid=1)).content)
    await later.commands.close()
