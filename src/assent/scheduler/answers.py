"""Answers to waiting calls, from anyone: the first one wins and is durable before it is acknowledged.

A yes covers exactly what was shown: it names the digest, and edited arguments are validated like the model's own.
"""

from collections.abc import Mapping

from assent import failpoints
from assent.approval import Approval, EditDetails, Grant
from assent.commands import Answer
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    CallScheduled,
    CommandTaken,
    GrantAdded,
    TrialStarted,
)
from assent.hunks import BadHunks
from assent.parts import JsonObject
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.scheduler.approvals import check_answer, edited_args, grant_for, person_decision, trial_of
from assent.scheduler.call import AwaitingApproval, Scheduled, advance
from assent.scheduler.call_task import CallTask, Journal
from assent.scheduler.refusals import NotWaiting, Refused
from assent.scheduler.transitions import Over, Transitions, make_action, new_about
from assent.scheduler.trial_runs import drop_trial
from assent.tools.tool import InvalidParams, Invocation, ToolFailed

CHANGED_SINCE_TRIED = "someone else has since changed files that the trial changed; review it again"
CHANGED_SINCE_SHOWN = "the file has changed since it was shown to you; look at it again before you answer"
EDITING_SECONDS = 600.0
"""After that, whoever edits a proposal counts as gone: a browser that is closed, or an attached terminal that dies, may
say nothing any more."""
NOT_ALLOWED = "User did not allow tool call"
"""The reason for a refusal that gives none."""


