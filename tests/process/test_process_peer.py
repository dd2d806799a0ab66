"""A program that is talked to: lines both ways, bounded, and gone at the end with all that it left behind."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from assent.process.peer import Peer
from support.processes import alive
from support.waiting import WAIT_LIMIT


async def start(folder: Path, code: str) -> Peer:
    return await Peer.start([sys.executable, "-c", code], cwd=str(folder), env={"PATH": os.environ["PATH"]})


async def test_lines_go_both_ways_and_errors_are_kept(tmp_path: Path):
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)\nsys.exit('bye')"
    peer = await start(tmp_path, code)
    await peer.write_line(b"hello")
    assert await peer.read_line() == b"HELLO"
    await peer.close()
    assert peer.status() == 1
    assert peer.errors() == "bye\n"


async def test_reading_ends_when_the_program_ends_though_a_child_holds_its_output(tmp_path: Path):
    code = "import subprocess\nprint(subprocess.Popen(['sleep', '600'], start_new_session=True).pid, flush=True)"
    peer = await start(tmp_path, code)
    child = int(await peer.read_line() or b"0")
    async with asyncio.timeout(WAIT_LIMIT):
        assert await peer.read_line() is None
    assert alive(child)
    await peer.close()
    assert not alive(child)


async def test_writing_to_a_program_that_has_exited_is_an_error_and_closing_is_not(tmp_path: Path):
    peer = await start(tmp_path, "pass")
    assert await peer.gone(10)
    with pytest.raises(OSError):
        for _ in range(100):
            await peer.write_line(b"x" * 100_000)
    await peer.close()


async def test_a_program_that_is_stuck_writing_still_hears_that_its_input_has_ended(tmp_path: Path):
    code = "import sys\nprint('x' * 5_000_000, flush=True)\nsys.stdin.read()\nopen('polite', 'w')"
    peer = await start(tmp_path, code)
    await peer.close(max_wait=20)
    assert peer.status() == 0 and (tmp_path / "polite").exists()


async def test_closing_is_finished_also_when_whoever_closes_is_cancelled(tmp_path: Path):
    peer = await start(tmp_path, "import signal\nsignal.signal(15, signal.SIG_IGN)\nprint(flush=True)\nsignal.pause()")
    await peer.read_line()
    closing = asyncio.create_task(peer.close(max_wait=0, grace=0.1))
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not alive(peer.pid)


async def test_a_program_that_cannot_be_started_leaves_no_descriptor_open(tmp_path: Path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        await Peer.start(["no-such-program"], cwd=str(tmp_path), env={"PATH": os.environ["PATH"]})
    assert len(os.listdir("/proc/self/fd")) == before
