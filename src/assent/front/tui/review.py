"""A long question on the whole screen: counts the lines that have not been seen, and leads to the next of them."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key

from assent.app.question_text import question_title
from assent.app.wording import count
from assent.front.tui.answer_keys import ANSWERS
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.question_view import QuestionView
from assent.front.tui.seen_lines import SeenLines
from assent.front.tui.text_style import TextStyler
from assent.front.tui.typed_elsewhere import letter
from assent.front.tui.viewer import MAX_WIDTH, Document, ViewerScreen


class ReviewScreen(ViewerScreen):
    """Nothing is answered here. Returns whether everything has been seen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u,tab", "unseen", "next line of a question that was not shown", show=False),
        Binding("right_square_bracket", "hunk(1)", "next part of a change", show=False),
        Binding("left_square_bracket", "hunk(-1)", "previous part of a change", show=False),
    ]

    def __init__(self, question: QuestionView, styler: Callable[[], TextStyler], guard: KeyGuard) -> None:
        self._question = question
        self._guard = guard
        self._seen = SeenLines()
        self._drawn: tuple[int, int] = (0, 0)
        details = question.approval.details
        text = "\n".join(strip.text.rstrip() for strip in question.lines(styler(), MAX_WIDTH))
        super().__init__(Document(question_title(details), question.lines, text), styler)

    def on_key(self, event: Key) -> None:
        """`q` closes it, but may be the start of a word; what follows must not answer."""
        if event.key == "q":
            self._guard.disturb()
        elif (letter(event) in ANSWERS or event.key == "enter") and not self.searches and not self._binds(event.key):
            self.say("Nothing is answered here. Esc goes back to the question.")

    def _binds(self, key: str) -> bool:
        return key in self._bindings.key_to_bindings

    def _moved(self) -> None:
        if self.lines.wraps:  # otherwise the ends of lines may be off the screen
            self._look()
        super()._moved()

    def _look(self) -> None:
        lines = self.lines
        drawn = (lines.line_width, len(lines.lines))
        if drawn != self._drawn:  # other lines: which of them were seen is unknown
            self._drawn, self._seen = drawn, SeenLines(len(lines.lines))
        if self.is_active:
            self._seen.look(lines.scroll_offset.y, lines.size.height)

    def position(self) -> str:
        left = self._seen.unseen
        return f"{super().position()} · {f'{left:,} unseen' if left else 'all seen'}"

    def hint(self) -> str:
        if self.lines.mark is not None or self._seen.all:
            return f"{'' if self.lines.mark is not None else 'Esc back, to answer · '}{super().hint()}"
        parts = " · [ ] parts" if len(self._question.hunks) > 1 else ""
        return f"Space page · u next unseen ({count(self._seen.unseen, 'line')}){parts} · {super().hint()}"

    def action_unseen(self) -> None:
        if not self.lines.wraps:
            self.action_wrap()
        self.say("")
        place = self._seen.next_unseen()
        if place is not None:
            self.lines.scroll_to(y=place, animate=False, immediate=True)
            self._moved()

    def action_hunk(self, step: int) -> None:
        self.say("")
        top = self._question.go(step)
        if top is not None:
            self.lines.scroll_to(y=top, animate=False, immediate=True)
            self._moved()

    def action_close(self) -> None:
        if self._field.display or self.lines.mark is not None:
            super().action_close()
        else:
            self.dismiss(self._seen.all)