class Answers:
    def __init__(
        self, tasks: Mapping[str, CallTask], transitions: Transitions, policy: Policy, journal: Journal
    ) -> None:
        self._tasks = tasks
        self._transitions = transitions
        self._policy = policy
        self._journal = journal

    async def take(self, answer: Answer, key: str) -> None:
        """Raises Refused if the answer cannot be accepted; then nothing has changed.

        `key` is the idempotency key of the command, if any: its last effect also records that it was handled.
        """
        task = self._tasks.get(answer.call_id)
        if task is None:
            raise NotWaiting(f"no call {answer.call_id} is waiting for an answer")
        await task.answerable.wait()
        approval = check_answer(task.call, answer)
        match answer.outcome:
            case "cancel":
                await self._refuse(task, approval, answer, key)
            case "modify_with_editor":
                await self._modify(task, approval, answer)
                await self._acknowledge(answer, key)
            case "try_first":
                started = TrialStarted(task.call_id, approval.id, answer.by, key)
                await self._transitions.move(task, started, *_taken(answer, key))  # its own task tries it
            case "run_directly":
                await self._run_directly(task, answer, key)
            case _:
                await self._proceed(task, approval, answer, key)

    async def _refuse(self, task: CallTask, approval: Approval, answer: Answer, key: str) -> None:
        task.cancel_reason = answer.reason or NOT_ALLOWED
        await self._transitions.cancel(task, _answered(answer, approval, key), *_taken(answer, key))

    async def _modify(self, task: CallTask, approval: Approval, answer: Answer) -> None:
        """Someone is editing the proposal. With the edited text or arguments, it is judged and asked again; without
        them, the question is marked until they finish by sending the text.
        """
        assert task.invocation is not None
        args = edited_args(task.invocation, answer, approval)
        if args is None:
            self._mark_edited(task, answer.by)
        elif isinstance(approval.details, EditDetails) and answer.content == approval.details.new:
            self._unmark_edited(task, answer.by)
        else:
            try:
                invocation, action = await self._rebuilt(task, args)
            except Refused:
                self._unmark_edited(task, answer.by)
                raise
            check_answer(task.call, answer)
            self._use(task, invocation, action)
            await self._transitions.ask(task, invocation, "the proposal was changed by hand", args)

    def end_editing(self, task: CallTask) -> None:
        """Nobody who edits it will say so."""
        if isinstance(task.call, AwaitingApproval) and task.call.modifying_by:
            self._mark_edited(task, "")

    def _mark_edited(self, task: CallTask, by: str) -> None:
        self._transitions.edited_from_now(task, EDITING_SECONDS if by else None)
        event = ApprovalModifying(task.call_id, by)
        task.call = advance(task.call, event)
        self._journal.announce(event)

    def _unmark_edited(self, task: CallTask, by: str) -> None:
        """Unless someone else is editing it by now."""
        if isinstance(task.call, AwaitingApproval) and task.call.modifying_by == by:
            self._mark_edited(task, "")

    async def _proceed(self, task: CallTask, approval: Approval, answer: Answer, key: str) -> None:
        assert task.invocation is not None and task.action is not None
        invocation, action = task.invocation, task.action
        args = edited_args(invocation, answer, approval)
        if args is None and trial_of(approval.details) is not None:
            action = await self._accepted(task, invocation, answer)
        elif args is not None:
            await drop_trial(task)
            if answer.outcome != "proceed_once":
                raise Refused("changed arguments can only be approved once: `always` would not apply to what runs")
            invocation, action = await self._rebuilt(task, args)
            if _builds_on_other(approval, action):
                task.disturb()  # it is asked again
                raise Refused(CHANGED_SINCE_SHOWN)
        approval = check_answer(task.call, answer)  # again: another answer may have arrived meanwhile
        self._use(task, invocation, action)
        task.answers = answer.answers
        await self._approve(task, answer, approval, _answered(answer, approval, key, args))

    async def _accepted(self, task: CallTask, invocation: Invocation, answer: Answer) -> Action:
        """The chosen parts of what a trial showed, if they can still be applied."""
        triable = invocation.triable()
        assert triable is not None and task.tool is not None
        try:
            triable.accept(answer.hunks)
        except BadHunks as error:
            raise Refused(str(error)) from error
        action = await make_action(self._policy, task.tool, task.request.args, invocation)
        trial = trial_of(action.details)
        if trial is None or trial.stale:
            triable.accept(None)
            task.disturb()  # it is asked again
            raise Refused(CHANGED_SINCE_TRIED)
        return action

    async def _run_directly(self, task: CallTask, answer: Answer, key: str) -> None:
        """As if it had not been tried: the question about the effects also showed the command."""
        assert task.invocation is not None and task.tool is not None
        await drop_trial(task)
        action = await make_action(self._policy, task.tool, task.request.args, task.invocation)
        approval = check_answer(task.call, answer)
        self._use(task, task.invocation, action)
        await self._approve(task, answer, approval, _answered(answer, approval, key))

    async def _approve(self, task: CallTask, answer: Answer, approval: Approval, answered: ApprovalAnswered) -> None:
        assert task.action is not None
        edited = answered.args is not None or (isinstance(task.call, AwaitingApproval) and task.call.edited)
        decision = person_decision(answer, self._transitions.digest(task, answered.args), edited=edited)
        grant = grant_for(answer, approval, task.action, self._transitions.now())
        if grant is not None:
            self._add(grant)
        self._policy.approve_files(task.action.details)
        scheduled = CallScheduled(task.call_id, decision, new_about(task))
        events = (scheduled, *_taken(answer, answered.key)) if grant is None else (GrantAdded(grant), scheduled)
        await self._transitions.move(task, answered, *events)
        failpoints.hit("answered")
        if grant is not None:
            await self._policy.settled()
            await self.rejudge()
            await self._acknowledge(answer, answered.key)  # first, so that listeners see what the grant has settled

    def _add(self, grant: Grant) -> None:
        try:
            self._policy.keep(grant)
        except OSError as error:
            raise Refused(f"the grant could not be written: {error}") from error
        self._policy.add_grant(grant)

    def _use(self, task: CallTask, invocation: Invocation, action: Action) -> None:
        """Continue with these arguments; later calls may build on what they would do."""
        task.invocation, task.action = invocation, action
        task.touches = self._transitions.touched(task)
        task.tell_siblings()

    async def _acknowledge(self, answer: Answer, key: str) -> None:
        if key:
            await self._journal.record(*_taken(answer, key))

    async def _rebuilt(self, task: CallTask, args: JsonObject) -> tuple[Invocation, Action]:
        """The call with other arguments: checked by the tool and by the deny rules like any other."""
        assert task.tool is not None
        try:
            invocation = task.tool.build(args)
            task.build_on_siblings(invocation)
            action = await make_action(self._policy, task.tool, args, invocation)
        except (InvalidParams, ToolFailed) as error:
            raise Refused(str(error)) from error
        verdict = self._policy.judge(action)
        if verdict.ruling == "deny":
            raise Refused(f"a rule denies this: {verdict.reason}")
        return invocation, action

    async def rejudge(self) -> None:
        """Judge every call again that waits, for an answer or for its batch, after a mode change or a changed grant."""
        for task in list(self._tasks.values()):
            match task.call:
                case AwaitingApproval(answered_by="", tried_by=None) if task.action is not None:
                    await self._rejudge(task, task.action)
                case Scheduled(decision=decision) if decision.source != "person" and task.action is not None:
                    if self._transitions.verdict(task.action, task.request).ruling != "allow":
                        task.reconsider()  # it was allowed, and is no longer: it must ask before the batch starts
                case _:
                    pass

    async def _rejudge(self, task: CallTask, action: Action) -> None:
        verdict = self._transitions.verdict(action, task.request)
        try:
            match verdict.ruling:
                case "allow":
                    await self._transitions.allow(task, verdict)
                case "deny":
                    await self._transitions.deny(task, verdict)
                case "ask":
                    pass
        except Over:
            pass


def _answered(answer: Answer, approval: Approval, key: str, args: JsonObject | None = None) -> ApprovalAnswered:
    return ApprovalAnswered(
        call_id=answer.call_id,
        approval_id=approval.id,
        outcome=answer.outcome,
        by=answer.by,
        reason=answer.reason,
        args=args,
        key=key,
        answers=answer.answers,
    )


def _builds_on_other(approval: Approval, action: Action) -> bool:
    """Whether the file is no longer what was shown: parts of the change, or edited content, would overwrite it."""
    match approval.details, action.details:
        case EditDetails(path=path, old=shown), EditDetails(path=same, old=old) if path == same:
            return shown != old
        case _:
            return False


def _taken(answer: Answer, key: str) -> tuple[CommandTaken, ...]:
    return (CommandTaken(key, answer.by),) if key else ()
