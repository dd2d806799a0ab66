"""A background command that a person keeps goes on without its session, and is found again."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import assent
from assent.files.private_folder import PrivateFolder
from assent.process import kept_output, process_table
from assent.process.kept_output import KeptOutput
from assent.process.run_program import Keeping, run
from assent.tools.declared import builtin_facts
from assent.tools.support.background_processes import NOT_FOUND, BackgroundCommands
from support.processes import alive
from support.waiting import until

pytestmark = [
    pytest.mark.spec("D6"),
    pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper"),
]
SOURCE = str(Path(assent.__file__).resolve().parents[1])
SERVER = 'echo before; echo $$ > pid; exec 3<> lines; while read -r line <&3; do echo "got $line"; done'
"""Prints each line that someone writes to the pipe `lines`. It holds the pipe open: otherwise it would end whenever it
opens the pipe again before the writer of the last line has closed it."""
ASSENT = """
import asyncio, sys
from assent.files.private_folder import PrivateFolder
from assent.process.pty import Size
from assent.process.run_program import run
from assent.tools.support.background_processes import BackgroundCommands
folder, command, kept, terminal = sys.argv[1:]
async def main():
    commands = BackgroundCommands(0.0, PrivateFolder(folder + "/outputs"))
    async def work(on_start, on_output, keeping):
        return await run(["bash", "-c", command], cwd=folder, on_start=on_start, on_output=on_output, keeping=keeping,
                         terminal=Size() if terminal else None)
    one = await commands.start("c1", command, work)
    print(commands.keep("c1") if kept else "", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await commands.close()
asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    os.mkfifo(tmp_path / "lines")
    yield tmp_path
    for pid in process_table.all_pids():  # whatever a test left
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/cwd") == str(tmp_path):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
async def commands(folder: Path) -> AsyncIterator[BackgroundCommands]:
    """Those of another process, which opens the session again."""
    made = BackgroundCommands(0.0, PrivateFolder(str(folder / "outputs")))
    yield made
    await made.close()


class First:
    """A process like Assent that runs a command in the background."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process, self._folder = process, folder
        self.path = process.stdout.readline().strip()

    async def pid(self) -> int:
        pid = self._folder / "pid"
        await until(lambda: pid.exists() and pid.read_text().strip())
        return int(pid.read_text())

    def leave(self, how: str) -> None:
        if how == "quits":
            self._process.communicate()
        else:
            self._process.kill()
            self._process.wait()


@contextmanager
def first(folder: Path, command: str = SERVER, *, kept: bool = True, terminal: bool = False) -> Generator[First]:
    words = [sys.executable, "-c", ASSENT, str(folder), command, "kept" if kept else "", "tty" if terminal else ""]
    env = os.environ | {"PYTHONPATH": SOURCE}
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield First(process, folder)
        finally:
            process.kill()


def nothing(*_: object) -> None: ...


async def say(folder: Path, line: str) -> None:
    await asyncio.to_thread((folder / "lines").write_text, f"{line}\n")


async def found(commands: BackgroundCommands, pid: int, path: str) -> str:
    return await commands.find_kept("c1", SERVER, pid, 0.0, path)


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("how", ["quits", "is killed"])
async def test_a_kept_command_goes_on_when_assent(
    folder: Path, how: str, terminal: bool, commands: BackgroundCommands
) -> None:
    ended: list[tuple[str, str]] = []
    commands.listen(nothing, lambda call, outcome: ended.append((call, outcome)))
    with first(folder, terminal=terminal) as process:
        pid = await process.pid()
        process.leave(how)
    output = Path(process.path)
    await say(folder, "hello")
    await until(lambda: "got hello" in output.read_text())
    assert "before" in output.read_text(), "what it printed earlier is in the file, too"
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert await found(commands, pid, process.path) == "" and commands.running
    assert "got hello" in commands.all()[0].last_lines(5)
    assert await commands.stop("c1")
    assert not alive(pid) and ended == [("c1", "stopped")]


@pytest.mark.parametrize("how", ["quits", "is killed"])
async def test_a_command_that_is_not_kept_ends_when_assent(folder: Path, how: str) -> None:
    with first(folder, kept=False) as process:
        pid = await process.pid()
        process.leave(how)
    await until(lambda: not alive(pid))


async def test_closing_the_session_again_leaves_it_and_its_end_is_noticed(
    folder: Path, commands: BackgroundCommands
) -> None:
    with first(folder) as process:
        pid = await process.pid()
        process.leave("is killed")
    assert await found(commands, pid, process.path) == ""
    await commands.close()
    assert alive(pid)
    third = BackgroundCommands(0.0, PrivateFolder(str(folder / "outputs")))
    ended: list[str] = []
    third.listen(nothing, lambda _, outcome: ended.append(outcome))
    assert await found(third, pid, process.path) == ""
    os.kill(pid, signal.SIGKILL)
    await until(lambda: ended)
    assert ended == ["signal 9"]


async def test_the_list_says_how_it_ended_meanwhile(folder: Path, commands: BackgroundCommands) -> None:
    with first(folder, "echo $$ > pid; read -r _ < lines; exit 3") as process:
        pid = await process.pid()
        process.leave("is killed")
    await say(folder, "")
    await until(lambda: not alive(pid))
    await until(lambda: "[exit 3]" in Path(process.path).read_text())
    assert await found(commands, pid, process.path) == "exit 3"
    assert not commands.running


async def test_another_process_is_not_taken_for_it(folder: Path, commands: BackgroundCommands) -> None:
    with first(folder) as process:
        pid = await process.pid()
        process.leave("is killed")
    beside = Path(f"{process.path}.json")
    beside.write_text(beside.read_text().replace('"since":', '"since":1'))
    assert await found(commands, pid, process.path) == NOT_FOUND
    beside.unlink()
    assert await found(commands, pid, process.path) == NOT_FOUND


async def test_stopping_it_ends_what_it_started_and_what_ignores_signals(
    folder: Path, commands: BackgroundCommands
) -> None:
    deaf = "trap '' TERM; (setsid bash -c \"trap '' TERM; echo \\$\\$ > pid; while :; do sleep 1; done\" &); cat lines"
    with first(folder, deaf) as process:
        pid = await process.pid()
        process.leave("is killed")
    assert await found(commands, pid, process.path) == ""
    assert await commands.stop("c1")
    assert not alive(pid)


async def test_a_command_that_has_ended_cannot_be_kept(folder: Path) -> None:
    keeping = Keeping()
    await run(["true"], cwd=str(folder), keeping=keeping)
    with pytest.raises(OSError):
        keeping.keep(1, lambda _: None)
    assert not keeping.kept


async def test_while_the_session_lasts_a_kept_command_is_read_and_stopped_as_before(folder: Path) -> None:
    commands = BackgroundCommands(0.0, PrivateFolder(str(folder / "outputs")))
    outcomes: list[str] = []
    commands.listen(nothing, lambda _, outcome: outcomes.append(outcome))

    async def work(on_start: Callable[[int], None], on_output: Callable[[str], None], keeping: Keeping):
        words = ["bash", "-c", SERVER]
        return await run(words, cwd=str(folder), on_start=on_start, on_output=on_output, keeping=keeping)

    one = await commands.start("c1", SERVER, work)
    assert commands.keep("c1")
    with pytest.raises(OSError, match="already"):
        commands.keep("c1")
    await say(folder, "hello")
    await until(lambda: "got hello" in one.last_lines(5))
    assert "before" in one.last_lines(5)
    assert await commands.stop("c1") and outcomes == ["stopped"] and not alive(one.pid)
    assert commands.keep("c1") is None


def test_no_tool_of_the_model_keeps_a_command() -> None:
    names = [facts.name for facts in builtin_facts()]
    assert "stop_background_process" in names
    assert not [name for name in names if "keep" in name]


def test_the_file_is_bounded_and_the_command_never_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_output, "MAX_FILE", 10)
    source, writing = os.pipe()
    os.set_blocking(source, False)
    file = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    os.write(file, b"1234")
    kept = KeptOutput(source, file)
    os.write(writing, b"567890more")
    assert kept.pass_on()
    os.write(writing, b"and more")
    os.close(writing)
    assert not kept.pass_on()
    kept.finish(0)
    kept.close()
    assert (tmp_path / "file").read_bytes() == b"1234567890\n[the rest of the output was not written]\n\n[exit 0]\n"
