"""The runner: the one process that has a session open. Commands in, events out; nobody else writes.

It takes commands from the inbox in order, whoever put them there: this process, another terminal, a browser. A prompt
that comes while a turn is running stays in the inbox until the turn is over.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from assent import __version__
from assent.agent.compression import Compressor
from assent.agent.loop import AgentLoop
from assent.agent.system import system_prompt
from assent.agent.turn import Turn
from assent.approval import Mode
from assent.commands import (
    Answer,
    CancelCall,
    CancelTurn,
    Command,
    Compress,
    ReloadContext,
    Rename,
    RevokeGrant,
    RunTool,
    SetMode,
    SetModel,
    Submit,
    Withdraw,
)
from assent.events import (
    Attached,
    CallRequest,
    CommandTaken,
    Envelope,
    GateKind,
    PromptsQueued,
    PromptSubmitted,
    Queued,
    SessionCreated,
    SessionOpened,
    TurnStatus,
)
from assent.models.base import Model
from assent.parts import Call
from assent.policy.policy import Policy
from assent.scheduler.approvals import NotWaiting, Refused
from assent.scheduler.call import AwaitingApproval
from assent.scheduler.ids import CallIds
from assent.scheduler.life import Batch, Parked
from assent.scheduler.scheduler import Scheduler
from assent.session.changes import Changes
from assent.session.hub import Hub, Subscription
from assent.session.journal import SessionJournal
from assent.session.log import Fence, Inboxed, LogError, SessionLog, Stamp, new_session_id
from assent.session.notes import Notes
from assent.session.options import Options
from assent.session.state import SessionState, fold
from assent.tools.registry import Registry
from assent.tools.undo import hand_over

PATIENCE = 0.3
"""So many seconds nobody is told that what a prompt names is still being read."""


async def create_session(
    log: SessionLog,
    folder: str,
    model: str,
    mode: Mode,
    gate: GateKind = "batch",
    *,
    owner: str = "",
    stamp: Stamp | None = None,
) -> str:
    """Its id, or with a stamp the id of the session that the same request has made before."""
    first = SessionCreated(folder, model, mode, __version__, gate, owner=owner)
    return await log.create(new_session_id(), time.time(), first, stamp=stamp)


class Runner:
    """Open it with `async with Runner.open(…)`; leaving parks what waits for a person."""

    def __init__(
        self, log: SessionLog, fence: Fence, state: SessionState, model: Model, registry: Registry, options: Options
    ) -> None:
        self.session = state.session
        self.opened_at = 0
        """The number of the event with which this process took over."""
        self.state = state
        self._log = log
        self._fence = fence
        self._options = options
        self._hub = Hub()
        self._hub.listener = options.listener
        self._journal = SessionJournal(log, fence, state, self._hub, options.clock)
        self._policy = Policy(
            options.rules,
            state.mode,
            state.grants.values(),
            roots=(state.folder,),
            uses=dict(state.grant_uses),
            clock=options.clock,
        )
        self._ids = CallIds(state.calls)
        hand_over(state.changes, registry)
        self._scheduler = Scheduler(
            self.session,
            registry,
            self._policy,
            self._journal,
            gate=state.gate,
            attended=options.attended,
            max_parallel=options.max_parallel,
            approval_ttl=options.approval_ttl,
            clock=options.clock,
            masker=options.masker,
        )
        self._reply = Turn(model, self._journal, self._ids, options.retries, options.sleep, options.fallback)
        self._changes = Changes(self._journal, self._policy, self._scheduler, self._reply, options.open_model)
        self._notes = Notes(state, self._journal, options.load_context)
        self._loop = self._agent_loop(registry)
        self._compressor = Compressor(
            self._reply, state.history, lambda: state.latest_prompt if state.open_prompt else ""
        )
        self._compressing: asyncio.Task[None] | None = None
        """The task in `_turn` when a person asked for a compression."""
        self._reading: dict[str, asyncio.Future[tuple[Attached, ...]]] = {}
        """While what a prompt names is read, by its key: it is still in the inbox then."""
        self._turn: asyncio.Task[None] | None = None
        self._local: set[asyncio.Task[None]] = set()
        """Batches that do not belong to the turn: tools that a person started."""
        self._queue: dict[str, Queued] = {}
        """What has to wait in the inbox, by key, as the last look found it."""
        self._news = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._inbox_task: asyncio.Task[None] | None = None
        self._unwatch: Callable[[], None] | None = None

    def _agent_loop(self, registry: Registry) -> AgentLoop:
        return AgentLoop(
            self._reply,
            self._scheduler,
            self._journal,
            system=lambda: system_prompt(self.state.folder, self._notes.text),
            tools=registry.declarations,
            history=self.state.history,
            usage=lambda: self.state.usage,
            settled=self._notes.settled,
            make_room=self._make_room,
            max_turns=self._options.max_turns,
            masker=self._options.masker,
        )

    # --- opening and closing ---

    @classmethod
    async def open(
        cls,
        log: SessionLog,
        session: str,
        model: Model,
        registry: Registry,
        options: Options | None = None,
        past: Sequence[Envelope] = (),
    ) -> "Runner":
        """Takes the session over, or raises SessionBusy. An unfinished turn goes on at once.

        Whoever has read the session's events from the first one on gives them as `past`: they are not read again.
        """
        fence = await log.acquire(session)
        try:
            since = await log.read(session, past[-1].seq if past else 0)
            state = fold(session, [*past, *since])
            runner = cls(log, fence, state, model, registry, options or Options())
            await runner._start()
        except BaseException:
            await log.release(fence)
            raise
        return runner

    async def _start(self) -> None:
        self.opened_at = self.state.seq + 1
        opened = SessionOpened(self._fence.token, self._options.client)
        notes = self._notes.loaded()
        await self._journal.record(opened, *((notes,) if notes.sources or self.state.context else ()))
        self._unwatch = self._log.watch(self.session, self._news.set)
        if not self._options.only:
            self._pick_up_unfinished()
        self._inbox_task = asyncio.create_task(self._take_commands(), name="inbox")

    async def __aenter__(self) -> "Runner":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stops what runs, keeps what waits for a person, and gives the session back."""
        self._loop.closing = True
        self._news.set()
        if self._turn is not None and not self._scheduler.busy:
            self._stop(self._turn, "Assent was closed.")
        self._stop_reading()
        await self._scheduler.park()
        if self._inbox_task is not None:  # not cancelled: whoever sent the command in hand waits to hear of it
            await asyncio.gather(self._inbox_task, return_exceptions=True)
        tasks = [task for task in (self._turn, *self._local) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._unwatch is not None:
            self._unwatch()
        self._hub.close()
        await self._changes.close()
        await self._log.release(self._fence)

    # --- for clients in this process ---

    def subscribe(self) -> Subscription:
        return self._hub.subscribe()

    async def read(self, after: int = 0) -> list[Envelope]:
        return await self._log.read(self.session, after)

    async def send(self, command: Command, key: str | None = None) -> str:
        """Hands in a command; durable when this returns. The outcome comes as `command.taken` with the same key."""
        key = key or secrets.token_urlsafe(12)
        await self._log.put(self.session, key, command)
        self._news.set()
        return key

    async def caught_up(self) -> None:
        """Waits until the commands were taken that came while nobody had the session open."""
        await self._caught_up.wait()

    @property
    def idle(self) -> bool:
        return self._turn is None

    @property
    def resting(self) -> bool:
        """Nothing goes on here by itself: closing it now would cost nothing but the way back."""
        if self._news.is_set() or not self._caught_up.is_set():
            return False
        return self._scheduler.only_waits if self._turn or self._local else True

    @property
    def failure(self) -> BaseException | None:
        """Why the session can no longer write, if so."""
        return self._journal.failure

    def waiting(self) -> list[AwaitingApproval]:
        return self._scheduler.waiting()

    # --- the inbox ---

    async def _take_commands(self) -> None:
        try:
            while not self._loop.closing:
                self._queue.clear()
                for item in await self._log.inbox(self.session):
                    if not self._loop.closing:
                        await self._take(item)
                self._show_queue()
                if not self._reading:
                    self._caught_up.set()
                await self._news.wait()
                self._news.clear()
        except LogError:
            self._hub.close()  # the journal keeps the reason in `failure`
        finally:
            self._caught_up.set()

    async def _take(self, item: Inboxed) -> None:
        match item.command:
            case _ if self._options.only not in ("", item.key):
                pass
            case _ if item.key in self.state.keys:
                await self._taken(item)  # its effect was recorded, but not that it was taken
            case Submit() if item.key in self._reading and self._reading[item.key].done():
                pass  # it is on its way into the log
            case Submit() | RunTool() if self._must_wait(item.command):
                self._queue[item.key] = _queued(item.key, item.command)
            case Compress() if self._turn is not None:
                pass  # waits in the inbox until the turn is over
            case Compress(by=by):
                self._turn = self._compressing = asyncio.create_task(self._compress(by, item.key), name="compress")
            case Submit():
                await self._begin_turn(item.command, item)
            case Withdraw():
                await self._withdraw(item.command, item)
            case command:
                await self._taken(item, await self._carry_out(command, item.key))

    def _must_wait(self, command: Submit | RunTool) -> bool:
        """Prompts wait for the end of the turn; what a person runs also for what was run before."""
        return self._turn is not None or (isinstance(command, RunTool) and bool(self._local))

    def _show_queue(self) -> None:
        waiting = tuple(self._queue.values())
        if waiting != self.state.queued:
            self._journal.announce(PromptsQueued(waiting))

    async def _taken(self, item: Inboxed, problem: str = "") -> None:
        await self._journal.record(CommandTaken(item.key, item.command.by, problem), taken=(item.key,))

    async def _carry_out(self, command: Command, key: str) -> str:
        """Does what is asked; gives the reason when it cannot be done."""
        try:
            match command:
                case Answer():
                    await self._scheduler.answer(command, key)
                case CancelTurn():
                    self._cancel_turn(command)
                case CancelCall():
                    self._scheduler.cancel_call(command.call_id, command.reason or "The user cancelled the call.")
                case RunTool():
                    self._run_tool(command, key)
                case ReloadContext():
                    await self._notes.reload()
                case SetMode() | SetModel() | Rename() | RevokeGrant():
                    await self._changes.make(command)
                case Submit() | Withdraw() | Compress():
                    raise AssertionError("taken care of before")
        except Refused as refusal:
            return self._explain(refusal, command)
        return ""

    def _explain(self, refusal: Refused, command: Command) -> str:
        answered_by = self.state.answered_by.get(command.call_id) if isinstance(command, Answer) else None
        if isinstance(refusal, NotWaiting) and answered_by is not None:
            return f"already answered by {answered_by or 'somebody else'}"
        return str(refusal)

    async def _withdraw(self, command: Withdraw, item: Inboxed) -> None:
        """Both leave the inbox together: what was taken back, and the wish to take it back."""
        reading = self._reading.get(command.queued)
        if self._queue.pop(command.queued, None) is None or (reading is not None and not reading.cancel()):
            await self._taken(item, "it is no longer in the queue")
            return
        self._reading.pop(command.queued, None)
        await self._journal.record(
            CommandTaken(command.queued, command.by, "withdrawn"),
            CommandTaken(item.key, command.by),
            taken=(command.queued, item.key),
        )

    # --- compression ---

    async def _make_room(self, prompt_id: str) -> None:
        """Before every request. After a failure only when the conversation has grown a good deal more."""
        limit = max(self._options.compress_above, int(self.state.incompressible * 1.25))
        if self._options.compress_above and self.state.tokens > limit and self._compressor.is_worth_it():
            await self._journal.record(await self._compressor.compress(prompt_id))

    async def _compress(self, by: str, key: str) -> None:
        """For a person; ends like a turn."""
        try:
            done = await self._compressor.compress(by=by, key=key)
            await self._journal.record(done, CommandTaken(key, by, done.problem), taken=(key,))
        except asyncio.CancelledError:
            await self._journal.record(CommandTaken(key, by, "cancelled"), taken=(key,))
        except LogError:
            self._hub.close()  # the journal keeps the reason in `failure`
        finally:
            self._turn = self._compressing = None
            self._news.set()

    # --- turns ---

    async def _begin_turn(self, command: Submit, item: Inboxed) -> None:
        """What it names may come from far away; the inbox does not wait for that."""
        reading = self._options.load_mentions(command.text, self._policy)
        if reading is None:
            turn = self._run_turn(await self._submit(command, item))
        else:
            self._reading[item.key] = asyncio.ensure_future(reading)
            turn = self._read_and_run(command, item)
        self._turn = asyncio.create_task(turn, name="turn")

    async def _submit(self, command: Submit, item: Inboxed, attached: tuple[Attached, ...] = ()) -> str:
        prompt_id = f"{self.session}########{self.state.prompts}"
        submitted = PromptSubmitted(prompt_id, command.text, command.by, item.key, attached)
        await self._journal.record(submitted, CommandTaken(item.key, command.by), taken=(item.key,))
        return prompt_id

    async def _read_and_run(self, command: Submit, item: Inboxed) -> None:
        """Cancelled while it reads, the prompt is recorded without; closed meanwhile, it stays in the inbox; and it may
        be taken back.
        """
        reading = self._reading[item.key]
        if not (await asyncio.wait([reading], timeout=PATIENCE))[0]:
            self._news.set()  # from now on it is shown among those that wait
            await asyncio.wait([reading])
        prompt_id = ""
        try:
            if item.key in self._reading and not self._loop.closing:
                prompt_id = await self._submit(command, item, _outcome(reading))
        except LogError:
            self._hub.close()  # the journal keeps the reason in `failure`
        self._reading.pop(item.key, None)
        self._news.set()
        if prompt_id:
            await self._run_turn(prompt_id)
        else:
            self._turn = None
            self._loop.never_began()

    async def _run_turn(self, prompt_id: str, unfinished: Batch | None = None, ended: TurnStatus | None = None) -> None:
        try:
            await self._loop.run(prompt_id, unfinished, ended)
        except Parked:
            pass
        except LogError:
            self._hub.close()  # the journal keeps the reason in `failure`
        finally:
            self._turn = None
            self._news.set()

    def _cancel_turn(self, command: CancelTurn) -> None:
        if self._turn is None:
            raise Refused("nothing is running that could be cancelled")
        self._stop(self._turn, command.reason)

    def _stop(self, turn: "asyncio.Task[None]", reason: str) -> None:
        if turn is self._compressing:
            turn.cancel()
        else:
            self._stop_reading()
            self._loop.cancel(turn, reason)

    def _stop_reading(self) -> None:
        for reading in self._reading.values():
            reading.cancel()

    def _pick_up_unfinished(self) -> None:
        """Goes on where an earlier process stopped. Calls that had started are not run again."""
        newest = self.state.newest_calls() if self.state.open_prompt is not None else ()
        of_turn = {call.call_id for call in newest}
        batch: Batch | None = None
        if newest:
            batch = self._again(newest)
        strays = [call for call in self.state.pending() if call.request.call_id not in of_turn]
        if strays:
            self._keep(self._scheduler.restore(strays))
        if self.state.open_prompt is not None:
            turn = self._run_turn(self.state.open_prompt, batch, self.state.unrecorded_end)
            self._turn = asyncio.create_task(turn, name="turn")

    def _again(self, newest: tuple[Call, ...]) -> Batch:
        known = [self.state.calls[call.call_id] for call in newest if call.call_id in self.state.calls]
        if known:
            return self._scheduler.restore(known)
        prompt_id = self.state.open_prompt or ""
        return self._scheduler.schedule([CallRequest(c.call_id, c.name, c.args, prompt_id) for c in newest])

    # --- tools that a person starts ---

    def _run_tool(self, command: RunTool, key: str) -> None:
        initiator = "command" if command.judged else "person"
        prompt_id = self.state.open_prompt or ""
        request = self._ids.request(person_call_id(key), command.tool, command.args, prompt_id, initiator)
        self._keep(self._scheduler.schedule(request))

    def _keep(self, batch: Batch) -> None:
        task = asyncio.create_task(self._until_settled(batch))
        self._local.add(task)
        task.add_done_callback(self._local_is_over)

    async def _until_settled(self, batch: Batch) -> None:
        with suppress(Parked, LogError):
            await self._notes.settled(await batch.results())

    def _local_is_over(self, task: "asyncio.Task[None]") -> None:
        self._local.discard(task)
        self._news.set()


def person_call_id(key: str) -> str:
    """The id of the call that a RunTool with this key becomes, so that its sender can wait for it."""
    return f"person-{key}"


def _outcome(reading: "asyncio.Future[tuple[Attached, ...]]") -> tuple[Attached, ...]:
    """Whatever goes wrong with what a prompt names, the prompt itself is not lost."""
    if reading.cancelled():
        return ()
    if (error := reading.exception()) is not None:
        return (Attached("what it names", problem=f"{type(error).__name__}: {error}"),)
    return reading.result()


def _queued(key: str, command: Submit | RunTool) -> Queued:
    match command:
        case Submit(text=text, by=by):
            return Queued(key, text, by)
        case RunTool(tool=tool, args=args, by=by):
            return Queued(key, str(args.get("command") or args), by, tool)
