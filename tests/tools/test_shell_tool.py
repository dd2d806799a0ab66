"""run_shell_command: the question shows what would run, output streams live, and the result says how it ended."""

import asyncio
import hashlib
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assent.approval import ExecDetails
from assent.config import CommandLimits
from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.parts import TerminalDisplay
from assent.policy.shell import judge, rules
from assent.tools.builtin import builtin_tools
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.support.throttle import INTERVAL, Throttle
from assent.tools.support.whole_output import WholeOutput
from assent.tools.tool import Permit, ToolFailed, ToolResult
from support.processes import alive
from support.waiting import until
from tools.test_tool_contract import failure
from tools.toolkit import PERMIT, Bench, LiveRecorder


def shell(bench: Bench, **options: Any) -> ShellTool:
    return ShellTool(Files(Workspace([str(bench.root)], str(bench.root))), ShellOptions(**options))


async def run(tool: ShellTool, command: str, heard: LiveRecorder | None = None, **args: str) -> ToolResult:
    return await tool.build({"command": command, **args}).execute(PERMIT, heard or LiveRecorder())


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


@pytest.mark.parametrize(
    ("command", "ended"), [("exit 3", "exit 3"), ("kill -9 $$", "killed: 9 SIGKILL"), ("true", "")]
)
async def test_the_person_gets_a_short_note_that_a_command_failed(bench: Bench, command: str, ended: str) -> None:
    result = await bench.run("run_shell_command", command=command)
    assert result.failure is None
    assert result.display == TerminalDisplay("", ended)


async def test_a_search_that_passed_over_secrets_says_how_many(bench: Bench) -> None:
    (bench.root / ".env").write_text("needle=1\n")
    (bench.root / ".env.example").write_text("needle=2\n")
    for command, told in (("grep -r needle .", True), ("cat .env.example", False)):
        plan = judge(command, rules(["grep", "cat"]), cwd=str(bench.root), roots=[str(bench.root)]).plan
        assert plan is not None
        permit = Permit(call_id="c", digest="d", plan=plan)
        result = await shell(bench).build({"command": command}).execute(permit, LiveRecorder())
        assert "needle=2" in str(result.content)
        assert "needle=1" not in str(result.content)
        assert ("Not searched: 1 file(s) that usually hold secrets" in str(result.content)) == told


