"""The question panel: shows the calls waiting for a person, one at a time, and turns keys into answers.

It takes the keyboard only when nobody is typing, accepts keys only after a pause in typing (`guard`), lets nothing be
approved that has not been shown to its end, and defaults to no. It sends nothing itself: it posts `Answered`.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, Key
from textual.message import Message
from textual.widgets import Static

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import offered_keys, question_title
from assent.app.wording import count, description, editing, safe
from assent.approval import AskDetails, ExecDetails
from assent.commands import Answer
from assent.front.tui.answer_keys import (
    ANSWERS,
    DIGITS,
    MOVES,
    EnterKey,
    Offer,
    answers,
    legend,
    menu,
    needs_reading,
    offers,
)
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.question_lines import QuestionLines
from assent.front.tui.question_view import CLICKED, QuestionView, chosen_at_once
from assent.front.tui.text_style import TextStyler
from assent.front.tui.typed_elsewhere import TypedElsewhere, letter

HINT_SECONDS = 2.5
MENU_HEIGHT = 22
"""Lines of the screen below which the answers are not listed one below the other."""
MARGIN = 4
"""Columns for border and padding."""
FRAME, LOW_FRAME = 4, 2
"""Lines around the panel's texts: border, a blank line, and one line of the transcript above; only the border on a low
screen.
"""


class ApprovalPanel(Vertical, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", "scroll up; in a list of answers, the one before", show=False),
        Binding("down", "scroll(1)", "scroll down; in a list of answers, the next one", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False),
        Binding("left_square_bracket", "hunk(-1)", "previous part of a change", show=False),
        Binding("right_square_bracket", "hunk(1)", "next part of a change", show=False),
        Binding("space", "toggle_hunk", "include or exclude this part; page down if there is one", show=False),
        Binding("v", "view", "a change side by side, or in one column", show=False),
        Binding("f", "review", "the whole question on the whole screen", show=False),
        Binding("left", "question(-1)", "previous question", show=False),
        Binding("right", "question(1)", "next question", show=False),
        Binding("escape", "leave", "back to the input; the question stays open", show=False),
    ]

    class Answered(Message):
        """The person has decided."""

        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    class Wanted(Message):
        """The answer needs more: a scope, a reason, arguments, or the editor."""

        def __init__(self, key: str, call: AwaitingApproval) -> None:
            super().__init__()
            self.key = key
            self.call = call

    class Left(Message):
        """The question stays open; the focus returns to the input."""

    class ReviewWanted(Message):
        """The question should be shown on the whole screen; `reviewed` takes the result."""

        def __init__(self, question: QuestionView) -> None:
            super().__init__()
            self.question = question

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
        """By approval id: what was chosen and seen in each."""
        self._seen: set[str] = set()
        self._current = ""
        self._shown_at = 0.0
        self._pressed: asyncio.TimerHandle | None = None
        self._held = ""
        """The newest key, if it could have been an answer or a move."""
        self._own_screen = False
        """Whether the screen above, if there is one, was opened from this question and belongs to it."""
        self._types = False
        """Whether what was pressed turned out to be typing."""
        self._hint = ""
        self._words = 2
        """Lines for the title and the keys."""

    def compose(self) -> ComposeResult:
        yield Static(id="question-title")
        yield QuestionLines(self._styler, self._room)
        yield Static(id="question-keys")

    @property
    def body(self) -> QuestionLines:
        return self.query_one(QuestionLines)

    # --- the questions ---

    def put(self, questions: Sequence[AwaitingApproval]) -> None:
        """Sets the waiting questions. The one shown stays as long as it is among them, unchanged."""
        shown = self.call
        self._questions = {call.request.call_id: call for call in questions}
        self.display = bool(self._questions)
        self.screen.set_class(self.display, "-asking")
        if not self._questions:
            self._current = ""
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
        self._forget_press()
        self._hint, self._choice, self._own_screen = "", 0, False
        approval = call.approval
        question = self._views.setdefault(approval.id, QuestionView(approval, description(call.request)))
        self.body.put(question, seen=approval.id in self._seen)

    def redraw(self) -> None:
        if self.call is not None:
            self.body.redraw()
            self._label()

    def on_resize(self) -> None:
        if self.call is not None:
            self.body.fit()
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
        before, self._words = self._words, -(-title.cell_len // self._width) + keys.plain.count("\n") + 1
        if before != self._words:
            self.body.fit()

    @property
    def _width(self) -> int:
        return max(self.screen.size.width - MARGIN, 1)

    def _room(self) -> int:
        """Lines left for the body."""
        below = (widget for widget in self.screen.query("#status, #todos, #queue, #prompt, #foot") if widget.display)
        frame = LOW_FRAME if self.screen.has_class("-low") else FRAME
        return self.screen.size.height - frame - self._words - sum(widget.outer_size.height for widget in below)

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
        below = "\n" * keys.plain.count("\n")
        if self._hint:
            return Text(self._hint + below, style=f"bold {palette.warn}")
        if not self.has_focus:
            return Text(f"Tab to answer; what you type goes into your message{below}", style=palette.dim)
        return keys

    def _shown_offers(self, call: AwaitingApproval) -> Text:
        """As high as with "yes to all", which appears only when everything was shown and would cover lines again."""
        shown = self._drawn(self._offers(call))
        highest = self._drawn(self._offers(call, to_all=True))
        return shown.append("\n" * (highest.plain.count("\n") - shown.plain.count("\n")))

    def _drawn(self, listed: list[Offer]) -> Text:
        palette, seen = self._styler().palette, self.body.seen
        if self._selects:
            return menu(listed, self._choice, palette, self._width, seen=seen)
        return legend(listed, palette, self._width, seen=seen)

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

    def _say(self, hint: str) -> None:
        """Instead of the keys, for a moment."""
        self._hint = hint
        self._label()
        if hint:
            self.set_timer(HINT_SECONDS, lambda: self._unsay(hint))

    def _unsay(self, hint: str) -> None:
        if self._hint == hint:
            self._say("")

    # --- keys ---

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._types &= not _has_focus
        self.appear()

    def appear(self) -> None:
        """The question has just appeared: keys pressed before were not meant for it."""
        self.guard.disturb()
        self._forget_press()
        self._hint = self._held = ""
        self._label()
        self.body.look()

    def resume(self) -> None:
        """The screen above was closed. If it was about this question, the person has been at it all the time."""
        if self._own_screen:
            self._own_screen = False
            self.body.look()
        else:
            self.appear()

    @property
    def deciding(self) -> bool:
        """Whether a key was pressed that becomes an answer if no other key follows."""
        return self._pressed is not None

    def on_key(self, event: Key) -> None:
        """Every key comes here before bindings; only a single key after a pause answers."""
        key = self._meant(event)
        if text := self._typing(event):
            event.stop()
            self._forget_press()
            self._types = True
            self.post_message(TypedElsewhere(text))
        elif self._pressed is not None:
            self._forget_press()
            self._say("Several keys at once are not an answer. Wait a moment, then press one.")
            event.stop()
        elif self.call is not None and key in self._keys_of(self.call):
            event.stop()
            self._press(key, self.call, event.time)
        elif key in MOVES:
            event.stop()
            self._after_a_moment(lambda: self._move(key))  # it may be the first letter of a word
        elif self._hint:
            self._say("")
        if not self._navigates(event):
            self.guard.disturb()

    def _navigates(self, event: Key) -> bool:
        """Whether it acts on the question: nobody does that while typing, so the next key may be an answer at once."""
        acts = event.key in self._bindings.key_to_bindings and event.key != "escape"
        if event.is_printable and self.question is not None:
            acts = self.question.reacts_to(event.key, scrolls=self.body.max_scroll_y > 0)
        return acts and self.guard.is_quiet(event.time)

    def _typing(self, event: Key) -> str:
        """What was typed, if it is not an answer: a letter that means nothing here, or several in quick succession."""
        text, held = letter(event), self._held
        quick = self._pressed is not None or not self.guard.is_quiet(event.time)
        before = held if quick and held != text else ""  # a key that is held down repeats itself
        goes_on = quick and self._types  # keys that arrived before the focus had moved
        means_nothing = text not in ANSWERS | MOVES and event.key not in self._bindings.key_to_bindings
        typed = bool(text) and (bool(before) or goes_on or means_nothing)
        self._held = text if text in ANSWERS | MOVES and not typed else ""
        return before + text if typed else ""

    def _meant(self, event: Key) -> str:
        """The answer that the key stands for; Enter and numbers depend on the question."""
        key = event.character or event.key
        if self.call is None:
            return key
        if event.key == "enter":
            return self._enter_means(self.call)
        listed = answers(self._offers(self.call))
        if self._selects and not isinstance(self.call.approval.details, AskDetails) and key in DIGITS[: len(listed)]:
            return listed[int(key) - 1].key
        return key

    def _enter_means(self, call: AwaitingApproval) -> str:
        """No, unless the model asks something: then Enter only opens the answers."""
        if self._selects:
            return answers(self._offers(call))[self._choice].key
        return "y" if isinstance(call.approval.details, AskDetails) else "n"

    def _keys_of(self, call: AwaitingApproval) -> set[str]:
        """The keys that answer: only those that are listed, and numbers."""
        details = call.approval.details
        options = chosen_at_once(details.questions) if isinstance(details, AskDetails) else []
        return {offer.key for offer in answers(self._offers(call))} | {"A", *DIGITS[: len(options)]}

    def _press(self, key: str, call: AwaitingApproval, at: float) -> None:
        if problem := self._not_yet(key, call, quiet=self.guard.is_quiet(at)):
            self._say(problem)
        else:
            self._after_a_moment(lambda: self._settle(key, call))

    def _after_a_moment(self, act: Callable[[], None]) -> None:
        """Unless another key follows."""
        self._pressed = asyncio.get_running_loop().call_later(self.guard.settle, act)

    def _move(self, key: str) -> None:
        self._pressed, self._held = None, ""
        (self.action_view if key == "v" else self.action_review)()

    def _not_yet(self, key: str, call: AwaitingApproval, *, quiet: bool) -> str:
        """Why the key is not an answer now; empty if it is one."""
        if not quiet:
            return "That was too fast to be an answer. Wait a moment, then press again."
        if needs_reading(key, call) and not self.body.seen:
            return f"{count(self.body.unseen, 'line')} not shown yet: scroll to the end first (PgDn, or f)."
        if key == "A" and not (self.all_seen and len(self._for_all) > 1):
            return "Yes to all needs several questions, each shown to its end."
        if self.question is not None and key == "y" and self.question.partial == ():
            return "No part is selected. Select one with the space bar, or answer no."
        return ""

    def on_click(self, event: Click) -> None:
        """On an answer: nobody does that while typing, but the question must have been there for a moment."""
        key, call = event.style.meta.get(CLICKED), self.call
        if call is None or key not in self._keys_of(call):
            return
        if problem := self._not_yet(key, call, quiet=self.guard.is_seen(self._shown_at)):
            self._say(problem)
        else:
            self._settle(key, call)

    def _forget_press(self) -> None:
        if self._pressed is not None:
            self._pressed.cancel()
            self._pressed = None

    def _settle(self, key: str, call: AwaitingApproval) -> None:
        """No other key followed: the key is an answer."""
        self._pressed, self._held = None, ""
        now = self._questions.get(call.request.call_id)
        if now is None or now.approval.id != call.approval.id:
            return  # someone was faster, or the question has changed
        details = call.approval.details
        if isinstance(details, AskDetails) and key in DIGITS:
            self._answer("y", call, (chosen_at_once(details.questions)[int(key) - 1],))
        elif key in "aeir" or (key == "y" and isinstance(details, AskDetails)):
            self._own_screen = key != "e"
            self.post_message(self.Wanted(key, call))
        elif key == "A":
            for other in self._for_all:
                if other.approval.id in self._seen:  # a new one may have arrived since the key was pressed
                    self._answer("y", other)
        else:
            self._answer(key, call)

    def _answer(self, key: str, call: AwaitingApproval, given: tuple[str, ...] | None = None) -> None:
        outcome = offered_keys(call.approval)[key]
        view = self._views.get(call.approval.id)
        parts = view.partial if view is not None and outcome == "proceed_once" else None
        answer = Answer(
            call_id=call.request.call_id,
            outcome=outcome,
            digest=call.approval.digest,
            hunks=parts,
            answers=given,
            by=self._me(),
        )
        self.post_message(self.Answered(answer))

    # --- navigation ---

    def action_scroll(self, step: int) -> None:
        if self._selects and self.call is not None:
            self._choice = (self._choice + step) % len(answers(self._offers(self.call)))
            self._label()
            return
        self.body.scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        self.body.scroll_relative(y=step * max(self.body.size.height - 1, 1), animate=False)

    def action_hunk(self, step: int) -> None:
        top = self.question.go(step) if self.question is not None else None
        self.redraw()
        if top is not None:
            self.body.scroll_to(y=top, animate=False)

    def action_toggle_hunk(self) -> None:
        if self.question is not None and len(self.question.numbers) > 1:
            self.question.toggle()
            self.redraw()
        else:
            self.action_page(1)

    def action_view(self) -> None:
        if self.question is not None:
            self.question.view = "split" if self.question.view == "unified" else "unified"
            self.redraw()

    def action_review(self) -> None:
        if self.question is not None:
            self._own_screen = True
            self.post_message(self.ReviewWanted(self.question))

    def action_question(self, step: int) -> None:
        ids = list(self._questions)
        self.show_call(ids[(ids.index(self._current) + step) % len(ids)])

    def action_leave(self) -> None:
        self.post_message(self.Left())
