"""The scheduler: one batch at a time, each call in its own task from request to result.

    request ─► build ─► judge ─► (ask) ─► gate ─► started ─► execute ─► finished

A side effect happens only after its `call.started` is durable. One call's failure, refusal or cancellation does not
affect its siblings; a journal that cannot write stops everything.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from assent import failpoints
from assent.approval import Approval, Decision
from assent.commands import Answer
from assent.events import CallRequest, CallRequested, CallsQueued
from assent.parts import Failure
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.scheduler.answers import CHANGED_SINCE_TRIED, Answers
from assent.scheduler.approvals import trial_of
from assent.scheduler.batch import Batch
from assent.scheduler.call import AwaitingApproval, Executing, Scheduled, Terminal, ToolCall, Validating
from assent.scheduler.call_task import CallTask, Journal
from assent.scheduler.execution import Execution
from assent.scheduler.refusals import NotWaiting, Refused
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.scheduler.transitions import Over, Transitions
from assent.scheduler.trial_runs import STOPPED, TrialRuns, drop_trial
from assent.tools.registry import Registry
from assent.tools.tool import Invocation

_DEFAULTS = SchedulerOptions()
_NOT_RECORDED = "The end of this call was not recorded: Assent stopped, or could no longer write its log."
INTERRUPTED = Failure(
    "interrupted",
    f"{_NOT_RECORDED} Whether it took effect is unknown; it was not run again. "
    "Check the current state before you continue.",
)


def interrupted(survivors: tuple[int, ...], outcome: str = "") -> Failure:
    """The end of a call that an earlier process was running: what is known of it, and those of its processes that could
    not be ended.
    """
    if outcome:
        return Failure(INTERRUPTED.type, f"{_NOT_RECORDED} {outcome}")
    if not survivors:
        return INTERRUPTED
    who = ", ".join(map(str, survivors))
    return Failure(
        INTERRUPTED.type, f"{INTERRUPTED.message} It is still running and could not be ended: process {who}."
    )


class Scheduler:
    def __init__(
        self,
        session: str,
        registry: Registry,
        policy: Policy,
        journal: Journal,
        options: SchedulerOptions = _DEFAULTS,
    ) -> None:
        self._journal = journal
        self._options = options
        self._slots = asyncio.Semaphore(options.max_parallel)
        self._tasks: dict[str, CallTask] = {}
        self._running: asyncio.Task[None] | None = None
        self._queue: deque[Batch] = deque()
        self._parking = False
        self._transitions = Transitions(session, registry, policy, journal, options)
        self._execution = Execution(self._transitions, policy, journal, options)
        self._answers = Answers(self._tasks, self._transitions, policy, journal)

    # --- the client interface ---

    def prepare(self) -> None:
        """Calls may come soon."""
        self._transitions.prepare()

    def schedule(self, requests: CallRequest | Sequence[CallRequest]) -> Batch:
        """Take one or more calls as one batch; it starts at once, or after the previous batch."""
        many = (requests,) if isinstance(requests, CallRequest) else requests
        now = self._options.clock()
        return self._enqueue(self._batch([CallTask(Validating(request, now)) for request in many], fresh=True))

    def restore(self, calls: Iterable[ToolCall]) -> Batch:
        """Take over calls that an earlier process left unfinished. Started calls are not run again."""
        return self._enqueue(self._batch([CallTask(call) for call in calls], fresh=False))

    async def answer(self, answer: Answer, key: str = "") -> None:
        """Answer a waiting call. When this returns, the answer is durable, and so is the fact that the command with
        this key was handled.

        If it raises Refused, nothing has changed.
        """
        await self._answers.take(answer, key)

    async def rejudge(self) -> None:
        """Judge every waiting call again, after the mode has changed."""
        await self._answers.rejudge()

    async def judged(self) -> None:
        """Waits until the calls in progress are judged. Calls from the log are judged again before that."""
        for task in list(self._tasks.values()):
            await task.answerable.wait()

    def waiting(self) -> list[AwaitingApproval]:
        return [task.call for task in self._tasks.values() if isinstance(task.call, AwaitingApproval)]

    @property
    def busy(self) -> bool:
        return self._running is not None

    @property
    def only_waits(self) -> bool:
        """Everything left is waiting for a person, and stopping here would lose no answer."""
        open_calls = [task.call for task in self._tasks.values() if not isinstance(task.call, Terminal)]
        return bool(open_calls) and all(_can_be_parked(call) for call in open_calls)

    def cancel(self, batch: Batch, reason: str) -> None:
        """Cancel what is waiting, queued or running; partial output and the proposed change are kept."""
        for task in batch.tasks:
            if not isinstance(task.call, Terminal):
                task.cancel(reason)

    def cancel_call(self, call_id: str, reason: str) -> None:
        task = self._tasks.get(call_id)
        if task is None or isinstance(task.call, Terminal):
            raise NotWaiting(f"call {call_id} is not in progress")
        task.cancel(reason)

    def type_in(self, call_id: str, number: int, text: str | None) -> None:
        """Type a line for a prompt of a running command; None is the end of its input. Nothing of it is recorded."""
        task = self._tasks.get(call_id)
        if task is None or task.type_in is None:
            raise NotWaiting(f"call {call_id} is not waiting for input")
        try:
            if not task.type_in(number, text):
                raise NotWaiting(f"call {call_id} is no longer waiting for input")
        except ValueError as error:
            raise Refused(str(error)) from error

    async def park(self) -> None:
        """Stop without answering: running calls are cancelled, waiting ones stay in the log as they are."""
        self._parking = True
        for task in self._tasks.values():
            if not isinstance(task.call, Terminal):
                task.cancel("Assent was closed.")
        if self._running is not None:
            await asyncio.wait([self._running])

    # --- batches ---

    def _batch(self, tasks: Sequence[CallTask], *, fresh: bool) -> Batch:
        for task in tasks:
            self._transitions.begin(task)
        return Batch(tasks, self._transitions.touched, fresh=fresh)

    def _enqueue(self, batch: Batch) -> Batch:
        self._queue.append(batch)
        if self._running is None:
            self._start_next()
        else:
            self._journal.announce(CallsQueued(tuple(task.call_id for task in batch.tasks)))
        return batch

    def _start_next(self) -> None:
        self._running = None
        while self._parking and self._queue:
            self._queue.popleft().settle()
        if self._queue:
            batch = self._queue.popleft()
            self._tasks.update({task.call_id: task for task in batch.tasks})
            self._running = asyncio.create_task(self._run(batch), name="batch")

    async def _run(self, batch: Batch) -> None:
        try:
            await self._run_calls(batch)
        except BaseExceptionGroup as group:
            batch.fail(group.exceptions[0])
        except Exception as error:
            batch.fail(error)
        finally:
            batch.settle()
            for task in batch.tasks:
                task.answerable.set()  # even if it never began, whoever waits for it must know
                self._tasks.pop(task.call_id, None)
            self._start_next()

    async def _run_calls(self, batch: Batch) -> None:
        if batch.fresh:
            await self._journal.record(*(CallRequested(task.request) for task in batch.tasks))
            failpoints.hit("requested")
        async with asyncio.TaskGroup() as group:
            for task in batch.tasks:
                task.asyncio_task = group.create_task(self._run_call(task, batch))

    # --- one call ---

    async def _run_call(self, task: CallTask, batch: Batch) -> None:
        try:
            task.begin()
            await (self._decide(task, batch) if batch.fresh else self._resume(task, batch))
            await self._pass_gate(task, batch)
            await self._run_in_turn(task, batch)
        except Over:
            pass
        except asyncio.CancelledError:
            await self._cancelled(task)
        finally:
            task.answerable.set()
            if isinstance(task.call, Terminal):
                await drop_trial(task)
            batch.leave(task)

    async def _decide(self, task: CallTask, batch: Batch) -> None:
        """validating → scheduled, after a question if one is needed."""
        if task.request.problem:
            await self._transitions.fail(task, Failure("duplicate_call_id", task.request.problem))
        invocation = await self._transitions.build(task)
        verdict = await self._judge_in_order(task, invocation, batch)
        await self._transitions.apply(task, invocation, verdict)
        await self._until_answered(task)

    async def _judge_in_order(self, task: CallTask, invocation: Invocation, batch: Batch) -> Verdict:
        """After the earlier calls: what it would do is computed on top of what they would do.

        The next one follows when this one is also recorded as decided or asked: a person is asked in this order.
        """
        await batch.judging.reach(task.at)
        verdict = await self._transitions.judge(task, invocation)
        batch.overlay.enter(task)
        task.on_decided = partial(batch.judging.passed, task.at)
        if self._options.gate == "eager":
            batch.order.declare(task)
        return verdict

    async def _until_answered(self, task: CallTask) -> None:
        task.decided()
        task.answerable.set()
        while isinstance(task.call, AwaitingApproval):
            if task.call.tried_by is not None:
                if task.recorded is not None:
                    await task.recorded  # nothing is tried before it is known that someone wanted it
                await self._trials.run(task)
                continue
            if task.stale:
                await self._look_again(task)
                continue
            await self._until_changed(task, task.call.approval)
        if isinstance(task.call, Terminal):
            if task.recorded is not None:
                await task.recorded  # its result is recorded before the batch returns its results
            raise Over

    async def _until_changed(self, task: CallTask, approval: Approval) -> None:
        """Or until the question expires, or nobody counts as editing it any more."""
        task.changed = asyncio.Event()
        expires, edited = self._transitions.max_wait(task, approval), self._transitions.max_edit(task)
        expires_first = expires is not None and (edited is None or expires <= edited)
        try:
            async with asyncio.timeout(expires if expires_first else edited):
                await task.changed.wait()
        except TimeoutError:
            if expires_first:
                await self._expire(task)
            else:
                self._answers.end_editing(task)

    async def _expire(self, task: CallTask) -> None:
        if isinstance(task.call, AwaitingApproval):  # an answer may have arrived at the last moment
            task.cancel_reason = "The approval expired unanswered."
            await self._transitions.cancel(task)

    async def _pass_gate(self, task: CallTask, batch: Batch) -> None:
        """`batch`: all are decided, then all are looked at again, then all start. `eager`: each on its own.

        A single call is looked at again right before it starts, like all, and that is enough.
        """
        if self._options.gate == "batch" and not batch.alone:
            await self._arrive(task, batch)
            if isinstance(task.call, Scheduled) and (task.postponed or task.call.decision.source == "person"):
                await self._look_again(task)
                await self._until_answered(task)
            await self._arrive(task, batch)

    async def _arrive(self, task: CallTask, batch: Batch) -> None:
        """Wait for the others. Meanwhile, what it would do may change with an earlier call."""
        while not await batch.barrier.arrive(task):
            await self._look_again(task)
            await self._until_answered(task)

    async def _run_in_turn(self, task: CallTask, batch: Batch) -> None:
        """Wait for earlier calls that touch the same things, then run."""
        batch.order.declare(task)
        waited = await batch.order.come(task)
        task.in_turn = True
        async with self._slots:
            if self._options.give_way is not None:
                await self._options.give_way()
            if waited or task.postponed or (task.action is not None and task.action.details is not None):
                await self._look_again(task)
                await self._until_answered(task)
            await self._execution.run(task, self._ask_below)

    async def _look_again(self, task: CallTask) -> None:
        """Whether it would still do what was decided or asked. A yes covers exactly what was shown."""
        assert task.invocation is not None
        postponed = task.postponed
        verdict = await self._transitions.judge(task, task.invocation)
        match task.call:
            case AwaitingApproval(approval=asked) if verdict.ruling == "ask":
                if self._transitions.digest(task) != asked.digest:
                    await self._transitions.ask(task, task.invocation, _why_changed(task))
            case Scheduled(decision=Decision(source="person", digest=digest)) if _may_stand(verdict, task):
                if self._transitions.digest(task) != digest:
                    await self._transitions.ask(task, task.invocation, self._transitions.what_changed(task))
            case Scheduled(decision=decision) if postponed == task.postponed and _same(verdict, decision):
                pass
            case AwaitingApproval() | Scheduled():
                await self._transitions.apply(task, task.invocation, verdict)
            case _:
                raise Over

    @property
    def _trials(self) -> TrialRuns:
        """Created when it is needed: if it were kept, it and the scheduler would keep each other alive."""
        channel = partial(self._execution.trial_channel, ask_below=self._ask_below)
        return TrialRuns(self._transitions, channel, self._execution.trial_permit)

    # --- a call that a running one needs ---

    async def _ask_below(self, task: CallTask) -> ToolCall:
        """Take a call that a running one needs from request to result. It does not wait for its turn."""
        self._transitions.begin(task)
        self._tasks[task.call_id] = task
        task.asyncio_task = asyncio.create_task(self._run_below(task))
        try:
            await asyncio.wait([task.asyncio_task])
        finally:
            self._tasks.pop(task.call_id, None)
        task.asyncio_task.result()
        return task.call

    async def _run_below(self, task: CallTask) -> None:
        try:
            task.begin()
            await self._journal.record(CallRequested(task.request))
            invocation = await self._transitions.build(task)
            verdict = await self._transitions.judge(task, invocation)
            await self._transitions.apply(task, invocation, verdict)
            await self._until_answered(task)
            await self._execution.run(task, self._ask_below)
        except Over:
            pass
        except asyncio.CancelledError:
            await self._cancelled(task)
        finally:
            task.answerable.set()

    async def withdraw(self, calls: Iterable[ToolCall]) -> None:
        """End calls that only a call of an earlier process needed."""
        for call in calls:
            task = CallTask(call)
            task.cancel_reason = "Assent stopped, and with it the command that wanted to connect."
            self._transitions.begin(task)
            await self._transitions.cancel(task)

    async def _cancelled(self, task: CallTask) -> None:
        if self._parking and not task.request.parent and not isinstance(task.call, Executing | Terminal):
            self._answers.end_editing(task)  # what is not in the log must not stay on anyone's screen
            return  # stays as it is in the log, for whoever opens the session next
        if not isinstance(task.call, Terminal):
            await self._transitions.cancel(task)
        elif task.recorded is not None:
            await task.recorded

    # --- reopening ---

    async def _resume(self, task: CallTask, batch: Batch) -> None:
        """Continue a call from the log. What may have happened does not happen again; a question stays a question."""
        match task.call:
            case Executing():
                failure = interrupted(await self._leftovers(task), await self._transitions.known_outcome(task))
                await self._transitions.fail(task, failure)
            case Validating():
                await self._decide(task, batch)
            case AwaitingApproval() | Scheduled():
                await self._resume_decided(task, task.call, batch)
            case _:
                raise Over

    async def _leftovers(self, task: CallTask) -> tuple[int, ...]:
        """Nothing of it may continue unnoticed. Not to be interrupted: it takes a few seconds at most."""
        ending = asyncio.ensure_future(self._transitions.end_leftovers(task))
        while not ending.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([ending])
        return ending.result()

    async def _resume_decided(self, task: CallTask, call: AwaitingApproval | Scheduled, batch: Batch) -> None:
        invocation = await self._transitions.build(task)
        await self._trials.resume(task, call)
        verdict = await self._judge_in_order(task, invocation, batch)
        match call:
            case AwaitingApproval(tried_by=str()) if verdict.ruling == "ask":
                await self._transitions.ask(task, invocation, STOPPED)
            case Scheduled() if call.decision.source == "person" and not task.postponed:
                await self._transitions.ask(task, invocation, "you approved it, but Assent stopped before it started")
            case Scheduled() if verdict.ruling == "allow":
                pass
            case AwaitingApproval() if verdict.ruling == "ask":
                if self._transitions.digest(task) != call.approval.digest:
                    await self._transitions.ask(task, invocation, _why_again(task, call.approval))
            case _:
                await self._transitions.apply(task, invocation, verdict)
        await self._until_answered(task)


def _why_changed(task: CallTask) -> str:
    trial = trial_of(None if task.action is None else task.action.details)
    return CHANGED_SINCE_TRIED if trial is not None else "what it would do has changed since it was shown"


def _may_stand(verdict: Verdict, task: CallTask) -> bool:
    return verdict.ruling != "deny" and not task.postponed


def _same(verdict: Verdict, decision: Decision) -> bool:
    return (verdict.ruling, verdict.source, verdict.rule) == ("allow", decision.source, decision.rule)


def _why_again(task: CallTask, before: Approval) -> str:
    """In a fork of a session the same question has another digest, and is asked for the same reason."""
    same = task.action is not None and task.action.details == before.details
    return before.why if same else "what it would do changed while Assent was stopped"


def _can_be_parked(call: ToolCall) -> bool:
    match call:
        case AwaitingApproval():
            return not (call.answered_by or call.modifying_by) and call.tried_by is None
        case Scheduled():
            return call.decision.source != "person"  # their approval would have to be requested again
        case _:
            return False
