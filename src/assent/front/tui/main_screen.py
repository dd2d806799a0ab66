"""The screen with the conversation: tells its parts what they cannot notice themselves."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.events import Paste
from textual.screen import Screen

from assent.front.tui.bars import QueueView
from assent.front.tui.lines_below import LinesBelow
from assent.front.tui.prompt.prompt_input import PromptInput
from assent.front.tui.question_panel import ApprovalPanel
from assent.front.tui.todo_view import TodoView

LOW, SHORT = 18, 24
"""Lines of a screen below which a question gets the room of everything that can be spared, and of a long message."""


class MainScreen(Screen[None]):
    """A question that becomes visible again must know it: keys pressed on a screen above it were not meant for it.

    Tab switches to the question and back; a screen's own Tab would cycle through all widgets.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.answer", show=False)]

    def on_screen_resume(self) -> None:
        for panel in self.query(ApprovalPanel):
            panel.resume()

    def on_paste(self, event: Paste) -> None:
        """Where nothing reads it, such as at a question: it goes to the input, as what is typed there does."""
        event.stop()
        for prompt in self.query(PromptInput):
            prompt.focus()
            prompt.paste(event.text)

    def text_select_all(self) -> None:
        """A triple click would select the whole conversation: too much to be meant, and to be pasted into a shell."""

    @on(LinesBelow.Changed)
    def _fit_question(self) -> None:
        for panel in self.query(ApprovalPanel):
            panel.body.fit()

    def on_resize(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        self.set_class(self.size.height < SHORT, "-short")
        for todos in self.query(TodoView):
            todos.fit()
        for queue in self.query(QueueView):
            queue.fit()
