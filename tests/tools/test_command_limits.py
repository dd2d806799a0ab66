"""What a command may use: file sizes, open files, processes. It is stopped or refused, and the model is told."""

import pytest

from assent.config import CommandLimits
from assent.files.workspace import Workspace
from assent.process import command_limits
from assent.process.command_limits import ProcessWatch
from assent.sandbox.confinement import workspace_confinement
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import ToolResult
from tools.toolkit import PERMIT, Bench, LiveRecorder

pytestmark = [
    pytest.mark.spec("I6"),
    pytest.mark.needs("prlimit"),
]
FLOOD = "for i in $(seq 60); do sleep 1000 & done; wait"
HOPPING = "hop() { sleep 0.1; hop & }; for i in $(seq 60); do hop & done; sleep 1000"
"""Each process starts its successor and ends, so whoever kills them has to catch those that are born meanwhile. Unlike
in a fork bomb, their number stays the same and they mostly sleep: the other tests need the machine."""
LIMITS = CommandLimits(processes=40, total_seconds=60)


async def run(bench: Bench, command: str, limits: CommandLimits, *, confined: bool = False) -> ToolResult:
    files = Files(Workspace([str(bench.root)], str(bench.root)))
    where = {"HOME": str(bench.root.parent), "ASSENT_HOME": str(bench.root.parent / "home")}
    tool = ShellTool(
        files,
        ShellOptions(
            limits=limits,
            terminal=None,
            confinement=(lambda: workspace_confinement(where, str(bench.root))) if confined else None,
            approved="workspace",
        ),
    )
    return await tool.build({"command": command}).execute(PERMIT, LiveRecorder())


async def test_a_file_cannot_grow_beyond_its_limit_and_the_model_is_told(bench: Bench) -> None:
    result = await run(bench, "head -c 3000000 /dev/zero > big", CommandLimits(file_mb=2))
    assert (bench.root / "big").stat().st_size == 2_000_000
    assert "probably reached a limit: file_mb = 2 " in str(result.content)


async def test_a_command_cannot_raise_its_limits(bench: Bench) -> None:
    result = await run(bench, "ulimit -Hn; ulimit -n 100", CommandLimits(open_files=64))
    assert "Output: 64\n" in str(result.content) and "(the command FAILED)" in str(result.content)


async def test_too_many_open_files_are_refused_and_told_apart(bench: Bench) -> None:
    code = "import os; kept = [os.open('/dev/null', 0) for _ in range(100)]"
    result = await run(bench, f'python3 -c "{code}"', CommandLimits(open_files=64))
    assert "probably reached a limit: open_files = 64 " in str(result.content)


async def test_no_limit_changes_nothing(bench: Bench) -> None:
    result = await run(bench, "ulimit -f", CommandLimits(file_mb=0, open_files=0, processes=0))
    assert "Output: unlimited" in str(result.content)


@pytest.mark.parametrize("command", [FLOOD, HOPPING])
async def test_a_command_with_too_many_processes_is_stopped(bench: Bench, command: str) -> None:
    result = await run(bench, command, LIMITS)
    assert "more than 40 processes" in str(result.content)
    assert "Could not be killed" not in str(result.content)


@pytest.mark.needs("bwrap")
async def test_in_a_sandbox_it_is_stopped_too_or_refused_by_the_kernel(bench: Bench) -> None:
    """The kernel refuses an ordinary user; root is stopped."""
    result = await run(bench, FLOOD, LIMITS, confined=True)
    assert "more than 40 processes" in str(result.content) or "processes = 40 " in str(result.content)


def test_processes_are_counted_now_and_then_even_if_the_machine_has_no_more_than_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others may end as many processes as the command starts."""
    monkeypatch.setattr(command_limits, "_tasks", lambda: 500)
    watch = ProcessWatch(40, lambda: 60)
    assert any(watch.is_too_much() for _ in range(30))
