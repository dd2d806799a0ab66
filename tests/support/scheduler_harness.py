"""A scheduler for tests: tools, policy and journal put together, with short names for what tests do."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import TypeVar

from assent.approval import Approval, Mode, Outcome
from assent.commands import Answer
from assent.events import ApprovalRequested, CallRequest, CallRequested, DurableEvent, GateKind
from assent.parts import JsonObject
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.scheduler.batch import Batch
from assent.scheduler.call import ToolCall, advance, begin
from assent.scheduler.scheduler import Scheduler
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool
from support.doubles import (
    EditNote,
    FetchNote,
    ListJournal,
    OtherServerNote,
    ReadNote,
    RunNote,
    ServerNote,
    World,
)

E = TypeVar("E", bound=DurableEvent)


def note_tools(world: World) -> list[AnyTool]:
    return [
        ReadNote(world),
        RunNote(world),
        EditNote(world),
        FetchNote(world),
        ServerNote(world),
        OtherServerNote(world),
    ]


class SchedulerHarness:
    def __init__(
        self,
        *,
        rules: Sequence[Rule] = (),
        mode: Mode = "default",
        gate: GateKind = "batch",
        attended: bool = True,
        max_parallel: int = 64,
        approval_ttl: float | None = None,
        world: World | None = None,
        registry: Registry | None = None,
        roots: tuple[str, ...] = ("/w",),
    ) -> None:
        self.world = world or World()
        self.policy = Policy(rules, mode, roots=roots)
        self.journal = ListJournal()
        self.now = 1000.0
        """The clock."""
        self.timer = 0.0
        """Monotonic; the clock may be changed."""
        options = SchedulerOptions(
            gate=gate,
            attended=attended,
            max_parallel=max_parallel,
            approval_ttl=approval_ttl,
            clock=lambda: self.now,
            timer=lambda: self.timer,
        )
        tools = registry or Registry(note_tools(self.world))
        self.scheduler = Scheduler("s", tools, self.policy, self.journal, options)
        self._ids = itertools.count(1)

    def call(self, tool: str, call_id: str = "", args: dict[str, object] | None = None, **more: object) -> CallRequest:
        return CallRequest(
            call_id=call_id or f"c{next(self._ids)}", tool=tool, args=(args or {}) | more, prompt_id="s########0"
        )

    def schedule(self, *requests: CallRequest) -> Batch:
        return self.scheduler.schedule(requests)

    async def run(self, *requests: CallRequest) -> list[str]:
        """Schedule, wait, and return the names of the final states."""
        return [type(call).__name__ for call in await self.schedule(*requests).results()]

    async def settle(self) -> None:
        """Let everything continue that can continue without the test."""
        for _ in range(50):
            await asyncio.sleep(0)

    def calls(self) -> dict[str, ToolCall]:
        """The state of every call, rebuilt from the journal alone."""
        states: dict[str, ToolCall] = {}
        for event in self.journal.events:
            if isinstance(event, CallRequested):
                states[event.request.call_id] = begin(event, 1000.0)
            elif (call_id := getattr(event, "call_id", None)) in states:
                states[call_id] = advance(states[call_id], event)
        return states

    def approval(self, call_id: str) -> Approval:
        """The open question of this call."""
        waiting = {call.request.call_id: call.approval for call in self.scheduler.waiting()}
        return waiting[call_id]

    async def answer(
        self,
        call_id: str,
        outcome: Outcome = "proceed_once",
        *,
        digest: str | None = None,
        reason: str = "",
        content: str | None = None,
        args: JsonObject | None = None,
        hunks: tuple[int, ...] | None = None,
        by: str = "ann",
    ) -> None:
        shown = self.approval(call_id).digest if digest is None else digest
        await self.scheduler.answer(
            Answer(
                call_id=call_id,
                outcome=outcome,
                digest=shown,
                reason=reason,
                content=content,
                args=args,
                hunks=hunks,
                by=by,
            )
        )

    def recorded(self, kind: type[E]) -> list[E]:
        return [event for event in self.journal.events if isinstance(event, kind)]

    def asked(self) -> list[str]:
        return [event.call_id for event in self.recorded(ApprovalRequested)]
