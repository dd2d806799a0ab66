"""A whole session in one process: log, scripted model, note tools, runner. Open it, crash it, open it again."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from assent.agent.model_caller import Retries
from assent.approval import Mode, Outcome
from assent.commands import Answer, Command
from assent.events import CommandTaken, DurableEvent, Envelope, Event, GateKind, TurnFinished
from assent.models.model_protocol import Model
from assent.models.scripted.scenario import Scenario
from assent.models.scripted.scripted_model import ScriptedModel
from assent.policy.rules import Rule
from assent.scheduler.call import AwaitingApproval
from assent.session.log import SessionLog
from assent.session.memory_log import MemoryLog
from assent.session.run_options import RunOptions
from assent.session.runner import Runner, create_session
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool
from support.doubles import World
from support.scheduler_harness import note_tools
from support.waiting import WAIT_LIMIT

E = TypeVar("E", bound=DurableEvent)


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"chunks": [{"text": content}], **more}


def call(name: str, id: str | None = None, **args: Any) -> dict[str, Any]:
    return {"call": {"name": name, "args": args, "id": id}}


def calls(*chunks: dict[str, Any]) -> dict[str, Any]:
    return {"chunks": list(chunks)}


def above(tokens: int) -> Callable[[str], int]:
    """The same limit for every model."""
    return lambda _: tokens


class SessionHarness:
    def __init__(self, *replies: dict[str, Any], log: SessionLog | None = None, world: World | None = None) -> None:
        self.scenario = msgspec.convert({"replies": list(replies)}, Scenario)
        self.log: SessionLog = log or MemoryLog()
        self.world = world or World()
        self.model = ScriptedModel(self.scenario)
        self.session = ""
        self.events: list[Envelope] = []
        self.delays: list[float] = []
        self.options: dict[str, Any] = {}
        """More options for the runner."""
        self.real: Model | None = None
        """A model to ask instead of the scripted one."""
        self.tools: list[AnyTool] = []
        """More tools for the session."""
        self.folder = "/w"

    async def open(
        self,
        *,
        mode: Mode = "default",
        gate: GateKind = "batch",
        attended: bool = True,
        rules: tuple[Rule, ...] = (),
        max_turns: int = 100,
        retries: Retries | None = None,
        open_model: Callable[[str], Model] | None = None,
    ) -> Runner:
        if not self.session:
            self.session = await create_session(self.log, self.folder, "scripted", mode, gate)
        self.model = ScriptedModel(self.scenario)
        options = RunOptions(
            rules=rules,
            attended=attended,
            max_turns=max_turns,
            client="test",
            retries=retries or Retries(),
            sleep=self._sleep,
            open_model=open_model,
        )
        options = msgspec.structs.replace(options, **self.options)
        registry = Registry([*note_tools(self.world), *self.tools])
        runner = await Runner.open(self.log, self.session, self.real or self.model, registry, options)
        self._listen(runner)
        return runner

    async def _sleep(self, delay: float) -> None:
        self.delays.append(delay)

    def _listen(self, runner: Runner) -> None:
        subscription = runner.subscribe()

        async def listen() -> None:
            async for envelope in subscription:
                self.events.append(envelope)

        self._listener = asyncio.create_task(listen())

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait, without a clock, until the condition holds."""
        async with asyncio.timeout(WAIT_LIMIT):
            while not condition():  # noqa: ASYNC110 (any condition, not one event)
                await asyncio.sleep(0)

    async def until_event(self, kind: type[Event], count: int = 1) -> None:
        await self.until(lambda: sum(isinstance(envelope.event, kind) for envelope in self.events) >= count)

    async def until_waiting(self, runner: Runner, count: int = 1) -> list[AwaitingApproval]:
        await self.until(lambda: len(runner.waiting()) >= count)
        return runner.waiting()

    async def send(self, runner: Runner, command: Command, key: str | None = None) -> str:
        """Send and wait until it was handled; returns the problem, empty if there was none."""
        key = await runner.send(command, key)
        await self.until(lambda: self._taken(key) is not None)
        taken = self._taken(key)
        assert taken is not None
        return taken.problem

    def _taken(self, key: str) -> CommandTaken | None:
        events = (envelope.event for envelope in self.events)
        return next((event for event in events if isinstance(event, CommandTaken) and event.key == key), None)

    async def answer(
        self, runner: Runner, call_id: str, outcome: Outcome = "proceed_once", by: str = "ann", reason: str = ""
    ) -> str:
        waiting = {call.request.call_id: call.approval for call in runner.waiting()}
        digest = waiting[call_id].digest if call_id in waiting else ""
        return await self.send(runner, Answer(call_id=call_id, outcome=outcome, digest=digest, by=by, reason=reason))

    async def until_done(self, count: int = 1) -> TurnFinished:
        await self.until_event(TurnFinished, count)
        return self.recorded(TurnFinished)[-1]

    def recorded(self, kind: type[E]) -> list[E]:
        return [envelope.event for envelope in self.events if isinstance(envelope.event, kind)]

    async def stored(self, kind: type[E]) -> list[E]:
        envelopes = await self.log.read(self.session)
        return [envelope.event for envelope in envelopes if isinstance(envelope.event, kind)]


async def crash(harness: SessionHarness, runner: Runner) -> None:
    """Like kill -9: every task is gone at once, nothing more is written."""
    runner._fence = msgspec.structs.replace(runner._fence, token=-1)  # pyright: ignore[reportPrivateUsage]
    runner._journal._fence = runner._fence  # pyright: ignore[reportPrivateUsage]
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    harness.events.clear()
    await harness.log.close()
