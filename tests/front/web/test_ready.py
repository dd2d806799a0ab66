"""`/readyz`: the log is written to for real, and not more often than needed."""

import asyncio
import resource
from pathlib import Path

from assent.client import Api
from assent.front.web.problems import Problem
from assent.front.web.readiness import Readiness
from assent.session.log import LogUnavailable
from support.program import Program, says
from support.served import ServedProgram
from support.waiting import WAIT_LIMIT


async def until_status(api: Api, status: int) -> bytes:
    async with asyncio.timeout(WAIT_LIMIT):
        while (reply := await api.http.request("GET", "/readyz")).status != status:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return reply.body


async def test_a_disk_that_takes_nothing_more_turns_readiness_off_until_it_does(tmp_path: Path):
    program = Program(tmp_path)
    served = ServedProgram(program, program.scenario(says("Hi.")))
    api = await asyncio.to_thread(served.start)
    assert served.running is not None
    pid, unlimited = served.running.process.pid, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    await until_status(api, 200)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))  # no file may grow any more
    assert b"Nothing was recorded" in await until_status(api, 503)
    assert (await api.http.request("GET", "/healthz")).status == 200
    assert (await api.sessions())["total"] == 0, "what is there can still be read"
    resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
    await until_status(api, 200)
    await api.close()
    served.kill()


class Disk:
    """Counts how often it was written to."""

    def __init__(self) -> None:
        self.writes = 0
        self.now = 0.0
        self.full = False

    async def write(self) -> None:
        self.writes += 1
        await asyncio.sleep(0)
        if self.full:
            raise LogUnavailable("the disk is full")

    async def problem(self, ready: Readiness) -> str:
        try:
            await ready.check()
        except Problem as problem:
            return str(problem)
        return ""


async def test_many_who_ask_at_once_cost_one_write_a_second():
    disk = Disk()
    ready = Readiness(disk.write, lambda: disk.now)
    assert set(await asyncio.gather(*(disk.problem(ready) for _ in range(50)))) == {""}
    disk.full, disk.now = True, 0.9
    assert (await disk.problem(ready), disk.writes) == ("", 1)
    disk.now = 1.1
    found = await asyncio.gather(*(disk.problem(ready) for _ in range(50)))
    assert (set(found), disk.writes) == ({"the disk is full"}, 2)


async def test_a_disk_that_does_not_answer_is_not_ready():
    stuck = asyncio.Event()

    async def write() -> None:
        await stuck.wait()

    assert "within 0.01 seconds" in await Disk().problem(Readiness(write, write_timeout=0.01))
