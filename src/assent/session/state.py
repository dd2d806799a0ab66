"""The fold: everything there is to know about a session, computed from its events and nothing else.

`apply` costs the same for the first event and the ten-thousandth. Readers get frozen values; only the runner folds.
"""

from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from assent.agent.ending import Ending, turn_ending
from assent.agent.pruning import pruned
from assent.agent.spending import Spending, spending_of
from assent.approval import Grant, Mode
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    ApprovalRequested,
    BackgroundEnded,
    BackgroundKept,
    BackgroundStarted,
    CallFinished,
    CallInput,
    CallOutput,
    CallProcess,
    CallRequested,
    CallScheduled,
    CallStarted,
    ChatCompressed,
    CommandTaken,
    ContextLoaded,
    ContextSource,
    ConversationRewound,
    EffortChanged,
    Envelope,
    Event,
    FileChange,
    GateKind,
    GrantAdded,
    GrantRevoked,
    ModeChanged,
    ModelChanged,
    ModelReplied,
    ModelWarning,
    OutputPruned,
    PromptsQueued,
    PromptSubmitted,
    QueueHeld,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    TextDelta,
    ThoughtDelta,
    TrialStarted,
    TurnFinished,
)
from assent.parts import Call, Effort, Message, Todo, TodosDisplay, Usage
from assent.scheduler.call import (
    AwaitingApproval,
    Executing,
    Failed,
    IllegalTransition,
    Success,
    Terminal,
    ToolCall,
    advance,
    begin,
)
from assent.session.background_recorder import BackgroundCommand
from assent.session.conversation import Conversation
from assent.session.log import LogDamaged, title_of
from assent.transient_events import Queued

_Conversation = PromptSubmitted | ModelReplied | TurnFinished | ChatCompressed | OutputPruned | ConversationRewound


class RewindPoint(Struct, frozen=True, kw_only=True):
    """A prompt that the person can go back to: what was said, when, and what came before it."""

    prompt_id: str
    text: str
    at: float
    changes: int
    requests: int
    """How many file changes, and how many requests of the person, came before it."""
    todos: tuple[Todo, ...]


