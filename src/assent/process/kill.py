"""Ends a family of processes: SIGTERM, a grace period, then SIGKILL, until all are gone.

It knows nothing about output, timeouts or the reason.
"""

import asyncio
import contextlib
import os
import signal

from assent.process.family import Family

_LOOK_AGAIN = 0.002
_RESCAN_SECONDS = 0.5
_KILL_TIMEOUT = 5.0
"""After this, any survivors cannot be killed by us: they are someone else's, or stuck in the kernel."""


async def end_family(family: Family, leader: int, grace: float, hurry: asyncio.Event) -> tuple[int, ...]:
    """Returns when all are gone, with those that could not be ended. `hurry` cuts the grace period short."""
    loop = asyncio.get_running_loop()
    living = family.members()
    if grace > 0 and living:
        _send(living, leader, signal.SIGTERM)
        await _until_gone(family, living, loop.time() + grace, hurry)
        living = family.members()
    deadline = loop.time() + _KILL_TIMEOUT
    while living and loop.time() < deadline:
        # Repeatedly, because a process that was forking while we looked was not in the list.
        _send(living, leader, signal.SIGKILL)
        await _until_gone(family, living, min(loop.time() + _RESCAN_SECONDS, deadline), None)
        living = family.members()
    return tuple(living)


def _send(pids: list[int], leader: int, number: signal.Signals) -> None:
    """Once for the whole group, individually only outside it: a second SIGTERM means something to many programs."""
    outside = [pid for pid in pids if not _in_group(pid, leader)]
    if len(outside) < len(pids):
        with contextlib.suppress(OSError):
            os.killpg(leader, number)
    for pid in outside:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _in_group(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) == group
    except OSError:
        return pid == group


async def _until_gone(family: Family, pids: list[int], deadline: float, hurry: asyncio.Event | None) -> None:
    """Checks only these, which is cheap; finding the whole family goes through all processes of the machine."""
    loop = asyncio.get_running_loop()
    pause = _LOOK_AGAIN
    while family.any_alive(pids) and loop.time() < deadline and not (hurry and hurry.is_set()):
        await _pause(min(pause, max(deadline - loop.time(), 0)), hurry)
        pause = min(pause * 1.5, 0.05)


async def _pause(seconds: float, hurry: asyncio.Event | None) -> None:
    if hurry is None:
        await asyncio.sleep(seconds)
        return
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(hurry.wait(), seconds)
