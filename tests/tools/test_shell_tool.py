"""run_shell_command: what would run is said, what runs is heard, how it ended cannot be missed."""

import asyncio
import os
from typing import Any

import pytest

from assent.approval import ExecDetails
from assent.files.workspace import Workspace
from assent.parts import TerminalDisplay
from assent.tools.base import ToolResult
from assent.tools.files import Files
from assent.tools.shell import ShellTool
from assent.tools.throttle import Throttle
from tools.test_tool_contract import failure
from tools.toolkit import PERMIT, Bench, Heard


def shell(bench: Bench, **options: Any) -> ShellTool:
    return ShellTool(Files(Workspace([str(bench.root)], str(bench.root))), **options)


async def run(tool: ShellTool, command: str, heard: Heard | None = None, **args: str) -> ToolResult:
    return await tool.build({"command": command, **args}).execute(PERMIT, heard or Heard())


@pytest.mark.spec("C1")
async def test_the_question_shows_the_command_and_its_folder(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    details = await bench.details("run_shell_command", command="ls | wc -l", dir_path="sub", description="Count")
    assert isinstance(details, ExecDetails)
    assert (details.command, details.directory) == ("ls | wc -l", f"{bench.root}/sub")
    assert details.risk == "high", "until the gate has looked at it"


@pytest.mark.spec("D5")
async def test_success_is_output_and_exit_code(bench: Bench) -> None:
    result = await bench.run("run_shell_command", command="echo out; echo err >&2")
    assert result.content == "Output: out\nerr\nExit Code: 0"
    assert result.display == TerminalDisplay("out\nerr\n")
    assert result.failure is None


async def test_a_failing_command_is_a_result_whose_code_cannot_be_missed(bench: Bench) -> None:
    result = await bench.run("run_shell_command", command="echo so far; exit 3")
    line = "Exit Code: 3 (the command FAILED)"
    assert result.content == f"{line}\nOutput: so far\n{line}"
    assert result.failure is None


async def test_a_killed_and_a_silent_command(bench: Bench) -> None:
    killed = await bench.text("run_shell_command", command="kill -9 $$")
    assert killed.startswith("Signal: 9 SIGKILL (the command was killed)\nOutput: (empty)\n")
    assert await bench.text("run_shell_command", command="true") == "Output: (empty)\nExit Code: 0"


@pytest.mark.spec("D2")
async def test_colours_reach_the_person_and_not_the_model(bench: Bench) -> None:
    result = await bench.run("run_shell_command", command=r"test -t 1 && printf '\e[31mred\e[0m\n10%%\r100%%\n'")
    assert result.content == "Output: red\n100%\nExit Code: 0"
    assert result.display == TerminalDisplay("\x1b[31mred\x1b[0m\n10%\r100%\n")


async def test_it_runs_in_the_given_folder_with_a_bash_of_our_own(bench: Bench) -> None:
    (bench.root / "sub dir").mkdir()
    text = await bench.text(
        "run_shell_command", command="pwd; echo $ASSENT; echo ${BASH_VERSION:+bash}", dir_path="sub dir"
    )
    assert text == f"Directory: sub dir\nOutput: {bench.root}/sub dir\n1\nbash\nExit Code: 0"
    assert (await failure(bench, "run_shell_command", command="ls", dir_path="none")).type == "file_not_found"


async def test_long_output_is_cut_in_the_middle_for_the_model(bench: Bench) -> None:
    result = await run(shell(bench), "echo first; yes 0123456789 | head -c 1000000; echo; echo last")
    content = str(result.content)
    assert content.startswith("Output: first\n") and content.endswith("last\nExit Code: 0")
    total = 1_000_000 + len("first\n\nlast\n")
    assert f"... [{total - 40_000:,} characters omitted] ..." in content
    assert 40_000 < len(content) < 40_100


async def test_output_between_what_is_kept_and_what_is_shown_is_counted_once(bench: Bench) -> None:
    result = await run(shell(bench), "yes 012345678 | head -c 100000")
    assert "... [60,000 characters omitted] ..." in str(result.content)
    assert result.display == TerminalDisplay("012345678\n" * 10_000)


async def test_binary_output_is_only_counted(bench: Bench) -> None:
    result = await run(shell(bench), "head -c 5000 /dev/zero")
    assert "(binary, 5,000 bytes;" in str(result.content)
    assert result.display == TerminalDisplay("[binary output: 5,000 bytes received]\n")


@pytest.mark.spec("D7")
async def test_a_silent_command_is_ended_and_its_output_kept(bench: Bench) -> None:
    result = await run(shell(bench, idle_timeout=0.1), "echo begun; sleep 300")
    line = "Timed out: no output for 0.1 seconds, so the command was ended."
    assert result.content == f"{line}\nOutput: begun\n{line}"


@pytest.mark.spec("D1")
async def test_output_and_process_are_reported_while_it_runs_and_kept_after_a_cancel(bench: Bench) -> None:
    os.mkfifo(bench.root / "ready")
    heard = Heard()
    task = asyncio.create_task(run(shell(bench), "echo one; echo two; echo x > ready; sleep 300", heard))
    await asyncio.to_thread((bench.root / "ready").read_text)
    (pid,) = heard.pids
    assert os.getpgid(pid) == pid
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "".join(heard.pieces) == "one\ntwo\n"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_background_process_is_named_and_left_alone(bench: Bench) -> None:
    result = await run(shell(bench), "sleep 300 & echo $!")
    pid = int(str(result.content).split()[1])
    try:
        assert str(result.content).endswith(f"Background PIDs: {pid}")
    finally:
        os.kill(pid, 9)


async def test_live_output_comes_at_once_then_in_intervals_and_ends_with_the_rest() -> None:
    told: list[str] = []
    throttle = Throttle(told.append, interval=3600, cap=10)
    throttle.add("first")
    assert told == ["first"]
    throttle.add("a")
    throttle.add("b" * 20)
    assert told == ["first"]
    throttle.close()
    assert told == ["first", "\n... [11 characters omitted] ...\n" + "b" * 10]


async def test_live_output_flows_again_after_each_interval() -> None:
    told: list[str] = []
    second = asyncio.Event()

    def tell(text: str) -> None:
        told.append(text)
        if len(told) == 2:
            second.set()

    throttle = Throttle(tell, interval=0.001)
    throttle.add("1")
    throttle.add("2")
    await second.wait()
    throttle.close()
    assert told == ["1", "2"]