class SessionState:
    def __init__(self, session: str) -> None:
        self.session, self.seq = session, 0
        self.folder = self.model = self.title = self.owner = ""
        """The title is the one a person gave it, or its first prompt. The owner is empty for the user's own."""
        self.mode: Mode = "default"
        self.gate: GateKind = "batch"
        self.effort: Effort | None = None
        self.model_warnings: dict[str, str] = {}  # by the name of the model
        self.calls: dict[str, ToolCall] = {}
        """All calls of the session by id, in order."""
        self._open: dict[str, ToolCall] = {}
        """Those that are not finished."""
        self.answered_by: dict[str, str] = {}
        self.changes: dict[str, FileChange] = {}
        """What calls did or were about to do to files, in order."""
        self.undone, self.background = set[str](), dict[str, BackgroundCommand]()
        """Calls whose change was undone, and the commands that calls left running, also those that have ended."""
        self.todos: tuple[Todo, ...] = ()
        """The model's latest to-do list."""
        self.grants: dict[str, Grant] = {}
        self.grant_uses: dict[str, int] = {}
        """How many calls each grant has allowed."""
        self.open_prompt: str | None = None
        """The prompt whose turn is not finished."""
        self.prompts, self.busy_since = 0, 0.0
        """How many there are, and when the newest was submitted."""
        self.unrecorded_end: Ending | None = None
        """Set between the reply that ends a turn and the event that records the end."""
        self.queued: tuple[Queued, ...] = ()
        """Prompts and tools sent while a turn was running, in order."""
        self.held: frozenset[str] = frozenset()
        """The keys of those that wait until someone releases them."""
        self.context: tuple[ContextSource, ...] = ()
        """The context files that were found, loaded or not."""
        self.first_prompt = self.latest_prompt = ""
        self.usage, self.spending = Usage(), Spending()
        self.keys: set[str] = set()
        """Idempotency keys of the commands that have taken effect."""
        self.conversation = Conversation(self.calls)
        self._points, self.requests = dict[str, RewindPoint](), list[str]()
        """The prompts, and what the person asked for in them, as far as it was not taken back."""

    def apply(self, envelope: Envelope) -> None:
        self.seq = envelope.seq or self.seq
        self._apply(envelope.event, envelope.ts)

    def _apply(self, event: Event, ts: float) -> None:
        match event:
            case TextDelta() | ThoughtDelta():
                pass  # first, because there are thousands; the complete reply comes with ModelReplied
            case CallRequested():
                self._put(begin(event, ts))
            case ApprovalAnswered() | TrialStarted():
                self._answer(event)
            case CallStarted():
                self._advance(event.call_id, event)
                self._start(event)
            case CallFinished():
                self._advance(event.call_id, event)
                self._finish(self.calls[event.call_id])
            case (
                CallOutput() | CallProcess() | CallInput() | ApprovalRequested() | CallScheduled() | ApprovalModifying()
            ):
                self._advance(event.call_id, event)
            case BackgroundStarted() | BackgroundKept() | BackgroundEnded():
                self._run_in_background(event, ts)
            case PromptSubmitted() | ModelReplied() | TurnFinished():
                self._converse(event, ts)
            case ChatCompressed() | OutputPruned() | ConversationRewound():
                self._converse(event, ts)
            case _:
                self._settle(event)

    def _answer(self, event: ApprovalAnswered | TrialStarted) -> None:
        if isinstance(event, ApprovalAnswered):
            self.answered_by[event.call_id] = event.by
        self.keys.add(event.key)
        self._advance(event.call_id, event)

    def _run_in_background(self, event: BackgroundStarted | BackgroundKept | BackgroundEnded, ts: float) -> None:
        match event:
            case BackgroundStarted(call_id=call_id, command=command, pid=pid):
                started = BackgroundCommand(call_id=call_id, command=command, pid=pid, started_at=ts)
                self.background[call_id] = started
            case BackgroundKept(call_id=call_id, by=by, path=path):
                self.background[call_id] = replace(self.background[call_id], kept=True, kept_by=by, output=path)
            case BackgroundEnded(call_id=call_id, outcome=outcome):
                self.background[call_id] = replace(self.background[call_id], outcome=outcome)

    def _start(self, event: CallStarted) -> None:
        self._count_use(event)
        if event.change is not None:
            self.changes[event.call_id] = event.change

    def _finish(self, call: ToolCall) -> None:
        if not isinstance(call, Terminal):
            return
        self.conversation.finish(call)
        if isinstance(call, Success):
            self._succeed(call)

    def _succeed(self, call: Success) -> None:
        if isinstance(call.display, TodosDisplay):
            self.todos = call.display.todos
        if taken_back := self._taken_back_by(call.request.call_id):
            self._take_back(taken_back)

    def _take_back(self, call_id: str) -> None:
        """Undoing an undo restores the change, and undoing that undoes it again."""
        undone = True
        while call_id:
            (self.undone.add if undone else self.undone.discard)(call_id)
            call_id, undone = self._taken_back_by(call_id), not undone

    def _taken_back_by(self, call_id: str) -> str:
        """The call whose change this one undoes; empty for one that makes a change of its own."""
        change = self.changes.get(call_id)
        if change is None:
            return ""
        return change.takes_back or str(self.calls[call_id].request.args.get("call_id", ""))  # as in older logs

    def _count_use(self, event: CallStarted) -> None:
        call = self.calls.get(event.call_id)
        if isinstance(call, Executing) and call.decision.source == "grant":
            for grant_id in call.decision.rule.split():
                self.grant_uses[grant_id] = self.grant_uses.get(grant_id, 0) + 1

    def _advance(self, call_id: str, event: Event) -> None:
        self._put(advance(self.calls[call_id], event))

    def _put(self, call: ToolCall) -> None:
        call_id = call.request.call_id
        self.calls[call_id] = call
        if isinstance(call, Terminal):
            self._open.pop(call_id, None)
        else:
            self._open[call_id] = call

    def _converse(self, event: _Conversation, ts: float) -> None:
        match event:
            case PromptSubmitted():
                self._hear(event, ts)
            case ModelReplied():
                self._spend(event)
                self.model = self.model or event.model  # a session may begin before there is a model
                self.conversation.reply(event)
                calls = any(isinstance(part, Call) for part in event.parts)
                self.unrecorded_end = self.unrecorded_end if calls else turn_ending(event)
            case TurnFinished():
                self.open_prompt = self.unrecorded_end = None
                if event.failure is not None and event.failure.type == "media_refused":
                    self.conversation.leave_out_media()
            case ChatCompressed():
                self._spend(event)
                self.keys.add(event.key)
                self._shed_results(self.conversation.compress(event))
            case OutputPruned():
                self.conversation.prune(event)
            case ConversationRewound(prompt_id=prompt_id):
                point = self._points[prompt_id]
                self.todos = point.todos
                del self.requests[point.requests :]
                self.conversation.rewind(prompt_id)

    def _hear(self, event: PromptSubmitted, ts: float) -> None:
        if event.prompt_id != self.open_prompt:
            self.prompts += 1
            self.busy_since = ts
            self.title = self.title or title_of(event.text)
            self.first_prompt = self.first_prompt or event.text
            self._points[event.prompt_id] = RewindPoint(
                prompt_id=event.prompt_id,
                text=event.text,
                at=ts,
                changes=len(self.changes),
                requests=len(self.requests),
                todos=self.todos,
            )
        self.requests.append(event.text)
        self.open_prompt, self.unrecorded_end = event.prompt_id, None
        self.keys.add(event.key)
        self.latest_prompt = event.text
        self.conversation.hear(event)

    def _spend(self, event: ModelReplied | ChatCompressed | SessionRenamed) -> None:
        self.usage += event.usage
        self.spending += spending_of(event)

    def _shed_results(self, call_ids: Iterable[str]) -> None:
        """The model will never see them again, and people see what is displayed: a long session stays small."""
        for call_id in call_ids:
            call = self.calls.get(call_id)
            if isinstance(call, Terminal) and call.display is not None:
                self.calls[call_id] = replace(call, result=pruned(call.result))

    def _settle(self, event: Event) -> None:
        match event:
            case SessionCreated():
                self.folder, self.model, self.owner = event.folder, event.model, event.owner
                self.mode, self.gate, self.effort = event.mode, event.gate, event.effort
            case ModeChanged():
                self.mode = event.mode
            case ModelChanged() | ModelWarning() | EffortChanged():
                self._choose(event)
            case SessionRenamed():
                self._spend(event)
                self.title = event.title
            case ContextLoaded():
                self.context = event.sources
            case PromptsQueued() | QueueHeld() | CommandTaken():
                self._line_up(event)
            case GrantAdded():
                self.grants[event.grant.id] = event.grant
            case GrantRevoked():
                self.grants.pop(event.grant_id, None)
            case SessionOpened() | _:
                pass

    def _line_up(self, event: PromptsQueued | QueueHeld | CommandTaken) -> None:
        match event:
            case PromptsQueued():
                self.queued = event.waiting
            case QueueHeld():
                self.held = frozenset(event.keys)
            case CommandTaken():
                self.keys.add(event.key)
                self.queued = tuple(queued for queued in self.queued if queued.key != event.key)
                self.held -= {event.key}

    def _choose(self, event: ModelChanged | ModelWarning | EffortChanged) -> None:
        match event:
            case ModelChanged():
                self.model, self.conversation.window = event.model, event.window
            case ModelWarning():
                self.model_warnings[event.model] = event.text
            case EffortChanged():
                self.effort = event.effort

    # --- for readers ---

    def history(self) -> tuple[Message, ...]:
        """The conversation as the model needs it."""
        return self.conversation.messages()

    def is_forgotten(self, call_id: str) -> bool:
        """Whether this is a call of the model that has left the conversation."""
        call = self.calls.get(call_id)
        if call is None or call.request.initiator != "model":
            return False
        return not self.conversation.has_call(call_id)

    def newest_calls(self) -> tuple[Call, ...]:
        return self.conversation.newest_calls()

    def rewind_points(self) -> list[RewindPoint]:
        """The prompts that the person can go back to, in order: those that were compressed since are gone."""
        return [point for point in self._points.values() if self.conversation.can_rewind(point.prompt_id)]

    def changes_since(self, prompt_id: str) -> list[str]:
        """Calls since this prompt whose change has not been undone, newest last."""
        since = list(self.changes)[self._points[prompt_id].changes :]
        undoable = set(self.undoable())
        return [call_id for call_id in since if call_id in undoable]

    def undoable(self) -> list[str]:
        """Calls whose change has not been undone, newest last. Whether the file has changed since is not known."""
        return [
            id
            for id in self.changes
            if id not in self.undone and not self._taken_back_by(id) and not self._left_alone(id)
        ]

    def redoable(self) -> dict[str, str]:
        """Changes that have been undone, each with the call to undo so that it is made again; newest undo last."""
        done = [id for id in self.changes if id not in self.undone and isinstance(self.calls[id], Success)]
        undos = {self._taken_back_by(id): id for id in done}
        return {change: id for change, id in undos.items() if change in self.undone and not self._taken_back_by(change)}

    def _left_alone(self, call_id: str) -> bool:
        """The call found another content than was shown, and wrote nothing."""
        call = self.calls[call_id]
        return isinstance(call, Failed) and call.failure.type == "changed_since_shown"

    @property
    def begun(self) -> bool:
        """Something was said or done in it; a session that was only opened is not worth keeping."""
        return bool(self.prompts or self.calls or self.title)

    def pending(self) -> list[ToolCall]:
        return list(self._open.values())

    def waiting(self) -> list[AwaitingApproval]:
        return [call for call in self._open.values() if isinstance(call, AwaitingApproval)]


def fold_readable(session: str, envelopes: Iterable[Envelope]) -> SessionState:
    """The state as far as it can be computed. Only for display: events that do not fit are skipped."""
    state = SessionState(session)
    for envelope in envelopes:
        with suppress(KeyError, IllegalTransition):
            state.apply(envelope)
    return state


def fold(session: str, envelopes: list[Envelope], state: SessionState | None = None) -> SessionState:
    """Continues from `state` if given. Raises LogDamaged for events that cannot have happened in this order."""
    state = state or SessionState(session)
    for envelope in envelopes:
        try:
            state.apply(envelope)
        except (KeyError, IllegalTransition) as error:
            raise LogDamaged(f"event {envelope.seq} of session {session} does not fit the events before it") from error
    return state
