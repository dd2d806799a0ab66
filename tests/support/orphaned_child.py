"""A program for root: `start FILE` starts `child` below a supervisor, kills supervisor and reaper, and waits for it.

The child gives up its privileges, tries to raise the limits that mark it, and prints whether it is still known.
"""

import asyncio
import os
import resource
import signal
import sys
import time

from assent.process import process_table, supervisor_client
from assent.process.ancestry import LIMITS, TITLE, is_inside


def child() -> None:
    os.setgid(65534)
    os.setuid(65534)
    while _has_reaper():
        time.sleep(0.01)
    for number, value in LIMITS.items():
        for to in (resource.RLIM_INFINITY, value + 1):
            try:
                resource.setrlimit(number, (0, to))
                sys.stdout.write("raised\n")
            except (ValueError, OSError):
                pass
        resource.setrlimit(number, (5, 5))
    sys.stdout.write(f"{is_inside({})}\n")


def _has_reaper() -> bool:
    above = process_table.ancestors(os.getppid())
    return any(process_table.words(pid)[-1:] == [TITLE.encode()] for pid in above)


def start(path: str) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(path, os.O_CREAT | os.O_WRONLY)
    argv = [sys.executable, "-m", "support.orphaned_child", "child"]
    env = {"PYTHONPATH": os.environ["PYTHONPATH"]}
    started = asyncio.run(supervisor_client.start(argv, "/", env, "", (nothing, out, out)))
    fields = process_table.line(started.reaper)
    assert fields is not None
    supervisor = int(fields[process_table.PARENT])
    os.kill(supervisor, signal.SIGKILL)
    while (fields := process_table.line(supervisor)) and not process_table.is_dead(fields):
        time.sleep(0.01)
    os.kill(started.reaper, signal.SIGKILL)
    while (fields := process_table.line(started.pid)) and not process_table.is_dead(fields):
        time.sleep(0.01)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["start", path]:
            start(path)
        case _:
            child()
