"""The scheduler: one batch at a time, each call living its own life from request to result.

    request ─► build ─► judge ─► (ask) ─► gate ─► started ─► execute ─► finished

A side effect happens only after its `call.started` is durable. One call's failure, refusal or cancellation leaves its
siblings alone; a journal that cannot write stops everything.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from assent import failpoints
from assent.approval import Approval, Decision
from assent.commands import Answer
from assent.events import CallRequest, CallRequested, CallsQueued, CallStarted, FileChange, GateKind
from assent.parts import Failure
from assent.policy.policy import Policy
from assent.policy.verdict import Verdict
from assent.scheduler.answers import Answers
from assent.scheduler.approvals import Clock, NotWaiting
from assent.scheduler.batch import Batch
from assent.scheduler.call import AwaitingApproval, Executing, Scheduled, Terminal, ToolCall, Validating
from assent.scheduler.life import Journal, Life, LiveChannel
from assent.scheduler.steps import Over, Steps
from assent.secrets.mask import Masker
from assent.tools.base import Invocation, Permit, ToolFailed, ToolResult
from assent.tools.registry import Registry

INTERRUPTED = Failure(
    "interrupted",
    "Assent stopped while this call was running. Whether it took effect is unknown; it was not run again. "
    "Check the state of things before you go on.",
)


def interrupted(survivors: tuple[int, ...]) -> Failure:
    """The end of a call that an earlier process was running, with those of its processes that could not be ended."""
    if not survivors:
        return INTERRUPTED
    who = ", ".join(map(str, survivors))
    return Failure(INTERRUPTED.type, f"{INTERRUPTED.message} It still runs and could not be ended: process {who}.")


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
        timer: Clock = time.monotonic,
        masker: Masker | None = None,
        give_way: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`give_way` is awaited before a call runs: there may be something more urgent."""
        self._journal = journal
        self._policy = policy
        self._gate: GateKind = gate
        self._clock = clock
        self._slots = asyncio.Semaphore(max_parallel)
        self._lives: dict[str, Life] = {}
        self._running: asyncio.Task[None] | None = None
        self._queue: deque[Batch] = deque()
        self._parking = False
        self._masker = masker or Masker()
        self._give_way = give_way
        self._steps = Steps(
            session,
            registry,
            policy,
            journal,
            attended=attended,
            approval_ttl=approval_ttl,
            clock=clock,
            timer=timer,
            masker=self._masker,
        )
        self._answers = Answers(self._lives, self._steps, policy, journal)

    # --- what clients ask for ---

    def prepare(self) -> None:
        """Calls may come soon."""
        self._steps.prepare()

    def schedule(self, requests: CallRequest | Sequence[CallRequest]) -> Batch:
        """Takes one or many calls as one batch; it starts at once, or when the batch before it is done."""
        many = (requests,) if isinstance(requests, CallRequest) else requests
        now = self._clock()
        return self._enqueue(self._batch([Life(Validating(request, now)) for request in many], fresh=True))

    def restore(self, calls: Iterable[ToolCall]) -> Batch:
        """Takes over calls that an earlier process left unfinished. What had started is not run again."""
        return self._enqueue(self._batch([Life(call) for call in calls], fresh=False))

    async def answer(self, answer: Answer, key: str = "") -> None:
        """Answers a waiting call; durable when this returns, and with it that the command of this key was taken.

        When it raises Refused, nothing has changed.
        """
        await self._answers.take(answer, key)

    async def rejudge(self) -> None:
        """Judges every waiting call again, after the mode has changed."""
        await self._answers.rejudge()

    def waiting(self) -> list[AwaitingApproval]:
        return [life.call for life in self._lives.values() if isinstance(life.call, AwaitingApproval)]

    @property
    def busy(self) -> bool:
        return self._running is not None

    @property
    def only_waits(self) -> bool:
        """All that is left waits for a person, and stopping here would take no answer back."""
        open_calls = [life.call for life in self._lives.values() if not isinstance(life.call, Terminal)]
        return bool(open_calls) and all(_can_be_parked(call) for call in open_calls)

    def cancel(self, batch: Batch, reason: str) -> None:
        """Cancels what waits, is queued or runs; partial output and the proposed change are kept."""
        for life in batch.lives:
            if not isinstance(life.call, Terminal):
                life.cancel(reason)

    def cancel_call(self, call_id: str, reason: str) -> None:
        life = self._lives.get(call_id)
        if life is None or isinstance(life.call, Terminal):
            raise NotWaiting(f"no call {call_id} is under way")
        life.cancel(reason)

    async def park(self) -> None:
        """Stops without answering: running calls are cancelled, waiting ones stay in the log as they are."""
        self._parking = True
        for life in self._lives.values():
            if not isinstance(life.call, Terminal):
                life.cancel("Assent was closed.")
        if self._running is not None:
            await asyncio.wait([self._running])

    # --- batches ---

    def _batch(self, lives: Sequence[Life], *, fresh: bool) -> Batch:
        for life in lives:
            self._steps.begin(life)
        return Batch(lives, self._steps.touched, fresh=fresh)

    def _enqueue(self, batch: Batch) -> Batch:
        self._queue.append(batch)
        if self._running is None:
            self._start_next()
        else:
            self._journal.announce(CallsQueued(tuple(life.call_id for life in batch.lives)))
        return batch

    def _start_next(self) -> None:
        self._running = None
        while self._parking and self._queue:
            self._queue.popleft().settle()
        if self._queue:
            batch = self._queue.popleft()
            self._lives.update({life.call_id: life for life in batch.lives})
            self._running = asyncio.create_task(self._run(batch), name="batch")

    async def _run(self, batch: Batch) -> None:
        try:
            await self._run_lives(batch)
        except BaseExceptionGroup as group:
            batch.fail(group.exceptions[0])
        except Exception as error:
            batch.fail(error)
        finally:
            batch.settle()
            for life in batch.lives:
                self._lives.pop(life.call_id, None)
            self._start_next()

    async def _run_lives(self, batch: Batch) -> None:
        if batch.fresh:
            await self._journal.record(*(CallRequested(life.request) for life in batch.lives))
            failpoints.hit("requested")
        async with asyncio.TaskGroup() as group:
            for life in batch.lives:
                life.task = group.create_task(self._live(life, batch))

    # --- one call's life ---

    async def _live(self, life: Life, batch: Batch) -> None:
        try:
            life.begin()
            await (self._decide(life, batch) if batch.fresh else self._resume(life, batch))
            await self._pass_gate(life, batch)
            await self._run_in_turn(life, batch)
        except Over:
            pass
        except asyncio.CancelledError:
            await self._cancelled(life)
        finally:
            life.answerable.set()
            batch.leave(life)

    async def _decide(self, life: Life, batch: Batch) -> None:
        """validating → scheduled, after a question where one is needed."""
        if life.request.problem:
            await self._steps.fail(life, Failure("duplicate_call_id", life.request.problem))
        invocation = await self._steps.build(life)
        verdict = await self._judge_in_order(life, invocation, batch)
        await self._steps.apply(life, invocation, verdict)
        await self._until_answered(life)

    async def _judge_in_order(self, life: Life, invocation: Invocation, batch: Batch) -> Verdict:
        """After the calls before it: what it would do is computed on top of what they would."""
        await batch.judging.reach(life.at)
        verdict = await self._steps.judge(life, invocation)
        batch.overlay.enter(life)
        batch.judging.passed(life.at)
        if self._gate == "eager":
            batch.turns.declare(life)
        return verdict

    async def _until_answered(self, life: Life) -> None:
        life.answerable.set()
        while isinstance(life.call, AwaitingApproval):
            if life.stale:
                await self._look_again(life)
                continue
            life.changed = asyncio.Event()
            try:
                async with asyncio.timeout(self._steps.patience(life, life.call.approval)):
                    await life.changed.wait()
            except TimeoutError:
                await self._expire(life)
        if isinstance(life.call, Terminal):
            raise Over

    async def _expire(self, life: Life) -> None:
        if isinstance(life.call, AwaitingApproval):  # an answer may have come in the last moment
            life.cancel_reason = "The approval expired unanswered."
            await self._steps.cancel(life)

    async def _pass_gate(self, life: Life, batch: Batch) -> None:
        """`batch`: all decided, then all looked at again, then all start. `eager`: each on its own.

        One that is alone is looked at again right before it starts, like all, and that is enough.
        """
        if self._gate == "batch" and not batch.alone:
            await self._arrive(life, batch)
            if isinstance(life.call, Scheduled) and (life.postponed or life.call.decision.source == "person"):
                await self._look_again(life)
                await self._until_answered(life)
            await self._arrive(life, batch)

    async def _arrive(self, life: Life, batch: Batch) -> None:
        """Waits for the others. Meanwhile what it would do may change with what a call before it would do."""
        while not await batch.barrier.arrive(life):
            await self._look_again(life)
            await self._until_answered(life)

    async def _run_in_turn(self, life: Life, batch: Batch) -> None:
        """Waits for earlier calls that touch the same things, then runs."""
        batch.turns.declare(life)
        waited = await batch.turns.come(life)
        life.in_turn = True
        async with self._slots:
            if self._give_way is not None:
                await self._give_way()
            if waited or life.postponed or (life.action is not None and life.action.details is not None):
                await self._look_again(life)
                await self._until_answered(life)
            await self._execute(life)

    async def _look_again(self, life: Life) -> None:
        """Is what would happen still what was decided on, or asked? A yes covers only exactly what was shown."""
        assert life.invocation is not None
        postponed = life.postponed
        verdict = await self._steps.judge(life, life.invocation)
        match life.call:
            case AwaitingApproval(approval=asked) if verdict.ruling == "ask":
                if self._steps.digest(life) != asked.digest:
                    await self._steps.ask(life, life.invocation, "what it would do changed with a call before it")
            case Scheduled(decision=Decision(source="person", digest=digest)) if _may_stand(verdict, life):
                if self._steps.digest(life) != digest:
                    await self._steps.ask(life, life.invocation, "what it would do changed after you approved it")
            case Scheduled(decision=decision) if postponed == life.postponed and _same(verdict, decision):
                pass
            case AwaitingApproval() | Scheduled():
                await self._steps.apply(life, life.invocation, verdict)
            case _:
                raise Over

    async def _execute(self, life: Life) -> None:
        assert life.invocation is not None
        change = await self._change(life, life.invocation)
        permit = self._permit(life)
        self._steps.run(life)
        await self._steps.move(life, CallStarted(life.call_id, permit.digest, change))
        failpoints.hit("started")
        live = LiveChannel(life, self._journal, self._masker)
        try:
            result = await _closing(live, life.invocation.execute(permit, live))
        except ToolFailed as error:
            await self._steps.fail(life, error.failure)
        except Exception as error:
            await self._steps.fail(life, Failure("unhandled_exception", f"{type(error).__name__}: {error}"))
        failpoints.hit("effect done")
        await self._steps.succeed(life, result)
        failpoints.hit("finished")

    async def _change(self, life: Life, invocation: Invocation) -> FileChange | None:
        try:
            return invocation.change()
        except ToolFailed as error:
            await self._steps.fail(life, error.failure)

    def _permit(self, life: Life) -> Permit:
        """What was allowed by its words runs as these words; a text goes to a shell by a person's own leave."""
        assert isinstance(life.call, Scheduled) and life.action is not None
        decision = life.call.decision
        if decision.source == "grant":
            self._policy.used(decision.rule)
        plan = life.plan if decision.source in ("rule", "grant") else None
        by_person = decision.source == "person"
        return Permit(
            call_id=life.call_id,
            digest=self._steps.digest(life),
            plan=plan,
            by_person=by_person,
            answers=life.answers,
            mark=self._steps.mark(life),
        )

    async def _cancelled(self, life: Life) -> None:
        if self._parking and not isinstance(life.call, Executing | Terminal):
            return  # stays as it is in the log, for whoever opens the session next
        if not isinstance(life.call, Terminal):
            await self._steps.cancel(life)
        elif life.recorded is not None:
            await life.recorded

    # --- reopening ---

    async def _resume(self, life: Life, batch: Batch) -> None:
        """Continues a call from the log. What may have happened does not happen again; a question stays a question."""
        match life.call:
            case Executing():
                await self._steps.fail(life, interrupted(await self._leftovers(life)))
            case Validating():
                await self._decide(life, batch)
            case AwaitingApproval() | Scheduled():
                await self._resume_decided(life, life.call, batch)
            case _:
                raise Over

    async def _leftovers(self, life: Life) -> tuple[int, ...]:
        """Nothing of it may go on behind our back. Not to be interrupted: it takes a few seconds at most."""
        ending = asyncio.ensure_future(self._steps.end_leftovers(life))
        while not ending.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([ending])
        return ending.result()

    async def _resume_decided(self, life: Life, call: AwaitingApproval | Scheduled, batch: Batch) -> None:
        invocation = await self._steps.build(life)
        verdict = await self._judge_in_order(life, invocation, batch)
        match call:
            case Scheduled() if call.decision.source == "person" and not life.postponed:
                await self._steps.ask(life, invocation, "you approved it, but Assent stopped before it started")
            case Scheduled() if verdict.ruling == "allow":
                pass
            case AwaitingApproval() if verdict.ruling == "ask":
                if self._steps.digest(life) != call.approval.digest:
                    await self._steps.ask(life, invocation, _why_again(life, call.approval))
            case _:
                await self._steps.apply(life, invocation, verdict)
        await self._until_answered(life)


def _may_stand(verdict: Verdict, life: Life) -> bool:
    return verdict.ruling != "deny" and not life.postponed


def _same(verdict: Verdict, decision: Decision) -> bool:
    return (verdict.ruling, verdict.source, verdict.rule) == ("allow", decision.source, decision.rule)


def _why_again(life: Life, before: Approval) -> str:
    """In a copy of a session the same question has another digest, and is asked for the same reason."""
    same = life.action is not None and life.action.details == before.details
    return before.why if same else "what it would do changed while Assent was stopped"


def _can_be_parked(call: ToolCall) -> bool:
    match call:
        case AwaitingApproval():
            return not (call.answered_by or call.modifying_by)
        case Scheduled():
            return call.decision.source != "person"  # their yes would have to be asked for again
        case _:
            return False


async def _closing(live: LiveChannel, work: Awaitable[ToolResult]) -> ToolResult:
    try:
        return await work
    finally:
        live.close()
