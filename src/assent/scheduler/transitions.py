"""The single steps a call can take: build, judge, ask, end. Each is one transition, checked and journaled in `move`.

The scheduler decides who takes them and when; this module decides, once, what they mean for a call.
"""

from collections.abc import Awaitable
from typing import NoReturn

from msgspec.structs import replace

from assent import failpoints
from assent.approval import Approval, Decision, Details, ExecDetails, McpDetails
from assent.elapsed import since
from assent.events import (
    ApprovalRequested,
    CallFinished,
    CallRequest,
    CallScheduled,
    CommandTaken,
    DurableEvent,
    GrantAdded,
    TrialStarted,
)
from assent.parts import Failure, JsonObject, TerminalDisplay
from assent.policy.action import Action
from assent.policy.decision import Verdict
from assent.policy.file_approvals import unapproved_in_words
from assent.policy.policy import Policy
from assent.scheduler.approvals import make_approval
from assent.scheduler.call import AwaitingApproval, Executing, advance
from assent.scheduler.call_task import CallTask, Journal
from assent.scheduler.digest import action_digest, run_mark
from assent.scheduler.masking import masked
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.tools.registry import Registry
from assent.tools.response import cancelled_result, failure_result, to_result
from assent.tools.tool import AnyTool, InvalidParams, Invocation, Resources, ToolFailed, ToolResult

POSTPONED = Verdict("allow", "tool", "it is decided after earlier calls have run")
"""For a call that is judged when its turn comes. It allows nothing to run."""

MAX_DESCRIPTION_LENGTH = 300
"""Characters of the line that says what a call is about."""
EDITED = "The user changed the arguments of this call before approving it; it ran with these."


class Over(Exception):
    """The call reached a final state; its task has nothing left to do."""


async def make_action(policy: Policy, tool: AnyTool, args: JsonObject, invocation: Invocation) -> Action:
    """What is judged: the validated call with what it would do now, or with what its failure would reveal."""
    try:
        return action_of(policy, tool, args, invocation, await invocation.should_confirm())
    except ToolFailed as failed:
        if failed.tells_of is None:
            raise
        action = action_of(policy, tool, args, invocation, failed.tells_of)
        if policy.shows(action):
            raise
        return action


def action_of(
    policy: Policy, tool: AnyTool, args: JsonObject, invocation: Invocation, details: Details | None
) -> Action:
    """The validated call with these details, and what the policy adds to them for the person."""
    main = args.get(tool.main_argument, "") if tool.main_argument else ""
    touched = invocation.resources()
    paths = (*touched.reads, *touched.writes)
    server = details.server if isinstance(details, McpDetails) else tool.server
    return Action(tool=tool.name, args=args, details=policy.assess(details), main=str(main), server=server, paths=paths)


def verdict_on(policy: Policy, action: Action, request: CallRequest) -> Verdict:
    """Nobody is asked about what they do themselves, and it runs as written: no plan, no grant.

    A deny rule still holds, but a mode only says what the model may do.
    """
    verdict = policy.judge(action)
    denied = verdict.ruling == "deny" and verdict.source != "mode"
    if not denied and request.initiator == "person":
        return Verdict("allow", "rule", "you started it yourself")
    match action.details:
        case ExecDetails(wider=True) as details if verdict.ruling == "ask" and request.initiator == "call":
            return replace(verdict, reason=_refused_before(details))
        case _:
            return verdict


def _refused_before(details: ExecDetails) -> str:
    wanted = [f"write to {path}" for path in details.writable] + [f"connect to {one}" for one in details.domains]
    return f"the sandbox did not let it {' or '.join(wanted)}; if you say yes, it runs again with this permission"


def new_about(task: CallTask, invocation: Invocation | None = None) -> str:
    """The tool's line on what the call is about; empty if it has been recorded, or the tool cannot say."""
    invocation = invocation or task.invocation
    try:
        about = "" if invocation is None else " ".join(invocation.describe().split())[:MAX_DESCRIPTION_LENGTH]
    except Exception:  # a line for the screen must not end a call
        return ""
    return "" if about == task.request.about else about


