"""After a cancellation nobody is left: not the group, not those who left it, not those who ignore signals."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assent.process.pty import Size
from assent.process.run_program import ProcessFinished, ProcessLimits, run
from support.processes import alive

IMPATIENT = ProcessLimits(grace=0.05)

ESCAPE = """
import os, signal, sys
if os.fork(): os._exit(0)            # the first fork: our parent ends
os.setsid()                          # out of the session
if os.fork(): os._exit(0)            # the second fork: no leader of a session
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "quiet" in sys.argv: os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
with open(sys.argv[1], "w") as f: f.write(f"{os.getpid()}\\n")
if "quiet" in sys.argv: os.close(2)
signal.pause()
"""


async def read_line(fifo: Path) -> str:
    """Waits until someone writes a line."""

    def read() -> str:
        with open(fifo) as file:
            return file.readline()

    return await asyncio.to_thread(read)


@asynccontextmanager
async def cancelled_after_start(
    argv: list[str], folder: Path, env: dict[str, str] | None = None, terminal: Size | None = None
) -> AsyncGenerator[list[int]]:
    """Runs, waits for the pids the program tells through a fifo, cancels, and hands them over."""
    fifo = folder / "pids"
    os.mkfifo(fifo)
    task = asyncio.create_task(run(argv, cwd=str(folder), env=env, limits=IMPATIENT, terminal=terminal))
    pids = [int(pid) for pid in (await read_line(fifo)).split()]
    assert all(map(alive, pids))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    try:
        yield pids
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, 9)


@pytest.mark.spec("D6")
@pytest.mark.parametrize("terminal", [None, Size()])
async def test_cancelling_ends_the_whole_group(tmp_path: Path, terminal: Size | None) -> None:
    command = "sleep 300 & a=$!; sleep 301 | sleep 302 & echo $$ $a $! > pids; wait"
    async with cancelled_after_start(["bash", "-c", command], tmp_path, terminal=terminal) as pids:
        assert not any(map(alive, pids))


@pytest.mark.spec("D6")
async def test_a_program_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$ > pids; while :; do sleep 300; done"
    async with cancelled_after_start(["bash", "-c", command], tmp_path) as pids:
        assert not any(map(alive, pids))


@pytest.mark.spec("D6")
@pytest.mark.parametrize("how", ["holding", "quiet"])
async def test_a_daemon_with_its_own_session_that_ignores_the_signal_is_found_and_killed(
    tmp_path: Path, how: str
) -> None:
    (tmp_path / "escape.py").write_text(ESCAPE)
    command = f"{sys.executable} -S escape.py pids {how}; sleep 300"
    async with cancelled_after_start(["bash", "-c", command], tmp_path) as pids:
        assert not any(map(alive, pids))


@pytest.mark.spec("D6")
async def test_a_daemon_without_our_environment_is_found_by_the_pipe_it_holds(tmp_path: Path) -> None:
    (tmp_path / "escape.py").write_text(ESCAPE)
    command = f"env -i {sys.executable} -S escape.py pids holding; sleep 300"
    async with cancelled_after_start(["bash", "-c", command], tmp_path) as pids:
        assert not any(map(alive, pids))


async def test_cancelling_while_only_a_background_child_is_left_ends_that_too(tmp_path: Path) -> None:
    fifo = tmp_path / "pids"
    os.mkfifo(fifo)
    limits = ProcessLimits(grace=0.05, drain=60)
    task = asyncio.create_task(run(["bash", "-c", "sleep 300 & echo $! > pids"], cwd=str(tmp_path), limits=limits))
    child = int(await read_line(fifo))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(child)


async def test_the_polite_signal_comes_first_and_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    heard: list[str] = []
    command = "trap 'echo bye; exit 0' TERM; echo > ready; while :; do read -t 60 < never; done"
    os.mkfifo(tmp_path / "never")
    argv = ["bash", "-c", command]
    limits = ProcessLimits(grace=30)
    task = asyncio.create_task(run(argv, cwd=str(tmp_path), on_output=heard.append, limits=limits))
    await read_line(tmp_path / "ready")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard == ["bye\n"]


async def test_a_second_cancellation_takes_the_grace_away(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    os.mkfifo(tmp_path / "termed")
    command = "trap 'echo > termed' TERM; echo $$ > ready; while :; do sleep 0.01; done"
    task = asyncio.create_task(run(["bash", "-c", command], cwd=str(tmp_path), limits=ProcessLimits(grace=3600)))
    pid = int(await read_line(tmp_path / "ready"))
    task.cancel()
    await read_line(tmp_path / "termed")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pid)


async def test_cancelling_while_a_timeout_ends_it_takes_the_grace_away_and_is_heard_of(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    os.mkfifo(tmp_path / "termed")

    def wait(_: int) -> None:
        (tmp_path / "ready").read_text()

    argv = ["bash", "-c", "trap 'echo > termed' TERM; : > ready; while :; do sleep 0.01; done"]
    limits = ProcessLimits(total=0.02, grace=3600)
    task = asyncio.create_task(run(argv, cwd=str(tmp_path), on_start=wait, limits=limits))
    await read_line(tmp_path / "termed")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_leaves_no_descriptor_and_no_zombie(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    async with cancelled_after_start(["bash", "-c", "echo $$ > pids; sleep 300"], tmp_path) as (pid,):
        with pytest.raises(FileNotFoundError):
            Path(f"/proc/{pid}/stat").read_text()
    assert set(os.listdir("/proc/self/fd")) == before


async def test_others_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    neighbour = asyncio.create_task(run(["bash", "-c", "read < go; echo still here"], cwd=str(tmp_path)))
    async with cancelled_after_start(["bash", "-c", "echo $$ > pids; sleep 300"], tmp_path):
        await asyncio.to_thread((tmp_path / "go").write_text, "\n")
    result: ProcessFinished = await neighbour
    assert result.output.text() == "still here\n"


def started(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def start_and_age(argv: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    """Returns when whatever starts now counts as younger: the kernel's clock for this ticks slowly."""
    older = subprocess.Popen(argv, cwd=folder, start_new_session=True)
    while True:
        with subprocess.Popen(["true"]) as later:
            if started(later.pid) > started(older.pid):
                return older


async def test_an_older_process_that_was_handed_our_pipe_is_left_alone(tmp_path: Path) -> None:
    for name in ("whose", "held"):
        os.mkfifo(tmp_path / name)
    # Not by its descriptor 1, which is the fifo while the child tells who it is.
    take = "read pid < whose; exec 3> /proc/$pid/fd/2; echo > held; while :; do read -t 60 < whose; done"
    older = start_and_age(["bash", "-c", take], tmp_path)
    try:
        async with cancelled_after_start(
            ["bash", "-c", "echo $$ > whose; read < held; echo $$ > pids; sleep 300"], tmp_path
        ):
            assert alive(older.pid)
    finally:
        os.killpg(older.pid, 9)
        older.wait()


async def test_a_key_in_our_environment_does_not_reach_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "s3cret")
    result = await run(["env"], cwd=str(tmp_path))
    assert "s3cret" not in result.output.text()
    assert "ASSENT=1\n" in result.output.text()
