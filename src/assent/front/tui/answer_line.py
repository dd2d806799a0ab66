"""The line of a question that is answered in own words: what one types is the answer, and Enter sends it.

What was being typed when the question appeared is not the answer: it goes on in the message.
"""

from collections.abc import Callable

from textual.actions import SkipAction
from textual.events import Key, Paste

from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.steady_input import SteadyInput
from assent.front.tui.typed_elsewhere import TypedElsewhere, letter


class AnswerLine(SteadyInput):
    DEFAULT_CSS = """
    AnswerLine, AnswerLine:focus { border: none; height: 1; padding: 0; margin-top: 1; background: $boost;
        display: none; }
    """

    def __init__(self, guard: KeyGuard, too_soon: Callable[[], None]) -> None:
        super().__init__(id="question-line", select_on_focus=False)
        self._guard = guard
        self._too_soon = too_soon
        self.at_work = False
        """Whether what is typed is meant for this line."""

    def begin(self, text: str, placeholder: str) -> None:
        self.at_work = False
        self.value = text
        self.placeholder = placeholder
        self.cursor_position = len(text)

    def on_key(self, event: Key) -> None:
        text = letter(event)
        if self.at_work or self._guard.is_quiet(event.time):
            self.at_work |= bool(text)
        elif text:
            self._pass_on(event, text)
        elif event.key == "enter":
            event.stop()
            self._too_soon()
        if text or event.key == "enter":
            self._guard.disturb()

    def on_paste(self, event: Paste) -> None:
        """A line break in it sends nothing."""
        if self.at_work or self._guard.is_quiet(event.time):
            self.at_work = True
            event.stop()
            event.prevent_default()
            self.insert_text_at_cursor(" ".join(event.text.split()))
        else:
            self._pass_on(event, event.text)

    def _pass_on(self, event: Key | Paste, text: str) -> None:
        event.stop()
        event.prevent_default()
        self.post_message(TypedElsewhere(text))

    # --- keys that mean something else where nothing was typed ---

    def action_cursor_left(self, select: bool = False) -> None:
        self._skip_if_empty()
        super().action_cursor_left(select)

    def action_cursor_right(self, select: bool = False) -> None:
        self._skip_if_empty()
        super().action_cursor_right(select)

    def action_delete_right(self) -> None:
        self._skip_if_empty()
        super().action_delete_right()

    def _skip_if_empty(self) -> None:
        if not self.value:
            raise SkipAction
