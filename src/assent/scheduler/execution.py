"""Runs a call that is decided: its permit, its start in the log, the tool itself, and its result.

`started` is durable before the tool runs. What a tool sees of the scheduler is its permit and its live channel.
"""

from collections.abc import Awaitable, Callable

from assent import failpoints
from assent.approval import ExecDetails
from assent.events import CallStarted, FileChange
from assent.parts import Failure
from assent.plan import ExecutedFile
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.scheduler.call import AwaitingApproval, Scheduled
from assent.scheduler.call_task import CallTask, Journal, LiveChannel
from assent.scheduler.connection_gate import Ask, ConnectionGate
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.scheduler.second_try import SecondTry
from assent.scheduler.transitions import Transitions
from assent.tools.tool import Invocation, Permit, ToolFailed, ToolResult

Settle = Callable[[], Awaitable[None]]


class Execution:
    """`ask_below` is passed each time, not kept: the scheduler owns this, and a cycle would keep both alive."""

    def __init__(self, transitions: Transitions, policy: Policy, journal: Journal, options: SchedulerOptions) -> None:
        self._transitions = transitions
        self._policy = policy
        self._journal = journal
        self._options = options

    async def run(self, task: CallTask, ask_below: Ask) -> None:
        assert task.invocation is not None
        change = await self._change(task, task.invocation)
        await self._keep()
        permit = self._permit(task)
        self._transitions.run(task)
        await self._transitions.move(task, CallStarted(task.call_id, permit.digest, change))
        failpoints.hit("started")
        gate = ConnectionGate(task, self._policy, self._options.clock, ask_below)
        again = SecondTry(task, self._options.clock, ask_below, attended=self._options.attended)
        live = LiveChannel(task, self._journal, self._options.masker, gate, again)
        try:
            result = await _closing(live, gate, task.invocation.execute(permit, live))
            await self._keep()
        except ToolFailed as error:
            await self._keep()
            await self._transitions.fail(task, error.failure)
        except Exception as error:
            await self._transitions.fail(task, Failure("unhandled_exception", f"{type(error).__name__}: {error}"))
        failpoints.hit("effect done")
        await self._transitions.succeed(task, result)
        failpoints.hit("finished")

    async def _keep(self) -> None:
        """Before an event that refers to what a call keeps outside the log."""
        if self._options.settle is not None:
            await self._options.settle()

    async def _change(self, task: CallTask, invocation: Invocation) -> FileChange | None:
        try:
            return invocation.change()
        except ToolFailed as error:
            await self._transitions.fail(task, error.failure)

    def _permit(self, task: CallTask) -> Permit:
        """A command allowed by its words runs as these words; text goes to a shell only with a person's approval."""
        assert isinstance(task.call, Scheduled) and task.action is not None
        decision = task.call.decision
        if decision.source == "grant":
            self._policy.used(decision.rule)
        return Permit(
            call_id=task.call_id,
            digest=self._transitions.digest(task),
            plan=task.plan if decision.source in ("rule", "grant") else None,
            sandbox=task.sandbox if decision.source in ("rule", "mode") else None,
            by_person=decision.source == "person",
            answers=task.answers,
            mark=self._transitions.mark(task),
            unchanged=_approved_files(task.action) if decision.source in ("person", "grant") else (),
        )

    # --- trials ---

    def trial_channel(self, task: CallTask, ask_below: Ask) -> LiveChannel:
        """A trial has no network, so its gate is never asked."""
        gate = ConnectionGate(task, self._policy, self._options.clock, ask_below)
        return LiveChannel(task, self._journal, self._options.masker, gate)

    def trial_permit(self, task: CallTask, call: AwaitingApproval) -> Permit:
        """A person has seen the command, or the mode has it tried, and it changes nothing."""
        details = call.approval.details
        return Permit(
            call_id=task.call_id,
            digest=call.approval.digest,
            mark=self._transitions.mark(task),
            unchanged=details.executes if isinstance(details, ExecDetails) else (),
        )


def _approved_files(action: Action) -> tuple[ExecutedFile, ...]:
    """What a rule or a mode allows, it allows whatever is in the files."""
    return action.details.executes if isinstance(action.details, ExecDetails) else ()


async def _closing(live: LiveChannel, gate: ConnectionGate, work: Awaitable[ToolResult]) -> ToolResult:
    try:
        return await work
    finally:
        await gate.close()
        live.close()
