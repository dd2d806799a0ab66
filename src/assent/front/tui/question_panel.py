"""The question panel: shows the calls waiting for a person, one at a time, and turns keys into answers.

It takes the keyboard only when nobody is typing, accepts keys only after a pause in typing (`guard`), lets nothing be
approved that has not been shown to its end, and defaults to no. It sends nothing itself: it posts `Answered`.
"""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, Key, MouseDown, MouseEvent
from textual.message import Message
from textual.widgets import Input

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import is_yes_or_no, no_always_in_words, offered_keys
from assent.app.wording import count
from assent.approval import AskDetails, Outcome
from assent.commands import Answer
from assent.front.tui.answer_keys import ANSWERS, MOVES, READS, EnterKey, answers, executes, needs_reading
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.ask_keys import DIGITS, answered_by, chosen_at_once
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.question_board import QuestionBoard
from assent.front.tui.question_view import CLICKED, QuestionView
from assent.front.tui.text_style import TextStyler
from assent.front.tui.typed_elsewhere import TypedElsewhere, letter


class ApprovalPanel(QuestionBoard):
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

        def __init__(self, key: str, call: AwaitingApproval, draft: AskDraft | None = None) -> None:
            """`draft`: what was answered so far, if the model asks."""
            super().__init__()
            self.key = key
            self.call = call
            self.draft = draft

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
        super().__init__(styler, guard, me, enter)
        self._pressed: asyncio.TimerHandle | None = None
        self._held = ""
        """The newest key, if it could have been an answer or a move; all digits of a number."""
        self._own_screen = False
        """Whether the screen above, if there is one, was opened from this question and belongs to it."""
        self._types = False
        """Whether what was pressed turned out to be typing."""
        self._mouse_on: tuple[str | None, float] = (None, 0.0)
        """The answer on which the mouse button went down, and when."""
        self._keys_at = 0.0
        """When the answers appeared that can be clicked."""

    def _show(self) -> None:
        self._forget_press()
        self._own_screen = False
        super()._show()

    # --- keys ---

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._types &= not _has_focus
        self.appear()

    def appear(self) -> None:
        """The question has just appeared: keys pressed before were not meant for it."""
        self.guard.disturb()
        self._keys_at = self.guard.now
        self._forget_press()
        self._hint = self._held = ""
        self.line.at_work = False
        self._label()
        self.body.look()

    def on_descendant_focus(self) -> None:
        """The line has the keyboard: if the question has been there for a moment, it is meant to have it."""
        self.line.at_work = self.guard.is_seen(self._shown_at)
        self._label()

    def on_descendant_blur(self) -> None:
        self._label()

    def resume(self) -> None:
        """The screen above was closed. If it was about this question, the person has been at it all the time."""
        if self._own_screen:
            self._own_screen = False
            self._arrange_line()
            self.line.at_work = self.line.display
            self._label()
            self.body.look()
        else:
            self.appear()

    @property
    def deciding(self) -> bool:
        """Whether a key was pressed that becomes an answer if no other key follows."""
        return self._pressed is not None

    def on_key(self, event: Key) -> None:
        """Every key comes here before bindings; only a single key after a pause answers."""
        if self.line.has_focus:
            return  # it knows by itself what is meant for it
        key = self._meant(event)
        if text := self._typing(event):
            event.stop()
            self._forget_press()
            self._types = True
            self.post_message(TypedElsewhere(text))
        elif self._pressed is not None:
            self._forget_press()
            self.say("Several keys at once are not an answer. Wait a moment, then press one.")
            event.stop()
        elif self.call is not None and key in self._keys_of(self.call):
            event.stop()
            self._press(key, self.call, event.time)
        elif key == "a" and self.call is not None and self.call.approval.no_always:
            event.stop()
            self.say(no_always_in_words(self.call.approval))
        elif key in self._moves:
            event.stop()
            self._after_a_moment(lambda: self._move(key))  # it may be the first letter of a word
        elif self._hint:
            self.say("")
        if not self._navigates(event):
            self.guard.disturb()

    def _navigates(self, event: Key) -> bool:
        """Whether it acts on the question: nobody does that while typing, so the next key may be an answer at once."""
        acts = event.key in self._bindings.key_to_bindings and event.key != "escape"
        if event.is_printable and self.question is not None:
            acts = self.question.reacts_to(event.key, scrolls=self.body.max_scroll_y > 0)
        return acts and self.guard.is_quiet(event.time)

    @property
    def _moves(self) -> frozenset[str]:
        return MOVES | READS if self.call is not None and executes(self.call) else MOVES

    def _typing(self, event: Key) -> str:
        """What was typed, if it is not an answer: a letter that means nothing here, or several in quick succession.
        Where numbers are answers, those alone are not: what they belong to shows when something else is typed.
        """
        text, held = letter(event), self._held
        quick = self._pressed is not None or not self.guard.is_quiet(event.time)
        before = held if quick and held != text else ""  # a key that is held down repeats itself
        goes_on = quick and self._types  # keys that arrived before the focus had moved
        if self.draft is not None and (before + text).isdecimal() and not goes_on:
            self._held = before + text
            return ""
        known = ANSWERS | self._moves
        means_nothing = text not in known and event.key not in self._bindings.key_to_bindings
        typed = bool(text) and (bool(before) or goes_on or means_nothing)
        self._held = text if text in known and not typed else ""
        return before + text if typed else ""

    def _meant(self, event: Key) -> str:
        """The answer that the key stands for; Enter and numbers depend on the question."""
        key = event.character or event.key
        if self.call is None:
            return key
        if event.key == "enter":
            return self._enter_means(self.call)
        listed = answers(self._offers(self.call))
        if self._selects and key in DIGITS[: len(listed)] and not self._ticks(self.call):
            return listed[int(key) - 1].key
        return key

    def _enter_means(self, call: AwaitingApproval) -> str:
        """No, unless the model asks something: then Enter only opens the answers."""
        if self._selects:
            return answers(self._offers(call))[self._choice].key
        if not isinstance(call.approval.details, AskDetails):
            return "n"
        return "a" if is_yes_or_no(call.approval.details) else "y"

    def _keys_of(self, call: AwaitingApproval) -> set[str]:
        """The keys that answer: only those that are listed, and numbers. One opens the answers to several questions."""
        details = call.approval.details
        questions = details.questions if isinstance(details, AskDetails) else ()
        opening = DIGITS if len(questions) > 1 and not self._selects else ""
        numbers = DIGITS[: len(chosen_at_once(questions))] or self._ticks(call) or opening
        return {offer.key for offer in answers(self._offers(call))} | {"A", *numbers}

    def _press(self, key: str, call: AwaitingApproval, at: float) -> None:
        if problem := self._not_yet(key, call, quiet=self.guard.is_quiet(at)):
            self.say(problem)
        else:
            self._after_a_moment(lambda: self._settle(key, call))

    def _after_a_moment(self, act: Callable[[], None]) -> None:
        """Unless another key follows."""
        self._pressed = asyncio.get_running_loop().call_later(self.guard.settle, act)

    def _move(self, key: str) -> None:
        self._pressed, self._held = None, ""
        {"v": self.action_view, "f": self.action_review, "s": self.action_split, "o": self.action_read}[key]()

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

    def on_mouse_down(self, event: MouseDown) -> None:
        self._mouse_on = (_answer_at(event), self.guard.now)

    def on_click(self, event: Click) -> None:
        """On an answer: nobody does that while typing, but the answers must have been there for a moment, and the
        button must have gone down on this one. What is under the pointer may change until it goes up, and between the
        two clicks of a double click.
        """
        key, call = _answer_at(event), self.call
        pressed, at = self._mouse_on
        if call is None or key is None or key != pressed or key not in self._keys_of(call):
            return
        if problem := self._not_yet(key, call, quiet=self.guard.is_seen(max(self._shown_at, self._keys_at), at)):
            self.say(problem)
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
        draft = self.draft if isinstance(call.approval.details, AskDetails) else None
        if (label := answered_by(key, call.approval.details)) is not None:
            self._answer("proceed_once", call, (label,))
        elif draft is not None and draft.writes and key in f"y{DIGITS}":
            self.focus()
        elif key in "aeir" or (draft is not None and key in f"y{DIGITS}"):
            self._own_screen = key != "e"
            self.post_message(self.Wanted(key, call, draft))
        elif key == "A":
            for other in self._for_all:
                if other.approval.id in self._seen:  # a new one may have arrived since the key was pressed
                    self._answer("proceed_once", other)
        else:
            self._answer(offered_keys(call.approval)[key], call)

    def _answer(self, outcome: Outcome, call: AwaitingApproval, given: tuple[str, ...] | None = None) -> None:
        view = self._views.get(call.approval.id)
        parts = view.choice_of_parts() if view is not None and outcome == "proceed_once" else {}
        answer = Answer(
            call_id=call.request.call_id,
            outcome=outcome,
            digest=call.approval.digest,
            answers=given,
            by=self._me(),
            **parts,
        )
        self.post_message(self.Answered(answer))

    # --- the line of a question without options ---

    def on_input_changed(self) -> None:
        if self.draft is not None and self.line.display:
            self.draft.reply.words = self.line.value

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        call, draft, words = self.call, self.draft, self.line.value.strip()
        if call is None or draft is None or not draft.writes:
            return  # someone was faster
        if not words:
            self.say("Type your answer first.")
        elif not self.body.seen:
            self.say(f"{count(self.body.unseen, 'line')} not shown yet: scroll to the end first (PgDn).")
        else:
            self._write(words, call, draft)

    def _write(self, words: str, call: AwaitingApproval, draft: AskDraft) -> None:
        self.line.at_work = False
        if draft.write(words):
            self._own_screen = True
            self.post_message(self.Wanted("y", call, draft))
        else:
            self._answer("proceed_once", call, draft.answers)

    # --- navigation ---

    def action_scroll(self, step: int) -> None:
        if self.line.has_focus and step > 0:
            self.to_keys()
        elif self._selects and self.call is not None:
            self._choose(step, self.call)
        else:
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

    def action_split(self) -> None:
        question = self.question
        if question is None or not question.hunks:
            return
        if not question.can_split:
            self.say("This part cannot be split: its changed lines are next to each other.")
            return
        question.split()
        self.redraw()
        self.body.scroll_to(y=question.tops[question.current], animate=False)

    def action_read(self) -> None:
        if self.call is not None and executes(self.call):
            self.post_message(self.Wanted("o", self.call))

    def action_review(self) -> None:
        if self.question is not None:
            self._own_screen = True
            self.post_message(self.ReviewWanted(self.question))

    def action_question(self, step: int) -> None:
        ids = list(self._questions)
        self.show_call(ids[(ids.index(self._current) + step) % len(ids)])

    def action_leave(self) -> None:
        self.post_message(self.Left())


def _answer_at(event: MouseEvent) -> str | None:
    return event.style.meta.get(CLICKED)
