"""The content of the transcript, in order: a fold of the session's events, with the UI's own notes in between.

Pure data. A call is only named here; its state is in the session's state. Every change gives the item a new `version`,
so that the renderer knows what to redraw.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from assent.app.wording import MODES, clause, shortened_words, who
from assent.approval import AskDetails, Details
from assent.events import (
    ApprovalAnswered,
    ApprovalModifying,
    ApprovalRequested,
    Attached,
    BackgroundEnded,
    BackgroundKept,
    CallFinished,
    CallOutput,
    CallRequested,
    CallScheduled,
    CallStarted,
    ChatCompressed,
    ConversationRewound,
    EffortChanged,
    Envelope,
    Event,
    GrantAdded,
    GrantRevoked,
    ModeChanged,
    ModelChanged,
    ModelFallback,
    ModelReplied,
    ModelRetry,
    ModelWarning,
    OutputPruned,
    PromptSubmitted,
    SessionRenamed,
    TextDelta,
    ThoughtDelta,
    TrialStarted,
    TurnFinished,
)
from assent.front.tui.prompt.paste import is_long
from assent.parts import Call, Text, Thought, TodosDisplay

if TYPE_CHECKING:
    from textual.content import Content

Tone = Literal["quiet", "info", "warning", "error"]


class Item:
    """One thing in the transcript."""

    def __init__(self, *, foldable: bool = False) -> None:
        self.version = 0
        self.foldable = foldable
        self.unfolded = False

    def touch(self) -> None:
        self.version += 1


class PromptItem(Item):
    """`shown` is the text with placeholders for long pastes, if it was typed here."""

    def __init__(self, text: str, by: str, attached: Sequence[Attached] = (), shown: str = "") -> None:
        super().__init__()
        self.text = text
        self.by = by
        self.attached = attached
        self.shown = shown or text
        self.foldable = shown != "" or is_long(text)


class ReplyItem(Item):
    """The model's reply; it grows until it is `finished`."""

    def __init__(self, text: str = "", *, finished: bool = False) -> None:
        super().__init__()
        self._pieces = [text] if text else []
        self.finished = finished

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self.touch()

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


