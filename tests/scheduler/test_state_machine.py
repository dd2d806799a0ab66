"""Whatever people and crashes do, in any order, the scheduler keeps its promises.

Hypothesis drives a whole session: schedule, answer in any order, twice, late, with edits, with a stale digest; cancel;
change the mode; change files behind its back; crash and reopen. After every step the invariants must hold.
"""

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from assent.approval import Mode, Outcome
from assent.commands import Answer
from assent.events import (
    ApprovalAnswered,
    CallFinished,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    DurableEvent,
    GateKind,
    GrantAdded,
    TransientEvent,
)
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.scheduler.batch import Batch
from assent.scheduler.call import AwaitingApproval, Executing, Terminal, ToolCall, advance, begin
from assent.scheduler.refusals import Refused
from assent.scheduler.scheduler import Scheduler
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool
from support.doubles import StackedEditNote, World
from support.scheduler_harness import note_tools

RULES = (Rule(ruling="deny", argument="forbidden"), Rule(ruling="allow", tool="run_note", argument="allowed"))
TOOLS = st.sampled_from(["read_note", "run_note", "edit_note", "fetch_note", "mcp_notes_add", "no_such_tool"])
OUTCOMES = st.sampled_from(
    ["proceed_once", "proceed_always", "proceed_always_server", "proceed_always_tool", "modify_with_editor", "cancel"]
)


class Killed(Exception):
    """The process that wrote this journal is gone."""


class CrashableJournal:
    """Writes to a list that outlives it, until the crash."""

    def __init__(self, events: list[DurableEvent]) -> None:
        self.events = events
        self.dead = False

    def record(self, *events: DurableEvent) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.dead:
            done.set_exception(Killed())
            done.exception()
        else:
            self.events.extend(events)
            done.set_result(None)
        return done

    def announce(self, event: TransientEvent) -> None:
        pass


