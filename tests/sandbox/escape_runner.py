"""Runs commands in a profile and prints what came of them as JSON: a program, so that it can run as any user.

python escape_runner.py WORKSPACE HOME DATA < [[profile, command], …]

The profile `beside` is `workspace` for a command that runs beside all that follow, once it has printed something.
"""

import asyncio
import json
import os
import sys

from assent.process.environment import child_environment
from assent.process.pty import Size
from assent.process.run_program import run
from assent.proxy.proxy_server import Proxy
from assent.proxy.sandbox_port import SandboxPort
from assent.sandbox.confinement import Confinement, Unconfined, confined_environment
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination


class Nowhere:
    """A proxy that lets nobody through."""

    async def judge(self, number: int, wanted: Destination) -> Access:
        return Access(False, "this is a test")

    def ended(self, number: int, wanted: Destination, end: ConnectionEnd) -> None: ...


async def refuse(sandbox_port: SandboxPort) -> None:
    await Proxy(Nowhere()).serve(await sandbox_port.listening())


async def main(work: str, home: str, data: str) -> None:
    confinement = Confinement([work], [data], os.path.join(data, "sandbox"), {"HOME": home})
    results: list[dict[str, object]] = []
    if problem := await confinement.problem():
        sys.stdout.write(json.dumps({"problem": problem}))
        return
    beside: list[asyncio.Task[object]] = []
    for profile, command in json.load(sys.stdin):
        if profile == "beside":
            started = asyncio.Event()
            beside.append(asyncio.ensure_future(run_beside(confinement, command, work, home, started)))
            await started.wait()
            continue
        try:
            confined = await confinement.confine(profile, work)
        except Unconfined as error:
            results.append({"code": None, "output": str(error), "notes": []})
            continue
        assert confined is not None
        proxied = confined.sandbox_port is not None
        env = confined_environment(child_environment(extra={"HOME": home}), proxied=proxied)
        proxy = asyncio.ensure_future(refuse(confined.sandbox_port)) if confined.sandbox_port is not None else None
        try:
            finished = await run(
                ["/bin/bash", "-c", command], cwd=work, env=env, launcher=confined.launcher, terminal=Size(80, 24)
            )
        except OSError as error:  # it was not started
            results.append({"code": None, "output": str(error), "notes": confined.clean_up()})
            continue
        if proxy is not None:
            proxy.cancel()
        notes = confined.clean_up()
        results.append({"code": finished.code, "output": finished.output.text(), "notes": notes})
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    sys.stdout.write(json.dumps({"results": results}))


async def run_beside(confinement: Confinement, command: str, work: str, home: str, started: asyncio.Event) -> object:
    confined = await confinement.confine("workspace", work)
    assert confined is not None
    env = confined_environment(child_environment(extra={"HOME": home}))
    return await run(
        ["/bin/bash", "-c", command],
        cwd=work,
        env=env,
        launcher=confined.launcher,
        on_output=lambda _: started.set(),
    )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
