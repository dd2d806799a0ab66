"""The fold: everything there is to know about a session, computed from its events and nothing else.

`apply` costs the same for the first event and the ten-thousandth. Readers get frozen values; only the runner folds.
"""

from collections.abc import Iterable
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from assent.agent import token_estimate
from assent.agent.ending import Ending, turn_ending
from assent.agent.pruning import pruned
from assent.agent.spending import Spending, spending_of
from assent.agent.user_prompt import user_message, without_media
from assent.approval import Grant, Mode
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    ApprovalRequested,
    CallFinished,
    CallOutput,
    CallProcess,
    CallRequested,
    CallScheduled,
    CallStarted,
    ChatCompressed,
    CommandTaken,
    ContextLoaded,
    ContextSource,
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
    Queued,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    TextDelta,
    ThoughtDelta,
    TrialStarted,
    TurnFinished,
)
from assent.parts import Call, Effort, Message, ModelMessage, Result, Text, Todo, TodosDisplay, Usage, UserMessage
from assent.scheduler.call import (
    AwaitingApproval,
    Executing,
    IllegalTransition,
    Success,
    Terminal,
    ToolCall,
    advance,
    begin,
)
from assent.session.log import LogDamaged, title_of

UNDERSTOOD = ModelMessage((Text("I have read the notes and will continue from there."),))
"""Placed between the summary of a compressed conversation and a prompt, because the roles must alternate."""


_Conversation = PromptSubmitted | ModelReplied | TurnFinished | ChatCompressed | OutputPruned


class _CallsOf(Struct, frozen=True):
    """Represents the results of one reply's calls in the history, in request order."""

    call_ids: tuple[str, ...]