def _repository(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    for words in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.mark.needs("git")
async def test_model_and_person_are_told_which_secret_git_left_out(bench: Bench) -> None:
    _repository(bench.root, {".env": "needle=1\n", "a.txt": "needle=2\n"})
    plan = judge("git grep needle", rules(["git"]), cwd=str(bench.root), roots=[str(bench.root)]).plan
    assert plan is not None
    result = (
        await shell(bench)
        .build({"command": "git grep needle"})
        .execute(Permit(call_id="c", digest="d", plan=plan), LiveRecorder())
    )
    assert isinstance(result.display, TerminalDisplay)
    for told in (str(result.content), result.display.text):
        assert "left out: .env (usual place for secrets)" in told
        assert "needle=2" in told
        assert "needle=1" not in told


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
    omitted = int(content.partition("... [")[2].partition(" ")[0].replace(",", ""))
    assert total - 40_000 <= omitted < total - 39_970
    assert 39_970 < len(content) < 40_100


@pytest.mark.spec("D4")
async def test_the_whole_of_a_long_output_is_in_a_file_that_only_read_file_may_read(tmp_path: Path) -> None:
    root, outputs = tmp_path / "w", PrivateFolder(str(tmp_path / "home" / "outputs" / "s1"))
    root.mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret").write_text("no")
    workspace = Workspace([str(root)], str(root), own_folders=[str(tmp_path / "home")], readable=[outputs.path])
    tools = {tool.name: tool for tool in builtin_tools(workspace, ShellOptions(outputs=outputs))}
    command = r"for i in $(seq 9000); do printf '\e[31mline %d\e[0m\n' $i; done; printf '1%%\r100%%'"
    result = (
        await tools["run_shell_command"]
        .build({"command": command})
        .execute(Permit(call_id="../C 1", digest=""), LiveRecorder())
    )
    content = str(result.content)
    assert content.startswith("Output too large (") and "characters omitted] ..." in content
    (path,) = [word.rstrip(";") for word in content.split() if word.startswith(outputs.path)]
    assert path == f"{outputs.path}/_c_1-{hashlib.sha256(b'../C 1').hexdigest()[:12]}.txt"
    assert Path(path).read_text() == "".join(f"line {i}\n" for i in range(1, 9001)) + "100%"
    assert [stat.S_IMODE(os.stat(each).st_mode) for each in (path, outputs.path)] == [0o600, 0o700]
    read = tools["read_file"].build({"file_path": path, "start_line": 4500, "end_line": 4501})
    assert await read.should_confirm() is None
    assert str((await read.execute(PERMIT, LiveRecorder())).content).endswith("line 4500\nline 4501")
    for tool, args in (
        ("read_file", {"file_path": f"{outputs.path}/../../secret"}),
        ("write_file", {"file_path": path, "content": "x"}),
        ("list_directory", {"dir_path": outputs.path}),
    ):
        with pytest.raises(ToolFailed, match="outside the workspace"):
            invocation = tools[tool].build(args)
            await invocation.should_confirm()
            await invocation.execute(PERMIT, LiveRecorder())


async def test_a_file_of_whole_output_ends_where_read_file_could_not_follow(tmp_path: Path) -> None:
    whole = WholeOutput(PrivateFolder(str(tmp_path)), "x.txt")
    for _ in range(21):
        whole.add("0123456789abcde\n" * 62_500)
    whole.close()
    assert Path(whole.path).stat().st_size == 20_000_000
    assert "The first 20,000,000 bytes are in" in whole.note(21_000_000)


async def test_a_full_disk_costs_the_file_and_not_the_command(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    whole = WholeOutput(PrivateFolder(str(tmp_path / "file" / "x")), "x.txt")
    whole.add("x" * 100_000)
    whole.close()
    assert whole.note(100_000) == ""


@pytest.mark.spec("D4")
async def test_after_a_cancel_the_result_names_the_file_with_the_output_so_far(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(bench.root / "ready")
    heard = LiveRecorder()
    tool = shell(bench, outputs=PrivateFolder(str(tmp_path / "outputs")))
    task = asyncio.create_task(run(tool, "yes 0123456 | head -c 80000; echo x > ready; sleep 300", heard))
    await asyncio.to_thread((bench.root / "ready").read_text)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (file,) = (tmp_path / "outputs").iterdir()
    assert heard.pieces[-1].endswith(f"[all output so far: {file}]\n")
    assert file.stat().st_size == 80_000


async def test_the_person_is_told_too_where_the_whole_output_is(bench: Bench, tmp_path: Path) -> None:
    result = await run(shell(bench, outputs=PrivateFolder(str(tmp_path / "outputs"))), "yes 01234567 | head -c 2000000")
    (file,) = (tmp_path / "outputs").iterdir()
    assert isinstance(result.display, TerminalDisplay)
    assert f" characters omitted; all of it is in {file}] ...\n" in result.display.text


async def test_output_between_what_is_kept_and_what_is_shown_is_counted_once(bench: Bench) -> None:
    result = await run(shell(bench), "yes 012345678 | head -c 100000")
    assert "... [60,009 characters omitted] ..." in str(result.content), "no cut goes through a word"
    assert result.display == TerminalDisplay("012345678\n" * 10_000)


@pytest.mark.spec("D3")
async def test_binary_output_is_only_counted_while_it_comes_and_at_the_end(bench: Bench) -> None:
    heard = LiveRecorder()
    result = await run(shell(bench), "head -c 5000 /dev/zero", heard)
    assert heard.pieces == [] and heard.counts == sorted(heard.counts) and heard.counts[-1] == 5_000
    assert "(binary, 5,000 bytes;" in str(result.content)
    assert result.display == TerminalDisplay("[binary output: 5,000 bytes received]\n")


@pytest.mark.spec("D7")
async def test_a_silent_command_is_ended_and_its_output_kept(bench: Bench) -> None:
    os.mkfifo(bench.root / "printed")

    class Patient(LiveRecorder):
        def process(self, pid: int) -> None:
            (bench.root / "printed").read_text()  # nothing times out before it has begun

    tool = shell(bench, limits=CommandLimits(idle_seconds=0.1))
    result = await run(tool, "echo begun; : > printed; sleep 300", Patient())
    line = "Timed out: no output for 0.1 seconds, so the command was stopped."
    assert result.content == f"{line}\nOutput: begun\n{line}"


@pytest.mark.spec("I6")
async def test_a_command_that_prints_endlessly_is_stopped_and_the_result_says_so(bench: Bench) -> None:
    result = await run(shell(bench, limits=CommandLimits(output_mb=1)), "yes")
    assert "Stopped: the command printed more than 1 MB." in str(result.content)


@pytest.mark.spec("I6")
async def test_a_command_that_uses_too_much_memory_is_stopped_and_the_result_says_so(bench: Bench) -> None:
    hungry = "import sys, time; x = bytearray(80_000_000); print('full', flush=True); time.sleep(300)"
    result = await run(shell(bench, limits=CommandLimits(memory_mb=60)), f"{sys.executable} -c {shlex.quote(hungry)}")
    assert "Stopped: the command used more than 60 MB of memory." in str(result.content)


@pytest.mark.spec("D1")
async def test_output_and_process_are_reported_while_it_runs_and_kept_after_a_cancel(bench: Bench) -> None:
    os.mkfifo(bench.root / "ready")
    heard = LiveRecorder()
    task = asyncio.create_task(run(shell(bench), "echo one; echo two; echo x > ready; sleep 300", heard))
    await asyncio.to_thread((bench.root / "ready").read_text)
    await until(lambda: heard.pids)  # the command may be quicker than whoever tells that it has started
    (pid,) = heard.pids
    assert os.getpgid(pid) == pid
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "".join(heard.pieces) == "one\ntwo\n"
    assert not alive(pid)


async def test_a_background_process_is_named_and_left_alone(bench: Bench) -> None:
    result = await run(shell(bench), "sleep 300 & echo $!")
    pid = int(str(result.content).split()[1])
    try:
        assert str(result.content).endswith(f"Background PIDs: {pid}")
    finally:
        os.kill(pid, 9)


@pytest.mark.spec("D3")
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


@pytest.mark.spec("I3")
async def test_a_line_that_has_only_begun_waits_for_its_end_so_that_no_piece_ends_within_a_word() -> None:
    told: list[str] = []
    throttle = Throttle(told.append, interval=3600)
    throttle.add("one\nTOKEN=ab")
    assert told == ["one\n"]
    throttle.add("cdef\n")
    throttle.close()
    assert told == ["one\n", "TOKEN=abcdef\n"]


class Told:
    """What was told, and when it was this many pieces."""

    def __init__(self, wanted: int) -> None:
        self.pieces: list[str] = []
        self.enough = asyncio.Event()
        self._wanted = wanted

    def __call__(self, text: str) -> None:
        self.pieces.append(text)
        if len(self.pieces) == self._wanted:
            self.enough.set()


async def test_a_line_without_an_end_waits_no_longer_than_one_interval() -> None:
    told = Told(2)
    throttle = Throttle(told, interval=0.001)
    throttle.add("one\nwaiting for the download")
    await told.enough.wait()
    assert told.pieces == ["one\n", "waiting for the download"]
    throttle.close()


async def test_live_output_flows_again_after_each_interval() -> None:
    told = Told(2)
    throttle = Throttle(told, interval=0.001)
    throttle.add("1")
    throttle.add("2")
    await told.enough.wait()
    throttle.close()
    assert told.pieces == ["1", "2"]


@pytest.mark.spec("D3")
async def test_the_count_of_binary_bytes_is_throttled_like_text() -> None:
    told: list[int] = []
    throttle = Throttle(lambda _: None, told.append, interval=3600)
    for total in (10, 20, 30):
        throttle.received(total)
    assert told == [10]
    throttle.close()
    assert told == [10, 30]
    assert INTERVAL == 0.1


@pytest.mark.parametrize("gone", ["rm -rf {}", "mv {} {}.moved"])
@pytest.mark.parametrize("dir_path", ["", "build"])
async def test_a_command_that_takes_away_its_own_folder_is_reported_like_any_other(
    bench: Bench, gone: str, dir_path: str
) -> None:
    folder = bench.root / dir_path
    folder.mkdir(exist_ok=True)
    tool = shell(bench)
    invocation = tool.build({"command": f"{gone.format(folder, folder)}; echo done", "dir_path": dir_path})
    result = await invocation.execute(PERMIT, LiveRecorder())
    assert "Output: done\nExit Code: 0" in str(result.content)
    with pytest.raises(ToolFailed, match=r"does not exist|no longer exists"):
        await tool.build({"command": "ls", "dir_path": dir_path}).should_confirm()
