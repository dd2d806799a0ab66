"""Fields whose cursor does not blink: nothing on the screen moves by itself, and screenshots are reproducible."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Paste
from textual.widgets import Input

from assent.front.tui.prompt.paste import clean
from assent.front.tui.prompt.readline_area import ReadlineArea, word_start


class SteadyInput(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+w", "delete_to_space", "cut back to white space", show=False),
        Binding("alt+backspace", "delete_left_word", "cut the previous word", show=False),
    ]

    def on_mount(self) -> None:
        self.cursor_blink = False

    def action_delete_to_space(self) -> None:
        if self.password or not self.selection.is_empty:
            self.action_delete_left_word()  # which tells nothing about the words of a password
        else:
            self.delete(word_start(self.value[: self.cursor_position]), self.cursor_position)


class WordsInput(SteadyInput):
    """For a few words. Of a paste, Textual's own field takes only the first line."""

    def on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event)

    def paste(self, event: Paste) -> None:
        self.insert_text_at_cursor(" ".join(clean(event.text).split()))


class SteadyTextArea(ReadlineArea):
    def on_mount(self) -> None:
        self.cursor_blink = False
