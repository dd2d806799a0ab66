"""Commands in the sandbox `network`, run by a scheduler, with hosts that are all this machine."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from assent.approval import Outcome
from assent.events import ApprovalRequested, CallFinished, ConnectionRequested
from assent.files.workspace import Workspace
from assent.parts import TerminalDisplay
from assent.policy.rules import Rule
from assent.sandbox.confinement import Confinement
from assent.scheduler.batch import Batch
from assent.tools.connect import ConnectTool
from assent.tools.registry import Registry
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from support.local_hosts import LocalHosts, local_hosts
from support.scheduler_harness import SchedulerHarness

SHELL = "run_shell_command"


class NetworkScene:
    """One workspace, commands that people approve in the sandbox `network`, and hosts that are all this machine."""

    def __init__(
        self, folder: Path, hosts: LocalHosts, rules: tuple[Rule, ...], *, attended: bool, whole: bool
    ) -> None:
        self.hosts = hosts
        work, data = folder / "work", folder / "data"
        work.mkdir()
        self.confinement = Confinement([str(work)], [str(data)], str(data / "sandbox"), os.environ)
        shell = ShellTool(
            Files(Workspace([str(work)], str(work))),
            ShellOptions(
                confinement=lambda: self.confinement,
                approved="network",
                resolve=hosts.resolve,
                dial=hosts.dial,
            ),
        )
        rules = (*([Rule(ruling="allow", tool=SHELL)] if whole else []), *rules)
        self.harness = SchedulerHarness(
            registry=Registry([shell, ConnectTool()]), rules=rules, attended=attended, roots=(str(work),)
        )

    def start(self, command: str, call_id: str = "run", **more: object) -> Batch:
        return self.harness.schedule(self.harness.call(SHELL, call_id, {"command": command, **more}))

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110 (the journal of the harness tells nobody)
                await asyncio.sleep(0.01)

    async def question(self) -> ApprovalRequested:
        await self.until(lambda: self.harness.recorded(ApprovalRequested))
        return self.harness.recorded(ApprovalRequested)[-1]

    async def answer(self, outcome: Outcome) -> None:
        asked = await self.question()
        await self.harness.answer(asked.call_id, outcome)

    def output(self) -> str:
        (finished,) = [event for event in self.harness.recorded(CallFinished) if event.call_id == "run"]
        assert isinstance(finished.display, TerminalDisplay), finished
        return finished.display.text

    def told(self) -> str:
        """What the model is told."""
        (finished,) = [event for event in self.harness.recorded(CallFinished) if event.call_id == "run"]
        return str(finished.result.response)

    def requested(self) -> list[tuple[str, int, bool]]:
        return [(one.host, one.port, one.allowed) for one in self.harness.recorded(ConnectionRequested)]


@asynccontextmanager
async def network_scene(
    folder: Path, *rules: Rule, attended: bool = True, whole: bool = True
) -> AsyncGenerator[NetworkScene]:
    """`whole`: a rule allows every command."""
    async with local_hosts() as hosts:
        yield NetworkScene(folder, hosts, rules, attended=attended, whole=whole)
