"""The runner: has a session open, alone. Commands in, events out; nobody else writes.

It takes commands from the inbox in order, whoever put them there: this process, another terminal, a browser. A prompt
that arrives while a turn is running stays in the inbox until the turn is over.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from assent import __version__
from assent.agent.loop import AgentLoop, LoopOptions
from assent.agent.model_caller import ModelCaller
from assent.agent.system_prompt import system_prompt
from assent.approval import Mode
from assent.commands import (
    Answer,
    Archive,
    CancelCall,
    CancelTurn,
    Command,
    Compress,
    KeepBackground,
    ReleaseQueue,
    ReloadContext,
    Rename,
    RevokeGrant,
    Rewind,
    RunTool,
    SetEffort,
    SetMode,
    SetModel,
    StopBackground,
    Submit,
    Withdraw,
)
from assent.events import (
    CommandTaken,
    ConversationRewound,
    Envelope,
    GateKind,
    ModelChanged,
    SessionCreated,
    SessionRenamed,
)
from assent.models.model_protocol import Model, Request
from assent.parts import Effort
from assent.scheduler.call import AwaitingApproval, Terminal
from assent.scheduler.ids import CallIds
from assent.scheduler.refusals import NotWaiting, Refused
from assent.session.background_recorder import BackgroundRecorder
from assent.session.compaction import Compaction
from assent.session.context_files import ContextFiles
from assent.session.hub import Hub, Subscription
from assent.session.inbox_reader import read_inbox
from assent.session.journal import SessionJournal
from assent.session.log import Fence, Inboxed, Opening, SessionLog, Stamp, new_session_id, title_of
from assent.session.model_watch import ModelWatch
from assent.session.plan_approval import PlanApproval
from assent.session.prompt_queue import PromptQueue
from assent.session.run_options import RunOptions, make_policy, make_scheduler
from assent.session.session_settings import SessionSettings
from assent.session.spending_guard import SpendingGuard
from assent.session.state import SessionState, fold
from assent.session.steering import Steering
from assent.session.turn_runner import TurnRunner
from assent.tools.declared import PLAN
from assent.tools.registry import Registry

if TYPE_CHECKING:  # loaded when they are needed
    from assent.session.titling import Titler


Settled = Callable[[Sequence[Terminal]], Awaitable[None]]


async def create_session(
    log: SessionLog,
    folder: str,
    model: str,
    mode: Mode,
    gate: GateKind = "batch",
    *,
    owner: str = "",
    title: str = "",
    by: str = "",
    stamp: Stamp | None = None,
    effort: Effort | None = None,
) -> str:
    """Returns the id; with a stamp, that of the session the same request created before. `by` is who creates it."""
    session, now = new_session_id(), time.time()
    first = SessionCreated(
        folder=folder, model=model, mode=mode, version=__version__, gate=gate, owner=owner, effort=effort, by=by
    )
    seen = title_of(title)
    named = (Envelope(2, now, session, SessionRenamed(seen, by)),) if seen else ()
    return await log.create(session, now, first, named, stamp)


class Runner:
    """Open it with `async with Runner.open(…)`; on exit, what waits for a person is parked."""

    def __init__(
        self, log: SessionLog, fence: Fence, state: SessionState, model: Model, registry: Registry, options: RunOptions
    ) -> None:
        self.session = state.session
        self.opened_at = 0
        """The sequence number of the event with which this process took over."""
        self.state = state
        self._log = log
        self._fence = fence
        self._options = options
        self._hub = Hub()
        self._hub.listeners = options.listeners
        self._journal = SessionJournal(log, fence, state, self._hub, options.clock)
        self._policy = cache(lambda: make_policy(state, options))
        registry.hand_over(state.changes)
        self._scheduler = make_scheduler(state, registry, self._policy, self._journal, options)
        self._background = BackgroundRecorder(state.session, options.background, self._journal.record)
        ids = CallIds(state.calls, state.is_forgotten)
        caller = _caller(model, self._journal, ids, options)
        watch = ModelWatch(state, self._journal, options.inspect_model)
        self._settings = SessionSettings(
            self._journal, self._policy, self._scheduler, caller, options.open_model, watch, options.window
        )
        self._context_files = ContextFiles(state, self._journal, registry, options.load_context)
        self._news = asyncio.Event()
        """Set when the inbox may have new commands."""
        self._caught_up = asyncio.Event()
        self._queue = PromptQueue(state, self._journal)
        self._turn_runner = self._make_turn_runner(caller, ids, registry)
        self._inbox_task: asyncio.Task[None] | None = None
        self._unwatch: Callable[[], None] | None = None
        self._closing = False

    def _make_turn_runner(self, caller: ModelCaller, ids: CallIds, registry: Registry) -> TurnRunner:
        """Nothing in it refers to the runner: a closed session is freed at once, without garbage collection."""
        state, policy, options = self.state, self._policy, self._options
        steering = Steering(self._journal, lambda text: options.load_mentions(text, policy))
        reached_limit = SpendingGuard(state, self._log, options.limits, options.clock).reached_limit
        compaction = Compaction(caller, state, self._journal, options.compress_above, registry.may_prune, reached_limit)
        how = self._loop_options(caller, registry, compaction, steering, reached_limit)
        loop = AgentLoop(caller, self._scheduler, self._journal, how)
        return TurnRunner(
            state,
            self._journal,
            self._scheduler,
            loop,
            compaction=compaction,
            context_files=self._context_files,
            ids=ids,
            steering=steering,
            titler=_titler(state, self._journal, caller, reached_limit) if options.makes_titles else None,
            mentions=lambda text: options.load_mentions(text, policy),
            changed=self._news.set,
        )

    def _loop_options(
        self,
        caller: ModelCaller,
        registry: Registry,
        compaction: Compaction,
        steering: Steering,
        reached_limit: Callable[[], Awaitable[str]],
    ) -> LoopOptions:
        state, context_files, options = self.state, self._context_files, self._options
        return LoopOptions(
            request=lambda: _request(caller, state, context_files, registry, options),
            usage=lambda: state.usage,
            settled=_one_after_the_other(context_files.settled, PlanApproval(self._settings).settled),
            make_room=compaction.before_request,
            shorten=compaction.after_refusal,
            reached_limit=reached_limit,
            interject=steering.interject,
            max_turns=options.max_turns,
            masker=options.masker,
            nearest_models=options.nearest_models,
        )

    # --- opening and closing ---

    @classmethod
    async def open(
        cls,
        log: SessionLog,
        session: str,
        model: Model,
        registry: Registry,
        options: RunOptions | None = None,
        past: Sequence[Envelope] = (),
    ) -> "Runner":
        """Takes over the session, or raises SessionBusy. An unfinished turn continues at once.

        `past` are the session's events from the first one on, if they have been read already: they are not read again.
        """
        options = options or RunOptions()
        before = [*past, *await log.read(session, past[-1].seq if past else 0)]
        state = fold(session, before)  # an unreadable session is not taken over, and nothing is written to it
        fence = await log.acquire(session, Opening(options.clock(), options.client, options.token))
        try:
            since = await log.read(session, state.seq)
            runner = cls(log, fence, fold(session, since, state), model, registry, options)
            await runner._start(since[-1])
        except BaseException:
            await log.release(fence)
            raise
        return runner

    async def _start(self, opened: Envelope) -> None:
        self.opened_at = opened.seq
        self._hub.publish(opened)
        context_files = self._context_files.loaded()
        if context_files.sources or self.state.context:
            await self._journal.record(context_files)
        chosen = self._options.chosen_model
        if chosen is not None and chosen.model != self.state.model:
            await self._journal.record(ModelChanged(chosen.model, chosen.by, self._options.window(chosen.model)))
        await self._background.settle(list(self.state.background.values()), self._journal.record)
        if self._options.holds_queue:
            await self._queue.hold_left(await self._inbox(), self._options.client)
        self._unwatch = self._log.watch(self.session, self._news.set)
        if not self._options.only:
            self._turn_runner.pick_up()
            self._settings.watch_model()
        self._inbox_task = asyncio.create_task(self._take_commands(), name="inbox")

    async def __aenter__(self) -> "Runner":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stops what is running, keeps what waits for a person, and releases the session."""
        self._closing = True
        self._news.set()
        await self._turn_runner.park()
        if self._inbox_task is not None:  # not cancelled: the sender of the current command waits for its outcome
            await asyncio.gather(self._inbox_task, return_exceptions=True)
        await self._turn_runner.over()
        await self._background.close()
        if self._unwatch is not None:
            self._unwatch()
        await self._settings.close()
        self._hub.close()
        await self._log.release(self._fence)

    # --- for clients in this process ---

    def subscribe(self) -> Subscription:
        return self._hub.subscribe()

    async def read(self, after: int = 0) -> list[Envelope]:
        return await self._log.read(self.session, after)

    async def send(self, command: Command, key: str | None = None) -> str:
        """Sends a command; durable when this returns. The outcome comes as `command.taken` with the same key."""
        key = key or os.urandom(12).hex()
        await self._log.put(self.session, key, command)
        self._news.set()
        return key

    def type_in(self, call_id: str, number: int, text: str | None) -> str:
        """Types a line for a prompt of a running command; None is the end of its input. Returns why it cannot be done.

        Not a command: those are durable, and what is typed must not be recorded anywhere.
        """
        try:
            self._scheduler.type_in(call_id, number, text)
        except Refused as refusal:
            return str(refusal)
        return ""

    async def caught_up(self) -> None:
        """Waits until the commands that arrived while nobody had the session open are taken, and the questions of
        earlier processes are judged again."""
        await self._caught_up.wait()
        await self._scheduler.judged()

    @property
    def idle(self) -> bool:
        return not self._turn_runner.in_turn

    @property
    def resting(self) -> bool:
        """Nothing is in progress: closing it now costs no more than opening it again."""
        busy = self.state.held or self._background.running
        if busy or self._news.is_set() or not self._caught_up.is_set():
            return False
        return self._turn_runner.only_waits

    @property
    def failure(self) -> BaseException | None:
        """Why the session can no longer write, if it cannot."""
        return self._journal.failure

    def waiting(self) -> list[AwaitingApproval]:
        return self._scheduler.waiting()

    # --- the inbox ---

    async def _take_commands(self) -> None:
        try:
            with self._journal.guarding():
                await self._take_all()
        finally:
            self._caught_up.set()

    async def _take_all(self) -> None:
        while not self._closing:
            self._queue.clear()
            for item in await self._inbox():
                if not self._closing:
                    await self._take(item)
            self._queue.show()
            if not self._turn_runner.reading:
                self._caught_up.set()
            await self._news.wait()
            self._news.clear()

    async def _inbox(self) -> list[Inboxed]:
        return await read_inbox(self._log, self.session, self._options.sleep, self._is_over)

    def _is_over(self) -> bool:
        return self._closing or self.failure is not None

    async def _take(self, item: Inboxed) -> None:
        match item.command:
            case _ if self._options.only not in ("", item.key):
                pass
            case _ if item.key in self.state.keys:
                await self._taken(item)  # its effect is recorded, but not yet that it was taken
            case Submit() if self._turn_runner.has_read(item.key):
                pass  # it is already on its way into the log
            case Submit() | RunTool() if self._must_wait(item.command, item.key):
                self._queue.add(item.command, item.key)
            case Compress() if self._turn_runner.in_turn:
                pass  # waits in the inbox until the turn is over
            case Compress(by=by):
                self._turn_runner.compress(by, item.key)
            case Submit():
                await self._turn_runner.begin(item.command, item.key)
            case Withdraw():
                await self._withdraw(item.command, item)
            case command:
                problem = await self._carry_out(command, item.key)
                if problem or not isinstance(command, Answer):  # a successful answer records this itself
                    await self._taken(item, problem)

    def _must_wait(self, command: Submit | RunTool, key: str) -> bool:
        """Prompts wait for the end of the turn, or until the model can read them; a person's calls also wait for
        earlier ones.
        """
        if key in self.state.held:
            return True
        self._turn_runner.steer(command, key)
        return self._turn_runner.in_turn or (isinstance(command, RunTool) and self._turn_runner.runs_tools)

    async def _taken(self, item: Inboxed, problem: str = "") -> None:
        await self._journal.record(CommandTaken(item.key, item.command.by, problem))

    async def _carry_out(self, command: Command, key: str) -> str:
        """Does what is asked; returns the reason if it cannot be done."""
        try:
            match command:
                case Answer():
                    await self._scheduler.answer(command, key)
                case CancelTurn() | ReleaseQueue() | Rewind():
                    await self._steer(command)
                case CancelCall():
                    self._scheduler.cancel_call(command.call_id, command.reason or "The user cancelled the call.")
                case StopBackground() | KeepBackground():
                    await self._background.carry_out(command)
                case RunTool():
                    self._turn_runner.run_tool(command, key)
                case ReloadContext():
                    await self._context_files.reload()
                case SetMode() | SetModel() | SetEffort() | Archive() | Rename() | RevokeGrant():
                    await self._settings.make(command)
                case Submit() | Withdraw() | Compress():
                    raise AssertionError("handled earlier")
        except Refused as refusal:
            return self._explain(refusal, command)
        return ""

    async def _steer(self, command: CancelTurn | ReleaseQueue | Rewind) -> None:
        match command:
            case CancelTurn(reason=reason, by=by, hold=hold):
                self._turn_runner.cancel(reason)
                if hold:
                    await self._queue.hold(by)
            case ReleaseQueue(by=by):
                await self._queue.release(by)
                self._news.set()
            case Rewind(prompt_id=prompt_id, by=by):
                self._turn_runner.check_rewind(prompt_id)
                await self._journal.record(ConversationRewound(prompt_id, by))

    def _explain(self, refusal: Refused, command: Command) -> str:
        answered_by = self.state.answered_by.get(command.call_id) if isinstance(command, Answer) else None
        if isinstance(refusal, NotWaiting) and answered_by is not None:
            return f"already answered by {answered_by or 'someone else'}"
        return str(refusal)

    async def _withdraw(self, command: Withdraw, item: Inboxed) -> None:
        """The withdrawn command and the withdrawal leave the inbox together."""
        if self._queue.pop(command.queued) is None or not self._turn_runner.forget(command.queued):
            await self._taken(item, "it is no longer in the queue")
            return
        await self._journal.record(
            CommandTaken(command.queued, command.by, "withdrawn"),
            CommandTaken(item.key, command.by),
        )


def _caller(model: Model, journal: SessionJournal, ids: CallIds, options: RunOptions) -> ModelCaller:
    return ModelCaller(
        model,
        journal,
        ids,
        options.retries,
        options.sleep,
        options.fallback,
        options.cost,
        options.small_model,
        options.window,
    )


def _request(
    caller: ModelCaller, state: SessionState, context_files: ContextFiles, registry: Registry, options: RunOptions
) -> Request:
    options.offer_tools(caller.current)
    return Request(
        system=system_prompt(state.folder, context_files.text),
        messages=state.history(),
        tools=tuple(tool for tool in registry.declarations() if tool.name != PLAN or state.mode == "plan"),
        effort=state.effort,
        max_tokens=options.max_tokens,
        conversation=state.session,
    )


def _one_after_the_other(*hooks: Settled) -> Settled:
    async def settled(calls: Sequence[Terminal]) -> None:
        for hook in hooks:
            await hook(calls)

    return settled


def _titler(
    state: SessionState, journal: SessionJournal, caller: ModelCaller, reached_limit: Callable[[], Awaitable[str]]
) -> "Titler":
    from assent.session.titling import Titler

    return Titler(state, journal, caller, reached_limit)