class SessionState:
    def __init__(self, session: str) -> None:
        self.session, self.seq = session, 0
        self.folder = self.model = self.title = ""
        """The title is the one a person gave it, or its first prompt."""
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
        self.undone: set[str] = set()
        """Calls whose change was undone."""
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
        self.context: tuple[ContextSource, ...] = ()
        """The context files that were found, loaded or not."""
        self.first_prompt = self.latest_prompt = ""
        self.usage, self.spending = Usage(), Spending()
        self.tokens = self.incompressible = self.window = 0
        """The approximate tokens of the next request (the provider's count of the last one, plus what came since), that
        number when compression last failed to help, and the context window of the model in use (0 if unknown).
        """
        self.keys: set[str] = set()
        """Idempotency keys of the commands that have taken effect."""
        self._history: list[Message | _CallsOf] = []
        self._pruned, self._bare = set[str](), set[str]()
        """Calls whose output, or only its images and files, the model is no longer sent."""

    def apply(self, envelope: Envelope) -> None:
        self.seq = envelope.seq or self.seq
        self._apply(envelope.event, envelope.ts)

    def _apply(self, event: Event, ts: float) -> None:
        match event:
            case TextDelta() | ThoughtDelta():
                pass  # first, because there are thousands; the complete reply comes with ModelReplied
            case CallRequested():
                self._put(begin(event, ts))
            case ApprovalAnswered():
                self.answered_by[event.call_id] = event.by
                self.keys.add(event.key)
                self._advance(event.call_id, event)
            case TrialStarted():
                self.keys.add(event.key)
                self._advance(event.call_id, event)
            case CallStarted():
                self._advance(event.call_id, event)
                self._start(event)
            case CallFinished():
                self._advance(event.call_id, event)
                self._finish(self.calls[event.call_id])
            case ApprovalRequested() | CallScheduled() | ApprovalModifying() | CallOutput() | CallProcess():
                self._advance(event.call_id, event)
            case PromptSubmitted() | ModelReplied() | TurnFinished() | ChatCompressed() | OutputPruned():
                self._converse(event, ts)
            case _:
                self._settle(event)

    def _start(self, event: CallStarted) -> None:
        self._count_use(event)
        if event.change is not None:
            self.changes[event.call_id] = event.change

    def _finish(self, call: ToolCall) -> None:
        if not isinstance(call, Terminal):
            return
        if call.request.initiator == "model":
            self.tokens += token_estimate.of_result(call.result)
        if isinstance(call, Success):
            self._succeed(call)

    def _succeed(self, call: Success) -> None:
        if isinstance(call.display, TodosDisplay):
            self.todos = call.display.todos
        if taken_back := self._taken_back_by(call.request.call_id):
            self.undone.add(taken_back)
            self.undone.discard(self._taken_back_by(taken_back))  # undoing an undo restores the change

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
        if isinstance(event, ModelReplied | ChatCompressed | OutputPruned):
            self.window = event.window or self.window
        match event:
            case PromptSubmitted():
                self.prompts += 1
                self.busy_since = ts
                self.title = self.title or title_of(event.text)
                self.open_prompt, self.unrecorded_end = event.prompt_id, None
                self.keys.add(event.key)
                self.latest_prompt = event.text
                self.first_prompt = self.first_prompt or event.text
                message = user_message(event)
                self.tokens += token_estimate.of_message(message)
                self._history.append(message)
            case ModelReplied():
                self._count(event)
                self.model = self.model or event.model  # a session may begin before there is a model
                if event.parts:
                    self._history.append(ModelMessage(event.parts, event.model))
                calls = tuple(part.call_id for part in event.parts if isinstance(part, Call))
                if calls:
                    self._history.append(_CallsOf(calls))
                else:
                    self.unrecorded_end = turn_ending(event)
            case TurnFinished():
                self.open_prompt = self.unrecorded_end = None
                if event.failure is not None and event.failure.type == "media_refused":
                    self._leave_out_media()
            case ChatCompressed():
                self._spend(event)
                self.keys.add(event.key)
                self._compress(event)
            case OutputPruned():
                self._pruned.update(event.call_ids)
                self.tokens = max(event.tokens_after, self.tokens - event.tokens_before + event.tokens_after)

    def _leave_out_media(self) -> None:
        """The model does not accept an image of the conversation: with it, every request would fail."""
        for place, entry in enumerate(self._history):
            match entry:
                case UserMessage():
                    self._history[place] = without_media(entry)
                case _CallsOf(call_ids=call_ids):
                    self._bare.update(call_ids)
                case ModelMessage():
                    pass

    def _spend(self, event: ModelReplied | ChatCompressed | SessionRenamed) -> None:
        self.usage += event.usage
        self.spending += spending_of(event)

    def _count(self, event: ModelReplied) -> None:
        self._spend(event)
        if event.usage.input:
            self.tokens = event.usage.input + event.usage.output
        else:
            self.tokens += sum(map(token_estimate.of_part, event.parts))

    def _compress(self, event: ChatCompressed) -> None:
        cut = 0 if event.problem else self._safe_cut(event.replaced)
        if cut == 0:
            self.incompressible = self.tokens
            return
        kept = self._history[cut:]
        answer = () if kept and isinstance(kept[0], ModelMessage) else (UNDERSTOOD,)
        self._history = [UserMessage((Text(event.summary),)), *answer, *kept]
        self.tokens = max(event.tokens_after, self.tokens - event.tokens_before + event.tokens_after)
        self.incompressible = 0

    def _safe_cut(self, wanted: int) -> int:
        """Before the first reply with an unfinished call, and never between a reply and its results."""
        cut = min(wanted, len(self._history))
        for place, entry in enumerate(self._history[:cut]):
            if isinstance(entry, _CallsOf) and any(self._is_open(call_id) for call_id in entry.call_ids):
                cut = place - 1
                break
        split = cut < len(self._history) and isinstance(self._history[cut], _CallsOf)
        return cut - 1 if split else cut

    def _is_open(self, call_id: str) -> bool:
        """A call of the newest reply is open even before it is recorded."""
        call = self.calls.get(call_id)
        if call is None:
            return any(call_id == newest.call_id for newest in self.newest_calls())
        return not isinstance(call, Terminal)

    def _settle(self, event: Event) -> None:
        match event:
            case SessionCreated():
                self.folder, self.model = event.folder, event.model
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
            case PromptsQueued():
                self.queued = event.waiting
            case GrantAdded():
                self.grants[event.grant.id] = event.grant
            case GrantRevoked():
                self.grants.pop(event.grant_id, None)
            case CommandTaken():
                self.keys.add(event.key)
                self.queued = tuple(queued for queued in self.queued if queued.key != event.key)
            case SessionOpened() | _:
                pass

    def _choose(self, event: ModelChanged | ModelWarning | EffortChanged) -> None:
        match event:
            case ModelChanged():
                self.model, self.window = event.model, event.window
            case ModelWarning():
                self.model_warnings[event.model] = event.text
            case EffortChanged():
                self.effort = event.effort

    # --- for readers ---

    def history(self) -> tuple[Message, ...]:
        """The conversation as the model needs it: only its own calls, each with its result."""
        return tuple(self._results(entry) if isinstance(entry, _CallsOf) else entry for entry in self._history)

    def _results(self, entry: _CallsOf) -> UserMessage:
        return UserMessage(tuple(self._result(call_id) for call_id in entry.call_ids))

    def _result(self, call_id: str) -> Result:
        call = self.calls.get(call_id)
        if isinstance(call, Terminal):
            result = replace(call.result, media=()) if call_id in self._bare else call.result
            return pruned(result) if call_id in self._pruned else result
        name = call.request.tool if call is not None else "unknown"
        return Result(call_id, name, {"error": "This call has no result: it never ran."})

    def is_forgotten(self, call_id: str) -> bool:
        """Whether this is a call of the model that has left the conversation."""
        call = self.calls.get(call_id)
        if call is None or call.request.initiator != "model":
            return False
        return not any(isinstance(entry, _CallsOf) and call_id in entry.call_ids for entry in self._history)

    def newest_calls(self) -> tuple[Call, ...]:
        """The calls requested by the newest reply; empty if it requests none, or if something followed it."""
        if not self._history or not isinstance(self._history[-1], _CallsOf):
            return ()
        reply = self._history[-2]
        parts = reply.parts if isinstance(reply, ModelMessage) else ()
        return tuple(part for part in parts if isinstance(part, Call))

    def undoable(self) -> list[str]:
        """Calls whose change has not been undone, newest last. Whether the file has changed since is not known."""
        return [id for id in self.changes if id not in self.undone and not self._taken_back_by(id)]

    @property
    def window_share(self) -> float:
        """How much of the model's context window the next request fills; 0 if the window is unknown."""
        return self.tokens / self.window if self.window else 0.0

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
