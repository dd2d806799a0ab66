"""Assent is killed at any moment around the start of a command in a sandbox: nothing of the command stays alive."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assent.sandbox.bubblewrap import bubblewrap
from support.waiting import until

ROUNDS = 100
STEP = 0.0002
"""Seconds by which each round kills later than the one before."""
PROGRAM = """
import asyncio, os, sys
from assent.process.run_program import run
from assent.sandbox.confinement import Confinement

async def main(folder, seconds):
    confinement = Confinement([folder], [folder + "-data"], folder + "-data/sandbox", os.environ)
    await run(["true"], cwd=folder)  # the supervisor is there
    confined = await confinement.confine("workspace", folder)
    print("ready", flush=True)
    sys.stdin.readline()
    command = f"trap '' TERM; (setsid sleep {seconds} &) ; sleep {seconds}"
    await run(["bash", "-c", command], cwd=folder, launcher=confined.launcher)

asyncio.run(main(*sys.argv[1:]))
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")


@pytest.mark.spec("I1")
@pytest.mark.timeout(600)
def test_nothing_in_a_sandbox_outlives_assent(tmp_path: Path):
    folder = tmp_path / "work"
    folder.mkdir()
    seconds = 100_000 + os.getpid()  # by which its processes are recognized
    for number in range(ROUNDS):
        kill_after(number * STEP, folder, seconds)
    asyncio.run(until(lambda: not sleeping(seconds)))


def kill_after(delay: float, folder: Path, seconds: int) -> None:
    """The delay is not to wait for something, but to hit every moment."""
    argv = [sys.executable, "-c", PROGRAM, str(folder), str(seconds)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        assert agent.stdout.readline() == b"ready\n"
        agent.stdin.write(b"go\n")
        agent.stdin.flush()
        time.sleep(delay)
        agent.kill()


def sleeping(seconds: int) -> list[str]:
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and f"sleep\0{seconds}" in words(pid)]


def words(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