class ThoughtItem(Item):
    """The model's thoughts: subjects, each with a description."""

    def __init__(self, thoughts: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(foldable=True)
        self.thoughts = list(thoughts)

    def add(self, subject: str, description: str, continues: bool = False) -> None:
        if continues and self.thoughts:
            before, so_far = self.thoughts.pop()
            subject, description = before, so_far + description
        self.thoughts.append((subject, description))
        self.touch()


class CallItem(Item):
    def __init__(self, call_id: str) -> None:
        super().__init__(foldable=True)
        self.call_id = call_id
        self.decided = False
        """It asked the person. If that was about a list of steps, it stays in sight when a newer list replaces it."""


class NoteItem(Item):
    """A message from the UI itself."""

    def __init__(self, text: str, tone: Tone = "quiet", *, markdown: bool = False) -> None:
        super().__init__()
        self.text = text
        self.tone: Tone = tone
        self.markdown = markdown


class ContentItem(Item):
    """Styled content from the UI, such as a table."""

    def __init__(self, content: "Content") -> None:
        super().__init__()
        self.content = content


ENDINGS: dict[str, tuple[str, Tone]] = {
    "cancelled": ("Cancelled. What was done is kept.", "warning"),
    "max_turns": ("Stopped: the limit of model requests (max_turns) was reached.", "warning"),
    "loop_detected": ("Stopped: the model repeated the same calls with the same results.", "warning"),
}
REFUSED: tuple[str, Tone] = (
    "Refused, so the turn ends here. The model is told when you send your next message; if you give a reason with "
    "your no, it continues at once.",
    "warning",
)


class TranscriptModel:
    def __init__(self, me: str = "") -> None:
        """`me`: our own name in the log."""
        self._me = me
        self.items: list[Item] = []
        self._calls: dict[str, CallItem] = {}
        self._reaches: dict[str, str] = {}
        """By grant: what it covers."""
        self._prompts: dict[str, PromptItem] = {}
        """By prompt id: the prompt that began the turn."""
        self._unfinished = 0
        """The index of the first item of the reply that is still arriving."""
        self._refused = False
        """Whether a person refused a call of the newest reply, without a reason. It counts until the turn ends."""
        self._plan: CallItem | None = None
        """The call with the newest list of steps; it is shown in full when the turn is over."""
        self._typed: dict[str, str] = {}

    def typed(self, text: str, shown: str) -> None:
        """A prompt was typed here that contains long pastes; `shown` has placeholders for them."""
        if shown != text:
            self._typed[text] = shown

    def add(self, item: Item) -> None:
        """At the end, but before a reply that is still arriving, which may yet be discarded."""
        self.items.insert(self._unfinished, item)
        self._unfinished += 1

    @property
    def arriving(self) -> bool:
        """Whether a reply is being received."""
        return len(self.items) > self._unfinished

    def call(self, call_id: str) -> CallItem | None:
        return self._calls.get(call_id)

    def apply(self, envelope: Envelope) -> None:
        match envelope.event:
            case TextDelta(text=text):
                self._reply().add(text)
            case ThoughtDelta(subject=subject, description=description, continues=continues):
                self._thoughts().add(subject, description, continues)
            case CallOutput(call_id=call_id) | CallStarted(call_id=call_id) | CallScheduled(call_id=call_id):
                self._touch(call_id)
            case ApprovalAnswered(call_id=call_id, outcome=outcome, reason=reason):
                self._refused |= outcome == "cancel" and not reason
                self._touch(call_id)
            case CallFinished(call_id=call_id, display=TodosDisplay()):
                self._touch(call_id)
                self._replace_plan(call_id)
            case ApprovalRequested(call_id=call_id, approval=approval):
                self._touch(call_id)
                self._asked(call_id, approval.details)
            case ApprovalModifying(call_id=call_id) | TrialStarted(call_id=call_id) | CallFinished(call_id=call_id):
                self._touch(call_id)
            case CallRequested(request=request):
                item = self._calls[request.call_id] = CallItem(request.call_id)
                # whoever ran a command wants to see its output; what `/undo` changes may be long
                item.unfolded = request.initiator == "person" and "command" in request.args
                self.add(item)
            case PromptSubmitted() | ModelReplied() | ModelRetry() | TurnFinished():
                self._converse(envelope.event)
            case event:
                self._note(event)

    def _touch(self, call_id: str) -> None:
        if item := self._calls.get(call_id):
            item.touch()

    def _asked(self, call_id: str, details: Details) -> None:
        if isinstance(details, AskDetails) and (item := self._calls.get(call_id)):
            item.decided = True

    def _replace_plan(self, call_id: str) -> None:
        self._show_plan(shown=False)
        self._plan = self._calls.get(call_id)
        if self._plan is not None and self._plan.decided:
            self._show_plan(shown=True)
            self._plan = None

    def _show_plan(self, *, shown: bool) -> None:
        if self._plan is not None:
            self._plan.unfolded = shown

    # --- the conversation ---

    def _converse(self, event: PromptSubmitted | ModelReplied | ModelRetry | TurnFinished) -> None:
        match event:
            case PromptSubmitted():
                self._drop_unfinished()
                item = PromptItem(event.text, event.by, event.attached, self._typed.pop(event.text, ""))
                self._prompts.setdefault(event.prompt_id, item)
                self.add(item)
            case ModelReplied():
                self._refused = False
                self._finish(event)
            case ModelRetry():
                self._drop_unfinished()
                self.add(NoteItem(f"{clause(event.reason)}; trying again in {event.delay:.0f} s"))
            case TurnFinished(failure=None, status=status):
                self._drop_unfinished()
                self._show_plan(shown=True)
                if status in ENDINGS:
                    refused = status == "cancelled" and self._refused
                    self.add(NoteItem(*(REFUSED if refused else ENDINGS[status])))
                self._refused = False
            case TurnFinished(failure=failure):
                self._drop_unfinished()
                self._refused = False
                self.add(NoteItem(failure.message if failure else "", "error"))

    def _rewind(self, prompt_id: str, by: str) -> None:
        """What is no longer part of the conversation is no longer shown as if it were."""
        if (prompt := self._prompts.get(prompt_id)) in self.items:
            del self.items[self.items.index(prompt) :]
            self._unfinished = len(self.items)
        self.add(
            NoteItem(f"{who(by, self._me).capitalize()} went back to here; the log keeps what came after.", "info")
        )

    def _reply(self) -> ReplyItem:
        last = self.items[-1] if len(self.items) > self._unfinished else None
        if not isinstance(last, ReplyItem):
            last = ReplyItem()
            self.items.append(last)
        return last

    def _thoughts(self) -> ThoughtItem:
        last = self.items[-1] if len(self.items) > self._unfinished else None
        if not isinstance(last, ThoughtItem):
            last = ThoughtItem()
            self.items.append(last)
        return last

    def _finish(self, event: ModelReplied) -> None:
        """The complete reply counts; the streamed text stays on the screen if it is the same."""
        whole = list(_items_of(event))
        if [_content(item) for item in self.items[self._unfinished :]] != [_content(item) for item in whole]:
            self._drop_unfinished()
            self.items.extend(whole)
        self.cut()
        self._note_cut(event)

    def cut(self) -> None:
        """Nothing more arrives of this reply; what is added next follows it."""
        for item in self.items[self._unfinished :]:
            if isinstance(item, ReplyItem):
                item.finished = True
                item.touch()
        self._unfinished = len(self.items)

    def _note_cut(self, event: ModelReplied) -> None:
        """Not needed without calls: then the turn ends here, and its end says what happened."""
        from assent.app.model_text import turn_ending

        failure = turn_ending(event).failure
        if failure is not None and any(isinstance(part, Call) for part in event.parts):
            self.add(NoteItem(failure.message, "warning"))

    def _drop_unfinished(self) -> None:
        del self.items[self._unfinished :]

    # --- notes ---

    def _note_model(self, event: ModelChanged | ModelWarning | EffortChanged | ModelFallback) -> None:
        match event:
            case ModelChanged(model=model):
                self.add(NoteItem(f"{model} answers from now on."))
            case ModelWarning(text=text):
                self.add(NoteItem(text, "warning"))
            case EffortChanged(effort=effort):
                self.add(NoteItem(f"Effort is now {effort or 'up to the provider'}."))
            case ModelFallback(model=model, fallback=fallback, reason=reason):
                self.add(NoteItem(f"{clause(reason)}: continuing with {fallback} instead of {model}.", "warning"))

    def _note_background(self, event: BackgroundKept | BackgroundEnded) -> None:
        match event:
            case BackgroundKept(path=path, by=by):
                kept = f"A background command goes on after the session (kept by {who(by, self._me)})."
                self.add(NoteItem(f"{kept} Its output: {path}"))
            case BackgroundEnded(outcome=outcome):
                self.add(NoteItem(f"A background command ended ({outcome}); see /tasks."))

    def _note(self, event: Event) -> None:
        match event:
            case ModeChanged(mode=mode, by=by):
                self.add(NoteItem(f"Mode is now {mode}: {MODES[mode]} (set by {who(by, self._me)})."))
            case ModelChanged() | ModelWarning() | EffortChanged() | ModelFallback():
                self._note_model(event)
            case SessionRenamed(title=title, model=""):
                self.add(NoteItem(f"This session is now called “{title}”."))
            case BackgroundKept() | BackgroundEnded():
                self._note_background(event)
            case GrantAdded() | GrantRevoked():
                self._note_grant(event)
            case ConversationRewound(prompt_id=prompt_id, by=by):
                self._rewind(prompt_id, by)
            case ChatCompressed(problem=problem) if problem:
                if not event.by:  # if a person asked for it, they are told anyway
                    self.add(NoteItem(f"The conversation was not compressed: {problem}"))
            case ChatCompressed() | OutputPruned():
                self.add(NoteItem(f"{shortened_words(event)}."))
            case _:
                pass

    def _note_grant(self, event: GrantAdded | GrantRevoked) -> None:
        match event:
            case GrantAdded(grant=grant):
                self._reaches[grant.id] = grant.reach.rstrip(".")
                self.add(NoteItem(f"Granted: {self._reaches[grant.id]}."))
            case GrantRevoked(grant_id=grant_id, by=by):
                what = self._reaches.get(grant_id, f"the grant {grant_id} of an earlier session")
                self.add(NoteItem(f"Revoked by {who(by, self._me)}: {what}."))


def _items_of(event: ModelReplied) -> Sequence[Item]:
    items: list[Item] = []
    for part in event.parts:
        match part:
            case Thought(text="", subject=""):
                pass  # nothing to read: only a signature, or encrypted
            case Thought(text=text, subject=subject) if items and isinstance(items[-1], ThoughtItem):
                items[-1].thoughts.append((subject, text))
            case Thought(text=text, subject=subject):
                items.append(ThoughtItem([(subject, text)]))
            case Text(text=text) if text and items and isinstance(items[-1], ReplyItem):
                items[-1].add(text)
            case Text(text=text) if text:
                items.append(ReplyItem(text))
            case _:
                pass
    return items


def _content(item: Item) -> object:
    match item:
        case ReplyItem():
            return item.text
        case ThoughtItem():
            return item.thoughts
        case _:
            return item