class Transitions:
    def __init__(
        self,
        session: str,
        registry: Registry,
        policy: Policy,
        journal: Journal,
        options: SchedulerOptions,
    ) -> None:
        self._session = session
        self._registry = registry
        self._policy = policy
        self._journal = journal
        self._options = options

    def prepare(self) -> None:
        for tool in self._registry:
            tool.prepare()

    def move(self, task: CallTask, *events: DurableEvent) -> Awaitable[None]:
        """Every transition of every call happens here: checked against the table, journaled, in this order."""
        call = task.call
        for event in events:
            if not isinstance(event, GrantAdded | CommandTaken):  # these do not belong to a single call
                call = advance(call, event)
        task.call = call
        task.recorded = self._journal.record(*events)
        task.decided()
        if task.changed is not None:
            task.changed.set()
        return task.recorded

    def now(self) -> float:
        return self._options.clock()

    def begin(self, task: CallTask) -> None:
        """Measured from now; for a call of an earlier process, plus the time it has taken so far by the clock."""
        task.since = self._options.timer() - since(task.call.started_at, self._options.clock())

    def run(self, task: CallTask) -> None:
        task.runs_since = self._options.timer()

    def max_wait(self, task: CallTask, approval: Approval) -> float | None:
        """Seconds until the approval expires. Changing the clock meanwhile has no effect."""
        if approval.expires_at is None:
            return None
        if task.expiry is None or task.expiry[0] != approval.id:
            task.expiry = (approval.id, self._options.timer() + approval.expires_at - self._options.clock())
        return max(0.0, task.expiry[1] - self._options.timer())

    def edited_from_now(self, task: CallTask, seconds: float | None) -> None:
        """Sets how long someone counts as editing its proposal; None: nobody does."""
        task.edited_until = None if seconds is None else self._options.timer() + seconds
        task.wake()

    def max_edit(self, task: CallTask) -> float | None:
        """Seconds until the editing counts as over; None if nobody edits it."""
        edited = isinstance(task.call, AwaitingApproval) and task.call.modifying_by
        return max(0.0, task.edited_until - self._options.timer()) if edited and task.edited_until is not None else None

    # --- toward a decision ---

    async def build(self, task: CallTask) -> Invocation:
        """Find the tool and validate the arguments; an error ends the call."""
        tool = await self._registry.find(task.request.tool)
        by_model = task.request.initiator == "model"
        if tool is None or (by_model and not self._registry.offers(tool.name)):
            await self.fail(task, Failure("tool_not_registered", self._registry.not_found(task.request.tool)))
        try:
            invocation = tool.build(task.request.args)
        except InvalidParams as error:
            await self.fail(task, Failure("invalid_tool_params", str(error)))
        tool.prepare()
        task.build_on_siblings(invocation)
        task.tool, task.invocation = tool, invocation
        return invocation

    async def judge(self, task: CallTask, invocation: Invocation) -> Verdict:
        """Anything that goes wrong while deciding is an error of the call, never a yes.

        Before its turn, a call that cannot do its work yet is postponed if earlier calls may still change that.
        """
        assert task.tool is not None
        task.postponed = task.stale = False
        try:
            task.action = await make_action(self._policy, task.tool, task.request.args, invocation)
            verdict = self.verdict(task.action, task.request)
            task.plan, task.sandbox = verdict.plan, verdict.sandbox
            task.touches = self.touched(task)
            task.tell_siblings()
            if verdict.ruling == "ask" and await self._waits_to_be_tried(task, invocation):
                task.postponed = True
                return POSTPONED
            return verdict
        except ToolFailed as error:
            task.action = task.plan = task.sandbox = None
            task.touches = self.touched(task)
            task.tell_siblings()
            if not _follows_others(task):
                await self.fail(task, error.failure)
            task.postponed = True
            return POSTPONED
        except Exception as error:
            await self.fail(task, Failure("policy_error", f"Could not decide whether this may run: {error!r}"))

    def touched(self, task: CallTask) -> Resources:
        """What the call touches, as far as that is known now. A single call has nobody to wait for."""
        if task.siblings is None or task.invocation is None:
            return Resources()
        try:
            declared = task.invocation.resources()
            if declared.anything == "write" and self._only_reads(task):
                return replace(declared, anything="read")
            return declared
        except Exception:  # any error is reported where the call is judged
            return Resources(anything="write")

    def _only_reads(self, task: CallTask) -> bool:
        details = task.action.details if task.action is not None else None
        return isinstance(details, ExecDetails) and self._policy.only_reads(details)

    def verdict(self, action: Action, request: CallRequest) -> Verdict:
        return verdict_on(self._policy, action, request)

    async def apply(self, task: CallTask, invocation: Invocation, verdict: Verdict) -> None:
        match verdict.ruling:
            case "allow":
                await self.allow(task, verdict)
            case "deny":
                await self.deny(task, verdict)
            case "ask" if await self._tries_by_itself(task, invocation):
                await self.ask(task, invocation, verdict.reason, tried=True)
            case "ask":
                await self.ask_or_fail(task, invocation, verdict.reason)

    def allow(self, task: CallTask, verdict: Verdict) -> Awaitable[None]:
        decision = Decision(source=verdict.source, reason=verdict.reason, rule=verdict.rule, sandbox=verdict.runs_in)
        return self.move(task, CallScheduled(task.call_id, decision, new_about(task)))

    async def deny(self, task: CallTask, verdict: Verdict) -> NoReturn:
        await self.fail(
            task, Failure("policy_violation", f"Tool execution denied by policy: {verdict.reason.rstrip('.')}.")
        )

    async def ask_or_fail(self, task: CallTask, invocation: Invocation, why: str) -> None:
        if not self._options.attended:
            await self.fail(task, _nobody_to_ask(task, why))
        await self.ask(task, invocation, why)

    async def ask(
        self, task: CallTask, invocation: Invocation, why: str, args: JsonObject | None = None, *, tried: bool = False
    ) -> None:
        """With `tried`, it is tried at once, and the question that follows is about what it did."""
        assert task.action is not None
        limits = [limit for limit in (self._options.approval_ttl, task.max_wait) if limit is not None]
        expires = self._options.clock() + min(limits) if limits else None
        unapproved = self._policy.unapproved(task.action.details)
        untried = await self._why_untried(task, invocation)
        approval = make_approval(
            self._session,
            task.call_id,
            task.action,
            invocation,
            why,
            expires,
            unapproved,
            offered=self._policy.offered(task.action, task.call_id),
            untried=untried,
        )
        events: list[DurableEvent] = [ApprovalRequested(task.call_id, approval, args, new_about(task, invocation))]
        events += [TrialStarted(task.call_id, approval.id, "")] if tried else []
        await self.move(task, *events)
        failpoints.hit("asked")

    async def _why_untried(self, task: CallTask, invocation: Invocation) -> str | None:
        """Why the call cannot be tried first; empty if it can, None if there is nothing to try."""
        details = task.action.details if task.action is not None else None
        triable = invocation.triable()
        if triable is None or not isinstance(details, ExecDetails) or details.wider:
            return None
        problem = await triable.problem()
        return "earlier calls of the same reply run first" if not problem and _follows_others(task) else problem

    async def _waits_to_be_tried(self, task: CallTask, invocation: Invocation) -> bool:
        """Whether the mode has it tried, but not before earlier calls have run."""
        if not _follows_others(task) or task.action is None or not self._policy.tries_first(task.action):
            return False
        triable = invocation.triable()
        return triable is not None and not await triable.problem()

    async def _tries_by_itself(self, task: CallTask, invocation: Invocation) -> bool:
        if task.action is None or not self._policy.tries_first(task.action):
            return False
        return await self._why_untried(task, invocation) == ""

    def what_changed(self, task: CallTask) -> str:
        """Why a yes does not cover what the call would do now."""
        details = task.action.details if task.action is not None else None
        if isinstance(details, ExecDetails) and details.trial is not None and details.trial.stale:
            return "someone else has since changed files that the trial changed"
        files = self._policy.unapproved(details)
        return unapproved_in_words(files) if files else "what it would do has changed since you approved it"

    def digest(self, task: CallTask, args: JsonObject | None = None) -> str:
        """The digest of what the call would do now, with these arguments or its own."""
        details = task.action.details if task.action is not None else None
        args = task.request.args if args is None else args
        return action_digest(self._session, task.call_id, task.request.tool, args, details)

    def mark(self, task: CallTask) -> str:
        return run_mark(self._session, task.call_id)

    async def end_leftovers(self, task: CallTask) -> tuple[int, ...]:
        """What the call started when an earlier process ran it; nothing if its tool no longer exists."""
        tool = await self._registry.find(task.request.tool)
        if tool is None:
            return ()
        try:
            return await tool.build(task.request.args).end_leftovers(self.mark(task))
        except InvalidParams:
            return ()

    async def known_outcome(self, task: CallTask) -> str:
        """What a call has done that an earlier process was running; empty if that is unknown."""
        tool = await self._registry.find(task.request.tool)
        if tool is None:
            return ""
        try:
            return await tool.build(task.request.args).known_outcome(self.mark(task))
        except InvalidParams:
            return ""

    # --- endings ---

    async def succeed(self, task: CallTask, result: ToolResult) -> None:
        model_face = to_result(task.call_id, task.request.tool, result)
        if isinstance(task.call, Executing) and task.call.decision.edited:
            model_face = replace(model_face, response=model_face.response | {"note": EDITED, "args": task.request.args})
        status = "success" if result.failure is None else "error"
        await self.finish(
            task,
            CallFinished(
                call_id=task.call_id, status=status, result=model_face, display=result.display, failure=result.failure
            ),
        )

    async def fail(self, task: CallTask, failure: Failure) -> NoReturn:
        result = failure_result(task.call_id, task.request.tool, failure)
        await self.finish(
            task,
            CallFinished(
                call_id=task.call_id, status="error", result=result, display=_partial_output(task), failure=failure
            ),
        )
        raise Over

    def cancel(self, task: CallTask, *before: DurableEvent) -> Awaitable[None]:
        """End the call with its cancel reason; partial output and the proposed change are kept."""
        output = _partial_output(task)
        reason = task.cancel_reason or "Cancelled."
        result = cancelled_result(task.call_id, task.request.tool, reason, output.text if output else "")
        return self.finish(
            task, CallFinished(call_id=task.call_id, status="cancelled", result=result, display=output), *before
        )

    def finish(self, task: CallTask, event: CallFinished, *before: DurableEvent) -> Awaitable[None]:
        took = self._milliseconds(task.since)
        ran = None if task.runs_since is None else self._milliseconds(task.runs_since)
        event = event if task.exact else masked(event, self._options.masker)
        about = "" if task.request.about else new_about(task)
        return self.move(task, *before, replace(event, duration_ms=took, ran_ms=ran, about=about))

    def _milliseconds(self, moment: float) -> int:
        return round((self._options.timer() - moment) * 1000)


def _nobody_to_ask(task: CallTask, why: str) -> Failure:
    return Failure(
        "approval_unavailable",
        f'Tool execution of "{task.request.tool}" needs approval ({why}), and nobody can give it. '
        "Do not try again; continue without it or say what the user should run.",
    )


def _follows_others(task: CallTask) -> bool:
    """Whether earlier calls of its batch may still change what it would do."""
    return not task.in_turn and task.siblings is not None and task.siblings.may_change(task)


def _partial_output(task: CallTask) -> TerminalDisplay | None:
    if not isinstance(task.call, Executing):
        return None
    count = f"[binary output: {task.call.received:,} bytes received]\n" if task.call.received else ""
    output = task.call.output + count
    return TerminalDisplay(output) if output else None