class SchedulerMachine(RuleBasedStateMachine):
    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World()
        self.events: list[DurableEvent] = []
        self.count = 0
        self.mode: Mode = "default"
        self.batches: list[Batch] = []
        self.shown: dict[str, set[str]] = {}
        """Digests that were ever asked, by call."""
        self.cancelled_before: dict[str, int] = {}
        """Calls whose cancel was acknowledged, with the number of starts at that time."""

    @initialize(gate=st.sampled_from(["batch", "eager"]))
    def open(self, gate: GateKind) -> None:
        self.gate: GateKind = gate
        self.run(self._open())

    async def _open(self) -> None:
        self.journal = CrashableJournal(self.events)
        grants = [event.grant for event in self.events if isinstance(event, GrantAdded)]
        self.policy = Policy(RULES, self.mode, grants, roots=("/w",))
        options = SchedulerOptions(gate=self.gate, max_parallel=3)
        self.scheduler = Scheduler("s", Registry(self._tools()), self.policy, self.journal, options)
        pending = [call for call in self.states().values() if not isinstance(call, Terminal)]
        self.batches = [self.scheduler.restore(pending)] if pending else []

    def _tools(self) -> list[AnyTool]:
        """Edits build on each other, as the real ones do."""
        return [tool for tool in note_tools(self.world) if tool.name != "edit_note"] + [StackedEditNote(self.world)]

    def run(self, work: Any) -> Any:
        async def whole() -> Any:
            result = await work
            await self.settle()
            return result

        return self.loop.run_until_complete(whole())

    async def settle(self) -> None:
        for _ in range(40):
            await asyncio.sleep(0)
        for call in self.scheduler.waiting():
            self.shown.setdefault(call.request.call_id, set()).add(call.approval.digest)

    def states(self) -> dict[str, ToolCall]:
        """Folds the journal with the same table that the scheduler uses: an illegal event would raise here."""
        states: dict[str, ToolCall] = {}
        for event in self.events:
            if isinstance(event, CallRequested):
                assert event.request.call_id not in states, "a call id was used twice"
                states[event.request.call_id] = begin(event, 0.0)
            elif (call_id := getattr(event, "call_id", None)) is not None:
                states[call_id] = advance(states[call_id], event)
        return states

    # --- what can happen ---

    @rule(
        target=calls,
        specs=st.lists(
            st.tuples(TOOLS, st.sampled_from(["x", "y", "allowed", "forbidden"]), st.booleans()), min_size=1, max_size=4
        ),
    )
    def schedule(self, specs: list[tuple[str, str, bool]]) -> Any:
        requests = [self._request(*spec) for spec in specs]

        async def work() -> None:
            self.batches.append(self.scheduler.schedule(requests))

        self.run(work())
        return multiple(*(request.call_id for request in requests))

    def _request(self, tool: str, text: str, held: bool) -> CallRequest:
        self.count += 1
        call_id = f"c{self.count}"
        args: dict[str, Any] = {"text": text, "door": call_id if held else ""}
        if tool == "edit_note":
            args = {"path": f"/w/{text}", "content": call_id}
        if tool == "fetch_note":
            args["text"] = f"https://{text}.org/"
        return CallRequest(call_id=call_id, tool=tool, args=args, prompt_id="s########0")

    @rule(
        call_id=calls, outcome=OUTCOMES, stale=st.booleans(), edit=st.sampled_from(["none", "content", "args", "bad"])
    )
    def answer(self, call_id: str, outcome: Outcome, stale: bool, edit: str) -> None:
        digest = self._digest(call_id)
        if stale:
            digest = "0" * 64
        content = "edited" if edit == "content" else None
        args: dict[str, Any] | None = {"nonsense": 1} if edit == "bad" else None
        if edit == "args":
            args = {"path": "/w/z", "content": "edited"} if call_id in self._edits() else {"text": "allowed"}
        command = Answer(call_id=call_id, outcome=outcome, digest=digest, content=content, args=args, by="ann")
        before = len(self.events)
        try:
            self.run(self.scheduler.answer(command))
        except Refused:
            kinds = {type(event) for event in self.events[before:]}
            assert ApprovalAnswered not in kinds, "a refused answer left a trace"

    def _digest(self, call_id: str) -> str:
        waiting = {call.request.call_id: call.approval.digest for call in self.scheduler.waiting()}
        return waiting.get(call_id, "")

    def _edits(self) -> set[str]:
        return {call_id for call_id, call in self.states().items() if call.request.tool == "edit_note"}

    @rule(call_id=calls)
    def open_door(self, call_id: str) -> None:
        async def work() -> None:
            self.world.door(call_id).set()

        self.run(work())

    @rule(call_id=consumes(calls))
    def cancel_call(self, call_id: str) -> None:
        async def work() -> None:
            try:
                self.scheduler.cancel_call(call_id, "never mind")
            except Refused:
                return

        self.run(work())

    @precondition(lambda self: self.batches)
    @rule()
    def cancel_batch(self) -> None:
        batch = self.batches[-1]
        self.run(self._cancel(batch))

    async def _cancel(self, batch: Batch) -> None:
        self.scheduler.cancel(batch, "stop")

    @rule(text=st.sampled_from(["x", "y"]), content=st.sampled_from(["a", "b"]))
    def file_changes(self, text: str, content: str) -> None:
        self.world.files[f"/w/{text}"] = content

    @rule(mode=st.sampled_from(["default", "auto_edit", "plan"]))
    def set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self.policy.mode = mode
        self.run(self.scheduler.rejudge())

    @rule()
    def crash_and_reopen(self) -> None:
        self.journal.dead = True
        self.loop.run_until_complete(self._kill())
        running = [call_id for call_id, call in self.states().items() if isinstance(call, Executing)]
        self.run(self._open())
        for call_id in running:
            assert isinstance(self.states()[call_id], Terminal), "what had started must not stay open"

    async def _kill(self) -> None:
        while tasks := [
            asyncio_task for asyncio_task in asyncio.all_tasks() if asyncio_task is not asyncio.current_task()
        ]:
            for asyncio_task in tasks:
                asyncio_task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self.world.running = 0

    # --- what must hold ---

    @invariant()
    def every_start_has_a_matching_decision(self) -> None:
        """Nothing starts without a decision; a person's decision covers only a digest that was shown."""
        allowed: dict[str, CallScheduled] = {}
        for event in self.events:
            if isinstance(event, CallScheduled):
                allowed[event.call_id] = event
            elif isinstance(event, CallStarted):
                decision = allowed.pop(event.call_id).decision
                assert decision.source != "person" or decision.digest == event.digest

    @invariant()
    def every_call_starts_at_most_once_and_ends_at_most_once(self) -> None:
        started = [event.call_id for event in self.events if isinstance(event, CallStarted)]
        finished = [event.call_id for event in self.events if isinstance(event, CallFinished)]
        assert len(started) == len(set(started))
        assert len(finished) == len(set(finished))

    @invariant()
    def effects_are_never_more_than_starts(self) -> None:
        started = sum(isinstance(event, CallStarted) for event in self.events)
        assert len(self.world.effects) <= started

    @invariant()
    def forbidden_never_runs(self) -> None:
        assert "forbidden" not in self.world.effects

    @invariant()
    def the_log_is_legal_and_the_batch_gate_holds(self) -> None:
        states = self.states()
        if getattr(self, "gate", "eager") != "batch":
            return
        live = [task.call for batch in self.batches for task in batch.tasks if task.call_id in self.scheduler._tasks]  # pyright: ignore
        undecided = [call for call in live if isinstance(call, AwaitingApproval)]
        started_now = [call for call in live if isinstance(call, Executing)]
        assert not (undecided and started_now) or self._asked_again(undecided), states

    def _asked_again(self, calls: list[AwaitingApproval]) -> bool:
        """A call may wait beside running ones only when its file changed after the gate had opened."""
        return all(
            "changed since you approved" in call.approval.why or "was changed by hand" in call.approval.why
            for call in calls
        )

    def teardown(self) -> None:
        self.journal.dead = True
        self.loop.run_until_complete(self._kill())
        self.loop.close()


TestScheduler = SchedulerMachine.TestCase
TestScheduler.settings = settings(settings.default, stateful_step_count=30)
