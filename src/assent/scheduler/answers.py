"""Answers to waiting calls, whoever gives them: the first one wins and is durable before it is acknowledged.

A yes covers exactly what was shown: it names the digest, and edited arguments are checked like the model's own.
"""

from collections.abc import Mapping

from assent import failpoints
from assent.approval import Approval, EditDetails
from assent.commands import Answer
from assent.events import ApprovalAnswered, ApprovalModifying, CallScheduled, CommandTaken, GrantAdded
from assent.parts import JsonObject
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.scheduler.approvals import (
    NotWaiting,
    Refused,
    check_answer,
    edited_args,
    grant_for,
    person_decision,
)
from assent.scheduler.call import AwaitingApproval, advance
from assent.scheduler.life import Journal, Life
from assent.scheduler.steps import Over, Steps, make_action, new_about
from assent.tools.base import InvalidParams, Invocation, ToolFailed

NOT_ALLOWED = "User did not allow tool call"
"""The reason of a refusal without one."""


class Answers:
    def __init__(self, lives: Mapping[str, Life], steps: Steps, policy: Policy, journal: Journal) -> None:
        self._lives = lives
        self._steps = steps
        self._policy = policy
        self._journal = journal

    async def take(self, answer: Answer, key: str) -> None:
        """Raises Refused when the answer cannot be taken; then nothing has changed.

        `key` is that of the command, if it was one: that it was taken is recorded with the last of what it did.
        """
        life = self._lives.get(answer.call_id)
        if life is None:
            raise NotWaiting(f"no call {answer.call_id} waits for an answer")
        await life.answerable.wait()
        approval = check_answer(life.call, answer)
        match answer.outcome:
            case "cancel":
                await self._refuse(life, approval, answer, key)
            case "modify_with_editor":
                await self._modify(life, approval, answer)
                await self._acknowledge(answer, key)
            case _:
                await self._proceed(life, approval, answer, key)

    async def _refuse(self, life: Life, approval: Approval, answer: Answer, key: str) -> None:
        life.cancel_reason = answer.reason or NOT_ALLOWED
        await self._steps.cancel(life, _answered(answer, approval, key), *_taken(answer, key))

    async def _modify(self, life: Life, approval: Approval, answer: Answer) -> None:
        """Somebody edits the proposal. With the edited text the question is asked again; without, it is marked, until
        they say that they are done by sending the text as it was."""
        assert life.invocation is not None
        args = edited_args(life.invocation, answer, approval)
        if args is None:
            self._mark_edited(life, answer.by)
        elif isinstance(approval.details, EditDetails) and answer.content == approval.details.new:
            self._unmark_edited(life, answer.by)
        else:
            invocation, action = await self._rebuilt(life, args)
            check_answer(life.call, answer)
            self._use(life, invocation, action)
            await self._steps.ask(life, invocation, f"{answer.by or 'somebody'} changed the proposal", args)

    def _mark_edited(self, life: Life, by: str) -> None:
        event = ApprovalModifying(life.call_id, by)
        life.call = advance(life.call, event)
        self._journal.announce(event)

    def _unmark_edited(self, life: Life, by: str) -> None:
        """Unless somebody else is at it by now."""
        if isinstance(life.call, AwaitingApproval) and life.call.modifying_by == by:
            self._mark_edited(life, "")

    async def _proceed(self, life: Life, approval: Approval, answer: Answer, key: str) -> None:
        assert life.invocation is not None and life.action is not None
        invocation, action = life.invocation, life.action
        args = edited_args(invocation, answer, approval)
        if args is not None:
            if answer.outcome != "proceed_once":
                raise Refused("changed arguments are approved once; what was shown with `always` is not what would run")
            invocation, action = await self._rebuilt(life, args)
        approval = check_answer(life.call, answer)  # again: another answer may have come while we looked
        self._use(life, invocation, action)
        life.answers = answer.answers
        await self._approve(life, answer, approval, _answered(answer, approval, key, args))

    async def _approve(self, life: Life, answer: Answer, approval: Approval, answered: ApprovalAnswered) -> None:
        assert life.action is not None
        edited = answered.args is not None or (isinstance(life.call, AwaitingApproval) and life.call.edited)
        decision = person_decision(answer, self._steps.digest(life, answered.args), edited=edited)
        grant = grant_for(answer, approval, life.action, self._steps.now())
        if grant is not None:
            self._policy.add_grant(grant)
        scheduled = CallScheduled(life.call_id, decision, new_about(life))
        events = (scheduled, *_taken(answer, answered.key)) if grant is None else (GrantAdded(grant), scheduled)
        await self._steps.move(life, answered, *events)
        failpoints.hit("answered")
        if grant is not None:
            await self.rejudge()
            await self._acknowledge(answer, answered.key)  # now: whoever hears of it sees what the grant has settled

    def _use(self, life: Life, invocation: Invocation, action: Action) -> None:
        """Goes on with these arguments; calls after it may build on what they would do."""
        life.invocation, life.action = invocation, action
        life.touches = self._steps.touched(life)
        life.tell_siblings()

    async def _acknowledge(self, answer: Answer, key: str) -> None:
        if key:
            await self._journal.record(*_taken(answer, key))

    async def _rebuilt(self, life: Life, args: JsonObject) -> tuple[Invocation, Action]:
        """The call with other arguments: checked by the tool and by the deny rules like any other."""
        assert life.tool is not None
        try:
            invocation = life.tool.build(args)
            life.build_on_siblings(invocation)
            action = await make_action(self._policy, life.tool, args, invocation)
        except (InvalidParams, ToolFailed) as error:
            raise Refused(str(error)) from error
        verdict = self._policy.judge(action)
        if verdict.ruling == "deny":
            raise Refused(f"a rule forbids this: {verdict.reason}")
        return invocation, action

    async def rejudge(self) -> None:
        """Judges every waiting call again, after a mode change or a new grant."""
        for life in list(self._lives.values()):
            if isinstance(life.call, AwaitingApproval) and not life.call.answered_by and life.action is not None:
                await self._rejudge(life, life.action)

    async def _rejudge(self, life: Life, action: Action) -> None:
        verdict = self._steps.verdict(action, life.request)
        try:
            match verdict.ruling:
                case "allow":
                    await self._steps.allow(life, verdict)
                case "deny":
                    await self._steps.deny(life, verdict)
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


def _taken(answer: Answer, key: str) -> tuple[CommandTaken, ...]:
    return (CommandTaken(key, answer.by),) if key else ()
