"""Which questions wait, which of them is shown, what of it has been on the screen, and the lines around it.

The panel on top of it (`question_panel`) turns keys into answers.
"""

from collections.abc import Callable, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Static

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import question_title
from assent.app.wording import count, description, editing, safe
from assent.approval import AskDetails, ExecDetails
from assent.front.tui.answer_keys import (
    READS,
    EnterKey,
    Offer,
    answers,
    as_high,
    height,
    legend,
    line_offers,
    menu,
    offers,
)
from assent.front.tui.answer_line import AnswerLine
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.ask_keys import chosen_at_once, ticked_later
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.question_lines import QuestionLines
from assent.front.tui.question_view import QuestionView
from assent.front.tui.text_style import TextStyler

HINT_SECONDS = 2.5
MENU_HEIGHT = 22
"""Lines of the screen below which the answers are not listed one below the other."""
MARGIN = 4
"""Columns for border and padding."""
FRAME, LOW_FRAME = 4, 2
"""Lines around the panel's texts: border, a blank line, and one line of the transcript above; only the border on a low
screen.
"""


class QuestionBoard(Vertical, can_focus=True):
    def __init__(
        self, styler: Callable[[], TextStyler], guard: KeyGuard, me: Callable[[], str], enter: EnterKey = "no"
    ) -> None:
        super().__init__(id="approval")
        self._enter: EnterKey = enter
        self._choice = 0
        """With `enter = "select"`: the answer that Enter takes."""
        self.guard = guard
        self._styler = styler
        self._me = me
        self._questions: dict[str, AwaitingApproval] = {}
        self._views: dict[str, QuestionView] = {}
        """By approval id: what was chosen, seen and typed in each."""
        self._seen: set[str] = set()
        self._current = ""
        self._shown_at = 0.0
        self._hint = ""
        self._hint_timer: Timer | None = None
        self._words = 2
        """Lines for the title and the keys."""

    def compose(self) -> ComposeResult:
        yield Static(id="question-title")
        yield QuestionLines(self._styler, self._room)
        yield AnswerLine(self.guard, self._say_too_soon)
        yield Static(id="question-keys")

    @property
    def body(self) -> QuestionLines:
        return self.query_one(QuestionLines)

    @property
    def line(self) -> AnswerLine:
        """Where a question that has no options is answered."""
        return self.query_one(AnswerLine)

    @property
    def has_keyboard(self) -> bool:
        return self.has_focus or self.line.has_focus

    def focus(self, scroll_visible: bool = True) -> "QuestionBoard":
        """To the line, if there is one: what one types is the answer."""
        if self.line.display:
            self.line.focus(scroll_visible)
        else:
            super().focus(scroll_visible)
        return self

    def to_keys(self) -> None:
        """From the line to the keys of the question."""
        super().focus()

    # --- the questions ---

    def put(self, questions: Sequence[AwaitingApproval]) -> None:
        """Sets the waiting questions. The one shown stays as long as it is among them, unchanged."""
        shown = self.call
        self._questions = {call.request.call_id: call for call in questions}
        self.display = bool(self._questions)
        self.screen.set_class(self.display, "-asking")
        if not self._questions:
            self._current = ""
            self.line.display = False
            return
        if self._current not in self._questions:
            self._current = next(iter(self._questions))
        if shown is None or self.call is None or shown.approval.id != self.call.approval.id:
            self._show()
        self._label()

    @property
    def call(self) -> AwaitingApproval | None:
        return self._questions.get(self._current)

    @property
    def question(self) -> QuestionView | None:
        return self.body.question

    def show_call(self, call_id: str) -> None:
        if call_id in self._questions:
            self._current = call_id
            self._show()
            self._label()

    def _show(self) -> None:
        call = self.call
        assert call is not None
        self.guard.disturb()
        self._shown_at = self.guard.now
        self._hint, self._choice = "", 0
        approval = call.approval
        question = self._views.setdefault(approval.id, QuestionView(approval, description(call.request)))
        self._mark_choice(question)
        self.body.put(question, seen=approval.id in self._seen)
        self._arrange_line()

    def _arrange_line(self) -> None:
        """The line is there where nothing can be chosen, with what was typed in it before."""
        draft, had = self.draft, self.has_keyboard
        self.line.display = draft is not None and draft.writes
        if draft is not None and draft.writes:
            number = f"({draft.number}) {draft.question.question}" if draft.number else ""
            hint = draft.question.placeholder or number or "your answer"
            self.line.begin(draft.reply.words, safe(" ".join(hint.split()), "label"))
        if had:
            self.focus()

    @property
    def draft(self) -> AskDraft | None:
        """What was answered so far, if the model asks."""
        return self.question.draft if self.question is not None else None

    def redraw(self) -> None:
        if self.call is not None:
            self.body.redraw()
            self._label()

    def on_resize(self) -> None:
        if self.call is not None and self.question is not None:
            self._mark_choice(self.question)
            self.body.redraw()
            self._label()

    def on_question_lines_seen(self) -> None:
        if self.call is not None:
            (self._seen.add if self.body.seen else self._seen.discard)(self.call.approval.id)
            self._label()

    def reviewed(self, question: QuestionView, *, everything: bool) -> None:
        """It was shown on the whole screen."""
        if question is not self.question:
            return  # someone else answered, or the question has changed
        if everything:
            self.body.look_at_all()
        self.redraw()

    @property
    def all_seen(self) -> bool:
        return all(call.approval.id in self._seen for call in self._questions.values())

    # --- title and keys ---

    def _label(self) -> None:
        call = self.call
        if call is None:
            return
        title, keys = self._title(call), self._keys(call)
        self.query_one("#question-title", Static).update(title)
        self.query_one("#question-keys", Static).update(keys)
        unseen = self.body.unseen
        self.border_subtitle = f"{count(unseen, 'line')} unseen: PgDn, or f for the whole screen" if unseen else ""
        before, self._words = self._words, height(title, self._width) + height(keys, self._width)
        if before != self._words:
            self.body.fit()

    @property
    def _width(self) -> int:
        return max(self.screen.size.width - MARGIN, 1)

    def _room(self) -> int:
        """Lines left for the body."""
        below = (
            widget
            for widget in self.screen.query("#input-panel, #status, #todos, #queue, #prompt, #foot")
            if widget.display
        )
        frame = LOW_FRAME if self.screen.has_class("-low") else FRAME
        line = 2 if self.line.display else 0
        return self.screen.size.height - frame - self._words - line - sum(widget.outer_size.height for widget in below)

    def _title(self, call: AwaitingApproval) -> Text:
        palette = self._styler().palette
        risky = isinstance(call.approval.details, ExecDetails) and call.approval.details.risk == "high"
        title = Text(
            f"? {question_title(call.approval.details)}", style=f"bold {palette.bad if risky else palette.warn}"
        )
        number = list(self._questions).index(self._current) + 1
        if len(self._questions) > 1:
            title.append(f"   {number} of {len(self._questions)} (← →)", palette.dim)
        if call.tried_by is not None:
            title.append("   being tried in a copy of the workspace …", f"bold {palette.accent}")
        if call.modifying_by:
            title.append(f"   {safe(editing(call.modifying_by, self._me()), 'label')}", palette.warn)
        return title

    def _keys(self, call: AwaitingApproval) -> Text:
        """The keys, or a hint instead: just as high, so that the question does not move."""
        palette = self._styler().palette
        keys = self._shown_offers(call)
        if self._hint:
            return as_high(self._width, Text(self._hint, style=f"bold {palette.warn}"), keys)
        if not self.has_keyboard:
            elsewhere = Text("Tab to answer; what you type goes into your message", style=palette.dim)
            return elsewhere if self.screen.has_class("-low") else as_high(self._width, elsewhere, keys)
        if self.line.has_focus and self.draft is not None:
            return as_high(self._width, legend(line_offers(self.draft), palette, self._width, seen=True), keys)
        return keys

    def _shown_offers(self, call: AwaitingApproval) -> Text:
        """As high as with "yes to all", which appears only when everything was shown and would cover lines again."""
        return as_high(self._width, self._drawn(self._offers(call)), self._drawn(self._offers(call, to_all=True)))

    def _drawn(self, listed: list[Offer]) -> Text:
        palette, seen = self._styler().palette, self.body.seen
        if self.screen.has_class("-low"):
            listed = [offer for offer in listed if offer.key not in READS]  # /help has it
        if self._selects:
            numbered = self.call is None or not self._ticks(self.call)
            return menu(listed, self._choice, palette, self._width, seen=seen, first=self._options, numbered=numbered)
        return legend(listed, palette, self._width, seen=seen)

    @property
    def _options(self) -> int:
        """How many of the answers are options that the body lists."""
        return len(chosen_at_once(self.draft.questions)) if self._selects and self.draft is not None else 0

    @staticmethod
    def _ticks(call: AwaitingApproval) -> str:
        """The numbers that belong to options, and not to the answers."""
        details = call.approval.details
        return ticked_later(details.questions) if isinstance(details, AskDetails) else ""

    def _mark_choice(self, question: QuestionView) -> None:
        """The options of the model's question are a list to select from, if the answers are."""
        at_once = chosen_at_once(question.draft.questions) if question.draft is not None else ()
        question.choice = self._choice if self._selects and at_once else None

    def _choose(self, step: int, call: AwaitingApproval) -> None:
        """To another answer; an option is scrolled to."""
        self._choice = (self._choice + step) % len(answers(self._offers(call)))
        if self.question is not None and self._options:
            self._mark_choice(self.question)
            self.body.redraw()
            self.body.show_part(min(self._choice, self._options - 1))
        self._label()

    def _offers(self, call: AwaitingApproval, *, to_all: bool = False) -> list[Offer]:
        for_all = len(self._for_all) if to_all or self.all_seen else 0
        return offers(call, self.question, self._width, "select" if self._selects else "no", for_all)

    @property
    def _selects(self) -> bool:
        """Whether the answers are a list to select from: if it is wanted, and there is room."""
        return self._enter == "select" and self.screen.size.height >= MENU_HEIGHT

    @property
    def _for_all(self) -> list[AwaitingApproval]:
        """Those that a plain yes can answer."""
        asked = (call for call in self._questions.values() if not isinstance(call.approval.details, AskDetails))
        return [call for call in asked if "proceed_once" in call.approval.options and call.tried_by is None]

    def say(self, hint: str) -> None:
        """Instead of the keys, for a moment."""
        self._hint = hint
        self._label()
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self.set_timer(HINT_SECONDS, lambda: self.say("")) if hint else None

    def _say_too_soon(self) -> None:
        self.say("That was too fast to be an answer. Wait a moment, then press again.")
