"""The scheduler: one batch at a time, each call living its own life from request to result.

    request ─► build ─► judge ─► (ask) ─► gate ─► started ─► execute ─► finished

Every transition goes through `_move`: checked against the table, then journalled in order. A side effect happens only
after its `call.started` is durable. One call's failure, refusal or cancellation leaves its siblings alone; a journal
that cannot write stops everything.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Iterable, Sequence
from typing import NoReturn

from assent import failpoints
from assent.approval import Decision
from assent.commands import Answer
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    ApprovalRequested,
    CallFinished,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallsQueued,
    CallStarted,
    DurableEvent,
    GateKind,
    GrantAdded,
)
from assent.parts import Failure, JsonObject, TerminalDisplay
from assent.policy.rules import Action, Policy, Verdict
from assent.scheduler.approvals import (
    Clock,
    NotWaiting,
    Refused,
    check_answer,
    edited_args,
    grant_for,
    make_approval,
    person_decision,
)
from assent.scheduler.call import (
    AwaitingApproval,
    Executing,
    Scheduled,
    Terminal,
    ToolCall,
    Validating,
    advance,
)
from assent.scheduler.digest import action_digest
from assent.scheduler.life import Batch, Journal, Life, LiveChannel
from assent.scheduler.resources import ResourceLine
from assent.tools.base import AnyTool, InvalidParams, Invocation, Permit, Resources, ToolFailed, ToolResult
from assent.tools.registry import Registry
from assent.tools.response import cancelled_result, failure_result, to_result

INTERRUPTED = Failure(
    "interrupted",
    "Assent stopped while this call was running. Whether it took effect is unknown; it was not run again. "
    "Check the state of things before you go on.",
)


class Over(Exception):
    """The call reached a terminal state; its life has nothing left to do."""


class Scheduler:
    def __init__(
        self,
        session: str,
        registry: Registry,
        policy: Policy,
        journal: Journal,
        *,
        gate: GateKind = "batch",
        attended: bool = True,
        max_parallel: int = 64,
        approval_ttl: float | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._session = session
        self._registry = registry
        self._policy = policy
        self._journal = journal
        self._gate: GateKind = gate
        self._attended = attended
        self._approval_ttl = approval_ttl
        self._clock = clock
        self._slots = asyncio.Semaphore(max_parallel)
        self._line = ResourceLine()
        self._lives: dict[str, Life] = {}
        self._running: asyncio.Task[None] | None = None
        self._queue: deque[Batch] = deque()
        self._parking = False

    # --- batches ---

    def schedule(self, requests: CallRequest | Sequence[CallRequest]) -> Batch:
        """Takes one or many calls as one batch; it starts at once, or when the batch before it is done."""
        many = (requests,) if isinstance(requests, CallRequest) else requests
        now = self._clock()
        return self._enqueue(Batch([Life(Validating(request, now)) for request in many], fresh=True))

    def restore(self, calls: Iterable[ToolCall]) -> Batch:
        """Takes over calls that an earlier process left unfinished. What had started is not run again."""
        return self._enqueue(Batch([Life(call) for call in calls], fresh=False))

    def _enqueue(self, batch: Batch) -> Batch:
        self._queue.append(batch)
        if self._running is None:
            self._start_next()
        else:
            self._journal.announce(CallsQueued(tuple(life.call_id for life in batch.lives)))
        return batch

    def _start_next(self) -> None:
        self._running = None
        if self._queue and not self._parking:
            batch = self._queue.popleft()
            self._running = asyncio.create_task(self._run(batch), name="batch")

    async def _run(self, batch: Batch) -> None:
        try:
            await self._run_lives(batch)
        except BaseExceptionGroup as group:
            batch.fail(group.exceptions[0])
        except Exception as error:
            batch.fail(error)
        else:
            batch.settle()
        finally:
            for life in batch.lives:
                self._lives.pop(life.call_id, None)
            self._start_next()

    async def _run_lives(self, batch: Batch) -> None:
        self._lives |= {life.call_id: life for life in batch.lives}
        if batch.fresh:
            await self._journal.record(*(CallRequested(life.request) for life in batch.lives))
            failpoints.hit("requested")
        async with asyncio.TaskGroup() as group:
            for life in batch.lives:
                life.task = group.create_task(self._live(life, batch))
            if batch.cancelled:
                self._cancel_lives(batch, batch.cancelled)

    # --- one call's life ---

    async def _live(self, life: Life, batch: Batch) -> None:
        try:
            await (self._decide(life) if batch.fresh else self._resume(life))
            await self._pass_gate(life, batch)
            await self._run_in_turn(life)
        except Over:
            pass
        except asyncio.CancelledError:
            await self._cancelled(life)
        finally:
            batch.barrier.leave()

    async def _decide(self, life: Life) -> None:
        """validating → scheduled, after a question where one is needed."""
        if life.request.problem:
            await self._fail(life, Failure("duplicate_call_id", life.request.problem))
        invocation = await self._build(life)
        verdict = await self._judge(life, invocation)
        await self._apply(life, invocation, verdict)
        await self._until_answered(life)

    async def _build(self, life: Life) -> Invocation:
        tool = self._registry.get(life.request.tool)
        if tool is None:
            message = self._registry.not_found(life.request.tool)
            await self._fail(life, Failure("tool_not_registered", message))
        try:
            invocation = tool.build(life.request.args)
        except InvalidParams as error:
            await self._fail(life, Failure("invalid_tool_params", str(error)))
        life.tool, life.invocation = tool, invocation
        return invocation

    async def _judge(self, life: Life, invocation: Invocation) -> Verdict:
        """Anything that goes wrong while deciding is an error of the call, never a yes."""
        try:
            life.action = await self._action(self._tool(life), life.request.args, invocation)
            return self._judged(life.action, life.request)
        except ToolFailed as error:
            await self._fail(life, error.failure)
        except Exception as error:
            await self._fail(life, Failure("policy_error", f"Could not decide whether this may run: {error!r}"))

    async def _action(self, tool: AnyTool, args: JsonObject, invocation: Invocation) -> Action:
        main = args.get(tool.main_argument, "") if tool.main_argument else ""
        details = await invocation.should_confirm()
        return Action(tool.name, args, details, main=str(main), server=tool.server)

    def _judged(self, action: Action, request: CallRequest) -> Verdict:
        verdict = self._policy.judge(action)
        if verdict.ruling == "ask" and request.initiator == "person":
            return Verdict("allow", "rule", "you started it yourself")
        return verdict

    async def _apply(self, life: Life, invocation: Invocation, verdict: Verdict) -> None:
        match verdict.ruling:
            case "allow":
                await self._move(life, CallScheduled(life.call_id, Decision(verdict.source, verdict.reason)))
            case "deny":
                await self._fail(life, _denied(verdict))
            case "ask" if not self._attended:
                await self._fail(life, _nobody_to_ask(life, verdict))
            case "ask":
                await self._ask(life, invocation, verdict.reason)

    async def _ask(self, life: Life, invocation: Invocation, why: str, args: JsonObject | None = None) -> None:
        assert life.action is not None
        approval = make_approval(
            self._session, life.call_id, life.action, invocation, why, ttl=self._approval_ttl, now=self._clock()
        )
        await self._move(life, ApprovalRequested(life.call_id, approval, args))
        failpoints.hit("asked")

    async def _until_answered(self, life: Life) -> None:
        while isinstance(life.call, AwaitingApproval):
            life.changed.clear()
            expires = life.call.approval.expires_at
            patience = None if expires is None else max(0.0, expires - self._clock())
            try:
                async with asyncio.timeout(patience):
                    await life.changed.wait()
            except TimeoutError:
                await self._expire(life)
        if isinstance(life.call, Terminal):
            raise Over

    async def _expire(self, life: Life) -> None:
        if isinstance(life.call, AwaitingApproval) and not life.call.answered_by:
            life.cancel_reason = "The approval expired unanswered."
            await self._finish_cancelled(life)

    async def _pass_gate(self, life: Life, batch: Batch) -> None:
        """`batch`: all decided, then all looked at again, then all start. `eager`: each on its own."""
        if self._gate == "batch":
            await batch.barrier.arrive()
            await self._recheck(life)
            await batch.barrier.arrive()

    async def _run_in_turn(self, life: Life) -> None:
        """Waits for earlier calls that touch the same things, then runs."""
        assert life.invocation is not None
        earlier, done = self._line.join(self._resources(life.invocation))
        try:
            if earlier:
                await asyncio.wait(earlier)
            async with self._slots:
                await self._recheck(life)
                await self._execute(life)
        finally:
            done.set_result(None)

    def _resources(self, invocation: Invocation) -> Resources:
        """With the batch gate only single files keep their order: commands, which may touch all, run in parallel."""
        declared = invocation.resources()
        if self._gate == "eager":
            return declared
        return Resources(*(tuple(p for p in paths if p[-1:] != "/") for paths in (declared.reads, declared.writes)))

    async def _recheck(self, life: Life) -> None:
        """Is what would happen still what was decided on? A person's yes covers only exactly what was shown."""
        call, invocation = life.call, life.invocation
        assert isinstance(call, Scheduled) and invocation is not None
        if life.action is None or life.action.details is None:
            return
        verdict = await self._judge(life, invocation)
        if call.decision.source != "person":
            if verdict.ruling != "allow":
                await self._apply(life, invocation, verdict)
        elif self._digest(life) != call.decision.digest:
            await self._ask(life, invocation, "what it would do changed after you approved it")
        await self._until_answered(life)

    async def _execute(self, life: Life) -> None:
        assert life.invocation is not None
        permit = Permit(life.call_id, self._digest(life))
        await self._move(life, CallStarted(life.call_id, permit.digest))
        failpoints.hit("started")
        try:
            result = await life.invocation.execute(permit, LiveChannel(life, self._journal))
        except ToolFailed as error:
            await self._fail(life, error.failure)
        except Exception as error:
            await self._fail(life, Failure("unhandled_exception", f"{type(error).__name__}: {error}"))
        failpoints.hit("effect done")
        await self._succeed(life, result)

    # --- endings ---

    async def _succeed(self, life: Life, result: ToolResult) -> None:
        model_face = to_result(life.call_id, life.request.tool, result)
        status = "success" if result.failure is None else "error"
        await self._finish(life, CallFinished(life.call_id, status, model_face, result.display, result.failure))
        failpoints.hit("finished")

    async def _fail(self, life: Life, failure: Failure) -> NoReturn:
        result = failure_result(life.call_id, life.request.tool, failure)
        output = _partial_output(life.call)
        display = TerminalDisplay(output) if output else None
        await self._finish(life, CallFinished(life.call_id, "error", result, display, failure))
        raise Over

    async def _cancelled(self, life: Life) -> None:
        if self._parking and not isinstance(life.call, Executing):
            raise asyncio.CancelledError  # stays as it is in the log, for whoever opens the session next
        if not isinstance(life.call, Terminal):
            await self._finish_cancelled(life)
        if life.recorded is not None:
            await life.recorded

    async def _finish_cancelled(self, life: Life) -> None:
        reason = life.cancel_reason or "Cancelled."
        output = _partial_output(life.call)
        result = cancelled_result(life.call_id, life.request.tool, reason, output)
        display = TerminalDisplay(output) if output else None
        await self._finish(life, CallFinished(life.call_id, "cancelled", result, display))

    async def _finish(self, life: Life, event: CallFinished) -> None:
        took = round((self._clock() - life.call.started_at) * 1000)
        await self._move(life, _with_duration(event, max(0, took)))

    def _move(self, life: Life, *events: DurableEvent) -> Awaitable[None]:
        """Every transition of every call happens here."""
        call = life.call
        for event in events:
            if not isinstance(event, GrantAdded):
                call = advance(call, event)
        life.call = call
        life.recorded = self._journal.record(*events)
        life.changed.set()
        return life.recorded

    # --- reopening ---

    async def _resume(self, life: Life) -> None:
        """Continues a call from the log. Nothing that may have happened happens again; a question stays a question."""
        match life.call:
            case Executing():
                await self._fail(life, INTERRUPTED)
            case Validating():
                await self._decide(life)
            case AwaitingApproval() | Scheduled():
                await self._resume_decided(life, life.call)
            case _:
                raise Over

    async def _resume_decided(self, life: Life, call: AwaitingApproval | Scheduled) -> None:
        invocation = await self._build(life)
        verdict = await self._judge(life, invocation)
        match call:
            case Scheduled() if call.decision.source != "person" and verdict.ruling == "allow":
                pass
            case Scheduled() if call.decision.source == "person":
                await self._ask(life, invocation, "you approved it, but Assent stopped before it started")
            case AwaitingApproval() if verdict.ruling == "ask":
                if self._digest(life) != call.approval.digest:
                    await self._ask(life, invocation, "what it would do changed while Assent was stopped")
            case _:
                await self._apply(life, invocation, verdict)
        await self._until_answered(life)

    # --- what clients ask for ---

    def waiting(self) -> list[AwaitingApproval]:
        return [life.call for life in self._lives.values() if isinstance(life.call, AwaitingApproval)]

    async def answer(self, answer: Answer) -> None:
        """Takes an answer to a waiting call: durable when this returns. When it raises Refused, nothing has changed."""
        life = self._lives.get(answer.call_id)
        if life is None:
            raise NotWaiting(f"no call {answer.call_id} waits for an answer")
        check_answer(life.call, answer)
        match answer.outcome:
            case "cancel":
                await self._refuse(life, answer)
            case "modify_with_editor":
                await self._modify(life, answer)
            case _:
                await self._proceed(life, answer)

    async def _refuse(self, life: Life, answer: Answer) -> None:
        approval = check_answer(life.call, answer)
        life.cancel_reason = answer.reason or "User did not allow tool call"
        result = cancelled_result(life.call_id, life.request.tool, life.cancel_reason)
        answered = ApprovalAnswered(life.call_id, approval.id, "cancel", answer.by, answer.reason)
        took = round((self._clock() - life.call.started_at) * 1000)
        finished = CallFinished(life.call_id, "cancelled", result, duration_ms=max(0, took))
        await self._move(life, answered, finished)

    async def _modify(self, life: Life, answer: Answer) -> None:
        """Somebody edits the proposal. With the edited text the question is asked again; without, it is marked."""
        assert life.invocation is not None
        args = edited_args(life.invocation, answer)
        if args is None:
            event = ApprovalModifying(life.call_id, answer.by)
            life.call = advance(life.call, event)
            self._journal.announce(event)
            return
        invocation, action = await self._rebuilt(life, args)
        check_answer(life.call, answer)
        life.invocation, life.action = invocation, action
        await self._ask(life, invocation, f"{answer.by or 'somebody'} changed the proposal", args)

    async def _proceed(self, life: Life, answer: Answer) -> None:
        assert life.invocation is not None and life.action is not None
        args = edited_args(life.invocation, answer)
        invocation, action = life.invocation, life.action
        if args is not None:
            invocation, action = await self._rebuilt(life, args)
        approval = check_answer(life.call, answer)  # again: another answer may have come while we looked
        life.invocation, life.action = invocation, action
        digest = self._digest(life, args)
        grant = grant_for(answer, approval, action)
        answered = ApprovalAnswered(life.call_id, approval.id, answer.outcome, answer.by, answer.reason, args)
        decision = person_decision(answer, digest, edited=args is not None)
        granted = () if grant is None else (GrantAdded(grant),)
        recorded = self._move(life, answered, *granted, CallScheduled(life.call_id, decision))
        if grant is not None:
            self._policy.add_grant(grant)
        await recorded
        failpoints.hit("answered")
        if grant is not None:
            await self.rejudge()

    async def _rebuilt(self, life: Life, args: JsonObject) -> tuple[Invocation, Action]:
        """The call with other arguments: checked by the tool and by the deny rules like any other."""
        tool = self._tool(life)
        try:
            invocation = tool.build(args)
            action = await self._action(tool, args, invocation)
        except (InvalidParams, ToolFailed) as error:
            raise Refused(str(error)) from error
        verdict = self._policy.judge(action)
        if verdict.ruling == "deny":
            raise Refused(f"a rule forbids this: {verdict.reason}")
        return invocation, action

    async def rejudge(self) -> None:
        """Judges every waiting call again, after a mode change or a new grant."""
        for life in list(self._lives.values()):
            if not isinstance(life.call, AwaitingApproval) or life.call.answered_by or life.action is None:
                continue
            verdict = self._judged(life.action, life.request)
            if verdict.ruling == "allow":
                await self._move(life, CallScheduled(life.call_id, Decision(verdict.source, verdict.reason)))
            elif verdict.ruling == "deny":
                try:
                    await self._fail(life, _denied(verdict))
                except Over:
                    continue

    def cancel(self, batch: Batch, reason: str) -> None:
        """Cancels what waits, is queued or runs; partial output and the proposed change are kept."""
        batch.cancelled = reason
        self._cancel_lives(batch, reason)

    def cancel_call(self, call_id: str, reason: str) -> None:
        life = self._lives.get(call_id)
        if life is None or life.task is None or isinstance(life.call, Terminal):
            raise NotWaiting(f"no call {call_id} is under way")
        life.cancel_reason = reason
        life.task.cancel()

    def _cancel_lives(self, batch: Batch, reason: str) -> None:
        for life in batch.lives:
            if life.task is not None and not isinstance(life.call, Terminal):
                life.cancel_reason = reason
                life.task.cancel()

    async def park(self) -> None:
        """Stops without answering: running calls are cancelled, waiting ones stay in the log as they are."""
        self._parking = True
        running = self._running
        for life in self._lives.values():
            if life.task is not None:
                life.cancel_reason = "Assent was closed."
                life.task.cancel()
        if running is not None:
            await asyncio.wait([running])

    # --- small things ---

    def _tool(self, life: Life) -> AnyTool:
        assert life.tool is not None
        return life.tool

    def _digest(self, life: Life, args: JsonObject | None = None) -> str:
        details = life.action.details if life.action is not None else None
        args = life.request.args if args is None else args
        return action_digest(self._session, life.call_id, life.request.tool, args, details)


def _denied(verdict: Verdict) -> Failure:
    return Failure("policy_violation", f"Tool execution denied by policy: {verdict.reason}.")


def _nobody_to_ask(life: Life, verdict: Verdict) -> Failure:
    return Failure(
        "approval_unavailable",
        f'Tool execution of "{life.request.tool}" needs approval ({verdict.reason}), and nobody is there to give it. '
        "Do not try again; go on without it or say what the user should run.",
    )


def _partial_output(call: ToolCall) -> str:
    return call.output if isinstance(call, Executing) else ""


def _with_duration(event: CallFinished, took: int) -> CallFinished:
    return CallFinished(event.call_id, event.status, event.result, event.display, event.failure, took)
