"""Commands in the sandbox `network`: where they may connect to, who is asked, and what is recorded."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assent.approval import InfoDetails, Outcome
from assent.events import ApprovalRequested, CallFinished, ConnectionEnded, ConnectionRequested
from assent.files.workspace import Workspace
from assent.parts import TerminalDisplay
from assent.policy.rules import Rule
from assent.sandbox.bubblewrap import bubblewrap
from assent.sandbox.confinement import Confinement
from assent.scheduler.batch import Batch
from assent.tools.connect import ConnectTool
from assent.tools.registry import Registry
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from support.local_hosts import PUBLIC, LocalHosts, local_hosts
from support.scheduler_harness import SchedulerHarness

SHELL = "run_shell_command"
pytestmark = [
    pytest.mark.spec("I6"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]


class Scene:
    """One workspace, commands that people approve in the sandbox `network`, and hosts that are all this machine."""

    def __init__(self, folder: Path, hosts: LocalHosts, rules: tuple[Rule, ...], *, attended: bool) -> None:
        self.hosts = hosts
        work, data = folder / "work", folder / "data"
        work.mkdir()
        self.confinement = Confinement([str(work)], [str(data)], str(data / "sandbox"), os.environ)
        shell = ShellTool(
            Files(Workspace([str(work)], str(work))),
            confinement=lambda: self.confinement,
            approved="network",
            resolve=hosts.resolve,
            dial=hosts.dial,
        )
        rules = (Rule(ruling="allow", tool=SHELL), *rules)
        self.harness = SchedulerHarness(registry=Registry([shell, ConnectTool()]), rules=rules, attended=attended)

    def start(self, command: str) -> Batch:
        return self.harness.schedule(self.harness.call(SHELL, "run", command=command))

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
async def scene(folder: Path, *rules: Rule, attended: bool = True) -> AsyncGenerator[Scene]:
    async with local_hosts() as hosts:
        yield Scene(folder, hosts, rules, attended=attended)


def connect(ruling: str, domain: str) -> Rule:
    return Rule(ruling=ruling, tool="connect", domain=domain)  # type: ignore[arg-type]


async def test_a_host_that_a_rule_allows_is_reached_and_recorded(tmp_path: Path):
    async with scene(tmp_path, connect("allow", "example.org")) as net:
        await net.start("curl -sS http://api.example.org/x").results()
        assert "asked for /x" in net.output()
        assert net.requested() == [("api.example.org", 80, True)]
        (ended,) = net.harness.recorded(ConnectionEnded)
        assert ended.address == "127.0.0.1" and ended.sent > 20 and ended.received > 40 and not ended.problem
        assert net.hosts.dialled == [(PUBLIC, 80)]
        assert "[network: api.example.org:80, 1 connection, " in net.output()


async def test_an_unknown_host_is_a_question_and_the_command_waits_for_its_answer(tmp_path: Path):
    async with scene(tmp_path) as net:
        batch = net.start("curl -sS http://packages.example.org/x")
        asked = (await net.question()).approval
        assert asked.details == InfoDetails(
            "`curl -sS http://packages.example.org/x` wants to connect to packages.example.org:80",
            ("tcp://packages.example.org:80",),
        )
        assert net.hosts.resolved == [], "no name is looked up before the answer"
        await net.answer("proceed_once")
        await batch.results()
        assert "asked for /x" in net.output()


async def test_a_no_refuses_the_connection_and_tells_the_model(tmp_path: Path):
    async with scene(tmp_path) as net:
        batch = net.start(
            "curl -sS http://packages.example.org/x || echo failed: $?; curl -sS http://packages.example.org/y"
        )
        await net.answer("cancel")
        await batch.results()
        assert "User did not allow" in net.output()
        assert len(net.harness.recorded(ApprovalRequested)) == 1, "the answer holds for the whole command"
        assert "The sandbox refused the connection to packages.example.org:80" in net.told()
        assert net.hosts.resolved == []


async def test_with_nobody_to_ask_an_unknown_host_is_refused(tmp_path: Path):
    async with scene(tmp_path, attended=False) as net:
        await net.start("curl -sS http://packages.example.org/x").results()
        assert net.requested() == [("packages.example.org", 80, False)]
        assert "nobody can be asked" in net.told()


async def test_a_question_is_withdrawn_when_the_command_ends(tmp_path: Path):
    async with scene(tmp_path) as net:
        batch = net.start("curl -sS -m 1 http://packages.example.org/x")
        asked = await net.question()
        await batch.results()
        ends = {event.call_id: event for event in net.harness.recorded(CallFinished)}
        assert ends[asked.call_id].status == "cancelled"
        assert "The command that wanted to connect has ended." in str(ends[asked.call_id].result)
