"""One exchange with a program: all of its input at once, its output and its errors apart, and nothing left of it."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from assent.process.input_exchange import Exchanged, exchange
from support.processes import alive
from support.waiting import WAIT_LIMIT


async def run(
    folder: Path, script: str, data: bytes = b"", *, seconds: float = WAIT_LIMIT, most: int = 1 << 20, **more: Any
) -> Exchanged:
    env = {"PATH": "/usr/bin:/bin"}
    argv = ["sh", "-c", script]
    return await exchange(argv, cwd=str(folder), env=env, input=data, seconds=seconds, most_bytes=most, **more)


@pytest.mark.spec("E2")
async def test_input_goes_in_and_output_and_errors_come_out_apart(tmp_path: Path):
    done = await run(tmp_path, "cat; echo oops >&2; exit 3", b"hello")
    assert done == Exchanged("exited", 3, b"hello", "oops\n")


async def test_a_large_input_comes_back_whole(tmp_path: Path):
    data = os.urandom(700_000)
    assert (await run(tmp_path, "cat", data)).output == data


async def test_a_program_that_does_not_read_its_input_ends_all_the_same(tmp_path: Path):
    done = await run(tmp_path, "echo done", b"x" * 5_000_000)
    assert (done.ended, done.status, done.output) == ("exited", 0, b"done\n")


@pytest.mark.spec("D6")
async def test_what_it_left_in_the_background_is_ended_and_does_not_hold_the_exchange(tmp_path: Path):
    done = await run(tmp_path, "sleep 600 & echo $!")
    assert done.ended == "exited" and not alive(int(done.output))


@pytest.mark.spec("D7")
async def test_too_long_and_too_much_end_it(tmp_path: Path):
    os.mkfifo(tmp_path / "printed")

    def wait(_: int) -> None:
        (tmp_path / "printed").read_text()

    done = await run(tmp_path, "echo first; : > printed; sleep 600", seconds=0.5, on_start=wait)
    assert (done.ended, done.status, done.output) == ("timeout", None, b"first\n")
    done = await run(tmp_path, "yes", most=1000)
    assert (done.ended, len(done.output)) == ("too_much_output", 1000)


async def test_cancelling_ends_it(tmp_path: Path):
    started: list[int] = []
    ready = asyncio.Event()

    def on_start(pid: int) -> None:
        started.append(pid)
        ready.set()

    env = {"PATH": "/usr/bin:/bin"}
    sleeping = exchange(
        ["sleep", "600"], cwd=str(tmp_path), env=env, input=b"", seconds=60, most_bytes=10, on_start=on_start
    )
    running = asyncio.create_task(sleeping)
    await ready.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not alive(started[0])
